"""A lattice that comes out of a reader is acyclic, trimmed, topologically sorted, and has the same paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.source import Source
from galloon.clients.formats.word_graph import Arcs, best_path, build_lattice
from galloon.learners.observation import Lattice


def build(count: int, arcs: list[tuple[int, int, str, float]], finals: dict[int, float], **more) -> Lattice:
    columns = [list(column) for column in zip(*arcs, strict=True)] if arcs else [[], [], [], []]
    return build_lattice(
        Source("test", b""), count, 0, finals, Arcs(*columns, list(range(10, 10 + len(arcs))), **more)
    )


def paths(arcs, initial, finals, words_so_far=(), score=0.0):
    """All complete paths by plain recursion: words (epsilons dropped) and score."""
    if initial in finals:
        yield tuple(word for word in words_so_far if word), round(score + finals[initial], 9)
    for begin, end, word, weight in arcs:
        if begin == initial:
            yield from paths(arcs, end, finals, (*words_so_far, word), score + weight)


def arcs_of(lattice: Lattice):
    return list(
        zip(
            lattice.sources.tolist(),
            lattice.targets.tolist(),
            lattice.words,
            lattice.log_scores.tolist(),
            strict=True,
        )
    )


@st.composite
def acyclic_graphs(draw):
    count = draw(st.integers(2, 7))
    order = draw(st.permutations(range(1, count)))
    place = {0: -1} | {state: index for index, state in enumerate(order)}
    pairs = [(a, b) for a in range(count) for b in range(count) if place[a] < place[b]]
    score = st.integers(-40, 0).map(lambda number: number / 8)
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=10))
    arcs = [(a, b, draw(st.sampled_from(["", "a", "b", "c"])), draw(score)) for a, b in chosen]
    finals = draw(st.dictionaries(st.integers(0, count - 1), score, min_size=1, max_size=3))
    return count, arcs, finals


@settings(deadline=None, max_examples=150)
@given(acyclic_graphs())
def test_paths_survive_the_building(graph):
    """Trimming, sorting and folding final scores change neither words nor score differences of any path."""
    count, arcs, finals = graph
    expected = sorted(paths(arcs, 0, finals))
    if not expected:
        with pytest.raises(FormatError):
            build(count, arcs, finals)
        return
    lattice = build(count, arcs, finals)
    assert (lattice.sources < lattice.targets).all()
    assert (np.diff(lattice.sources) >= 0).all()
    reached = set(lattice.sources.tolist()) | set(lattice.targets.tolist()) | {lattice.initial}
    assert reached == set(range(lattice.state_count))
    found = sorted(paths(arcs_of(lattice), lattice.initial, dict.fromkeys(lattice.finals, 0.0)))
    assert sorted(words for words, _ in found) == sorted(words for words, _ in expected)
    # A final score common to all ends is dropped, so scores agree up to one constant.
    shift = max(score for _, score in expected) - max(score for _, score in found)
    assert sorted((words, round(score + shift, 6)) for words, score in found) == [
        (words, round(score, 6)) for words, score in expected
    ]
    best = max(score for _, score in found)
    assert tuple(word.text for word in best_path(lattice)) in {
        words for words, score in found if score == best
    }


@pytest.mark.parametrize(
    ("arcs", "finals", "what", "line"),
    [
        ([(0, 1, "a", 0.0), (1, 2, "b", 0.0), (2, 1, "c", 0.0)], {2: 0.0}, "closes a cycle", (11, 12)),
        ([(0, 1, "a", 0.0), (1, 1, "b", 0.0)], {1: 0.0}, "closes a cycle", (11,)),
        ([(0, 1, "a", 0.0), (1, 9, "b", 0.0)], {1: 0.0}, "state 9, which does not exist", (11,)),
        ([(0, 1, "a", 0.0), (-1, 1, "b", 0.0)], {1: 0.0}, "state -1, which does not exist", (11,)),
        ([(0, 1, "a", float("nan"))], {1: 0.0}, "not a finite number", (10,)),
        ([(0, 1, "a", float("-inf"))], {1: 0.0}, "not a finite number", (10,)),
        ([(0, 1, "a", 0.0)], {}, "no final state", (None,)),
        ([(0, 1, "a", 0.0)], {2: 0.0}, "no path leads", (None,)),
        ([(0, 1, "a", 0.0)], {1: float("inf")}, "final state is not a finite", (None,)),
        ([(0, 1, "a", 0.0)], {7: 0.0}, "state 7", (None,)),
    ],
)
def test_unsound_graphs_are_refused_with_their_line(arcs, finals, what, line):
    """Cycles, arcs to nowhere, missing ends and numbers that are none each have their sentence."""
    with pytest.raises(FormatError, match=what) as caught:
        build(3, arcs, finals)
    assert caught.value.line in line


def test_posteriors_come_back_from_the_flow():
    """Scores made from posteriors give, pushed through the lattice, the posteriors again."""
    arcs = [(0, 1, "a", 0.0), (0, 2, "b", 0.0), (1, 3, "c", 0.0), (2, 3, "d", 0.0), (1, 2, "", 0.0)]
    posteriors = [0.7, 0.3, 0.6, 0.4, 0.1]
    lattice = build(4, arcs, {3: 0.0}, posteriors=posteriors)
    flow = np.zeros(lattice.state_count)
    flow[lattice.initial] = 1.0
    found = {}
    for begin, end, word, score in arcs_of(lattice):
        found[word] = flow[begin] * np.exp(score)
        flow[end] += found[word]
    assert found == pytest.approx({"a": 0.7, "b": 0.3, "c": 0.6, "d": 0.4, "": 0.1})


@pytest.mark.parametrize("bad", [-0.1, float("nan")])
def test_a_posterior_that_is_no_probability_is_refused(bad: float):
    """With its line."""
    with pytest.raises(FormatError, match="not a probability") as caught:
        build(2, [(0, 1, "a", 0.0)], {1: 0.0}, posteriors=[bad])
    assert caught.value.line == 10
