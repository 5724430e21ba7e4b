"""What must happen now and then: snapshots by count and by age, expiry by age, counting of error rates, giving
memory back.

One learner at a time, so that housekeeping never takes more than its share. A snapshot that fails is logged and
tried again; nothing is lost by it, the journal is still there.
"""

import asyncio
import gc
from collections.abc import Callable
from itertools import count

import structlog

from galloon.daemon.config import Store
from galloon.daemon.errors import DaemonError
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.operate.memory import give_back

log = structlog.get_logger()
TICK_S = 0.5
# Rounds whose errors are counted in one tick, so that it stays below a few percent of a core.
COUNTED_ROUNDS = 25
GIVE_BACK_TICKS = 20  # ten seconds; it takes some milliseconds


class Housekeeping:
    """Call `run` as a task of its own; `snapshot_all` before the end."""

    def __init__(
        self, registry: Registry, config: Store, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        self._registry, self._config, self._metrics, self._clock = registry, config, metrics, clock

    async def run(self) -> None:
        for tick in count(1):
            await asyncio.sleep(TICK_S)
            learners = self._registry.learners()
            for learner in learners:
                await self._look_after(learner)
                await asyncio.sleep(0)  # a thousand of them would hold up the streams
            await asyncio.to_thread(self._count_errors, learners)
            if tick % GIVE_BACK_TICKS == 0:
                gc.collect()  # gRPC leaves a cycle with every call, and the collector's own turn comes late
                await asyncio.to_thread(give_back)

    async def snapshot_all(self) -> None:
        """Snapshots of everything that changed, so that the next start has nothing to replay."""
        for learner in self._registry.learners():
            if learner.journal_entries and learner.broken is None:
                await self._snapshot(learner)

    async def _look_after(self, learner: Learner) -> None:
        if learner.broken is not None:
            return
        try:
            if learner.rounds.pending:
                await learner.expire()
            if self._is_due(learner):
                await self._snapshot(learner)
        except DaemonError as error:
            log.warning("housekeeping failed", learner=learner.name, error=str(error))

    def _count_errors(self, learners: list[Learner]) -> None:
        """Share what may be counted among the learners that have something to count."""
        waiting = [learner.books for learner in learners if learner.books.waiting]
        for books in waiting:
            books.count_some(max(1, COUNTED_ROUNDS // len(waiting)))

    def _is_due(self, learner: Learner) -> bool:
        entries = learner.journal_entries
        if not entries:
            return False
        since = learner.snapshot_time if learner.snapshot_time is not None else learner.created_time
        return entries >= self._config.snapshot_events or self._clock() - since >= self._config.snapshot_age_s

    async def _snapshot(self, learner: Learner) -> None:
        dropped = await learner.snapshot()
        self._metrics.snapshots.inc()
        log.debug("snapshot written", learner=learner.name, bytes=learner.snapshot_bytes, entries=dropped)
