"""The store on PostgreSQL, shared by several daemons: every write is fenced by the writer's row among the members.

A batch is one statement. It reads the member's row FOR SHARE and inserts all entries or none: none where the row
is fenced, where a learner's shard is not this member's, or where a learner does not exist. Whoever takes over sets
`fenced` first, which waits for a batch in flight; nothing that this member sends later can be written. Operations
hold the same lock for their whole transaction.

A lost connection is made anew, and the last batch is looked up: it is there, or is sent again.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg

from galloon.daemon.errors import Fenced, StoreConflict, StoreFailed, StoreFull
from galloon.daemon.store.postgres_reader import PostgresReader
from galloon.daemon.store.postgres_schema import Patience, connect, shard_of, without_password
from galloon.daemon.store.protocol import (
    VOID,
    Create,
    Delete,
    Entry,
    Exchange,
    Forget,
    Operation,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
    StoredSnapshot,
    Vacuum,
)
from galloon.daemon.store.sqlite_schema import checksum, learner_checksum, snapshot_rows

INSERT = """
WITH owner AS MATERIALIZED (SELECT id FROM galloon.members WHERE id = %(member)s AND NOT fenced FOR SHARE),
     batch AS MATERIALIZED (SELECT * FROM unnest(%(learners)s::bigint[], %(seqs)s::bigint[], %(kinds)s::bigint[],
         %(bodies)s::bytea[], %(checksums)s::bigint[], %(keys)s::bigint[])
         AS entry(learner, seq, kind, body, checksum, key)),
     owned AS MATERIALIZED (SELECT count(*) AS entries FROM batch
         JOIN galloon.learners ON learners.key = batch.learner
         JOIN galloon.shards USING (shard) JOIN owner ON owner.id = shards.member)
INSERT INTO galloon.journal SELECT batch.* FROM batch, owned WHERE owned.entries = %(entries)s
"""
WRITTEN = """
SELECT count(*) FROM galloon.journal JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[])
    AS entry(learner, seq, checksum) USING (learner, seq, checksum)
"""
UNFENCED = "SELECT 1 FROM galloon.members WHERE id = %s AND NOT fenced FOR SHARE"
FORGET = """
DELETE FROM galloon.journal AS old WHERE learner = %(learner)s AND seq <= %(seq)s AND (key = 0 OR NOT EXISTS (
    SELECT 1 FROM galloon.journal AS later WHERE later.learner = %(learner)s AND later.key = old.key
    AND later.seq > %(seq)s))
"""
RECONNECT_S = 0.1
T = TypeVar("T")


class PostgresBackend:
    """See `Backend` for the verbs. `member` is whose writes these are, and has a lease of so many seconds."""

    def __init__(self, url: str, member: int, lease_s: float = 10.0) -> None:
        self._url, self.member, self._lease_s = url, member, lease_s
        self._name = without_password(url)
        self._connection = self._connected()
        self._reader = PostgresReader(url)

    # Reading: `PostgresReader` does it.

    def learners(self) -> Iterator[StoredLearner]:
        return self._reader.learners()

    def with_challengers(self, name: str) -> list[StoredLearner]:
        return self._reader.with_challengers(name)

    def specs(self, after: str) -> list[tuple[str, str]]:
        return self._reader.specs(after)

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        return self._reader.journal(learner, after)

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        return self._reader.find(learner, key)

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        return self._reader.snapshots(learner)

    def snapshot(self, learner: int, seq: int) -> bytes:
        return self._reader.snapshot(learner, seq)

    def base(self, learner: int) -> int:
        return self._reader.base(learner)

    def keys(self, learner: int) -> Iterator[list[int]]:
        return self._reader.keys(learner)

    def size(self) -> int:
        return self._reader.size()

    # Writing.

    def write(self, batch: Sequence[Entry]) -> None:
        checksums = [checksum(entry.learner, entry.seq, entry.kind, entry.body, entry.key) for entry in batch]
        values = {
            "member": self.member,
            "entries": len(batch),
            "learners": [entry.learner for entry in batch],
            "seqs": [entry.seq for entry in batch],
            "kinds": [entry.kind for entry in batch],
            "bodies": [entry.body for entry in batch],
            "checksums": checksums,
            "keys": [entry.key for entry in batch],
        }

        def is_there() -> bool:
            found = (values["learners"], values["seqs"], checksums)
            return bool(self._one(WRITTEN, found) == len(batch))

        written = self._judging(
            lambda: self._connection.execute(INSERT, values).rowcount, is_there, len(batch)
        )
        if written != len(batch):
            self._check_unfenced()
            raise StoreConflict(
                f"{self._name}: a learner of the batch does not exist, or is not of this member"
            )

    def transact(self, operation: Operation) -> int:
        match operation:
            case Create():
                return self._judging(lambda: self._create(operation))
            case Vacuum():
                return self._judging(self._vacuum)
            case Delete(learner):
                return self._judging(lambda: self._delete(learner))
            case SaveSnapshot():
                return self._judging(lambda: self._save_snapshot(operation))
            case Forget():
                return self._judging(lambda: self._forget(operation))
            case Exchange(learner, seq):
                return self._judging(
                    lambda: self._exchange(operation), lambda: self._last_exchange(learner) == seq
                )

    def close(self) -> None:
        self._reader.close()
        self._connection.close()

    @contextmanager
    def _owning(self, learner: int | None = None, name: str | None = None) -> Iterator[Any]:
        """A transaction of the owner of a learner: nobody can fence this member before its end."""
        with self._connection.transaction():
            if self._connection.execute(UNFENCED, (self.member,)).fetchone() is None:
                raise self._fenced()
            if name is not None:
                owner = self._one("SELECT member FROM galloon.shards WHERE shard = %s", (shard_of(name),))
            else:
                owner = self._one(
                    "SELECT member FROM galloon.learners JOIN galloon.shards USING (shard) WHERE key = %s",
                    (learner,),
                )
            if owner != self.member:
                raise StoreConflict(
                    f"{self._name}: learner {name or learner} does not exist, or is not of this member"
                )
            yield self._connection

    def _create(self, new: Create) -> int:
        with self._owning(name=new.name) as database:
            row = database.execute(
                "INSERT INTO galloon.learners(name, shard, spec, checksum) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT DO NOTHING RETURNING key",
                (new.name, shard_of(new.name), new.spec, learner_checksum(new.name, new.spec)),
            ).fetchone()
            if row is None:
                raise StoreConflict(f"{self._name}: a learner called {new.name!r} exists")
            if new.snapshot is not None:
                self._put_snapshot(row[0], 0, new.snapshot, 0.0)
        return int(row[0])

    def _delete(self, learner: int) -> int:
        with self._owning(learner) as database:
            gone = database.execute("DELETE FROM galloon.journal WHERE learner = %s", (learner,)).rowcount
            database.execute("DELETE FROM galloon.snapshots WHERE learner = %s", (learner,))
            database.execute("DELETE FROM galloon.learners WHERE key = %s", (learner,))
        return int(gone)

    def _save_snapshot(self, new: SaveSnapshot) -> int:
        learner, seq = new.learner, new.seq
        with self._owning(learner):
            newest = self._one("SELECT max(seq) FROM galloon.snapshots WHERE learner = %s", (learner,))
            base = self._one("SELECT base FROM galloon.learners WHERE key = %s", (learner,))
            if newest is not None and newest > seq:
                return 0
            gone = sum(
                min(1, self._drop_snapshots("=", learner, old))
                for old in new.replaced
                if old not in (base, seq)
            )
            self._put_snapshot(learner, seq, new.body, new.time)
        return gone

    def _forget(self, cut: Forget) -> int:
        learner, seq = cut.learner, cut.seq
        with self._owning(learner) as database:
            known = database.execute(
                "SELECT name, spec FROM galloon.learners WHERE key = %(learner)s AND base <= %(seq)s AND EXISTS "
                "(SELECT 1 FROM galloon.snapshots WHERE learner = %(learner)s AND seq = %(seq)s)",
                {"learner": learner, "seq": seq},
            ).fetchone()
            if known is None:
                raise StoreConflict(
                    f"{self._name}: learner {learner} has no snapshot at {seq} after its base"
                )
            gone = database.execute(FORGET, {"learner": learner, "seq": seq}).rowcount
            self._drop_snapshots("<", learner, seq)
            database.execute(
                "UPDATE galloon.learners SET base = %s, checksum = %s WHERE key = %s",
                (seq, learner_checksum(known[0], known[1], seq), learner),
            )
        return int(gone)

    def _exchange(self, new: Exchange) -> int:
        learner = new.learner
        with self._owning(learner) as database:
            void = self._make_void(learner, new.erased)
            database.execute(
                "INSERT INTO galloon.journal VALUES (%s, %s, %s, %s, %s, 0)",
                (learner, new.seq, new.kind, new.entry, checksum(learner, new.seq, new.kind, new.entry)),
            )
            self._drop_snapshots(">=", learner, new.since)
            self._put_snapshot(learner, new.seq, new.snapshot, new.time)
            if new.base is not None:
                self._change_base(learner, new.base)
            if new.spec is not None:
                row = database.execute(
                    "SELECT name, base FROM galloon.learners WHERE key = %s", (learner,)
                ).fetchone()
                assert row is not None, "its owner is known"
                database.execute(
                    "UPDATE galloon.learners SET spec = %s, checksum = %s WHERE key = %s",
                    (new.spec, learner_checksum(row[0], new.spec, row[1]), learner),
                )
        return void

    def _change_base(self, learner: int, body: bytes) -> None:
        base = self._one("SELECT base FROM galloon.learners WHERE key = %s", (learner,))
        time = self._one(
            "SELECT max(time) FROM galloon.snapshots WHERE learner = %s AND seq = %s", (learner, base)
        )
        if time is not None:
            self._put_snapshot(learner, base, body, time)

    def _last_exchange(self, learner: int) -> int | None:
        """The snapshot at the end of the journal, which only an exchange leaves there."""
        return self._one("SELECT max(seq) FROM galloon.snapshots WHERE learner = %s", (learner,))  # type: ignore[no-any-return]

    def _make_void(self, learner: int, keys: tuple[int, ...]) -> int:
        rows = self._connection.execute(
            "SELECT seq FROM galloon.journal WHERE learner = %s AND key != 0 "
            "AND key IN (SELECT value::bigint FROM json_array_elements_text(%s::json))",
            (learner, json.dumps(keys)),
        ).fetchall()
        with self._connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE galloon.journal SET kind = 0, key = 0, body = ''::bytea, checksum = %s "
                "WHERE learner = %s AND seq = %s",
                [(checksum(learner, seq, VOID, b""), learner, seq) for (seq,) in rows],
            )
        return len(rows)

    def _vacuum(self) -> int:
        for table in ("journal", "snapshots"):
            self._connection.execute(f"VACUUM FULL galloon.{table}")
        return 0

    def _drop_snapshots(self, which: str, learner: int, seq: int) -> int:
        return self._connection.execute(
            f"DELETE FROM galloon.snapshots WHERE learner = %s AND seq {which} %s",  # noqa: S608  # a sign of our own
            (learner, seq),
        ).rowcount

    def _put_snapshot(self, learner: int, seq: int, body: bytes, when: float) -> None:
        self._drop_snapshots("=", learner, seq)
        for row in snapshot_rows(learner, seq, when, body):
            self._connection.execute("INSERT INTO galloon.snapshots VALUES (%s, %s, %s, %s, %s, %s, %s)", row)

    def _check_unfenced(self) -> None:
        if self._one(UNFENCED, (self.member,)) is None:
            raise self._fenced()

    def _fenced(self) -> Fenced:
        return Fenced(
            f"{self._name}: member {self.member} was fenced: another daemon has its learners; this one stops, and "
            "joins anew when it is started again"
        )

    def _one(self, sql: str, values: Any) -> Any:
        row = self._connection.execute(sql, values).fetchone()
        return None if row is None else row[0]

    # Errors, and lost connections.

    def _judging(self, work: Callable[[], T], is_done: Callable[[], bool] | None = None, done: Any = 0) -> T:
        """Do it; after a lost connection again, unless `is_done` finds that it was done, which gives `done`."""
        while True:
            try:
                return work()
            except psycopg.errors.DiskFull as problem:
                raise StoreFull(f"{self._name}: the disk of PostgreSQL is full") from problem
            except psycopg.Error as problem:
                if not self._connection.closed:
                    raise StoreFailed(
                        f"{self._name}: a write failed: {problem}; the daemon stops"
                    ) from problem
                self._connection = self._connected()
                if is_done is not None and is_done():
                    work, is_done = lambda: self._replicated(done), None

    def _replicated(self, done: Any) -> Any:
        """What is found after a lost connection may be on this server alone: no standby was waited for to the end.

        A write of our own, which comes after it in PostgreSQL's log, waits for the standby as every one does.
        """
        self._check_unfenced()
        return done

    def _connected(self) -> "psycopg.Connection[Any]":
        patience = Patience(self._lease_s)
        while True:
            began = time.monotonic()
            try:
                # Nobody waits for a transaction of a daemon that was stopped in the middle of it.
                return connect(self._url, idle_in_transaction_session_timeout="'5s'")
            except psycopg.OperationalError as problem:
                if patience.is_over(time.monotonic() - began):
                    raise StoreFailed(
                        f"{self._name}: not reached for {patience.silent_s:.0f} s: {problem}"
                    ) from problem
                time.sleep(RECONNECT_S)
