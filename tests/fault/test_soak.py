"""The short version of the soak: a few faults of each kind under 8 streams, one after the other, then the
judgement.
"""

from pathlib import Path

import pytest

from tests.fault.soak import Sample, settled, slope_mb_per_hour, soak
from tests.system import needs

PLAN = ("vanishing", "full_disk", "terminate", "nonsense", "failed_sync", "pause", "never_reading", "greedy")


@needs("gcc")
async def test_a_daemon_under_load_survives_clients_disks_and_signals_and_loses_nothing(tmp_path: Path):
    """P1 to P5 at once: SIGTERM ends with status 0, a failed sync with 1, and clients resume after both."""
    run = await soak(tmp_path, seed=6, duration_s=0, every_s=0.3, plan=PLAN)
    assert set(run.faults) == set(PLAN)
    assert run.log.acknowledgements > 0


def test_the_slope_is_that_of_what_memory_comes_back_to():
    """Floods come and go, also at the last moment; what they leave is measured."""
    floods = {7, 8, 19, 20, 21, 40, 60}
    samples = [
        Sample(5.0 * look, 300.0 + look / 720 * 0.5 + 20.0 * (look in floods), 27, 15, "")
        for look in range(61)
    ]
    assert slope_mb_per_hour(settled(samples)) == pytest.approx(0.5)
    assert abs(slope_mb_per_hour(samples)) > 5.0
