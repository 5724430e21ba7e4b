"""The work of one learner, strictly one piece after the other, in the order in which it came.

Work that takes little time runs on the event loop; heavy work runs in a thread, so that no learner
waits for another one's. Which is which is measured, by kind of work, as it goes along; it never changes a
result. Who asks for little many times and then for much must not be measured by the little: what may take long by
its size is `LARGE`. Long work has threads of its own, so that no short work waits behind it. `enter` queues work;
its outcome goes to `done`, always on the event loop.
`waiting_bytes` weighs what waits.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from time import perf_counter, thread_time
from typing import Any, NamedTuple, TypeVar

from galloon.daemon.futures import resolve

T = TypeVar("T")
DISK = "disk"  # work of this kind may wait for the disk: always in a thread
LARGE = "large"  # so is what is too large for the loop, however little work like it has taken
Kind = tuple[str, int]  # what is done, and the order of magnitude of how much
Done = Callable[[Any, Exception | None], None]
Outcome = tuple[Any, Exception | None]
MEMORY = 0.5  # of the running average of seconds
HEAVY_UNTIL_MEASURED = float("inf")
LONG_S = 0.05  # of work that has threads of its own
SLICE_S = 0.002  # of a queue's work in one turn of the event loop, before others get theirs
MEASURED_EVERY = 64  # pieces of light work: reading the processor's clock costs as much as some of it


class Piece(NamedTuple):
    """Work that waits."""

    kind: Kind
    work: Callable[[], Any]
    done: Done
    size: int


class WorkQueue:
    """Work of different queues overlaps; work of one queue never does."""

    def __init__(self, pool: Executor, inline_s: float, long_pool: Executor | None = None) -> None:
        self._pool, self._inline_s, self._long_pool = pool, inline_s, long_pool or pool
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Piece] = deque()
        self._busy = False
        self.waiting_bytes = 0
        self._seconds: dict[Kind, float] = {}
        self._unmeasured = 0  # pieces of light work since the last that was timed

    def enter(self, kind: Kind, work: Callable[[], Any], done: Done, size: int = 0) -> None:
        """Queue work on so many bytes; called on the event loop.

        It is done a little later, with all else that came meanwhile: many small pieces in a row run much faster
        than the same with other work between them, because what they need stays in the processor's caches.
        """
        self._waiting.append(Piece(kind, work, done, size))
        self.waiting_bytes += size
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._go_on)

    async def run(self, kind: Kind, work: Callable[[], T]) -> T:
        """Queue work and await its outcome."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.enter(kind, work, partial(resolve, future))
        return await future

    async def rest(self) -> None:
        """Until all that was queued is done."""
        if self._busy:
            await self.run(("rest", 0), lambda: None)

    def _go_on(self) -> None:
        """Run what waits: light work here and now, up to the first heavy piece, which goes to a thread."""
        self._busy = True
        end = perf_counter() + SLICE_S
        while self._waiting:
            if perf_counter() > end:
                self._loop.call_soon(self._go_on)
                return
            piece = self._waiting.popleft()
            apart = piece.kind[0] in (DISK, LARGE)
            expected = self._seconds.get(piece.kind, HEAVY_UNTIL_MEASURED)
            if apart or expected > self._inline_s:
                long = piece.kind[0] == LARGE or LONG_S < expected < HEAVY_UNTIL_MEASURED
                (self._long_pool if long else self._pool).submit(self._in_thread, piece)
                return
            self._tell(piece, *self._do(piece))
        self._busy = False

    def _do(self, piece: Piece) -> Outcome:
        """Light work, timed now and then."""
        self._unmeasured += 1
        if self._unmeasured < MEASURED_EVERY:
            return _outcome(piece)
        self._unmeasured = 0
        return self._timed(piece)

    def _in_thread(self, piece: Piece) -> None:
        outcome = self._timed(piece)
        self._loop.call_soon_threadsafe(self._back, piece, *outcome)

    def _back(self, piece: Piece, result: Any, error: Exception | None) -> None:
        self._tell(piece, result, error)
        self._go_on()

    def _tell(self, piece: Piece, result: Any, error: Exception | None) -> None:
        self.waiting_bytes -= piece.size
        piece.done(result, error)

    def _timed(self, piece: Piece) -> Outcome:
        # Seconds of the processor, not of the clock: what waits for a busy machine is not heavy for that.
        started = thread_time()
        outcome = _outcome(piece)
        elapsed = thread_time() - started
        known = self._seconds.get(piece.kind)
        self._seconds[piece.kind] = elapsed if known is None else MEMORY * known + (1 - MEMORY) * elapsed
        return outcome


def _outcome(piece: Piece) -> Outcome:
    """What comes of the work, judged by who asked for it."""
    try:
        return piece.work(), None
    except Exception as error:  # noqa: BLE001  # see above
        return None, error
