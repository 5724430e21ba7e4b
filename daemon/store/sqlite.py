"""The store on SQLite: one file in write-ahead mode, `synchronous=FULL`, one sync for each batch or operation.

A batch is one INSERT statement, because the interpreter lock is given up and taken back once a statement. The
format is described in `sqlite_schema`, the verbs in `protocol`.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import sleep
from typing import Any, TypeVar

from galloon.daemon.errors import StoreConflict, StoreDamaged, StoreFailed, StoreFull
from galloon.daemon.store.data_dir import DataDir
from galloon.daemon.store.high_water import NO_SPACE, HighWater
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
from galloon.daemon.store.sqlite_reader import SqliteReader
from galloon.daemon.store.sqlite_schema import (
    FILE_NAME,
    INSERT_PIECE,
    NO_PIECE,
    UNREADABLE,
    checksum,
    judged,
    learner_checksum,
    open_database,
    snapshot_rows,
    transaction,
)
from galloon.daemon.store.sqlite_upgrade import upgrade

# sqlite3 caches statements with their last bound parameters. A statement for each number of entries is quickest,
# but many would hold megabytes: larger batches share one statement. Rebinding small values frees a large blob.
OWN_STATEMENT = 16  # entries
CHECKPOINT_TRIES, CHECKPOINT_PAUSE_S = 100, 0.05  # a reader may be at work
RETAINED_BYTES = 65_536  # of entries or of a snapshot that may stay bound to one statement
INSERT_MANY = """
INSERT INTO journal
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
       substr(?1, json_extract(value, '$[3]'), json_extract(value, '$[4]')), json_extract(value, '$[5]'),
       json_extract(value, '$[6]')
FROM json_each(?2)
"""
FORGET = """
DELETE FROM journal WHERE learner = ?1 AND seq <= ?2 AND (key = 0 OR NOT EXISTS (
    SELECT 1 FROM journal AS later WHERE later.learner = ?1 AND later.key = journal.key AND later.key != 0
    AND later.seq > ?2))
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
            self._upgrade()
            self._reader = SqliteReader(self._path)
            self._high_water = HighWater(data_dir)
            self._keys = {key for (key,) in self._database.execute("SELECT key FROM learners")}
        except BaseException:
            if hasattr(self, "_database"):
                self._database.close()
            self._directory.unlock()
            raise

    # Reading: `SqliteReader` does it.

    def learners(self) -> Iterator[StoredLearner]:
        self._check_nothing_lost()
        yield from self._reader.learners()

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        return self._reader.journal(learner, after)

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        return self._reader.find(learner, key)

    def base(self, learner: int) -> int:
        return self._reader.base(learner)

    def keys(self, learner: int) -> Iterator[list[int]]:
        return self._reader.keys(learner)

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        return self._reader.snapshots(learner)

    def snapshot(self, learner: int, seq: int) -> bytes:
        return self._reader.snapshot(learner, seq)

    def size(self) -> int:
        return self._reader.size()

    def _check_nothing_lost(self) -> None:
        """Nothing without its learner; and the last entry that was acknowledged, or a snapshot that covers it."""
        self._reader.check_learners()
        mark = self._high_water.read()
        if mark is None:
            return
        learner, seq = mark
        found = self._reader.last_seq(learner)
        if found < seq:
            raise StoreDamaged(
                f"{self._path}: entries are missing: learner {learner} ends at {found}, but {seq} was "
                "acknowledged; its -wal file is damaged or gone. Put it back, or restore a backup and remove "
                f"{self._high_water.path}, which tells of what came after it"
            )

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
            case Vacuum():
                return self._judging(self._vacuum)
            case Delete(learner):
                self._check_exists(learner)
                gone = self._judging(lambda: self._delete(learner))
                self._keys.remove(learner)
                return gone
            case SaveSnapshot(learner):
                self._check_exists(learner)
                return self._judging(lambda: self._save_snapshot(operation))
            case Forget(learner):
                self._check_exists(learner)
                return self._judging(lambda: self._forget(operation))
            case Exchange(learner):
                self._check_exists(learner)
                return self._judging(lambda: self._exchange(operation))

    def close(self) -> None:
        self._reader.close()
        self._database.close()
        self._high_water.close()
        self._directory.unlock()

    def _upgrade(self) -> None:
        try:
            upgrade(self._database, self._path)
        except UNREADABLE as error:
            raise judged(error, self._path) from error

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
            found = checksum(entry.learner, entry.seq, entry.kind, entry.body, entry.key)
            values += (entry.learner, entry.seq, entry.kind, entry.body, found, entry.key)
        rows = ",".join(["(?,?,?,?,?,?)"] * len(batch))
        self._database.execute(f"INSERT INTO journal VALUES {rows}", values)  # noqa: S608  # question marks

    def _insert_many(self, batch: Sequence[Entry]) -> None:
        """All bodies in one value, all numbers in another."""
        rows, start = [], 1
        for entry in batch:
            size = len(entry.body)
            found = checksum(entry.learner, entry.seq, entry.kind, entry.body, entry.key)
            rows.append((entry.learner, entry.seq, entry.kind, start, size, found, entry.key))
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
                self._put_snapshot(inserted.lastrowid, 0, new.snapshot, 0.0)
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
            newest, base = self._newest(learner), self._base(learner)
            if newest is not None and newest > seq:
                return 0
            gone = sum(
                self._drop_snapshots("seq = ?", learner, old)
                for old in new.replaced
                if old not in (base, seq)
            )
            self._put_snapshot(learner, seq, new.body, new.time)
        return gone

    def _forget(self, cut: Forget) -> int:
        learner, seq = cut.learner, cut.seq
        with transaction(self._database):
            known = self._database.execute(
                "SELECT name, spec FROM learners WHERE key = ?1 AND base <= ?2 "
                "AND EXISTS (SELECT 1 FROM snapshots WHERE learner = ?1 AND seq = ?2)",
                (learner, seq),
            ).fetchone()
            if known is None:
                raise StoreConflict(
                    f"{self._path}: learner {learner} has no snapshot at {seq} after its base"
                )
            gone = self._database.execute(FORGET, (learner, seq)).rowcount
            self._drop_snapshots("seq < ?", learner, seq)
            self._database.execute(
                "UPDATE learners SET base = ?, checksum = ? WHERE key = ?",
                (seq, learner_checksum(known[0], known[1], seq), learner),
            )
        return gone

    def _exchange(self, new: Exchange) -> int:
        learner = new.learner
        with transaction(self._database):
            void = self._make_void(learner, new.erased)
            self._insert_few([Entry(learner, new.seq, new.kind, new.entry)])
            self._drop_snapshots("seq >= ?", learner, new.since)
            self._put_snapshot(learner, new.seq, new.snapshot, new.time)
            if new.base is not None:
                self._change_snapshot(learner, self._base(learner), new.base)
            if new.spec is not None:
                (name,) = self._database.execute(
                    "SELECT name FROM learners WHERE key = ?", (learner,)
                ).fetchone()
                self._database.execute(
                    "UPDATE learners SET spec = ?, checksum = ? WHERE key = ?",
                    (new.spec, learner_checksum(name, new.spec, self._base(learner)), learner),
                )
        self._high_water.note(learner, new.seq)
        return void

    def _make_void(self, learner: int, keys: tuple[int, ...]) -> int:
        """Entries of these keys say nothing any more. What they said is overwritten with zeros."""
        if not keys:
            return 0
        self._database.execute("PRAGMA secure_delete = 1")
        rows = self._database.execute(
            "SELECT seq FROM journal WHERE learner = ? AND key != 0 AND key IN (SELECT value FROM json_each(?))",
            (learner, json.dumps(keys)),
        ).fetchall()
        self._database.executemany(
            "UPDATE journal SET kind = 0, key = 0, body = x'', checksum = ? WHERE learner = ? AND seq = ?",
            [(checksum(learner, seq, VOID, b""), learner, seq) for (seq,) in rows],
        )
        return len(rows)

    def _vacuum(self) -> int:
        """The file anew, and the write-ahead log, which has pages of before, empty."""
        self._database.execute("VACUUM")
        for _ in range(CHECKPOINT_TRIES):
            if not self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                self._database.execute("PRAGMA secure_delete = 0")
                return 0
            sleep(CHECKPOINT_PAUSE_S)
        raise StoreConflict(
            f"{self._path}: somebody reads a log that holds what was erased; vacuum again later"
        )

    def _newest(self, learner: int) -> int | None:
        """What the newest snapshot covers."""
        found = self._database.execute("SELECT max(seq) FROM snapshots WHERE learner = ?", (learner,))
        return found.fetchone()[0]  # type: ignore[no-any-return]

    def _base(self, learner: int) -> int:
        found = self._database.execute("SELECT base FROM learners WHERE key = ?", (learner,))
        return int(found.fetchone()[0])

    def _drop_snapshots(self, which: str, learner: int, seq: int) -> int:
        dropped = self._database.execute(
            f"DELETE FROM snapshots WHERE learner = ? AND {which}",  # noqa: S608  # a condition of our own
            (learner, seq),
        )
        return min(1, dropped.rowcount) if which == "seq = ?" else dropped.rowcount

    def _put_snapshot(self, learner: int, seq: int, body: bytes, time: float) -> None:
        self._drop_snapshots("seq = ?", learner, seq)
        self._database.executemany(INSERT_PIECE, snapshot_rows(learner, seq, time, body))
        if len(body) > RETAINED_BYTES:
            self._database.execute(INSERT_PIECE, NO_PIECE)

    def _change_snapshot(self, learner: int, seq: int, body: bytes) -> None:
        """Another state in the place of this one, if there is one."""
        found = self._database.execute(
            "SELECT max(time) FROM snapshots WHERE learner = ? AND seq = ?", (learner, seq)
        ).fetchone()
        if found[0] is not None:
            self._put_snapshot(learner, seq, body, found[0])

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
