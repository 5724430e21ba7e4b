"""The short version of the soak: a few faults of each kind under 12 streams, one after the other, then the
judgement.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fault.memory import Sample, judge_memory, sampled, watched
from tests.fault.soak import soak
from tests.system import needs

PLAN = ("vanishing", "full_disk", "terminate", "nonsense", "failed_sync", "pause", "never_reading", "greedy")


@needs("gcc")
async def test_a_daemon_under_load_survives_clients_disks_and_signals_and_loses_nothing(tmp_path: Path):
    """P1 to P5 at once: SIGTERM ends with status 0, a failed sync with 1, and clients resume after both."""
    run = await soak(tmp_path, seed=6, duration_s=0, every_s=0.3, plan=PLAN)
    assert set(run.faults) == set(PLAN)
    assert run.log.acknowledgements > 0


def samples(resident=lambda look: 300.0, in_use=lambda look: 200.0, blocks=lambda look: 1_000_000):
    """Half an hour of looks, five seconds apart, with floods that come and go, the last one at the end."""
    floods = {7, 8, 19, 20, 21, 40, 180, 360}
    return [
        Sample(
            5.0 * look,
            resident(look) + 20.0 * (look in floods),
            in_use(look) + 15.0 * (look in floods),
            int(blocks(look)),
            27,
            15,
            "",
        )
        for look in range(361)
    ]


def test_floods_that_memory_comes_back_from_are_not_growth():
    grown = judge_memory(samples())
    assert grown.complaints() == []
    assert grown.resident_mb == (300.0, 300.0)


@pytest.mark.parametrize(
    ("grows", "named"),
    [
        ({"resident": lambda look: 300.0 + look / 360 * 20}, "resident memory"),
        ({"in_use": lambda look: 200.0 + look / 360 * 6}, "bytes in use"),
        ({"blocks": lambda look: 1_000_000 + look * 100}, "small objects"),
    ],
)
def test_what_grows_is_named(grows, named):
    """6.7 % of resident memory, 3 % of bytes in use, 3.6 % of small objects."""
    (complaint,) = judge_memory(samples(**grows)).complaints()
    assert complaint.startswith((named, f"blocks of {named}"))


def test_resident_memory_may_move_a_little():
    """What stays of a flood lies scattered over pages: 4 % more is no leak while bytes in use are level."""
    assert judge_memory(samples(resident=lambda look: 300.0 + look / 360 * 12)).complaints() == []


def test_a_process_tells_what_it_has_in_use(tmp_path):
    """Its own count, which no other process sees."""
    told = tmp_path / "in_use"
    command = [sys.executable, "-c", "import time; kept = bytes(50_000_000); time.sleep(60)"]
    process = subprocess.Popen(command, env={**os.environ, **watched(told)})
    try:
        while not told.exists() or sampled(process.pid, 0.0, "", told).in_use_mb < 47:
            time.sleep(0.05)
        sample = sampled(process.pid, 0.0, "", told)
        assert sample.in_use_mb < 100
        assert sample.blocks > 1000
    finally:
        process.kill()
        process.wait()
