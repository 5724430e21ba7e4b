"""An answer slot by slot, and its gains: as plain loops have them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.answers import answer, slot_gains

ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 4), max_size=4)


@given(rows=ROWS, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_answers_and_gains_are_those_of_plain_loops(rows, seed):
    """Three engines and one expert computed from them."""
    draw = np.random.default_rng(seed)
    tokens = np.array(rows, dtype=np.int32).reshape(-1, 4)
    probabilities = draw.dirichlet(np.ones(4), len(rows)).reshape(-1, 4)
    shown = draw.integers(0, 3, len(rows)).astype(np.int32)
    truth = draw.integers(0, 3, len(rows)).astype(np.int32)

    texts, givers, chances = np.empty_like(shown), np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    log_chance = answer(tokens, probabilities, shown, 3, texts, givers, chances)
    for i, row in enumerate(rows):
        token = row[shown[i]]
        same = [j for j in range(4) if row[j] == token]
        assert texts[i] == token
        assert givers[i] == max((j for j in same if j < 3), key=lambda j: probabilities[i, j])
        assert chances[i] == pytest.approx(sum(probabilities[i, j] for j in same))
    assert log_chance == pytest.approx(sum(math.log(probabilities[i, j]) for i, j in enumerate(shown)))

    gains, expert_gains, shown_gains = np.empty(tokens.shape), np.empty(4), np.empty(len(rows))
    gained = slot_gains(tokens, shown, truth, gains, expert_gains, shown_gains)
    expected = [[float(token == true) for token in row] for row, true in zip(rows, truth, strict=True)]
    assert gains.tolist() == expected
    assert expert_gains.tolist() == [sum(row[j] for row in expected) for j in range(4)]
    assert shown_gains.tolist() == [row[j] for row, j in zip(expected, shown, strict=True)]
    assert gained == sum(shown_gains)
