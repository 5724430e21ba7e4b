"""The short version of the thousand kills: the real store and hosts, killed at random and at every failpoint."""

from pathlib import Path

from galloon.daemon.failpoints import POINTS
from tests.fault.kills import in_own_process


def test_kills_at_random_moments_and_while_recovering_lose_nothing(tmp_path: Path):
    """Each recovery equals an uninterrupted run over the surviving events, and has all that was acknowledged."""
    killed = in_own_process(tmp_path, "random", kills=8, seed=6)
    assert killed.kills == 8
    assert killed.acknowledged > 0
    assert killed.recoveries > 2


def test_death_and_delay_at_every_failpoint_lose_nothing(tmp_path: Path):
    """On both sides of every durable step; that each point is really reached is part of it."""
    killed = in_own_process(tmp_path, "failpoints", kills=0, seed=6)
    assert killed.at_failpoints == 2 * len(POINTS)
    assert killed.archived > 0, "snapshots must have been among the steps"
