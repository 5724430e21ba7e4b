"""The lattice kernels against all paths and all alignments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from galloon.learners.kernels.lattice import best_scores, nearest_path, place_arcs, posteriors, sorted_arcs
from tests.reference import lattice as reference

STATES = 5
FINALS = (3, 4)


@st.composite
def graphs(draw):
    """Arcs between few states, some of which lead nowhere; always one path from 0 to 4."""
    pairs = [(q, t) for q in range(STATES) for t in range(q + 1, STATES)]
    chosen = [(0, 2), (2, 4), *draw(st.lists(st.sampled_from(pairs), max_size=5))]
    arcs = [(q, t, draw(st.floats(-3, 1))) for q, t in chosen]
    return draw(st.permutations(arcs))


def columns(arcs):
    """The kernels' arguments, in topological order, and that order."""
    sources = np.array([arc[0] for arc in arcs], dtype=np.int32)
    targets = np.array([arc[1] for arc in arcs], dtype=np.int32)
    scores = np.array([arc[2] for arc in arcs])
    order, acyclic = sorted_arcs(STATES, sources, targets)
    assert acyclic
    finals = np.array(FINALS, dtype=np.int64)
    return (STATES, 0, finals, sources[order], targets[order], scores[order]), order


@given(arcs=graphs())
@settings(deadline=None, max_examples=100)
def test_posteriors_and_best_scores_equal_those_over_all_paths(arcs):
    arguments, order = columns(arcs)
    expected = np.array(reference.posteriors(0, FINALS, arcs))[order]
    np.testing.assert_allclose(posteriors(*arguments), expected, atol=1e-12)
    np.testing.assert_allclose(
        best_scores(*arguments), np.array(reference.best_scores(0, FINALS, arcs))[order]
    )


@given(arcs=graphs(), data=st.data())
@settings(deadline=None, max_examples=80)
def test_each_arc_falls_where_the_best_path_through_it_puts_it(arcs, data):
    """Against every path in every alignment to the slots."""
    arguments, order = columns(arcs)
    slots, kinds = data.draw(st.integers(0, 3)), 2
    number = st.floats(-4, 0)
    tokens = data.draw(st.lists(st.integers(-1, kinds - 1), min_size=len(arcs), max_size=len(arcs)))
    fits = [[data.draw(number) for _ in range(slots)] for _ in range(kinds)]
    skips = [data.draw(number) for _ in range(slots)]
    alone = data.draw(number)
    unknown = np.full((len(arcs), 2), np.nan)
    places = place_arcs(
        *arguments,
        np.array(tokens, dtype=np.int32)[order],
        np.array(fits).reshape(kinds, slots),
        np.array(skips).reshape(slots),
        alone,
        unknown,
        np.full((slots, 2), np.nan),
        -1.0,
    )
    best = reference.best_placings(0, FINALS, arcs, tokens, fits, skips, alone)
    for place, arc in zip(places.tolist(), order.tolist(), strict=True):
        if best[arc]:
            found = best[arc][None if place < 0 else place]
            assert found == pytest.approx(max(best[arc].values()), abs=1e-9)
        else:
            assert tokens[arc] < 0 or arc not in {e for p in reference.paths(0, FINALS, arcs) for e in p}


def test_arcs_that_do_not_overlap_a_slot_in_time_avoid_it():
    arguments = (2, 0, np.array([1]), np.zeros(1, np.int32), np.ones(1, np.int32), np.zeros(1))
    tokens, fits, skips = np.zeros(1, np.int32), np.zeros((1, 2)), np.zeros(2)
    slot_times = np.array([[0.0, 1.0], [1.0, 2.0]])
    for times, place in (([0.5, 1.0], 0), ([1.0, 1.5], 1), ([np.nan, np.nan], 0)):
        found = place_arcs(*arguments, tokens, fits, skips, -9.0, np.array([times]), slot_times, -1.0)
        assert found.tolist() == [place]


def test_a_cycle_is_noticed():
    sources, targets = np.array([0, 1, 2], dtype=np.int32), np.array([1, 2, 1], dtype=np.int32)
    assert not sorted_arcs(3, sources, targets)[1]


@given(arcs=graphs(), data=st.data())
@settings(deadline=None, max_examples=100)
def test_no_path_is_nearer_to_the_truth_than_the_nearest(arcs, data):
    (states, initial, finals, sources, targets, _), order = columns(arcs)
    tokens = data.draw(st.lists(st.integers(-1, 2), min_size=len(arcs), max_size=len(arcs)))
    truth = data.draw(st.lists(st.integers(0, 3), max_size=4))
    said = np.array(tokens, dtype=np.int32)[order]
    path = nearest_path(states, initial, finals, sources, targets, said, np.array(truth, dtype=np.int32))[
        ::-1
    ]
    assert all(targets[one] == sources[next_one] for one, next_one in pairwise(path))
    spoken = [token for token in said[path].tolist() if token >= 0]
    fewest = reference.fewest_edits(initial, FINALS, arcs, tokens, truth)
    assert Levenshtein.distance(spoken, truth) == fewest
