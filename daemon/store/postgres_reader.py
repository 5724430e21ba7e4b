"""Reading the store on PostgreSQL, by a connection of its own; every row that it gives is checked.

A lost connection is made anew: reading twice harms nobody.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from galloon.daemon.errors import StoreConflict, StoreDamaged, StoreFailed
from galloon.daemon.store.postgres_schema import connect, without_password
from galloon.daemon.store.protocol import StoredEntry, StoredLearner, StoredSnapshot
from galloon.daemon.store.sqlite_schema import checksum, joined_snapshot, learner_checksum

ADVICE = "restore PostgreSQL from its backup"
ENTRIES_AT_ONCE = 256
KEYS_AT_ONCE = 10_000
SPECS_AT_ONCE = 200
LEARNER = "SELECT key, name, spec, checksum, base FROM galloon.learners"


class PostgresReader:
    """Any thread may call any method; they take turns."""

    def __init__(self, url: str) -> None:
        self._url, self._name = url, without_password(url)
        self._connection = connect(url)
        self._turn = threading.Lock()

    def learners(self) -> Iterator[StoredLearner]:
        for row in self._read(f"{LEARNER} ORDER BY key"):
            yield self._learner(row)

    def specs(self, after: str) -> list[tuple[str, str]]:
        """The next learners by name after this one, in the order of bytes, each with its spec."""
        return self._read(
            'SELECT name, spec FROM galloon.learners WHERE name COLLATE "C" > %s '
            'ORDER BY name COLLATE "C" LIMIT %s',
            (after, SPECS_AT_ONCE),
        )

    def with_challengers(self, name: str) -> list[StoredLearner]:
        """The learner of this name, if there is one, and those that are called after it."""
        rows = self._read(
            f"{LEARNER} WHERE name = %s OR starts_with(name, %s) ORDER BY key", (name, f"{name}:")
        )
        return [self._learner(row) for row in rows]

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        last = max(after, self.base(learner))
        while rows := self._read(
            "SELECT seq, kind, body, checksum, key FROM galloon.journal WHERE learner = %s AND seq > %s "
            "ORDER BY seq LIMIT %s",
            (learner, last, ENTRIES_AT_ONCE),
        ):
            for row in rows:
                last += 1
                yield self._entry(learner, last, row)

    def base(self, learner: int) -> int:
        found = self._read("SELECT base FROM galloon.learners WHERE key = %s", (learner,))
        return sum(int(base) for (base,) in found)

    def keys(self, learner: int) -> Iterator[list[int]]:
        last = -(2**63)  # no hash in practice; were it one, its round would only be looked for in vain
        while found := self._read(
            "SELECT DISTINCT key FROM galloon.journal WHERE learner = %s AND key != 0 AND key > %s ORDER BY key "
            "LIMIT %s",
            (learner, last, KEYS_AT_ONCE),
        ):
            yield [key for (key,) in found]
            last = found[-1][0]

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        rows = self._read(
            "SELECT seq, kind, body, checksum, key FROM galloon.journal WHERE learner = %s AND key = %s "
            "AND key != 0 ORDER BY seq",
            (learner, key),
        )
        return [self._entry(learner, row[0], row) for row in rows]

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        rows = self._read(
            "SELECT seq, min(time), sum(length(body)) FROM galloon.snapshots WHERE learner = %s GROUP BY seq "
            "ORDER BY seq",
            (learner,),
        )
        return [StoredSnapshot(seq, time, int(size)) for seq, time, size in rows]

    def snapshot(self, learner: int, seq: int) -> bytes:
        rows = self._read(
            "SELECT seq, piece, pieces, body, checksum FROM galloon.snapshots WHERE learner = %s AND seq = %s "
            "ORDER BY piece",
            (learner, seq),
        )
        if not rows:
            raise StoreConflict(f"{self._name}: learner {learner} has no snapshot at {seq}")
        try:
            return joined_snapshot(learner, rows)
        except StoreDamaged as error:
            raise StoreDamaged(
                f"{self._name}: the snapshot of learner {learner} {error}; {ADVICE}"
            ) from error

    def size(self) -> int:
        tables = ("learners", "snapshots", "journal")
        return sum(
            int(self._read("SELECT pg_total_relation_size(%s::regclass)", (f"galloon.{table}",))[0][0])
            for table in tables
        )

    def close(self) -> None:
        with self._turn:
            self._connection.close()

    def _learner(self, row: tuple[int, str, str, int, int]) -> StoredLearner:
        key, name, spec, found, base = row
        if found != learner_checksum(name, spec, base):
            raise StoreDamaged(f"{self._name}: the name or spec of learner {key} is damaged; {ADVICE}")
        newest = max((known.seq for known in self.snapshots(key)), default=None)
        if newest is None and base:
            raise StoreDamaged(f"{self._name}: the snapshot of learner {name!r} is missing; {ADVICE}")
        body = None if newest is None else self.snapshot(key, newest)
        return StoredLearner(key, name, spec, newest or 0, body, base)

    def _entry(self, learner: int, expected: int, row: tuple[int, int, bytes, int, int]) -> StoredEntry:
        seq, kind, body, found, key = row
        fault = "missing" if seq != expected else "damaged"
        if seq != expected or found != checksum(learner, seq, kind, body, key):
            raise StoreDamaged(
                f"{self._name}: journal entry {expected} of learner {learner} is {fault}; {ADVICE}"
            )
        return StoredEntry(seq, kind, body, key)

    def _read(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._turn:
            try:
                if self._connection.closed:
                    self._connection = connect(self._url)
                return self._connection.execute(sql, values).fetchall()
            except psycopg.OperationalError:
                pass  # the connection was lost: once more
            try:
                self._connection = connect(self._url)
                return self._connection.execute(sql, values).fetchall()
            except psycopg.Error as error:
                raise StoreFailed(f"{self._name}: cannot be read: {error}") from error
