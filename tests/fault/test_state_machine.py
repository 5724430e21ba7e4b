"""A short life of the machine that `make fault` plays for 10,000 steps."""

from pathlib import Path

from tests.fault import state_machine


def test_all_requests_of_two_tenants_in_any_order_keep_what_was_said(tmp_path: Path):
    """With cancellation, rivals on one name, a full disk, and kills in the middle; every restart opens."""
    report = state_machine.run(tmp_path, steps=160, seed=7, steps_of_a_life=80)
    assert report.restarts == 2
    assert report.acknowledged > 10
