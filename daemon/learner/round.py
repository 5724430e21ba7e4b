r"""The life of one round: begun by an utterance, pending, then learned or expired, remembered for a while.

    (nothing) --Chose--> PENDING --(feedback is being written)--> TEACHING --Taught--> LEARNED --> forgotten
                            \-----(expiry is being written)-----> EXPIRING --Expired-> EXPIRED --/

`Round` is the one record of a round, and `Rounds` its one holder: those of one learner, their counts, and the warm
views of the last few. `answer_to` and `awaiting` say what to do with an utterance or a feedback: new, a repetition
(the same answer again), or refused. `chosen`, `learned` and `expired` apply events, the same way live and on
replay. `capture` and `restore` are inverse to the bit. No clock decides anything in here: `started_at` only tells
the learner which rounds to expire, by an event.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, StoreDamaged, UnknownRound
from galloon.daemon.learner.events import Chose
from galloon.learners.combiners.contract import Choice, Feedback
from galloon.learners.errors import DamagedState
from galloon.learners.observation import Utterance
from galloon.learners.state import count_in
from galloon.v1 import combine_pb2 as wire

WARM_ROUNDS = 64  # some ten kilobytes each
WARM_SLOTS = 16_384  # of all of them together, so that long utterances do not add up
PENDING_BLOBS = ("fingerprint", "memory", "answer")
OVER_BLOBS = ("fingerprint", "answer", "feedback", "lesson")

Reply = Callable[[Any, Exception | None], None]


class Status(Enum):
    """Where a round stands, and what a client is told of it."""

    PENDING = wire.ROUND_STATE_PENDING, "pending"
    TEACHING = wire.ROUND_STATE_PENDING, "its feedback is on its way to the disk"
    EXPIRING = wire.ROUND_STATE_EXPIRED, "its expiry is on its way to the disk"
    LEARNED = wire.ROUND_STATE_LEARNED, "learned"
    EXPIRED = wire.ROUND_STATE_EXPIRED, "expired"

    @property
    def on_the_wire(self) -> wire.RoundState.ValueType:
        return self.value[0]


@dataclass(slots=True, eq=False)
class Warm:
    """What the running daemon still has of a round: not state, and everything is the same without it."""

    utterance: Utterance
    choice: Choice
    feedback: Feedback | None = None


@dataclass(slots=True, eq=False)
class Round:
    """One round. Below the line: known to the running daemon alone, not state."""

    number: int
    id: str
    fingerprint: bytes  # of the utterance
    answer: bytes
    memory: bytes = b""  # of the combiner, until the round is over
    feedback: bytes = b""  # its fingerprint
    lesson: bytes = b""  # the answer to the feedback
    status: Status = Status.PENDING
    # ----
    started_at: float = 0.0
    warm: Warm | None = None
    waiters: list[Reply] = field(default_factory=list)  # for the feedback to be learned

    def wait_again(self) -> None:
        """What was on its way to the disk did not get there, or could not be learned."""
        self.status, self.feedback = Status.PENDING, b""

    @property
    def view(self) -> object | None:
        """What the combiner would otherwise read again from the memory."""
        return None if self.warm is None else self.warm.choice.view


@dataclass(slots=True)
class Rounds:
    """All rounds of one learner that are not forgotten, and their counts."""

    remembered: int  # of those that are over, so that a retry gets the same answer
    started: int = 0
    lessons: int = 0
    expired_count: int = 0
    total_gain: float = 0.0
    pending: dict[str, Round] = field(default_factory=dict)  # oldest first
    over: dict[str, Round] = field(default_factory=dict)  # first over first
    _warm: deque[Round] = field(default_factory=deque)  # oldest first
    _warm_slots: int = 0

    # What to do with a request.

    def find(self, utterance_id: str) -> Round | None:
        return self.pending.get(utterance_id) or self.over.get(utterance_id)

    def answer_to(self, utterance_id: str, fingerprint: bytes) -> bytes | None:
        """The answer that this utterance got before; None for a new one."""
        known = self.find(utterance_id)
        if known is None:
            return None
        if known.fingerprint != fingerprint:
            raise OtherContent(
                f"utterance {utterance_id!r} was sent before with other content: give each an id of its own",
                "utterance.id",
            )
        return known.answer

    def awaiting(self, utterance_id: str, fingerprint: bytes) -> Round:
        """The round that this feedback is for: pending, or taught by the same feedback before."""
        round_ = self.find(utterance_id)
        if round_ is None:
            raise UnknownRound(
                f"no round is known for utterance {utterance_id!r}: send the utterance, then this again",
                "feedback.id",
            )
        if round_.status in (Status.EXPIRING, Status.EXPIRED):
            raise ExpiredRound(
                f"the round of utterance {utterance_id!r} expired before its feedback came", "feedback.id"
            )
        if round_.status is not Status.PENDING and round_.feedback != fingerprint:
            raise OtherFeedback(
                f"the round of utterance {utterance_id!r} has other feedback already: a round learns once",
                "feedback",
            )
        return round_

    def known(self, utterance_id: str) -> Round:
        """For those who look at a round."""
        round_ = self.find(utterance_id)
        if round_ is None:
            raise UnknownRound(f"no round is known for utterance {utterance_id!r}", "id")
        return round_

    def state_of(self, utterance_id: str) -> wire.RoundState.ValueType:
        """What a client that reconnects is told of an utterance."""
        round_ = self.find(utterance_id)
        return wire.ROUND_STATE_UNKNOWN if round_ is None else round_.status.on_the_wire

    def answers(self) -> Iterator[bytes]:
        """Everything that a retry may get."""
        for round_ in (*self.pending.values(), *self.over.values()):
            yield round_.answer
            if round_.lesson:
                yield round_.lesson

    def latest(self, most: int) -> list[Round]:
        """The newest first."""
        found = [*islice(reversed(self.pending.values()), most), *islice(reversed(self.over.values()), most)]
        return sorted(found, key=lambda round_: -round_.number)[:most]

    def overdue(self, most: int, started_before: float) -> tuple[str, ...]:
        """Rounds to expire, now EXPIRING: the oldest beyond this many, and those begun too long ago."""
        too_many = len(self.pending) - most
        found = []
        for count, round_ in enumerate(self.pending.values()):
            if count >= too_many and round_.started_at >= started_before:
                break  # oldest first: nothing after this one is overdue
            if round_.status is Status.PENDING:
                round_.status = Status.EXPIRING
                found.append(round_.id)
        return tuple(found)

    # Events.

    def chosen(self, event: Chose, started_at: float = 0.0, warm: Warm | None = None) -> Round:
        if event.round_number < self.started or event.id in self.pending:
            raise StoreDamaged(f"round {event.round_number} of utterance {event.id!r} begins a second time")
        self.started = event.round_number + 1
        round_ = Round(
            event.round_number,
            event.id,
            event.fingerprint,
            event.answer,
            event.memory,
            started_at=started_at,
            warm=warm,
        )
        self.pending[event.id] = round_
        if warm is not None:
            self._keep_warm(round_, warm)
        return round_

    def taught(self, utterance_id: str) -> Round:
        """The round that an event teaches."""
        round_ = self.pending.get(utterance_id)
        if round_ is None:
            raise StoreDamaged(f"the journal teaches round {utterance_id!r}, which is not pending")
        return round_

    def learned(self, round_: Round, fingerprint: bytes, gain: float) -> None:
        """The combiner has learned this round; the caller writes the lesson, now that the counts are right."""
        round_.feedback = fingerprint
        self.lessons += 1
        self.total_gain += gain
        self._end(round_, Status.LEARNED)

    def expired(self, utterance_ids: tuple[str, ...]) -> None:
        for utterance_id in utterance_ids:
            self.expired_count += 1
            self._end(self.pending[utterance_id], Status.EXPIRED)

    def _end(self, round_: Round, status: Status) -> None:
        del self.pending[round_.id]
        round_.status, round_.memory = status, b""
        self.over[round_.id] = round_
        while len(self.over) > self.remembered:
            del self.over[next(iter(self.over))]

    def _keep_warm(self, round_: Round, warm: Warm) -> None:
        self._warm.append(round_)
        self._warm_slots += len(warm.choice)
        while len(self._warm) > WARM_ROUNDS or (self._warm_slots > WARM_SLOTS and len(self._warm) > 1):
            coldest = self._warm.popleft()
            assert coldest.warm is not None, "rounds in here are warm"
            self._warm_slots -= len(coldest.warm.choice)
            coldest.warm = None

    # Snapshots. The arrays of rounds that are over are called "settled" there.

    def capture(self, before: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything durable as scalars and arrays, as if no round from number `before` on had begun."""
        pending = [round_ for round_ in self.pending.values() if round_.number < before]
        over = list(self.over.values())
        meta = {
            "started": before,
            "lessons": self.lessons,
            "expired": self.expired_count,
            "pending": [round_.id for round_ in pending],
            "settled": [round_.id for round_ in over],
        }
        arrays: dict[str, NDArray[Any]] = {
            "total_gain": np.array([self.total_gain]),
            "pending_rounds": np.array([round_.number for round_ in pending], dtype=np.int64),
            "settled_rounds": np.array([round_.number for round_ in over], dtype=np.int64),
        }
        for name in PENDING_BLOBS:
            arrays |= _to_arrays(f"pending_{name}", [getattr(round_, name) for round_ in pending])
        for name in OVER_BLOBS:
            arrays |= _to_arrays(f"settled_{name}", [getattr(round_, name) for round_ in over])
        return meta, arrays

    def restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], started_at: float = 0.0
    ) -> None:
        _check_counts(meta, arrays)
        self.started, self.lessons = int(meta["started"]), int(meta["lessons"])
        self.expired_count, self.total_gain = int(meta["expired"]), float(arrays["total_gain"][0])
        self._warm.clear()
        self._warm_slots = 0
        self.pending, self.over = {}, {}
        columns = [_from_arrays(f"pending_{name}", arrays) for name in PENDING_BLOBS]
        rows = zip(arrays["pending_rounds"].tolist(), meta["pending"], *columns, strict=True)
        for number, id_, fingerprint, memory, answer in rows:
            self.pending[id_] = Round(number, id_, fingerprint, answer, memory, started_at=started_at)
        columns = [_from_arrays(f"settled_{name}", arrays) for name in OVER_BLOBS]
        rows = zip(arrays["settled_rounds"].tolist(), meta["settled"], *columns, strict=True)
        for number, id_, fingerprint, answer, feedback, lesson in rows:
            status = Status.LEARNED if lesson else Status.EXPIRED
            self.over[id_] = Round(number, id_, fingerprint, answer, b"", feedback, lesson, status)


def _check_counts(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse numbers that no run of rounds leads to: these bytes may come from a client."""
    started, *ended = (count_in(meta, name) for name in ("started", "lessons", "expired"))
    numbers = [*arrays["pending_rounds"].tolist(), *arrays["settled_rounds"].tolist()]
    ids = [*meta["pending"], *meta["settled"]]
    if (
        sum(ended) > started
        or not all(type(number) is int and 0 <= number < started for number in numbers)
        or not all(isinstance(each, str) for each in ids)
        or len(set(ids)) < len(ids)
        or not np.isfinite(arrays["total_gain"]).all()
    ):
        raise DamagedState("the rounds of this learner's state contradict each other")


def _to_arrays(name: str, blobs: list[bytes]) -> dict[str, NDArray[Any]]:
    """Many blobs as one array of bytes and one of lengths."""
    return {
        name: np.frombuffer(b"".join(blobs), dtype=np.uint8),
        f"{name}_bytes": np.array([len(blob) for blob in blobs], dtype=np.int64),
    }


def _from_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    data, at = arrays[name].tobytes(), 0
    for size in arrays[f"{name}_bytes"].tolist():
        yield data[at : at + size]
        at += size
