"""Three daemons on one PostgreSQL under faults: nothing acknowledged is lost, nothing is learned twice."""

import asyncio
from random import Random

import pytest

from tests.cluster.rig import FAULTS, Workload, cluster, judge
from tests.postgres import needs_postgres, running

pytestmark = [needs_postgres, pytest.mark.slow]


def test_every_fault_once(tmp_path):
    """The short version of `python -m tests.cluster.failovers`."""
    random = Random(20)
    with running() as server, cluster(tmp_path, server) as daemons:
        workload = Workload(daemons.addresses)
        try:
            workload.wait_for_lessons(5)
            for number, fault in enumerate(FAULTS.values()):
                fault(daemons, f"learner-{number}", random)
                workload.wait_for_lessons(3)
        finally:
            workload.stop()
        assert [error for stream in workload.streams for error in stream.errors] == []
        verdict = asyncio.run(judge(daemons.addresses, daemons.url, workload))
    assert (verdict.lost, verdict.twice, verdict.digests_differ) == (0, 0, 0), verdict
