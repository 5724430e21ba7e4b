"""What fencing promises, each promise a check on a real PostgreSQL: `CHECKS`. Sabotage fails the one it breaks."""

import threading
import time
from collections.abc import Callable

import psycopg

from galloon.daemon.errors import Fenced, StoreError
from galloon.daemon.store.membership import FENCE, Membership
from galloon.daemon.store.postgres import PostgresBackend
from galloon.daemon.store.postgres_schema import connect
from galloon.daemon.store.protocol import Create, Delete, Entry, Exchange, Forget, SaveSnapshot

WAIT = "'300ms'"


class Pair:
    """An owner with a learner and five entries, and another member that may take over."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.first, self.second = Membership(url, 60.0), Membership(url, 60.0)
        self.old = PostgresBackend(url, self.first.join())
        self.new = PostgresBackend(url, self.second.join())
        self.first.claim_all()
        self.key = self.old.transact(Create("a", "{}"))
        self.old.write([Entry(self.key, seq, 1, b"x") for seq in range(1, 6)])

    def take_over(self) -> None:
        with connect(self.url) as connection:
            self.second._look(connection)
            self.second._fence(connection, self.first.id)
        self.second.claim_all()

    def entries(self) -> list[tuple[int, bytes]]:
        with connect(self.url) as connection:
            return connection.execute("SELECT seq, body FROM galloon.journal ORDER BY seq").fetchall()

    def close(self) -> None:
        for backend in (self.old, self.new):
            backend.close()
        for member in (self.first, self.second):
            member.leave()


def is_fenced(work: Callable[[], object]) -> bool:
    try:
        work()
    except Fenced:
        return True
    except StoreError:
        return False  # refused, but for another reason
    return False


def a_fenced_member_writes_nothing(pair: Pair) -> None:
    """Neither a batch nor any operation; the new owner goes on with the same numbers."""
    pair.take_over()
    before = pair.entries()
    assert is_fenced(lambda: pair.old.write([Entry(pair.key, 6, 1, b"stale")]))
    for operation in (
        Create("b", "{}"),
        SaveSnapshot(pair.key, 5, b"stale"),
        Exchange(pair.key, 6, 1, b"stale", b"stale", 0.0, 0),
        Delete(pair.key),
    ):
        assert is_fenced(lambda operation=operation: pair.old.transact(operation)), operation
    assert pair.entries() == before
    pair.new.write([Entry(pair.key, 6, 1, b"new")])
    assert [learner.name for learner in pair.new.learners()] == ["a"]


def a_stale_entry_is_refused_where_retention_has_made_room_for_it(pair: Pair) -> None:
    """The primary key alone would accept it: the entry that it collides with is gone."""
    pair.take_over()
    pair.new.transact(SaveSnapshot(pair.key, 5, b"state"))
    pair.new.transact(Forget(pair.key, 5))
    assert pair.entries() == []
    assert is_fenced(lambda: pair.old.write([Entry(pair.key, 5, 1, b"stale")]))
    assert pair.entries() == []


def a_takeover_waits_for_a_batch_in_flight(pair: Pair) -> None:
    """While a batch is under way its writer cannot be fenced; nothing is acknowledged that a takeover misses."""
    with connect(pair.url, lock_timeout=WAIT) as other:
        with pair.old._connection.transaction():
            pair.old.write([Entry(pair.key, 6, 1, b"in flight")])
            try:
                other.execute(FENCE, (pair.first.id,))
            except psycopg.errors.LockNotAvailable:
                waited = True
            else:
                waited = False
        assert waited, "it was fenced while its batch was under way"
        assert other.execute(FENCE, (pair.first.id,)).rowcount == 1
    assert pair.entries()[-1] == (6, b"in flight")


def nothing_is_written_that_was_checked_before_the_fence(pair: Pair) -> None:
    """A batch that is on its way when its member is fenced, and reaches the table later, is refused."""
    outcome: list[bool] = []
    with connect(pair.url) as holder, connect(pair.url) as other:
        with holder.transaction():
            holder.execute("LOCK TABLE galloon.journal IN EXCLUSIVE MODE")
            writer = threading.Thread(
                target=lambda: outcome.append(
                    is_fenced(lambda: pair.old.write([Entry(pair.key, 6, 1, b"stale")]))
                )
            )
            writer.start()
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while (other.execute(waiting).fetchone() or (0,))[0] == 0:
                time.sleep(0.01)
            other.execute(f"SET lock_timeout = {WAIT}")
            other.execute(FENCE, (pair.first.id,))
        writer.join()
    assert outcome == [True]
    assert len(pair.entries()) == 5


def the_lease_is_renewed_whatever_else_takes_long(pair: Pair) -> None:
    """Taking over, recovering and giving up may take longer than a lease; the lease does not wait for them."""
    lease_s, lost = 1.0, list[StoreError]()
    busy, member = threading.Event(), Membership(pair.url, lease_s)
    member.join()

    def slow(shard: int) -> None:
        busy.set()
        time.sleep(3 * lease_s)

    with connect(pair.url) as connection:
        # The others serve, so that a fair share is less than all.
        connection.execute("UPDATE galloon.members SET address = '127.0.0.1:2' WHERE id <> %s", (member.id,))
        connection.execute("UPDATE galloon.shards SET member = %s", (member.id,))
        member.start("127.0.0.1:1", slow, lost.append)
        assert busy.wait(10), "it was not asked to give anything up"
        for _ in range(10):
            time.sleep(lease_s / 4)
            late = connection.execute(
                "SELECT lease < clock_timestamp() FROM galloon.members WHERE id = %s", (member.id,)
            ).fetchone()
            assert late == (False,), "the lease ran out while the member was busy"
    assert not lost
    member.leave()


CHECKS: dict[str, Callable[[Pair], None]] = {
    check.__name__: check
    for check in (
        a_fenced_member_writes_nothing,
        a_stale_entry_is_refused_where_retention_has_made_room_for_it,
        a_takeover_waits_for_a_batch_in_flight,
        nothing_is_written_that_was_checked_before_the_fence,
        the_lease_is_renewed_whatever_else_takes_long,
    )
}
