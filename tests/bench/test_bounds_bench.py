"""The table of bounds in small: regret below what is printed, or nothing printed."""

import pytest

from bench import bounds
from galloon.learners.paths.catalogue import NAMES


@pytest.mark.parametrize("batch", [1, 100])
@pytest.mark.parametrize("place", bounds.AUTOMATA)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "perturbed_leader"])
def test_regret_is_below_the_bound_or_none_is_printed(name, place, batch):
    for options in bounds.VARIANTS.get(name, ({},)):
        row = bounds.measured(name, options, place, drawn=True, batch=batch, rounds=200, seeds=3)
        if row["bound"]:
            assert row["regret"] <= row["bound"], options
        best = bounds.measured(name, options, place, drawn=False, batch=batch, rounds=10, seeds=1)
        assert best["bound"] == 0.0


def test_what_the_theorems_leave_out_is_not_printed():
    def bound(name, options, place, batch):
        return bounds.measured(name, options, place, drawn=True, batch=batch, rounds=200, seeds=1)["bound"]

    assert bound("com_band", {}, "explicit", 1) == 0.0
    assert bound("com_band", {"exploration": "centre"}, "explicit", 1) > 0.0
    assert bound("com_band", {}, "ensemble", 1) > 0.0
    assert bound("com_band", {}, "ensemble", 100) == 0.0
    assert bound("expanded_hedge", {}, "lattice", 100) > bound("expanded_hedge", {}, "lattice", 1)
