"""-log U regret, with the paper's proposition corrected (erratum 6)."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from galloon.learners.paths.regret import log_regret

GAINS = st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=30)


def positive_part_bound(shown, best):
    """An upper bound on `log_regret` of the same rounds."""
    both = (shown > 0) & (best > 0)
    if not both.any():
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.maximum(best[both] - shown[both], 0.0).sum() / shown[both].min())


def test_the_paper_s_inequality_fails_where_the_erratum_says():
    """alpha = 1, (learner, best) = (1, 2), (10, 9): R_G is 0 and R_L is not."""
    shown, best = np.array([1.0, 10.0]), np.array([2.0, 9.0])
    assert (best - shown).sum() == 0
    assert math.isclose(log_regret(shown, best).value, math.log(2) + math.log(0.9))
    assert log_regret(shown, best).value > 0.5


@given(GAINS)
def test_positive_parts_bound_it(pairs):
    shown, best = np.array(pairs).T
    assert log_regret(shown, best).value <= positive_part_bound(shown, best) + 1e-9


def test_rounds_without_gain_are_counted_not_summed():
    found = log_regret(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 4.0]))
    assert math.isclose(found.value, math.log(2))
    assert found.rounds_left_out == 2
