"""The store on SQLite: one file in write-ahead mode, `synchronous=FULL`, one sync for each batch or operation.

A batch is one INSERT statement, because the interpreter lock is given up and taken back once a statement. The
format is described in `sqlite_schema`, the verbs in `protocol`.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from galloon.daemon.errors import StoreConflict, StoreDamaged, StoreFailed, StoreFull
from galloon.daemon.store.data_dir import DataDir
from galloon.daemon.store.high_water import NO_SPACE, HighWater
from galloon.daemon.store.protocol import (
    Create,
    Delete,
    Entry,
    Operation,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
)
from galloon.daemon.store.sqlite_schema import (
    ADVICE,
    FILE_NAME,
    INSERT_PIECE,
    NO_PIECE,
    UNREADABLE,
    checksum,
    learner_checksum,
    open_database,
    read_snapshot,
    snapshot_rows,
    transaction,
)

# sqlite3 caches statements with their last bound parameters. A statement for each number of entries is quickest,
# but many would hold megabytes: larger batches share one statement. Rebinding small values frees a large blob.
OWN_STATEMENT = 16  # entries
RETAINED_BYTES = 65_536  # of entries or of a snapshot that may stay bound to one statement
INSERT_MANY = """
INSERT INTO journal
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
       substr(?1, json_extract(value, '$[3]'), json_extract(value, '$[4]')), json_extract(value, '$[5]')
FROM json_each(?2)
"""
FAILURES = (sqlite3.Error, OSError, MemoryError)  # the last also where SQLite itself gets no memory
T = TypeVar("T")


class SqliteBackend:
    """See `Backend` for the verbs."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE_NAME
        self._directory = DataDir(data_dir)
        self._directory.lock()
        try:
            self._database = open_database(self._path)
            self._high_water = HighWater(data_dir)
            self._keys = {key for (key,) in self._read("SELECT key FROM learners")}
        except BaseException:
            self._directory.unlock()
            raise

    # Reading, on start.

    def learners(self) -> Iterator[StoredLearner]:
        self._check_nothing_lost()
        for key, name, spec, found in self._read(
            "SELECT key, name, spec, checksum FROM learners ORDER BY key"
        ):
            if found != learner_checksum(name, spec):
                raise StoreDamaged(f"{self._path}: the name or spec of learner {key} is damaged; {ADVICE}")
            yield StoredLearner(key, name, spec, *self._snapshot(key, name))

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        rows = self._read(
            "SELECT seq, kind, body, checksum FROM journal WHERE learner = ? AND seq > ? ORDER BY seq",
            (learner, after),
        )
        for expected, (seq, kind, body, found) in enumerate(rows, start=after + 1):
            fault = "missing" if seq != expected else "damaged"
            if seq != expected or found != checksum(learner, seq, kind, body):
                raise StoreDamaged(
                    f"{self._path}: journal entry {expected} of learner {learner} is {fault}; {ADVICE}"
                )
            yield StoredEntry(seq, kind, body)

    def _check_nothing_lost(self) -> None:
        """Nothing without its learner; and the last entry that was acknowledged, or a snapshot that covers it."""
        for table in ("snapshots", "journal"):
            orphans = self._read(f"SELECT DISTINCT learner FROM {table} EXCEPT SELECT key FROM learners")  # noqa: S608  # two names of our own
            if orphans:
                raise StoreDamaged(
                    f"{self._path}: learner {orphans[0][0]} is missing, but not its {table}; {ADVICE}"
                )
        mark = self._high_water.read()
        if mark is None:
            return
        learner, seq = mark
        found = self._read(
            "SELECT max(coalesce((SELECT max(seq) FROM journal WHERE learner = ?1), 0), "
            "coalesce((SELECT max(seq) FROM snapshots WHERE learner = ?1), 0))",
            (learner,),
        )[0][0]
        if found < seq:
            raise StoreDamaged(
                f"{self._path}: entries are missing: learner {learner} ends at {found}, but {seq} was "
                "acknowledged; its -wal file is damaged or gone. Put it back, or restore a backup and remove "
                f"{self._high_water.path}, which tells of what came after it"
            )

    def _snapshot(self, learner: int, name: str) -> tuple[int, bytes | None]:
        try:
            return read_snapshot(self._database, learner)
        except UNREADABLE as error:
            raise StoreDamaged(f"{self._path}: {error}; {ADVICE}") from error
        except StoreDamaged as error:
            raise StoreDamaged(f"{self._path}: the snapshot of learner {name!r} {error}; {ADVICE}") from error

    def _read(self, sql: str, parameters: tuple[int, ...] = ()) -> list[Any]:
        try:
            return self._database.execute(sql, parameters).fetchall()
        except UNREADABLE as error:
            raise StoreDamaged(f"{self._path}: {error}; {ADVICE}") from error

    # Writing.

    def write(self, batch: Sequence[Entry]) -> None:
        for entry in batch:
            self._check_exists(entry.learner)
        self._judging(lambda: self._insert(batch))

    def transact(self, operation: Operation) -> int:
        match operation:
            case Create():
                key = self._judging(lambda: self._create(operation))
                self._keys.add(key)
                return key
            case Delete(learner):
                self._check_exists(learner)
                gone = self._judging(lambda: self._delete(learner))
                self._keys.remove(learner)
                return gone
            case SaveSnapshot():
                self._check_exists(operation.learner)
                return self._judging(lambda: self._save_snapshot(operation))

    def close(self) -> None:
        self._database.close()
        self._high_water.close()
        self._directory.unlock()

    def _check_exists(self, learner: int) -> None:
        if learner not in self._keys:
            raise StoreConflict(f"{self._path}: learner {learner} does not exist")

    def _insert(self, batch: Sequence[Entry]) -> None:
        size = sum([len(entry.body) for entry in batch])
        if len(batch) <= OWN_STATEMENT and size <= RETAINED_BYTES:
            self._insert_few(batch)
        else:
            self._insert_many(batch)
        self._high_water.note(batch[-1].learner, batch[-1].seq)

    def _insert_few(self, batch: Sequence[Entry]) -> None:
        values: list[Any] = []
        for entry in batch:
            found = checksum(entry.learner, entry.seq, entry.kind, entry.body)
            values += (entry.learner, entry.seq, entry.kind, entry.body, found)
        rows = ",".join(["(?,?,?,?,?)"] * len(batch))
        self._database.execute(f"INSERT INTO journal VALUES {rows}", values)  # noqa: S608  # question marks

    def _insert_many(self, batch: Sequence[Entry]) -> None:
        """All bodies in one value, all numbers in another."""
        rows, start = [], 1
        for entry in batch:
            size = len(entry.body)
            found = checksum(entry.learner, entry.seq, entry.kind, entry.body)
            rows.append((entry.learner, entry.seq, entry.kind, start, size, found))
            start += size
        # One byte more, because of nothing at all SQLite makes a NULL instead of an empty body.
        bodies = b"".join([*(entry.body for entry in batch), b"\0"])
        self._database.execute(INSERT_MANY, (bodies, json.dumps(rows)))
        if len(bodies) > RETAINED_BYTES:
            self._database.execute(INSERT_MANY, (b"\0", "[]"))

    def _create(self, new: Create) -> int:
        with transaction(self._database):
            if self._database.execute("SELECT 1 FROM learners WHERE name = ?", (new.name,)).fetchone():
                raise StoreConflict(f"{self._path}: a learner called {new.name!r} exists")
            inserted = self._database.execute(
                "INSERT INTO learners(name, spec, checksum) VALUES (?, ?, ?)",
                (new.name, new.spec, learner_checksum(new.name, new.spec)),
            )
            assert inserted.lastrowid is not None, "an INSERT gives a row id"
            if new.snapshot is not None:
                self._put_snapshot(inserted.lastrowid, 0, new.snapshot)
        return inserted.lastrowid

    def _delete(self, learner: int) -> int:
        with transaction(self._database):
            gone = self._database.execute("DELETE FROM journal WHERE learner = ?", (learner,))
            self._database.execute("DELETE FROM snapshots WHERE learner = ?", (learner,))
            self._database.execute("DELETE FROM learners WHERE key = ?", (learner,))
            self._high_water.clear()
        return gone.rowcount

    def _save_snapshot(self, new: SaveSnapshot) -> int:
        learner, seq = new.learner, new.seq
        with transaction(self._database):
            stored = self._database.execute("SELECT seq FROM snapshots WHERE learner = ? LIMIT 1", (learner,))
            if any(known > seq for (known,) in stored):
                return 0
            self._put_snapshot(learner, seq, new.body)
            gone = self._database.execute(
                "DELETE FROM journal WHERE learner = ? AND seq <= ?", (learner, seq)
            )
        return gone.rowcount

    def _put_snapshot(self, learner: int, seq: int, body: bytes) -> None:
        self._database.execute("DELETE FROM snapshots WHERE learner = ?", (learner,))
        self._database.executemany(INSERT_PIECE, snapshot_rows(learner, seq, body))
        if len(body) > RETAINED_BYTES:
            self._database.execute(INSERT_PIECE, NO_PIECE)

    def _judging(self, work: Callable[[], T]) -> T:
        """Do it. A full disk heals; after anything unknown, above all a failed sync, nothing can be trusted."""
        try:
            return work()
        except FAILURES as problem:
            if _is_full(problem):
                raise StoreFull(f"{self._path}: the disk is full") from problem
            reason = str(problem) or "out of memory"
            raise StoreFailed(f"{self._path}: a write failed: {reason}; the daemon stops") from problem


def _is_full(problem: Exception) -> bool:
    if isinstance(problem, OSError):
        return problem.errno in NO_SPACE
    return getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
