"""Fencing: every promise holds on a real PostgreSQL, and every sabotage of it is noticed."""

import pytest

from galloon.daemon.store import membership, postgres
from galloon.daemon.store.postgres import INSERT, PostgresBackend
from tests.cluster.fencing import CHECKS, Pair
from tests.postgres import needs_postgres, shared

pytestmark = needs_postgres
PLAIN = """
INSERT INTO galloon.journal SELECT * FROM unnest(%(learners)s::bigint[], %(seqs)s::bigint[], %(kinds)s::bigint[],
    %(bodies)s::bytea[], %(checksums)s::bigint[], %(keys)s::bigint[])
"""


@pytest.fixture
def pair():
    made = Pair(shared().new_database())
    yield made
    made.close()


@pytest.mark.parametrize("check", CHECKS)
def test_the_promise_holds(pair, check):
    CHECKS[check](pair)


def _no_fence(patch):
    """Entries are written by whoever sends them; a number that is taken is the only obstacle."""
    patch.setattr(postgres, "INSERT", PLAIN)


def _no_for_share(patch):
    patch.setattr(postgres, "INSERT", INSERT.replace(" FOR SHARE", ""))


def _fence_outside_the_statement(patch):
    """First look whether we are fenced, then write."""
    write = PostgresBackend.write

    def checked_before(self, batch):
        self._check_unfenced()
        write(self, batch)

    patch.setattr(postgres, "INSERT", PLAIN)
    patch.setattr(PostgresBackend, "write", checked_before)


def _operations_without_fence(patch):
    patch.setattr(postgres, "UNFENCED", "SELECT 1 FROM galloon.members WHERE id = %s")


def _lease_behind_recovery(patch):
    """One thread renews the lease, after everything else that it does."""
    balance = membership.Membership._balance

    def balanced(self, connection):
        balance(self, connection)
        self._session.execute(membership.RENEW, (self._lease_s, self.id))

    patch.setattr(membership.Membership, "_balance", balanced)
    patch.setattr(membership.Membership, "_renew", lambda self: self._ending.wait())


SABOTAGE = {
    _no_fence: "a_fenced_member_writes_nothing",
    _no_for_share: "a_takeover_waits_for_a_batch_in_flight",
    _fence_outside_the_statement: "nothing_is_written_that_was_checked_before_the_fence",
    _operations_without_fence: "a_fenced_member_writes_nothing",
    _lease_behind_recovery: "the_lease_is_renewed_whatever_else_takes_long",
}


@pytest.mark.parametrize("plant", SABOTAGE, ids=lambda plant: plant.__name__.strip("_"))
def test_sabotage_is_noticed(pair, monkeypatch, plant):
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        CHECKS[SABOTAGE[plant]](pair)


def test_the_primary_key_as_the_only_fence_is_noticed(pair, monkeypatch):
    """Without a fence a stale entry is refused while its number is taken, and accepted once it is not."""
    monkeypatch.setattr(postgres, "INSERT", PLAIN)
    with pytest.raises(AssertionError):
        CHECKS["a_stale_entry_is_refused_where_retention_has_made_room_for_it"](pair)
    assert pair.entries() == [(5, b"stale")]
