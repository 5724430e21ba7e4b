"""The short version of `make fault`: three kills, the same judgement."""

from pathlib import Path

from tests.fault.campaign import run


async def test_kill_9_in_the_middle_of_8_busy_streams_loses_nothing_and_learns_nothing_twice(tmp_path: Path):
    outcome = await run(tmp_path / "fault", kills=3, seed=20260)
    assert outcome.kills == 3
    assert outcome.reconnects >= 8, "every stream must have been cut at least once"
