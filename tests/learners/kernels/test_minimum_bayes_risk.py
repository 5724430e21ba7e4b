"""Minimum Bayes risk against every path and every text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.minimum_bayes_risk import arrival_chances, expected_edits, least_risk
from tests.learners.kernels.test_lattice import FINALS, STATES, columns, graphs
from tests.reference import minimum_bayes_risk as reference

TOKENS = 3


def held_against(arcs, tokens, positions):
    """The kernel's distance of these positions, and what it hears at each."""
    (states, initial, finals, sources, targets, scores), order = columns(arcs)
    chances, forward = arrival_chances(states, initial, sources, targets, scores)
    weights = np.exp(forward[finals])
    said = np.array(tokens, dtype=np.int32)[order]
    return expected_edits(
        states,
        initial,
        finals,
        weights / weights.sum(),
        sources,
        targets,
        chances,
        said,
        TOKENS,
        np.array(positions, dtype=np.int32),
    )


def decoded(arcs, tokens, hypothesis):
    (states, initial, finals, sources, targets, scores), order = columns(arcs)
    said = np.array(tokens, dtype=np.int32)[order]
    start = np.array(hypothesis, dtype=np.int32)
    return least_risk(states, initial, finals, sources, targets, scores, said, TOKENS, start, 10**6)


@st.composite
def lattices(draw):
    arcs = draw(graphs())
    tokens = draw(st.lists(st.integers(-1, TOKENS - 1), min_size=len(arcs), max_size=len(arcs)))
    return arcs, tokens


@given(lattice=lattices(), positions=st.lists(st.integers(-1, TOKENS - 1), max_size=5))
@settings(deadline=None, max_examples=150)
def test_the_expected_distance_is_the_papers_and_not_below_the_exact_one(lattice, positions):
    arcs, tokens = lattice
    distance, heard = held_against(arcs, tokens, positions)
    assert distance == pytest.approx(reference.recursion(0, FINALS, arcs, tuple(tokens), tuple(positions)))
    chances = reference.texts(0, FINALS, arcs, tokens)
    said = [position for position in positions if position >= 0]
    assert distance >= reference.expected_distance(said, chances) - 1e-9
    np.testing.assert_allclose(heard.sum(axis=1), 1.0)


@given(
    texts=st.lists(st.lists(st.integers(0, TOKENS - 1), max_size=3), min_size=1, max_size=4), data=st.data()
)
@settings(deadline=None, max_examples=100)
def test_where_paths_part_and_never_meet_the_distance_is_exact(texts, data):
    arcs, tokens, states = [], [], 1
    finals = []
    for text in texts:
        score, at = data.draw(st.floats(-3, 0)), 0
        for token in [*text, -1]:
            arcs.append((at, states, score if at == 0 else 0.0))
            tokens.append(token)
            at, states = states, states + 1
        finals.append(at)
    hypothesis = data.draw(st.lists(st.integers(0, TOKENS - 1), max_size=3))
    ends = np.array(finals)
    sources, targets = (np.array([arc[side] for arc in arcs], dtype=np.int32) for side in (0, 1))
    scores, said = np.array([arc[2] for arc in arcs]), np.array(tokens, dtype=np.int32)
    chances, forward = arrival_chances(states, 0, sources, targets, scores)
    ending = np.exp(forward[ends]) / np.exp(forward[ends]).sum()
    distance, _ = expected_edits(
        states, 0, ends, ending, sources, targets, chances, said, TOKENS, np.array(hypothesis, dtype=np.int32)
    )
    exact = reference.expected_distance(hypothesis, reference.texts(0, finals, arcs, tokens))
    assert distance == pytest.approx(exact)


@given(lattice=lattices(), hypothesis=st.lists(st.integers(0, TOKENS - 1), max_size=4))
@settings(deadline=None, max_examples=150)
def test_decoding_never_raises_the_risk(lattice, hypothesis):
    arcs, tokens = lattice
    before, _ = held_against(arcs, tokens, hypothesis)
    found, distance, left = decoded(arcs, tokens, hypothesis)
    after, _ = held_against(arcs, tokens, found)
    assert distance <= before + 1e-9
    assert after == pytest.approx(distance)
    assert 0 < left < 10**6


def test_the_least_risk_of_all_texts_is_nearly_always_found():
    """From the most probable text, over two hundred random lattices."""
    draws = np.random.default_rng(0)
    excess = []
    for _ in range(200):
        pairs = [(0, 2), (2, 4)] + [
            tuple(sorted(draws.choice(STATES, 2, replace=False).tolist())) for _ in range(5)
        ]
        arcs = [(q, t, float(draws.uniform(-3, 1))) for q, t in pairs]
        tokens = draws.integers(-1, TOKENS, len(arcs)).tolist()
        chances = reference.texts(0, FINALS, arcs, tokens)
        found, _, _ = decoded(arcs, tokens, max(chances, key=chances.__getitem__))
        risk = reference.expected_distance(found.tolist(), chances)
        excess.append(risk - reference.least_risk(chances, TOKENS))
    assert min(excess) >= -1e-9
    assert sum(more < 1e-9 for more in excess) >= 185
    assert np.mean(excess) < 0.01


def test_without_a_budget_the_hypothesis_stays_and_one_is_never_overdrawn():
    arcs, tokens = [(0, 4, 0.0), (0, 4, -1.0)], [0, 1]
    (states, initial, finals, sources, targets, scores), _ = columns(arcs)
    said, start = np.array(tokens, dtype=np.int32), np.array([1, 1], dtype=np.int32)
    one_pass = 6 * (states + len(arcs) + TOKENS + 1)  # two tokens are five positions
    for budget, expected, enough in ((one_pass - 1, [1, 1], False), (one_pass, [0], False), (999, [0], True)):
        found, distance, left = least_risk(
            states, initial, finals, sources, targets, scores, said, TOKENS, start, budget
        )
        assert found.tolist() == expected
        assert 0 <= left <= budget
        assert np.isfinite(distance) == enough
