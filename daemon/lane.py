"""A lane: the work of one learner, strictly one piece after the other, in the order in which it came.

Work that takes little time runs on the event loop; heavy work runs in a thread, so that no learner
waits for another one's. Which is which is measured, by kind of work, as it goes along; it never changes a
result. `enter` queues work; its outcome goes to `done`, always on the event loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from time import perf_counter, thread_time
from typing import Any, TypeVar

from galloon.daemon.outcome import settle

T = TypeVar("T")
Kind = tuple[str, int]  # what is done, and the order of magnitude of how much
Done = Callable[[Any, Exception | None], None]
MEMORY = 0.5  # of the running average of seconds
HEAVY_UNTIL_MEASURED = float("inf")
SLICE_S = 0.002  # of a lane's work in one turn of the event loop, before others get theirs
MEASURED_EVERY = 64  # pieces of light work: reading the processor's clock costs as much as some of it


class Lane:
    """Work of different lanes overlaps; work of one lane never does."""

    def __init__(self, pool: Executor, inline_s: float) -> None:
        self._pool, self._inline_s = pool, inline_s
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Kind, Callable[[], Any], Done]] = deque()
        self._busy = False
        self._seconds: dict[Kind, float] = {}
        self._done_inline = 0

    @property
    def backlog(self) -> int:
        """Pieces of work that wait."""
        return len(self._waiting)

    def enter(self, kind: Kind, work: Callable[[], Any], done: Done) -> None:
        """Queue work; called on the event loop.

        It is done a little later, with all else that came meanwhile: many small pieces in a row run much faster
        than the same with other work between them, because what they need stays in the processor's caches.
        """
        self._waiting.append((kind, work, done))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._go_on)

    async def run(self, kind: Kind, work: Callable[[], T]) -> T:
        """Queue work and await its outcome."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.enter(kind, work, partial(settle, future))
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
            kind, work, done = self._waiting.popleft()
            if self._seconds.get(kind, HEAVY_UNTIL_MEASURED) > self._inline_s:
                self._pool.submit(self._in_thread, kind, work, done)
                return
            self._done_inline += 1
            done(*(_outcome(work) if self._done_inline % MEASURED_EVERY else self._timed(kind, work)))
        self._busy = False

    def _in_thread(self, kind: Kind, work: Callable[[], Any], done: Done) -> None:
        result, error = self._timed(kind, work)
        self._loop.call_soon_threadsafe(self._back, done, result, error)

    def _back(self, done: Done, result: Any, error: Exception | None) -> None:
        done(result, error)
        self._go_on()

    def _timed(self, kind: Kind, work: Callable[[], Any]) -> tuple[Any, Exception | None]:
        # Seconds of the processor, not of the clock: what waits for a busy machine is not heavy for that.
        started = thread_time()
        outcome = _outcome(work)
        elapsed = thread_time() - started
        known = self._seconds.get(kind)
        self._seconds[kind] = elapsed if known is None else MEMORY * known + (1 - MEMORY) * elapsed
        return outcome


def _outcome(work: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What comes of the work, judged by who asked for it."""
    try:
        return work(), None
    except Exception as error:  # noqa: BLE001  # see above
        return None, error
