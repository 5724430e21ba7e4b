"""A lattice as a graph of tokens: the same paths, by enumeration."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment.graph import SILENT, graph_of
from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.errors import InvalidInput
from galloon.learners.observation import ExpertOutput, Lattice
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import CHAR, WORD

UNPRUNED = AlignmentSettings(least_arc_posterior=0.0)
BASIC = normalizer("basic")
WORDS = ("", "...", "one", "One", "well-known", "New York", "a b c")
STATES = 5


@st.composite
def lattices(draw):
    """Arcs in any order between a few states that are numbered in topological order."""
    ends = st.tuples(st.integers(0, STATES - 2), st.integers(1, STATES - 1)).filter(lambda e: e[0] < e[1])
    arcs = draw(st.lists(st.tuples(ends, st.sampled_from(WORDS), st.integers(-9, 0)), min_size=1, max_size=8))
    times = np.arange(STATES) / 2 if draw(st.booleans()) else None
    return Lattice(
        STATES,
        0,
        (STATES - 1,),
        np.array([source for (source, _), _, _ in arcs], dtype=np.int32),
        np.array([target for (_, target), _, _ in arcs], dtype=np.int32),
        tuple(word for _, word, _ in arcs),
        np.array([score for _, _, score in arcs], dtype=np.float64),
        times,
    )


def paths(initial, final, arcs):
    """Every path as the sum of its scores and what its arcs say; arcs are (source, target, score, says)."""
    leaving = defaultdict(list)
    for source, *rest in arcs:
        leaving[source].append(rest)

    def onward(state):
        if state == final:
            yield 0.0, ()
        for target, score, says in leaving[state]:
            yield from ((score + more, says + rest) for more, rest in onward(target))

    return Counter(onward(initial))


@pytest.mark.parametrize("unit", [WORD, CHAR])
@given(lattice=lattices())
@settings(deadline=None, max_examples=150)
def test_the_graph_has_the_paths_of_the_lattice(unit, lattice):
    def says(word):
        parts = BASIC.split_word(word)
        return tuple(parts) if unit is WORD or not parts else (*" ".join(parts), " ")

    columns = (lattice.sources.tolist(), lattice.targets.tolist(), lattice.log_scores.tolist())
    expected = paths(0, STATES - 1, zip(*columns, map(says, lattice.words), strict=True))
    output = ExpertOutput("a", (), lattice=lattice)
    if not expected:
        with pytest.raises(InvalidInput, match="no path"):
            graph_of(output, unit, BASIC, UNPRUNED)
        return
    graph = graph_of(output, unit, BASIC, UNPRUNED)
    left: set[int] = set()
    for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        left.add(source)
        assert target not in left, "arcs are in topological order"
    said = [() if token == SILENT else (graph.vocabulary[token],) for token in graph.tokens]
    columns = (graph.sources.tolist(), graph.targets.tolist(), graph.scores.tolist())
    assert paths(graph.initial, int(graph.finals[0]), zip(*columns, said, strict=True)) == expected
    assert max(graph.targets) < graph.state_count


@given(lattice=lattices())
@settings(deadline=None, max_examples=50)
def test_every_link_of_a_chain_has_the_times_of_its_word(lattice):
    try:
        graph = graph_of(ExpertOutput("a", (), lattice=lattice), CHAR, BASIC, UNPRUNED)
    except InvalidInput:
        return
    if lattice.times is None:
        assert graph.times is None
        return
    for source, target, (start, end) in zip(graph.sources, graph.targets, graph.times, strict=True):
        if source < STATES:
            assert start == lattice.times[source]
        if target < STATES:
            assert end == lattice.times[target]
