"""A daemon among others that share a PostgreSQL: its lease, who else is there, and which shards are whose.

Two threads, each with a connection of its own. One renews the lease and does nothing else, so that no recovery and
no other daemon can keep it from doing so. The other looks around a few times a second:

    dead         a member whose lease is over by PostgreSQL's clock (paused, cut off), or whose session, which
                 holds an advisory lock, is gone (killed). It is fenced first, which waits for its batch in flight;
                 then its shards are nobody's
    nobody's     shards are taken, as many as are this member's fair part
    too many     shards are given up one by one, by whoever serves them (`release`), when a member has joined

A server that was restarted, or another that took its place, has no sessions of before, and may have come back
after every lease was over. For one lease after that nobody is held to be dead: whoever lives comes back meanwhile.

`view` is what was last seen: the owner of every shard. A member that cannot renew its lease in time, or finds
itself fenced, tells `lost` and ends.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
import structlog

from galloon.daemon.errors import Fenced, StoreError, StoreFailed, StoreLocked
from galloon.daemon.store.cluster_figures import ClusterFigures
from galloon.daemon.store.postgres_schema import (
    LOCK_CLASS,
    SHARDS,
    Patience,
    connect,
    prepare,
    without_password,
)

log = structlog.get_logger()
LOOK_S = 0.25  # between two looks around
LOOKS = 3  # in a row in which a session is gone: one that is only lost comes back
FENCE_WAIT_S = 3  # for a batch in flight of a member that is fenced, in one attempt
JOIN = """
WITH joined AS (INSERT INTO galloon.members(address, lease)
    VALUES (%s, clock_timestamp() + make_interval(secs => %s)) RETURNING id)
SELECT id, pg_advisory_lock(%s, id::int) FROM joined
"""
LOCK = "SELECT pg_try_advisory_lock(%s, %s::int)"
RENEW = """
UPDATE galloon.members SET lease = clock_timestamp() + make_interval(secs => %s)
WHERE id = %s AND NOT fenced
"""
MEMBERS = """
SELECT id, address, lease < clock_timestamp(), EXISTS (
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s::bigint::oid AND objid = id::bigint::oid
    AND granted)
FROM galloon.members WHERE NOT fenced
"""
UPTIME = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8"
FENCE = "UPDATE galloon.members SET fenced = true WHERE id = %s AND NOT fenced"
DISOWN = "UPDATE galloon.shards SET member = NULL WHERE member = %s"
CLAIM = """
WITH owner AS MATERIALIZED (SELECT id FROM galloon.members WHERE id = %s AND NOT fenced FOR SHARE),
     free AS (SELECT shard FROM galloon.shards WHERE member IS NULL ORDER BY shard LIMIT %s FOR UPDATE SKIP LOCKED)
UPDATE galloon.shards SET member = owner.id FROM owner, free WHERE shards.shard = free.shard RETURNING shards.shard
"""


@dataclass(frozen=True, slots=True)
class Member:
    id: int
    address: str


@dataclass(frozen=True, slots=True)
class View:
    """Who is there, and the member that each shard belongs to; a shard that is nobody's is not in it."""

    members: Mapping[int, Member] = field(default_factory=dict)
    owners: Mapping[int, int] = field(default_factory=dict)

    def address_of(self, shard: int) -> str:
        """Of the daemon that has it; empty where nobody has, or its owner is gone."""
        owner = self.members.get(self.owners.get(shard, 0))
        return "" if owner is None else owner.address


class Membership:
    """`join`, then `start` once there is an address, then `leave`. The lease is renewed from the first on."""

    def __init__(self, url: str, lease_s: float) -> None:
        self._url, self._lease_s = url, lease_s
        self.view = View()
        self._fenced_others = 0
        self._patience = Patience(lease_s)
        self._mourn_from = 0.0  # until then nobody is held to be dead
        self._missed: Counter[int] = Counter()  # looks in a row in which a member's session was gone
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []
        self._failure: StoreError | None = None
        self._lost: Callable[[StoreError], None] = lambda _: None

    def join(self) -> int:
        """Become a member, without shards so far; gives the id that fences this daemon's writes."""
        prepare(self._url)
        self._session = connect(self._url)
        row = self._session.execute(JOIN, ("", self._lease_s, LOCK_CLASS)).fetchone()
        assert row is not None, "an INSERT gives its row"
        self.id = int(row[0])
        self._patience.reached()
        self._begin("lease", self._renew)
        log.info("joined", member=self.id, store=without_password(self._url), lease_s=self._lease_s)
        return self.id

    def start(self, address: str, release: Callable[[int], None], lost: Callable[[StoreError], None]) -> None:
        """Serve: `release` is asked to give shards up one by one, `lost` hears of the end."""
        self._release, self._lost = release, lost
        with connect(self._url) as connection:
            connection.execute("UPDATE galloon.members SET address = %s WHERE id = %s", (address, self.id))
        if self._failure is not None:  # it came before anybody listened
            lost(self._failure)
        self._begin("members", self._look_around)

    def claim_all(self) -> None:
        """Every shard, now, for a tool; refused while a daemon serves."""
        with connect(self._url) as connection:
            for dead in self._look(connection):
                self._fence(connection, dead)
            self._look(connection)
            if serving := [member.address for member in self.view.members.values() if member.address]:
                raise StoreLocked(
                    f"{without_password(self._url)}: daemons serve it, at {', '.join(serving)}; stop them first"
                )
            connection.execute(CLAIM, (self.id, SHARDS))
            self._look(connection)

    def leave(self) -> None:
        """Go: whoever is there takes the shards at once."""
        self._ending.set()
        for thread in self._threads:
            thread.join()
        try:
            with connect(self._url) as connection, connection.transaction():
                connection.execute(FENCE, (self.id,))
                connection.execute(DISOWN, (self.id,))
        except psycopg.Error as error:
            log.warning("left without a word; the others will notice", error=str(error))
        self._session.close()

    def figures(self) -> ClusterFigures:
        view = self.view
        serving = [member for member in view.members.values() if member.address]
        return ClusterFigures(
            members=len(serving),
            shards_owned=sum(owner == self.id for owner in view.owners.values()),
            shards_without_owner=SHARDS - len(view.owners),
            lease_used=self.late_s / self._lease_s,
            fenced=self._fenced_others,
        )

    @property
    def late_s(self) -> float:
        """Since the lease was last renewed."""
        return self._patience.silent_s

    def owns(self, shard: int) -> bool:
        return self.view.owners.get(shard) == self.id

    def disown(self, shard: int) -> None:
        """Give a shard up, when nothing of it is under way any more."""
        with connect(self._url) as connection:
            connection.execute(
                "UPDATE galloon.shards SET member = NULL WHERE shard = %s AND member = %s", (shard, self.id)
            )

    # The lease.

    def _renew(self) -> None:
        locked = True
        while not self._ending.wait(self._lease_s / 5):
            began = time.monotonic()
            try:
                if self._session.closed:
                    self._session, locked = connect(self._url), False
                if not locked:  # where the session before is still held to be there, when that has ended
                    (locked,) = self._session.execute(LOCK, (LOCK_CLASS, self.id)).fetchone() or (False,)
                renewed = self._session.execute(RENEW, (self._lease_s, self.id)).rowcount
            except psycopg.Error as error:
                log.warning("lease not renewed", error=str(error), silent_s=round(self.late_s, 1))
                if not self._session.closed:
                    self._session.close()
                if self._patience.is_over(time.monotonic() - began):
                    raise StoreFailed(
                        f"{without_password(self._url)}: the lease could not be renewed for {self.late_s:.0f} s"
                    ) from error
                continue
            if not renewed:
                raise Fenced(
                    f"{without_password(self._url)}: member {self.id} was fenced: it was silent for longer than "
                    f"{self._lease_s:g} s; this daemon stops, and joins anew when it is started again"
                )
            self._patience.reached()

    # The others.

    def _look_around(self) -> None:
        connection = None
        while not self._ending.wait(LOOK_S):
            try:
                if connection is None or connection.closed:
                    connection = self._reach(again=connection is not None)
                for dead in self._look(connection):
                    self._fence(connection, dead)
                self._balance(connection)
            except psycopg.errors.LockNotAvailable:
                log.info("a batch of a member that is fenced is still in flight")
            except psycopg.Error as error:
                log.warning("members not seen", error=str(error))
                if connection is not None:
                    connection.close()
        if connection is not None:
            connection.close()

    def _reach(self, *, again: bool) -> "psycopg.Connection[Any]":
        connection = connect(self._url, lock_timeout=f"'{FENCE_WAIT_S}s'")
        (uptime_s,) = connection.execute(UPTIME).fetchone() or (0.0,)
        grace_s = self._lease_s if again else max(0.0, self._lease_s - uptime_s)
        self._mourn_from = time.monotonic() + grace_s
        self._missed.clear()
        return connection

    def _look(self, connection: "psycopg.Connection[Any]") -> list[int]:
        """See who is there; gives those who are not any more."""
        members, dead, mourns = {}, [], time.monotonic() >= self._mourn_from
        for number, address, over, held in connection.execute(MEMBERS, (LOCK_CLASS,)).fetchall():
            members[number] = Member(number, address)
            self._missed[number] = 0 if held else self._missed[number] + 1
            if mourns and number != self.id and (over or self._missed[number] >= LOOKS):
                dead.append(number)
        owners = connection.execute("SELECT shard, member FROM galloon.shards WHERE member IS NOT NULL")
        self.view = View(members, dict(owners.fetchall()))
        return dead

    def _fence(self, connection: "psycopg.Connection[Any]", dead: int) -> None:
        """Fence first: from then on nothing that it sends is written. Only then are its shards free."""
        if connection.execute(FENCE, (dead,)).rowcount:
            self._fenced_others += 1
            log.warning("member fenced", member=dead, address=self.view.members[dead].address)
        connection.execute(DISOWN, (dead,))

    def _balance(self, connection: "psycopg.Connection[Any]") -> None:
        self._look(connection)
        serving = sum(member.address != "" for member in self.view.members.values())
        fair = -(-SHARDS // max(1, serving))
        own = sorted(shard for shard, member in self.view.owners.items() if member == self.id)
        if len(own) < fair and len(self.view.owners) < SHARDS:
            if connection.execute(CLAIM, (self.id, fair - len(own))).rowcount:
                self._look(connection)
        elif len(own) > fair:
            for shard in own[fair:]:
                if not self._ending.is_set():
                    self._release(shard)

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._guarded, args=(work,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except StoreError as error:
            self._failure = error
        except Exception as defect:  # noqa: BLE001  # a daemon without a lease must not go on
            self._failure = StoreFailed(f"membership failed: {defect!r}")
        if self._failure is not None:
            self._lost(self._failure)
