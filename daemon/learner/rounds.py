r"""The life of one round: begun by an utterance, pending, then learned or expired, remembered for a while.

    (nothing) --Chose--> pending --Taught--> learned --> forgotten after `remembered` more rounds
                            \----Expired--> expired --/

`Rounds` are the rounds of one learner. `answer_to` and `question` say what to do with an utterance or a
feedback: new, a repetition (the same answer again), or refused. `chosen`, `learned` and `expired` apply
events, the same way live and on replay. `capture` and `restore` are inverse to the bit. No clock decides
anything in here: `born` only tells the host which rounds to expire, by an event.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, UnknownRound
from galloon.daemon.learner.events import Chose, Expired, Taught
from galloon.learners.errors import DamagedState
from galloon.v1 import combine_pb2 as wire

PENDING_BLOBS = ("fingerprint", "memory", "answer")  # in the order of the fields
MOST_ROUNDS = 2**53
SETTLED_BLOBS = ("fingerprint", "answer", "feedback", "lesson")
WARM_ROUNDS = 64  # whose views are kept, some ten kilobytes each


@dataclass(slots=True)
class Pending:
    """A round that waits for feedback. Below the line: known to the running daemon alone, not state."""

    round_number: int
    id: str
    fingerprint: bytes
    memory: bytes
    answer: bytes
    # ----
    born: float = 0.0
    feedback: bytes | None = None  # fingerprint of a feedback that is being written
    leaving: bool = False  # its expiry is being written
    view: object | None = None  # of the choice, while it is among the last few: saves reading the memory


@dataclass(slots=True)
class Settled:
    """A round that is over, kept so that a retry gets the same answer. No lesson: it expired."""

    round_number: int
    id: str
    fingerprint: bytes
    answer: bytes
    feedback: bytes
    lesson: bytes


@dataclass(slots=True)
class Rounds:
    """All rounds of one learner that are not forgotten, and their counts."""

    remembered: int
    started: int = 0
    lessons: int = 0
    expired_count: int = 0
    total_gain: float = 0.0
    pending: dict[str, Pending] = field(default_factory=dict)  # oldest first
    settled: dict[str, Settled] = field(default_factory=dict)  # first settled first
    _warm: deque[str] = field(default_factory=deque)  # rounds that may have a view

    # What to do with a request.

    def answer_to(self, utterance_id: str, fingerprint: bytes) -> bytes | None:
        """The answer that this utterance got before; None for a new one."""
        known = self.pending.get(utterance_id) or self.settled.get(utterance_id)
        if known is None:
            return None
        if known.fingerprint != fingerprint:
            raise OtherContent(
                f"utterance {utterance_id!r} was sent before with other content: give each an id of its own",
                "utterance.id",
            )
        return known.answer

    def question(self, utterance_id: str, fingerprint: bytes) -> Pending | bytes:
        """The pending round that this feedback is for, or the answer that it got before."""
        known = self.settled.get(utterance_id)
        if known is not None:
            if not known.lesson:
                raise _expired(utterance_id)
            if known.feedback != fingerprint:
                raise _other_feedback(utterance_id)
            return known.lesson
        round_ = self.pending.get(utterance_id)
        if round_ is None:
            raise UnknownRound(
                f"no round is known for utterance {utterance_id!r}: send the utterance, then this again",
                "feedback.id",
            )
        if round_.leaving:
            raise _expired(utterance_id)
        if round_.feedback is not None and round_.feedback != fingerprint:
            raise _other_feedback(utterance_id)
        return round_

    def state_of(self, utterance_id: str) -> wire.RoundState.ValueType:
        """What a client that reconnects is told of an utterance."""
        if utterance_id in self.pending:
            return (
                wire.ROUND_STATE_EXPIRED if self.pending[utterance_id].leaving else wire.ROUND_STATE_PENDING
            )
        known = self.settled.get(utterance_id)
        if known is None:
            return wire.ROUND_STATE_UNKNOWN
        return wire.ROUND_STATE_LEARNED if known.lesson else wire.ROUND_STATE_EXPIRED

    def remembered_of(self, utterance_id: str) -> tuple[bytes, bytes | None]:
        """The answer to an utterance, and the memory of its round while it is pending."""
        round_ = self.pending.get(utterance_id)
        if round_ is not None:
            return round_.answer, round_.memory
        known = self.settled.get(utterance_id)
        if known is None:
            raise UnknownRound(f"no round is known for utterance {utterance_id!r}", "id")
        return known.answer, None

    def answers(self) -> Iterator[bytes]:
        """Everything that a retry may get."""
        yield from (round_.answer for round_ in self.pending.values())
        yield from (round_.answer for round_ in self.settled.values())
        yield from (round_.lesson for round_ in self.settled.values() if round_.lesson)

    def overdue(self, most: int, born_before: float) -> tuple[str, ...]:
        """Rounds to expire, now leaving: the oldest beyond this many, and those born too long ago."""
        too_many = len(self.pending) - most
        found = []
        for count, round_ in enumerate(self.pending.values()):
            if count >= too_many and round_.born >= born_before:
                break  # oldest first: nothing after this one is overdue
            if round_.feedback is None and not round_.leaving:
                round_.leaving = True
                found.append(round_.id)
        return tuple(found)

    # Events.

    def chosen(self, event: Chose, born: float = 0.0, view: object | None = None) -> None:
        self.started = event.round_number + 1
        self.pending[event.id] = Pending(
            event.round_number, event.id, event.fingerprint, event.memory, event.answer, born, view=view
        )
        self._warm.append(event.id)
        if len(self._warm) > WARM_ROUNDS and (oldest := self.pending.get(self._warm.popleft())):
            oldest.view = None

    def learned(self, event: Taught, gain: float, lesson: Callable[[Pending, "Rounds"], bytes]) -> bytes:
        """Settle a round with its lesson; `lesson` writes the answer once the counts are up to date."""
        round_ = self.pending.pop(event.id)
        self.lessons += 1
        self.total_gain += gain
        answer = lesson(round_, self)
        self._settle(round_, event.fingerprint, answer)
        return answer

    def expired(self, event: Expired) -> None:
        for utterance_id in event.ids:
            self._settle(self.pending.pop(utterance_id), b"", b"")
            self.expired_count += 1

    def _settle(self, round_: Pending, feedback: bytes, lesson: bytes) -> None:
        self.settled[round_.id] = Settled(
            round_.round_number, round_.id, round_.fingerprint, round_.answer, feedback, lesson
        )
        while len(self.settled) > self.remembered:
            del self.settled[next(iter(self.settled))]

    # Snapshots.

    def capture(self, before: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything durable as scalars and arrays, as if no round from number `before` on had begun."""
        pending = [round_ for round_ in self.pending.values() if round_.round_number < before]
        settled = list(self.settled.values())
        meta = {
            "started": before,
            "lessons": self.lessons,
            "expired": self.expired_count,
            "pending": [round_.id for round_ in pending],
            "settled": [round_.id for round_ in settled],
        }
        arrays: dict[str, NDArray[Any]] = {
            "total_gain": np.array([self.total_gain]),
            "pending_rounds": np.array([round_.round_number for round_ in pending], dtype=np.int64),
            "settled_rounds": np.array([round_.round_number for round_ in settled], dtype=np.int64),
        }
        for name in PENDING_BLOBS:
            arrays |= _to_arrays(f"pending_{name}", [getattr(round_, name) for round_ in pending])
        for name in SETTLED_BLOBS:
            arrays |= _to_arrays(f"settled_{name}", [getattr(round_, name) for round_ in settled])
        return meta, arrays

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], born: float = 0.0) -> None:
        _check_counts(meta, arrays)
        self.started, self.lessons = int(meta["started"]), int(meta["lessons"])
        self.expired_count, self.total_gain = int(meta["expired"]), float(arrays["total_gain"][0])
        pending = [_from_arrays(f"pending_{name}", arrays) for name in PENDING_BLOBS]
        rows = zip(arrays["pending_rounds"].tolist(), meta["pending"], *pending, strict=True)
        self.pending = {row[1]: Pending(*row) for row in rows}
        for round_ in self.pending.values():
            round_.born = born
        settled = [_from_arrays(f"settled_{name}", arrays) for name in SETTLED_BLOBS]
        rows = zip(arrays["settled_rounds"].tolist(), meta["settled"], *settled, strict=True)
        self.settled = {row[1]: Settled(*row) for row in rows}


def _check_counts(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse numbers that no run of rounds leads to: these bytes may come from a client."""
    counts = [meta[name] for name in ("started", "lessons", "expired")]
    numbers = [*arrays["pending_rounds"].tolist(), *arrays["settled_rounds"].tolist()]
    ids = [*meta["pending"], *meta["settled"]]
    if (
        not all(type(count) is int and 0 <= count < MOST_ROUNDS for count in counts)
        or not all(type(number) is int and 0 <= number < counts[0] for number in numbers)
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


def _expired(utterance_id: str) -> ExpiredRound:
    return ExpiredRound(
        f"the round of utterance {utterance_id!r} expired before its feedback came", "feedback.id"
    )


def _other_feedback(utterance_id: str) -> OtherFeedback:
    return OtherFeedback(
        f"the round of utterance {utterance_id!r} has other feedback already: a round learns once", "feedback"
    )
