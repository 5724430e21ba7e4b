"""What must happen now and then: snapshots by count and by age, retention of the history, rebuilding of learners
whose feedback was amended, counting of error rates, giving memory back.

One learner at a time, so that housekeeping never takes more than its share. A snapshot that fails is logged and
tried again; nothing is lost by it, the journal is still there.
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from itertools import count
from time import time

import structlog

from galloon.daemon.config import Store
from galloon.daemon.errors import DaemonError
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.erasing import Erasing
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.operate.memory import give_back
from galloon.daemon.operate.retention import Retention
from galloon.daemon.store.journal import Journal

log = structlog.get_logger()
TICK_S = 0.5
COUNTING_S = 0.1  # of the processor, in one tick, for counting errors: a fifth of a core while it is behind
ERASING_TICKS = 120  # a minute
RETENTION_TICKS = 600  # five minutes
REBUILD_PAUSE_S = 30.0  # after one that failed
GIVE_BACK_TICKS = 20  # ten seconds; it takes some milliseconds


class Housekeeping:
    """Call `run` as a task of its own; `snapshot_all` before the end."""

    def __init__(
        self,
        registry: Registry,
        journal: Journal,
        config: Store,
        metrics: Metrics,
        erasing: Erasing,
        clock: Callable[[], float],
    ) -> None:
        self._registry, self._config, self._metrics, self._clock = registry, config, metrics, clock
        self._erasing = erasing
        self._retention = Retention(journal, config, time)
        self._rebuilds: dict[str, asyncio.Task[None]] = {}  # under way, by learner; one at a time
        self._rebuilt = ""  # the last one; others come first
        self._rebuild_after: dict[str, float] = {}  # learners whose rebuild failed

    async def run(self) -> None:
        for tick in count(1):
            await asyncio.sleep(TICK_S)
            learners = self._registry.learners()
            for learner in learners:
                await self._look_after(learner)
                await asyncio.sleep(0)  # a thousand of them would hold up the streams
            self._rebuild_next(learners)
            await asyncio.to_thread(self._count_errors, learners)
            if tick % ERASING_TICKS == 1:
                await self._erase_what_is_left(learners)
            if tick % RETENTION_TICKS == 1:
                await self._cut_history(learners)
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
            await learner.load_ids()
            if self._is_due(learner):
                await self._snapshot(learner)
        except DaemonError as error:
            log.warning("housekeeping failed", learner=learner.name, error=str(error))

    def _rebuild_next(self, learners: Sequence[Learner]) -> None:
        """One at a time, each in its turn: who amends without end does not keep others waiting."""
        if self._rebuilds:
            return
        now = self._clock()
        due = [
            learner
            for learner in learners
            if learner.amended_seq
            and learner.broken is None
            and now >= self._rebuild_after.get(learner.name, 0.0)
        ]
        if due:
            learner = min(due, key=lambda each: (each.name <= self._rebuilt, each.name))
            self._rebuilt = learner.name
            self._rebuilds[learner.name] = asyncio.create_task(self._rebuild(learner))

    async def _rebuild(self, learner: Learner) -> None:
        """What was replaced or withdrawn leaves the state; the learner serves meanwhile."""
        try:
            await rebuild(learner, "feedback was replaced or withdrawn")
            self._metrics.rebuilds.inc()
            self._rebuild_after.pop(learner.name, None)
        except Exception as error:
            if isinstance(error, DaemonError):
                log.warning("rebuild failed; it is tried again", learner=learner.name, error=str(error))
            else:
                log.exception("rebuild failed; it is tried again", learner=learner.name)
                self._metrics.task_failures["housekeeping"].inc()
            self._rebuild_after[learner.name] = self._clock() + REBUILD_PAUSE_S
        finally:
            del self._rebuilds[learner.name]

    async def _erase_what_is_left(self, learners: list[Learner]) -> None:
        for learner in learners:
            if learner.broken is None:
                try:
                    await self._erasing.look(learner)
                except DaemonError as error:
                    log.warning("erasing failed; it is tried again", learner=learner.name, error=str(error))

    async def _cut_history(self, learners: list[Learner]) -> None:
        try:
            await self._retention.look([learner for learner in learners if learner.broken is None])
        except DaemonError as error:
            log.warning("retention failed; it is tried again", error=str(error))

    def _count_errors(self, learners: list[Learner]) -> None:
        """Share what may be counted among the learners that have something to count."""
        behind = [learner for learner in learners if learner.books.seq < learner.seq]
        for learner in behind:
            if learner.history is not None:
                learner.books.count_some(learner.history, COUNTING_S / len(behind))

    def _is_due(self, learner: Learner) -> bool:
        entries = learner.journal_entries
        if not entries:
            return False
        since = learner.snapshot_time if learner.snapshot_time is not None else learner.created_time
        return entries >= self._config.snapshot_events or self._clock() - since >= self._config.snapshot_age_s

    async def _snapshot(self, learner: Learner) -> None:
        replaced = await learner.snapshot()
        self._metrics.snapshots.inc()
        log.debug("snapshot written", learner=learner.name, bytes=learner.snapshot_bytes, replaced=replaced)
