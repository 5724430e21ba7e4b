"""The queue to disk: entries and operations in, durable in the same order, many entries with one sync.

`append` never waits: while one batch is being synced the next one gathers, so the disk sets the pace and nobody
waits twice. `transact` is awaited. One thread writes, through a `Backend`; every fate is told on the event loop.
When the disk is full, feedback and operations are refused, choices wait in the queue, and all is tried again.
"""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from galloon.daemon.errors import StoreConflict, StoreError, StoreFailed, StoreFull
from galloon.daemon.failpoints import reach
from galloon.daemon.futures import resolve
from galloon.daemon.store.compression import packed
from galloon.daemon.store.protocol import (
    VOID,
    Backend,
    Create,
    Delete,
    Entry,
    Exchange,
    Forget,
    OnDurable,
    Operation,
    SaveSnapshot,
    Vacuum,
)

BATCH_ENTRIES = 1000
BATCH_BYTES = 1 << 26  # of bodies, far below what one statement of a database takes
FULL_PAUSE_S = 0.2  # between two attempts on a full disk
ENTRY_BYTES = 200  # that an entry takes in memory beside its body
LAG_BYTES = 1_048_576  # of one learner that wait: what a disk that keeps up never leaves
FAILPOINTS: dict[type[Operation], tuple[str, str]] = {
    Create: ("learner.before_create", "learner.after_create"),
    Delete: ("learner.before_delete", "learner.after_delete"),
    SaveSnapshot: ("snapshot.before_write", "snapshot.after_sync"),
    Forget: ("retention.before_cut", "retention.after_cut"),
    Exchange: ("exchange.before_write", "exchange.after_sync"),
    Vacuum: ("vacuum.before", "vacuum.after"),
}


@dataclass(slots=True)
class CommitFigures:
    """What metrics show of the journal, counted since it was started."""

    commits: int = 0
    entries: int = 0
    bytes: int = 0
    seconds: float = 0.0
    failures: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Awaited:
    """An operation, and who awaits it; none where somebody waits for what is before it."""

    operation: Operation | None
    future: asyncio.Future[int]


class Journal:
    """Everything that is to be written, of all learners."""

    def __init__(self, backend: Backend, commit_delay_s: float, queue_bytes: int) -> None:
        self.backend, self._delay, self._queue_bytes = backend, commit_delay_s, queue_bytes
        self.figures = CommitFigures()
        self._queue: deque[Entry | _Awaited] = deque()
        self._queued_bytes = 0
        self._queued_of: Counter[int] = Counter()  # the same by learner
        self._count = threading.Lock()  # guards the numbers above, which two sides change
        self._durable: dict[int, int] = {}  # of each learner: the last entry that this run has made durable
        self._stuck = False  # the disk is full, or the store has failed
        self._some = threading.Event()  # there is something to write
        self._urgent = threading.Event()  # somebody waits for it
        self._closing = False
        self._failure: StoreError | None = None

    def start(self, observe: Callable[[float, int], None], failed: Callable[[StoreError], None]) -> None:
        """Begin to write. `observe` gets seconds and entries of each commit, `failed` the end if it comes."""
        self._loop = asyncio.get_running_loop()
        self._observe, self._failed = observe, failed
        self._thread = threading.Thread(target=self._write_all, name="journal-writer")
        self._thread.start()

    def append(self, entry: Entry) -> None:
        """Queue an entry; may be called from any thread."""
        self._weigh(entry.learner, len(entry.body) + ENTRY_BYTES)
        self._queue.append(entry)
        if entry.on_durable is not None and not self._urgent.is_set():
            self._urgent.set()
        if not self._some.is_set():
            self._some.set()

    async def transact(self, operation: Operation) -> int:
        """Carry out an operation after all that is queued; durable when it returns."""
        if self._closing:
            raise StoreFailed("the journal is closed")
        future: asyncio.Future[int] = self._loop.create_future()
        self._queue.append(_Awaited(operation, future))
        self._urgent.set()
        self._some.set()
        return await future

    async def flushed(self) -> None:
        """Until all that is queued is durable."""
        if self._closing:
            raise StoreFailed("the journal is closed")
        future: asyncio.Future[int] = self._loop.create_future()
        self._queue.append(_Awaited(None, future))
        self._urgent.set()
        self._some.set()
        await future

    def has_room(self) -> bool:
        """Whether the queue takes more."""
        return self._queued_bytes < self._queue_bytes

    def durable(self, learner: int) -> int:
        """The last entry of a learner that this run has made durable: the store has all up to it."""
        return self._durable.get(learner, 0)

    def lags(self, learner: int) -> bool:
        """Whether more of this learner waits than should: read no more requests for a moment.

        Never while the disk is full: choices go on then, for as long as there is room.
        """
        return self._queued_of[learner] > LAG_BYTES and not self._stuck

    async def close(self) -> None:
        """Write everything that is queued, then close the backend."""
        self._closing = True
        self._urgent.set()
        self._some.set()
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self.backend.close)

    def _weigh(self, learner: int, size: int) -> None:
        """So many bytes of a learner came into the queue, or left it if less than 0."""
        with self._count:
            self._queued_bytes += size
            self._queued_of[learner] += size
            if not self._queued_of[learner]:
                del self._queued_of[learner]

    # The writer thread.

    def _write_all(self) -> None:
        for _ in range(2):
            try:
                self._write_until_closed()
            except Exception as defect:  # noqa: BLE001  # the daemon ends; the second time, what waits is refused
                self._fail(defect)
            else:
                return

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
            if isinstance(head, _Awaited):
                self._carry_out(head)
                continue
            batch, size = [head], len(head.body)
            while self._queue and len(batch) < BATCH_ENTRIES and size < BATCH_BYTES:
                following = self._queue.popleft()
                if isinstance(following, _Awaited):
                    self._queue.appendleft(following)
                    break
                batch.append(following)
                size += len(following.body)
            if not self._write_batch(batch):
                return False
        return True

    def _write_batch(self, batch: list[Entry]) -> bool:
        """Write entries with one sync, and tell those who wait; False when they must be tried again."""
        started = time.perf_counter()
        write = partial(self.backend.write, [packed(entry) for entry in batch])
        error = self._attempt(write, "journal.before_write", "journal.after_sync")[1]
        elapsed = time.perf_counter() - started
        if isinstance(error, StoreConflict) and len({entry.learner for entry in batch}) > 1:
            return self._write_each_learner(batch)
        if error is None or isinstance(error, StoreConflict):
            self._leave(batch, elapsed, error)
        else:
            self._keep(batch, error)
        told = [entry.on_durable for entry in batch if entry.on_durable is not None]
        self._loop.call_soon_threadsafe(self._tell, told, error, elapsed, len(batch))
        return error is None or isinstance(error, StoreConflict)

    def _write_each_learner(self, batch: list[Entry]) -> bool:
        """One learner's entries contradict what is stored; those of the others need not suffer for it."""
        by_learner: dict[int, list[Entry]] = {}
        for entry in batch:
            by_learner.setdefault(entry.learner, []).append(entry)
        written = [self._write_batch(entries) for entries in by_learner.values()]
        return all(written)

    def _leave(self, batch: list[Entry], elapsed: float, error: StoreError | None) -> None:
        """Entries are out of the queue for good: written, or in conflict with what is stored."""
        size = sum([len(entry.body) for entry in batch])
        for entry in batch:
            self._weigh(entry.learner, -len(entry.body) - ENTRY_BYTES)
        if error is not None:
            self.figures.failures += 1
            return
        self._durable.update((entry.learner, entry.seq) for entry in batch)
        self.figures.commits += 1
        self.figures.entries += len(batch)
        self.figures.bytes += size
        self.figures.seconds += elapsed

    def _keep(self, batch: list[Entry], error: StoreError) -> None:
        """Back to the head of the queue, so that no sequence has a gap."""
        self.figures.failures += 1
        kept = []
        for entry in batch:
            if entry.on_durable is None:
                kept.append(entry)
            else:
                self._weigh(entry.learner, -len(entry.body))
                kept.append(Entry(entry.learner, entry.seq, VOID, b""))
        while self._queue:  # one by one: the event loop appends meanwhile, so nothing may walk over it
            waiting = self._queue.popleft()
            if isinstance(waiting, _Awaited):
                self._loop.call_soon_threadsafe(resolve, waiting.future, None, error)
            else:
                kept.append(waiting)
        self._queue.extendleft(reversed(kept))

    def _carry_out(self, awaited: _Awaited) -> None:
        operation = awaited.operation
        if operation is None:
            self._loop.call_soon_threadsafe(resolve, awaited.future, 0, self._failure)
            return
        result, error = self._attempt(lambda: self.backend.transact(operation), *FAILPOINTS[type(operation)])
        if isinstance(operation, Exchange):
            if error is None:
                self._durable[operation.learner] = operation.seq
            elif isinstance(
                error, StoreFull
            ):  # its place in the sequence is taken; what follows has later ones
                place = Entry(operation.learner, operation.seq, VOID, b"")
                self._weigh(place.learner, ENTRY_BYTES)
                self._queue.appendleft(place)
        elif isinstance(operation, Delete) and error is None:
            self._durable.pop(operation.learner, None)
        self._loop.call_soon_threadsafe(resolve, awaited.future, result, error)

    def _attempt(self, work: Callable[[], Any], before: str, after: str) -> tuple[Any, StoreError | None]:
        """What comes of a write. After a failure nothing on disk can be trusted, and nothing is tried again."""
        if self._failure is not None:
            return None, self._failure
        try:
            reach(before)
            result = work()
            reach(after)
        except (StoreFull, StoreConflict) as error:
            return None, error
        except Exception as problem:  # noqa: BLE001  # a failure of the store, or a defect: the daemon ends by both
            return None, self._fail(problem)
        return result, None

    def _fail(self, problem: Exception) -> StoreError:
        failure = problem if isinstance(problem, StoreError) else StoreFailed(f"a write failed: {problem!r}")
        self._failure, self._stuck = failure, True
        self._loop.call_soon_threadsafe(self._failed, failure)
        return failure

    def _tell(self, told: list[OnDurable], error: StoreError | None, elapsed: float, entries: int) -> None:
        """On the event loop: the fate of a batch."""
        self._observe(elapsed, entries)
        for on_durable in told:
            on_durable(error)
