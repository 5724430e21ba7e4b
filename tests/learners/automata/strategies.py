"""Random small automata, reaches and weights for property tests."""

import numpy as np
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton

MOST_PATHS = 300


def edges(*numbers):
    return np.array(numbers, dtype=np.int32)


@st.composite
def explicit_automata(draw, most_states=6):
    """Connected acyclic automata with parallel transitions, several final states, unequal path lengths."""
    states = draw(st.integers(2, most_states))
    pairs = [(0, 1)]
    for state in range(2, states):
        pairs += [(draw(st.integers(0, state - 1)), state)]
    pairs += draw(
        st.lists(
            st.integers(0, states - 2).flatmap(
                lambda s: st.tuples(st.just(s), st.integers(s + 1, states - 1))
            ),
            max_size=5,
        )
    )
    pairs = draw(st.permutations(pairs))
    dead_ends = set(range(states)) - {source for source, _ in pairs}
    finals = sorted(dead_ends | draw(st.sets(st.integers(0, states - 1), max_size=2)))
    numbering = draw(st.permutations(range(states)))
    automaton = ExplicitAutomaton(
        states,
        numbering[0],
        tuple(numbering[f] for f in finals),
        edges(*(numbering[s] for s, _ in pairs)),
        edges(*(numbering[t] for _, t in pairs)),
        tuple(f"e{i}" for i in range(1, len(pairs) + 1)),
    )
    return (
        automaton
        if automaton.path_count <= MOST_PATHS
        else automaton.__class__(2, 0, (1,), edges(0, 0), edges(1, 1), ("e1", "e2"))
    )


@st.composite
def ensembles(draw):
    experts = draw(st.integers(1, 3))
    return Ensemble(experts, draw(st.integers(1, {1: 8, 2: 6, 3: 5}[experts])))


@st.composite
def reaches(draw, longest=4):
    span = draw(st.integers(1, longest))
    return Reach(draw(st.integers(1, span)), span)


def log_weights(seed, count, scale=3.0):
    return np.random.default_rng(seed).normal(size=count) * scale


def listed_paths(expert):
    return [edges(*path) for path in expert.paths()]
