"""The store on SQLite: one file in write-ahead mode, `synchronous=FULL`, one writer thread, a sync per batch.

While one batch is being synced the next one gathers, so the disk sets the pace and nobody waits twice. A
batch is one INSERT statement, because the interpreter lock is given up and taken back once a statement. The
format is described in `sqlite_file`, the verbs in `store`.
"""

import asyncio
import json
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from galloon.daemon.errors import StoreDamaged, StoreError, StoreFailed, StoreFull
from galloon.daemon.failpoints import reach
from galloon.daemon.futures import settle
from galloon.daemon.store.data_dir import DataDir
from galloon.daemon.store.high_water import HighWater
from galloon.daemon.store.protocol import VOID, CommitFigures, Entry, StoredEntry, StoredLearner
from galloon.daemon.store.sqlite_schema import (
    ADVICE,
    FILE_NAME,
    UNREADABLE,
    checksum,
    learner_checksum,
    open_database,
    snapshot_checksum,
    transaction,
)

BATCH_ENTRIES = 1000
# SQLite's interface keeps every statement that it may see again, with the values bound to it last. A statement for
# each number of entries is quickest; beyond a few it would keep megabytes, so larger batches share one statement,
# and what is large is let go of: the same statement runs once more with values of which it writes nothing.
OWN_STATEMENT = 16  # entries
RETAINED_BYTES = 65_536  # of entries or of a snapshot that may stay bound to one statement
INSERT_MANY = """
INSERT INTO journal
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
       substr(?1, json_extract(value, '$[3]'), json_extract(value, '$[4]')), json_extract(value, '$[5]')
FROM json_each(?2)
"""
PUT_SNAPSHOT = "REPLACE INTO snapshots SELECT ?1, ?2, ?3, ?4 WHERE ?3 IS NOT NULL"
FULL_PAUSE_S = 0.2  # between two attempts on a full disk
ENTRY_BYTES = 200  # that an entry takes in memory beside its body
LAG_BYTES = 1_048_576  # of one learner that wait: what a disk that keeps up never leaves
FAILURES = (sqlite3.Error, MemoryError)  # the second also where SQLite itself gets no memory

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]
Settled = Callable[[StoreError | None], None]


class SqliteStore:
    """See `Store` for the verbs."""

    def __init__(self, data_dir: Path, commit_delay_s: float, queue_bytes: int) -> None:
        self._delay, self._queue_bytes = commit_delay_s, queue_bytes
        self.figures = CommitFigures()
        self._path = data_dir / FILE_NAME
        self._directory = DataDir(data_dir)
        self._directory.lock()
        try:
            self._database = open_database(self._path)
            self._high_water = HighWater(data_dir)
        except BaseException:
            self._directory.unlock()
            raise
        self._queue: deque[Entry | _Task] = deque()
        self._queued_bytes = 0
        self._queued_of: Counter[int] = Counter()  # the same by learner
        self._count = threading.Lock()  # guards the numbers above, which two sides change
        self._stuck = False  # the disk is full, or the store has failed
        self._some = threading.Event()  # there is something to write
        self._urgent = threading.Event()  # somebody waits for it
        self._closing = False
        self._failure: StoreError | None = None

    # Reading, on start.

    def learners(self) -> Iterator[StoredLearner]:
        self._check_nothing_lost()
        rows = self._read(
            "SELECT key, name, spec, learners.checksum, seq, body, snapshots.checksum FROM learners "
            "LEFT JOIN snapshots ON learner = key ORDER BY key"
        )
        for key, name, spec, found, seq, body, snapshot_found in rows:
            if found != learner_checksum(name, spec):
                raise StoreDamaged(f"{self._path}: the name or spec of learner {key} is damaged; {ADVICE}")
            if body is not None and snapshot_found != snapshot_checksum(key, seq, body):
                raise StoreDamaged(f"{self._path}: the snapshot of learner {name!r} is damaged; {ADVICE}")
            yield StoredLearner(key, name, spec, seq or 0, body)

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
            "coalesce((SELECT seq FROM snapshots WHERE learner = ?1), 0))",
            (learner,),
        )[0][0]
        if found < seq:
            raise StoreDamaged(
                f"{self._path}: entries are missing: learner {learner} ends at {found}, but {seq} was "
                "acknowledged; its -wal file is damaged or gone. Put it back, or restore a backup and remove "
                f"{self._high_water.path}, which tells of what came after it"
            )

    def _read(self, sql: str, parameters: tuple[int, ...] = ()) -> list[Any]:
        try:
            return self._database.execute(sql, parameters).fetchall()
        except UNREADABLE as error:
            raise StoreDamaged(f"{self._path}: {error}; {ADVICE}") from error

    # Writing: queued here, done by the writer thread below.

    def start(self, observe: Callable[[float, int], None], failed: Callable[[StoreError], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._observe, self._failed = observe, failed
        self._thread = threading.Thread(target=self._write_all, name="store-writer")
        self._thread.start()

    def append(self, entry: Entry) -> None:
        self._weigh(entry.learner, len(entry.body) + ENTRY_BYTES)
        self._queue.append(entry)
        if entry.settled is not None and not self._urgent.is_set():
            self._urgent.set()
        if not self._some.is_set():
            self._some.set()

    def has_room(self) -> bool:
        return self._queued_bytes < self._queue_bytes

    def lags(self, learner: int) -> bool:
        return self._queued_of[learner] > LAG_BYTES and not self._stuck

    def _weigh(self, learner: int, size: int) -> None:
        """So many bytes of a learner came into the queue, or left it if less than 0."""
        with self._count:
            self._queued_bytes += size
            self._queued_of[learner] += size
            if not self._queued_of[learner]:
                del self._queued_of[learner]

    async def create(self, name: str, spec: str, snapshot: bytes | None) -> int:
        def write(database: sqlite3.Connection) -> int:
            reach("learner.before_create")
            with transaction(database):
                inserted = database.execute(
                    "INSERT INTO learners(name, spec, checksum) VALUES (?, ?, ?)",
                    (name, spec, learner_checksum(name, spec)),
                )
                assert inserted.lastrowid is not None, "an INSERT gives a row id"
                if snapshot is not None:
                    _put_snapshot(database, inserted.lastrowid, 0, snapshot)
            reach("learner.after_create")
            return inserted.lastrowid

        return await self._task(write)

    async def delete(self, learner: int) -> None:
        def write(database: sqlite3.Connection) -> None:
            reach("learner.before_delete")
            with transaction(database):
                database.execute("DELETE FROM journal WHERE learner = ?", (learner,))
                database.execute("DELETE FROM snapshots WHERE learner = ?", (learner,))
                database.execute("DELETE FROM learners WHERE key = ?", (learner,))
                self._high_water.clear()
            reach("learner.after_delete")

        await self._task(write)

    async def save_snapshot(self, learner: int, seq: int, snapshot: bytes) -> int:
        def write(database: sqlite3.Connection) -> int:
            reach("snapshot.before_write")
            with transaction(database):
                _put_snapshot(database, learner, seq, snapshot)
                gone = database.execute("DELETE FROM journal WHERE learner = ? AND seq <= ?", (learner, seq))
            reach("snapshot.after_sync")
            return gone.rowcount

        return await self._task(write)

    async def close(self) -> None:
        self._closing = True
        self._urgent.set()
        self._some.set()
        await asyncio.to_thread(self._thread.join)
        self._high_water.close()
        self._directory.unlock()

    async def _task(self, write: Write[T]) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.append(_Task(write, future))
        self._urgent.set()
        self._some.set()
        return await future

    # The writer thread.

    def _write_all(self) -> None:
        try:
            self._write_until_closed()
        except Exception as defect:  # noqa: BLE001  # a daemon whose writer has died must not go on
            self._judged(defect)
        finally:
            self._database.close()

    def _write_until_closed(self) -> None:
        pause, closing, written = self._delay, False, True
        while not closing or (self._queue and written):
            self._some.wait()
            self._urgent.wait(timeout=pause)
            self._some.clear()
            self._urgent.clear()
            closing = self._closing  # asked before the last attempt: there may be space again by now
            written = self._write_queue()
            self._stuck = not written
            pause = self._delay if written else FULL_PAUSE_S
            if not written:
                self._some.set()  # what a full disk refused is tried again

    def _write_queue(self) -> bool:
        """Write all that waits; False when the disk is full, or the store failed, and something is left."""
        while self._queue:
            head = self._queue.popleft()
            if isinstance(head, _Task):
                self._run_task(head)
                continue
            batch = [head]
            while self._queue and len(batch) < BATCH_ENTRIES:
                following = self._queue.popleft()
                if isinstance(following, _Task):
                    self._queue.appendleft(following)
                    break
                batch.append(following)
            if not self._write_batch(batch):
                return False
        return True

    def _write_batch(self, batch: list[Entry]) -> bool:
        """Write entries with one sync, and tell those who wait."""
        started = time.perf_counter()
        error = self._failure
        if error is None:
            try:
                self._insert(batch)
            except FAILURES as problem:
                error = self._judged(problem)
        elapsed = time.perf_counter() - started
        told = [entry.settled for entry in batch if entry.settled is not None]
        if error is None:
            self._written(batch, elapsed)
        else:
            self._keep(batch, error)
        self._loop.call_soon_threadsafe(self._tell, told, error, elapsed, len(batch))
        return error is None

    def _insert(self, batch: list[Entry]) -> None:
        reach("journal.before_write")
        size = sum([len(entry.body) for entry in batch])
        if len(batch) <= OWN_STATEMENT and size <= RETAINED_BYTES:
            self._insert_few(batch)
        else:
            self._insert_many(batch)
        self._high_water.note(batch[-1].learner, batch[-1].seq)
        reach("journal.after_sync")

    def _insert_few(self, batch: list[Entry]) -> None:
        values: list[Any] = []
        for entry in batch:
            found = checksum(entry.learner, entry.seq, entry.kind, entry.body)
            values += (entry.learner, entry.seq, entry.kind, entry.body, found)
        rows = ",".join(["(?,?,?,?,?)"] * len(batch))
        self._database.execute(f"INSERT INTO journal VALUES {rows}", values)  # noqa: S608  # question marks

    def _insert_many(self, batch: list[Entry]) -> None:
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

    def _written(self, batch: list[Entry], elapsed: float) -> None:
        for entry in batch:
            self._weigh(entry.learner, -len(entry.body) - ENTRY_BYTES)
        self.figures.commits += 1
        self.figures.entries += len(batch)
        self.figures.bytes += sum([len(entry.body) for entry in batch])
        self.figures.seconds += elapsed

    def _keep(self, batch: list[Entry], error: StoreError) -> None:
        """Back to the head of the queue, so that no sequence has a gap."""
        self.figures.failures += 1
        kept = []
        for entry in batch:
            if entry.settled is None:
                kept.append(entry)
            else:
                self._weigh(entry.learner, -len(entry.body))
                kept.append(Entry(entry.learner, entry.seq, VOID, b""))
        while self._queue:  # one by one: the event loop appends meanwhile, so nothing may walk over it
            waiting = self._queue.popleft()
            if isinstance(waiting, _Task):
                self._loop.call_soon_threadsafe(settle, waiting.future, None, error)
            else:
                kept.append(waiting)
        self._queue.extendleft(reversed(kept))

    def _run_task(self, task: "_Task") -> None:
        result: Any = None
        error: Exception | None = self._failure
        if error is None:
            try:
                result = task.write(self._database)
            except FAILURES as problem:
                error = self._judged(problem)
        self._loop.call_soon_threadsafe(settle, task.future, result, error)

    def _judged(self, problem: Exception) -> StoreError:
        """A full disk heals; after anything else, above all a failed sync, nothing on disk can be trusted."""
        if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return StoreFull(f"{self._path}: the disk is full")
        reason = str(problem) or "out of memory"
        self._failure = StoreFailed(f"{self._path}: a write failed: {reason}; the daemon stops")
        self._loop.call_soon_threadsafe(self._failed, self._failure)
        return self._failure

    def _tell(self, told: list[Settled], error: StoreError | None, elapsed: float, entries: int) -> None:
        """On the event loop: the fate of a batch."""
        self._observe(elapsed, entries)
        for settled in told:
            settled(error)


def _put_snapshot(database: sqlite3.Connection, learner: int, seq: int, body: bytes) -> None:
    database.execute(PUT_SNAPSHOT, (learner, seq, body, snapshot_checksum(learner, seq, body)))
    if len(body) > RETAINED_BYTES:
        database.execute(PUT_SNAPSHOT, (None, None, None, None))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A transaction of its own, and who awaits it."""

    write: Write[Any]
    future: asyncio.Future[Any]
