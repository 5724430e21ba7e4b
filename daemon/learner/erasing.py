"""Rounds are erased for good: `Erasing.erase`, and `look`, which erases again what a restored backup brought back.

In this order, so that a crash loses nothing that was asked for: the list of erasures says so (`ErasureList`), the
learner is made again without these rounds and takes the place of the present one in the same step in which their
entries become void, and what is void leaves the files. What a crash has left is done by `look`.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import time
from weakref import WeakSet

import structlog

from galloon.daemon.errors import DaemonError
from galloon.daemon.failpoints import reach
from galloon.daemon.learner.events import Chose, from_entry
from galloon.daemon.learner.exchange import check_loss, erase
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Learner
from galloon.daemon.store.compression import PACKED
from galloon.daemon.store.erasures import Erasure, ErasureList
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import Vacuum
from galloon.v1 import utterance_pb2

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased; `unknown` are ids that are not in the history and were not erased before either."""

    erased: int = 0
    before: int = 0
    unknown: tuple[str, ...] = ()
    seconds: float = 0.0  # of the processor


class Erasing:
    """Of one daemon."""

    def __init__(self, journal: Journal, list_: ErasureList) -> None:
        self._journal, self._list = journal, list_
        self._looked_at: WeakSet[Learner] = WeakSet()

    async def erase(
        self,
        learner: Learner,
        ids: Sequence[str],
        challengers: Iterable[Learner] = (),
        *,
        accept_loss: bool = False,
    ) -> Erased:
        """Erase the rounds of these ids, then those that challengers have played by then."""
        done = await self._erase_of_one(learner, ids, accept_loss)
        for challenger in challengers:
            await challenger.queue.rest()  # it may be about to play what was there a moment ago
            if (await self._erase_of_one(challenger, ids, accept_loss)).erased:
                # What the learner had answered is gone, and was counted beside.
                await asyncio.to_thread(challenger.books.begin_again)
        return done

    async def _erase_of_one(self, learner: Learner, ids: Sequence[str], accept_loss: bool) -> Erased:
        await learner.written()
        history = learner.recorded()
        known = await asyncio.to_thread(lambda: [id_ for id_ in dict.fromkeys(ids) if history.has(id_)])
        others = set(ids).difference(known)
        done = {id_ for each in self._list.of(learner.name) for id_ in each.ids} if others else set()
        seconds = 0.0
        if known:
            erasure = Erasure(learner.name, time(), tuple(known))
            await check_loss(learner, erasure.ids, accept_loss)
            reach("erasure.before_list")
            await asyncio.to_thread(self._list.add, erasure)
            reach("erasure.after_list")
            seconds = await self._erase(learner, erasure, erasure.ids, accept_loss)
        left = others - done  # once: this is the event loop, and there may be 10,000
        unknown = tuple(id_ for id_ in dict.fromkeys(ids) if id_ in left)
        return Erased(len(known), len(others & done), unknown, seconds)

    async def look(self, learner: Learner) -> None:
        """Finish what a crash or a full disk has left; once, erase what the list names and is there again."""
        if learner in self._looked_at and not self._list.has_unfinished(learner.name):
            return
        self._looked_at.add(learner)
        history = learner.recorded()
        for erasure in await asyncio.to_thread(self._list.of, learner.name):
            left = await asyncio.to_thread(_left, history, erasure)
            try:
                if left or not self._list.is_finished(erasure):
                    await self._erase(learner, erasure, left, accept_loss=False)
            except DaemonError as error:
                log.error(  # noqa: TRY400  # a sentence
                    "what was erased is back, and cannot be erased again",
                    learner=learner.name,
                    rounds=len(left),
                    error=str(error),
                )

    async def _erase(
        self, learner: Learner, erasure: Erasure, ids: tuple[str, ...], accept_loss: bool
    ) -> float:
        rebuilt = await erase(learner, ids, accept_loss) if ids else None
        await self._journal.transact(Vacuum())
        reach("erasure.before_done")
        await asyncio.to_thread(self._list.finish, erasure)
        log.info("rounds erased", learner=learner.name, rounds=len(ids))
        return rebuilt.seconds if rebuilt else 0.0


def _left(history: History, erasure: Erasure) -> tuple[str, ...]:
    """Rounds of an erasure that are in the history; one that began later, under the same id, is another one."""
    found = ((id_, history.find(id_)) for id_ in erasure.ids)
    return tuple(id_ for id_, round_ in found if round_ is not None and round_.time <= erasure.time)


def labelled(history: History, name: str, value: str) -> list[str]:
    """The ids of all rounds so far whose utterances have this label."""
    return list(_labelled(history, name, value))


def _labelled(history: History, name: str, value: str) -> Iterator[str]:
    base = history.cut()
    for entry in history.entries(0):
        event = from_entry(entry) if entry.kind & ~PACKED == Chose.kind else None
        round_ = event if isinstance(event, Chose) else history.listed_at(entry, base) if base else None
        if round_ is not None and round_.utterance:
            labels = utterance_pb2.Utterance.FromString(round_.utterance).labels
            if name in labels and labels[name] == value:
                yield round_.id
