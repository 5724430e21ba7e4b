"""A lane: the work of one learner, strictly one piece after the other, in the order in which it came.

Work that takes little time runs on the event loop; heavy work runs in a thread, so that no learner
waits for another one's. Which is which is measured, by kind of work, as it goes along; it never changes a
result. `enter` queues work; its outcome goes to `done`, always on the event loop. Light pieces in stages that
follow one another go through their stages together.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from time import perf_counter, thread_time
from typing import Any, NamedTuple, TypeVar

from galloon.daemon.futures import settle
from galloon.daemon.learner.stages import Outcome, Stages, alone, together

T = TypeVar("T")
Kind = tuple[str, int]  # what is done, and the order of magnitude of how much
Done = Callable[[Any, Exception | None], None]
MEMORY = 0.5  # of the running average of seconds
HEAVY_UNTIL_MEASURED = float("inf")
SLICE_S = 0.002  # of a lane's work in one turn of the event loop, before others get theirs
MEASURED_EVERY = 64  # pieces of light work: reading the processor's clock costs as much as some of it
TOGETHER = 32  # pieces in stages


class Piece(NamedTuple):
    """Work that waits. In stages: `work` makes a generator."""

    kind: Kind
    work: Callable[[], Any]
    done: Done
    in_stages: bool


class Lane:
    """Work of different lanes overlaps; work of one lane never does."""

    def __init__(self, pool: Executor, inline_s: float) -> None:
        self._pool, self._inline_s = pool, inline_s
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Piece] = deque()
        self._busy = False
        self._seconds: dict[Kind, float] = {}
        self._unmeasured = 0  # pieces of light work since the last that was timed

    @property
    def backlog(self) -> int:
        """Pieces of work that wait."""
        return len(self._waiting)

    def enter(self, kind: Kind, work: Callable[[], Any], done: Done) -> None:
        """Queue work; called on the event loop.

        It is done a little later, with all else that came meanwhile: many small pieces in a row run much faster
        than the same with other work between them, because what they need stays in the processor's caches.
        """
        self._queue(Piece(kind, work, done, in_stages=False))

    def enter_stages(self, kind: Kind, work: Callable[[], Stages[Any]], done: Done) -> None:
        """Queue work in stages."""
        self._queue(Piece(kind, work, done, in_stages=True))

    async def run(self, kind: Kind, work: Callable[[], T]) -> T:
        """Queue work and await its outcome."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.enter(kind, work, partial(settle, future))
        return await future

    async def rest(self) -> None:
        """Until all that was queued is done."""
        if self._busy:
            await self.run(("rest", 0), lambda: None)

    def _queue(self, piece: Piece) -> None:
        self._waiting.append(piece)
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Run what waits: light work here and now, up to the first heavy piece, which goes to a thread."""
        self._busy = True
        end = perf_counter() + SLICE_S
        while self._waiting:
            if perf_counter() > end:
                self._loop.call_soon(self._go_on)
                return
            if self._heavy(self._waiting[0]):
                self._pool.submit(self._in_thread, self._waiting.popleft())
                return
            pieces = self._next_pieces()
            for piece, (result, error) in zip(pieces, self._do(pieces), strict=True):
                piece.done(result, error)
        self._busy = False

    def _heavy(self, piece: Piece) -> bool:
        return self._seconds.get(piece.kind, HEAVY_UNTIL_MEASURED) > self._inline_s

    def _next_pieces(self) -> list[Piece]:
        """The light piece that is next, and those that may go with it: no more than fit into a slice."""
        waiting = self._waiting
        pieces = [waiting.popleft()]
        if pieces[0].in_stages:
            left = SLICE_S - self._seconds[pieces[0].kind]
            while waiting and len(pieces) < TOGETHER and waiting[0].in_stages:
                left -= self._seconds.get(waiting[0].kind, HEAVY_UNTIL_MEASURED)
                if left < 0 or self._heavy(waiting[0]):
                    break
                pieces.append(waiting.popleft())
        return pieces

    def _do(self, pieces: list[Piece]) -> list[Outcome]:
        """Light work, timed now and then."""
        self._unmeasured += len(pieces)
        if self._unmeasured < MEASURED_EVERY:
            return _outcomes(pieces)
        self._unmeasured = 0
        return self._timed(pieces)

    def _in_thread(self, piece: Piece) -> None:
        outcome = self._timed([piece])[0]
        self._loop.call_soon_threadsafe(self._back, piece.done, *outcome)

    def _back(self, done: Done, result: Any, error: Exception | None) -> None:
        done(result, error)
        self._go_on()

    def _timed(self, pieces: list[Piece]) -> list[Outcome]:
        # Seconds of the processor, not of the clock: what waits for a busy machine is not heavy for that.
        started = thread_time()
        outcomes = _outcomes(pieces)
        elapsed = (thread_time() - started) / len(pieces)
        for kind in {piece.kind for piece in pieces}:
            known = self._seconds.get(kind)
            self._seconds[kind] = elapsed if known is None else MEMORY * known + (1 - MEMORY) * elapsed
        return outcomes


def _outcomes(pieces: list[Piece]) -> list[Outcome]:
    """What comes of the work, judged by who asked for it."""
    if len(pieces) > 1:
        return together([piece.work() for piece in pieces])
    (piece,) = pieces
    try:
        return [(alone(piece.work()) if piece.in_stages else piece.work(), None)]
    except Exception as error:  # noqa: BLE001  # see above
        return [(None, error)]
