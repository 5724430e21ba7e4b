"""The short version of the soak: a few faults of each kind under 8 streams, one after the other, then the
judgement.
"""

from pathlib import Path

from tests.fault.soak import soak
from tests.system import needs

PLAN = ("vanishing", "full_disk", "terminate", "nonsense", "failed_sync", "pause", "never_reading", "greedy")


@needs("gcc")
async def test_a_daemon_under_load_survives_clients_disks_and_signals_and_loses_nothing(tmp_path: Path):
    """P1 to P5 at once: SIGTERM ends with status 0, a failed sync with 1, and clients resume after both."""
    run = await soak(tmp_path, seed=6, duration_s=0, every_s=0.3, plan=PLAN)
    assert set(run.faults) == set(PLAN)
    assert run.log.acknowledgements > 0
