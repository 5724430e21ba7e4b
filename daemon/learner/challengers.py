"""Challengers: learners of another spec that play the rounds of a learner, in the background, and answer nobody.

A challenger is a learner of its own, called after its champion (`names`), with a history, snapshots and books
like any other. It follows the champion's history: `follow` plays entries from where it stopped, so nothing is lost
or played twice when the daemon ends in between. What it takes in is durable in the champion's history, so nobody
waits for the disk. `Challengers.run` is the task that feeds all of them, with a fifth of a processor at most.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from time import perf_counter, thread_time

import structlog

from galloon.codec.answer import own_text
from galloon.codec.utterance import FINGERPRINT_BYTES, canonical_bytes, fingerprint, of_engines
from galloon.daemon.errors import DaemonError
from galloon.daemon.learner.events import Amended, Applied, Chose, Revised, from_entry
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.learner.work_queue import DISK
from galloon.daemon.store.compression import PACKED
from galloon.learners.errors import LearnerError
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

CHAMPION = "champion"  # its name in the books of a challenger
SLICE_S = 0.02  # of the processor, before others get their turn
IDLE_S = 0.5
PAUSES = 4.0  # as long as a slice took: a fifth of a processor
TRUE_TEXTS = ("true_text", "true_tokens")  # feedback that says something of any text
FOLLOWED = (Chose.kind, Revised.kind, Applied.kind, Amended.kind)

log = structlog.get_logger()


class Challengers:
    """Feeds all challengers; `pairs` gives those that are live, each with its champion."""

    def __init__(self, pairs: Callable[[], Iterable[tuple[Learner, Learner]]]) -> None:
        self._pairs = pairs

    async def run(self) -> None:
        while True:
            moved = [await self._feed(challenger, champion) for challenger, champion in self._pairs()]
            await asyncio.sleep(0.0 if any(moved) else IDLE_S)

    async def _feed(self, challenger: Learner, champion: Learner) -> bool:
        """Play a little; whether it came any further."""
        if challenger.broken is not None or challenger.followed >= champion.seq:
            return False
        history, before, started = champion.recorded(), challenger.followed, perf_counter()
        try:
            await challenger.queue.run((DISK, 0), partial(follow, challenger, history, SLICE_S))
        except DaemonError as error:
            log.warning("challenger waits", learner=challenger.name, error=str(error))
            return False
        await asyncio.sleep(PAUSES * (perf_counter() - started))
        return challenger.followed > before


def follow(challenger: Learner, champion: History, seconds: float) -> None:
    """Play entries of the champion for so long; in the challenger's work queue."""
    challenger.check_usable()  # it may have been deleted, or given to another daemon, meanwhile
    end = thread_time() + seconds
    for entry in champion.entries(challenger.followed):
        try:
            if entry.kind & ~PACKED in FOLLOWED:
                _play(challenger, champion, from_entry(entry))
        except DaemonError:
            raise
        except Exception as error:
            challenger.broken = error
            log.exception("challenger out of service", learner=challenger.name, entry=entry.seq)
            return
        challenger.followed = entry.seq
        if thread_time() > end:
            return


def _play(challenger: Learner, champion: History, event: object) -> None:
    match event:
        case Chose() if event.utterance:
            message = utterance_pb2.Utterance.FromString(event.utterance)
            _choose(challenger, of_engines(message, challenger.spec.engines), event.round_number)
        case Applied(id_) | Amended(id_):
            _agree(challenger, champion.find(id_))


def _choose(challenger: Learner, message: utterance_pb2.Utterance, number: int) -> None:
    """Begin a round, or go on with it where outputs came late."""
    round_, mark = challenger.rounds.find(message.id), fingerprint(canonical_bytes(message))
    with suppress(LearnerError):  # a round that this spec cannot play, as where an engine is absent
        if round_ is None:
            challenger.begin(message, number)
        elif round_.status is Status.PENDING and mark not in (round_.fingerprint, *round_.earlier):
            challenger.revise_to(round_, message)


def _agree(challenger: Learner, theirs: Round | None) -> None:
    """Let the challenger's round have the feedback that the champion's has by now."""
    mine = None if theirs is None else challenger.rounds.touch(theirs.id)
    if theirs is None or mine is None:
        return
    taught = theirs.status is Status.LEARNED and _is_true_text(theirs.truth)
    if taught and mine.status is Status.PENDING:
        challenger.take_in(mine, theirs.feedback, theirs.truth)
    elif mine.status is Status.LEARNED and not taught:
        challenger.take_in(mine, bytes(FINGERPRINT_BYTES), b"")
    elif mine.status is Status.LEARNED and mine.feedback != theirs.feedback:
        challenger.take_in(mine, theirs.feedback, theirs.truth)


def _is_true_text(feedback: bytes) -> bool:
    """Scores and gains judge the champion's text, which the challenger did not say."""
    return wire.Feedback.FromString(feedback).WhichOneof("feedback") in TRUE_TEXTS


def champion_text(champion: Learner | None, utterance_id: str) -> Mapping[str, str]:
    """What the champion made of an utterance; nothing where a spec before the present one answered it."""
    round_ = None if champion is None else champion.recorded().find(utterance_id)
    if champion is None or round_ is None or round_.number < champion.memories_since:
        return {}
    return {CHAMPION: own_text(wire.CombineResponse.FromString(round_.answer).choice)}
