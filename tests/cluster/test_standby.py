"""A synchronous standby: what was acknowledged is there when it takes the place of the server that died."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from galloon.daemon.store.membership import Membership
from galloon.daemon.store.postgres import PostgresBackend
from galloon.daemon.store.protocol import Create, Entry
from tests.cluster.faults import LONGER_S
from tests.cluster.rig import cluster
from tests.cluster.workload import Workload, judge
from tests.postgres import needs_postgres, replicated

pytestmark = needs_postgres
WAITING = (
    "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'galloon' "
    "AND (query ~ 'galloon.journal' OR pid != %s AND query ~ 'FOR SHARE')"
)


@pytest.mark.slow
def test_a_promoted_standby_has_all_that_was_acknowledged(tmp_path):
    """Three daemons go on with it by themselves; nothing is lost, nothing is learned twice.

    Before that it was away for longer than a lease, when no commit returned.
    """
    with replicated() as pair, cluster(tmp_path, pair, namespaces=False) as daemons:
        workload = Workload(daemons.addresses, pause_s=0.1)
        try:
            workload.wait_for_lessons(3)
            pair.standby.stop()
            time.sleep(daemons.lease_s + LONGER_S)
            pair.standby.start()
            workload.wait_for_lessons(3)
            pair.primary.kill()
            pair.standby.promote()
            workload.wait_for_lessons(3)
        finally:
            workload.stop()
        verdict = asyncio.run(judge(daemons.addresses, daemons.url, workload))
    assert verdict.is_good, verdict
    assert not workload.errors


def test_what_a_cut_connection_left_on_one_server_waits_for_the_standby_all_the_same():
    """PostgreSQL keeps a commit whose session ends while it waits for the standby: found is not acknowledged."""
    with replicated() as pair, ThreadPoolExecutor() as pool:
        url = pair.new_database()
        membership = Membership(url, lease_s=60.0)
        backend = PostgresBackend(url, membership.join())
        membership.claim_all()
        learner = backend.transact(Create("a", "{}"))
        pair.standby.stop()
        writing = pool.submit(backend.write, [Entry(learner, 1, 1, b"acknowledged when it is safe")])
        with psycopg.connect(pair.primary.url(), autocommit=True) as other:
            first = _waiting(other, 0)
            other.execute("SELECT pg_terminate_backend(%s)", (first,))
            assert _waiting(other, first)
            assert not writing.done()
        pair.standby.start()
        writing.result(60)
        assert [entry.body for entry in backend.journal(learner, 0)] == [b"acknowledged when it is safe"]
        backend.close()
        membership.leave()


def _waiting(database, before):
    """The session that writes entries or, after it, confirms them, once it waits for the standby."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        row = database.execute(WAITING, (before,)).fetchone()
        if row is not None and row[0] != before:
            return row[0]
        time.sleep(0.05)
    raise AssertionError("nobody waits for the standby")
