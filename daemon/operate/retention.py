"""How long the history is kept: by age and by size, cut at a snapshot, one learner at a time.

One snapshot a day stays to cut at (`History.superseded`).
"""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from galloon.daemon.config import Store
from galloon.daemon.learner.learner import Learner
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import Forget, StoredSnapshot

log = structlog.get_logger()
DAY_S = 86_400.0


class Retention:
    """Call `look` now and then; `now` is in seconds of Unix."""

    def __init__(self, journal: Journal, config: Store, now: Callable[[], float]) -> None:
        self._journal, self._config, self._now = journal, config, now

    async def look(self, learners: Sequence[Learner]) -> None:
        """Cut what is too old; then, while all together is too large, the oldest that there is."""
        too_old = self._now() - self._config.history_days * DAY_S
        for learner in learners:
            for cut in reversed(await self._places(learner)):
                if cut.time < too_old:
                    await self._cut(learner, cut, "age")
                    break
        while await asyncio.to_thread(self._journal.backend.size) > self._config.history_bytes:
            places = [(learner, places[0]) for learner in learners if (places := await self._places(learner))]
            if not places:
                return
            await self._cut(*min(places, key=lambda place: place[1].time), "size")

    async def _places(self, learner: Learner) -> Sequence[StoredSnapshot]:
        """Where it could be cut, the oldest first."""
        backend, key = self._journal.backend, learner.key
        base, known = await asyncio.to_thread(lambda: (backend.base(key), backend.snapshots(key)))
        return [each for each in known if each.seq > base]

    async def _cut(self, learner: Learner, cut: StoredSnapshot, why: str) -> None:
        await learner.cut_at(cut.seq)
        gone = await self._journal.transact(Forget(learner.key, cut.seq))
        log.info("history cut", learner=learner.name, up_to=cut.seq, entries=gone, why=why)
