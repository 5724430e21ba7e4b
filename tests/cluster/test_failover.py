"""Three daemons on a real PostgreSQL, eight streams, every kind of fault once: nothing lost, nothing twice.

`make failover` does the same two hundred times. Where network namespaces cannot be made nobody is cut off.
"""

from random import Random

import pytest

from tests.cluster.failovers import play
from tests.cluster.faults import faults_of
from tests.cluster.rig import cluster
from tests.postgres import needs_postgres, running


@needs_postgres
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_learned_twice(tmp_path):
    with running(public=True) as server, cluster(tmp_path, server, lease_s=3.0) as daemons:
        kinds = faults_of(daemons)
        assert len(kinds) >= 4
        verdict, silences, errors = play(daemons, len(kinds), Random(1), pause_s=0.2)
    assert verdict.is_good, verdict
    assert silences.keys() == set(kinds)
    assert not errors
