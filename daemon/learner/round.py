r"""The life of one round: begun by an utterance, pending until feedback comes, which may be amended.

    (nothing) --Chose--> PENDING --(feedback is being written)--> TEACHING --Taught--> LEARNED --Amended--> LEARNED
                            \\---------------------------------------------<--- withdrawn ---/

`Round` is the one record of a round. `Rounds` holds those of one learner that are warm, in memory: the last that
began or were asked for, and all that is not yet durable; any other is read from the history when somebody asks.
`answer_to` and `awaiting` say what to do with an utterance or a feedback: new, a repetition (the same answer
again), or refused. `chosen` and `learned` apply events, the same way live and on replay. No clock decides.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, StoreDamaged, UnknownRound
from galloon.daemon.learner.events import Amended, Chose, Kept, Revised, key_of
from galloon.daemon.learner.id_filter import IdFilter
from galloon.learners.combiners.contract import Choice, Feedback
from galloon.learners.errors import DamagedState
from galloon.learners.observation import Utterance
from galloon.learners.state import count_in
from galloon.v1 import combine_pb2 as wire

WARM_VIEWS = 64  # some ten kilobytes each
WARM_SLOTS = 16_384  # of all of them together, so that long utterances do not add up
LOOKED_AT = 8  # rounds that may go, for each one that comes
NOT_DURABLE = 2**63  # the place of a round that is not in the history yet

Reply = Callable[[Any, Exception | None], None]
Find = Callable[[str], "Round | None"]


class Status(Enum):
    """Where a round stands, and what a client is told of it."""

    PENDING = wire.ROUND_STATE_PENDING, "pending"
    TEACHING = wire.ROUND_STATE_PENDING, "its feedback is on its way to the disk"
    LEARNED = wire.ROUND_STATE_LEARNED, "learned"
    EXPIRED = wire.ROUND_STATE_EXPIRED, "expired"  # by an older version

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
    """One round. Below the line: known to the running daemon alone."""

    number: int
    id: str
    fingerprint: bytes  # of the utterance
    answer: bytes
    memory: bytes = b""  # of the combiner
    feedback: bytes = b""  # its fingerprint
    lesson: bytes = b""  # the answer to the feedback
    status: Status = Status.PENDING
    utterance: bytes = b""  # as it came; empty where format 1 or 2 wrote it
    truth: bytes = b""  # the feedback as it came
    time: float = 0.0  # when it began
    earlier: tuple[bytes, ...] = ()  # fingerprints of the utterance before outputs came late
    # ----
    seq: int = NOT_DURABLE  # of its last entry
    warm: Warm | None = None
    waiters: list[Reply] = field(default_factory=list)  # for the feedback to be learned

    @classmethod
    def begun(cls, event: Chose) -> "Round":
        return cls(
            event.round_number,
            event.id,
            event.fingerprint,
            event.answer,
            event.memory,
            utterance=event.utterance,
            time=event.time,
        )

    @classmethod
    def kept(cls, event: Kept) -> "Round":
        status = Status.LEARNED if event.lesson else Status.EXPIRED if event.expired else Status.PENDING
        return cls(
            event.round_number,
            event.id,
            event.fingerprint,
            event.answer,
            event.memory,
            event.feedback,
            event.lesson,
            status,
        )

    def keep(self) -> Kept:
        return Kept(
            self.number,
            self.id,
            self.fingerprint,
            self.memory,
            self.answer,
            self.feedback,
            self.lesson,
            self.status is Status.EXPIRED,
        )

    def revised(self, event: Revised) -> None:
        """Outputs came late: the round is what it is with them."""
        self.earlier = (*self.earlier, self.fingerprint)
        self.fingerprint, self.utterance = event.fingerprint, event.utterance
        self.memory, self.answer = event.memory, event.answer

    def taught(self, fingerprint: bytes, feedback: bytes, lesson: bytes) -> None:
        self.status, self.feedback, self.truth, self.lesson = Status.LEARNED, fingerprint, feedback, lesson

    def amended(self, event: Amended) -> None:
        """Other feedback was given, or what was given was withdrawn."""
        if event.feedback:
            self.taught(event.fingerprint, event.feedback, event.answer)
        else:
            self.wait_again()

    def wait_again(self) -> None:
        """What was on its way to the disk did not get there, or could not be learned, or was withdrawn."""
        self.status, self.feedback, self.truth, self.lesson = Status.PENDING, b"", b"", b""

    @property
    def in_history(self) -> bool:
        """Whether the store finds it by its id; formats 1 and 2 did not."""
        return bool(self.utterance) or self.seq < NOT_DURABLE

    @property
    def view(self) -> object | None:
        """What the combiner would otherwise read again from the memory."""
        return None if self.warm is None else self.warm.choice.view


def _nowhere(_: str) -> Round | None:
    return None


@dataclass(slots=True)
class Rounds:
    """The counts of one learner's rounds, and those that are warm."""

    warm_rounds: int  # that stay in memory
    started: int = 0
    lessons: int = 0
    expired_count: int = 0  # by an older version, or by retention
    total_gain: float = 0.0
    recent: dict[str, Round] = field(default_factory=dict)  # the longest untouched first
    ids: IdFilter = field(default_factory=IdFilter)
    find_cold: Find = _nowhere  # in the history
    cut: int = 0  # rounds whose last entry is not after this one are over the retention
    durable: Callable[[], int] = lambda: NOT_DURABLE - 1  # entries up to this are in the history
    _views: deque[Round] = field(default_factory=deque)  # oldest first
    _view_slots: int = 0

    @property
    def pending(self) -> int:
        """Rounds without feedback, which may come at any time."""
        return self.started - self.lessons - self.expired_count

    # What to do with a request.

    def find(self, utterance_id: str) -> Round | None:
        """The round of this utterance, wherever it is."""
        known = self.recent.get(utterance_id)
        if known is None and self.ids.may_know(key_of(utterance_id)):
            known = self.find_cold(utterance_id)
        return None if known is not None and known.seq <= self.cut else known

    def touch(self, utterance_id: str) -> Round | None:
        """The same, kept in memory for a while because it is about to change."""
        known = self.recent.pop(utterance_id, None) or self.find(utterance_id)
        if known is not None:
            self._keep(known)
        return known

    def answer_to(self, utterance_id: str, fingerprint: bytes) -> bytes | None:
        """The answer that this utterance got before; None for a new one."""
        known = self.find(utterance_id)
        if known is None:
            return None
        if fingerprint not in (known.fingerprint, *known.earlier):
            raise OtherContent(
                f"utterance {utterance_id!r} was sent before with other content",
                "utterance.id",
                "give each an id of its own, or set late to add what a further engine said",
            )
        return known.answer

    def awaiting(self, utterance_id: str, fingerprint: bytes, replace: bool = False) -> Round:
        """The round that this feedback is for: pending, or taught by the same before, or to be amended."""
        round_ = self.touch(utterance_id)
        if round_ is None:
            raise UnknownRound(
                f"no round is known for utterance {utterance_id!r}: either the utterance was never sent (send it, "
                "then this again), or the history of this daemon no longer goes back to it (store.history_days, "
                "store.history_bytes)",
                "feedback.id",
            )
        if round_.status is Status.EXPIRED:
            raise ExpiredRound(
                f"the round of utterance {utterance_id!r} expired before its feedback came", "feedback.id"
            )
        if round_.status is Status.TEACHING and replace:
            raise OtherFeedback(
                f"feedback on utterance {utterance_id!r} is on its way to the disk",
                "feedback",
                "replace it when it is learned",
            )
        if round_.status is not Status.PENDING and round_.feedback != fingerprint and not replace:
            raise OtherFeedback(
                f"the round of utterance {utterance_id!r} has other feedback already",
                "feedback",
                "set replace to put this in its place",
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

    def latest(self, most: int) -> list[Round]:
        """The newest that are warm, the newest first."""
        return sorted(self.recent.values(), key=lambda round_: -round_.number)[:most]

    # Events.

    def chosen(self, event: Chose, warm: Warm | None = None) -> Round:
        if event.round_number < self.started or event.id in self.recent:
            raise StoreDamaged(f"round {event.round_number} of utterance {event.id!r} begins a second time")
        self.started = event.round_number + 1
        round_ = Round.begun(event)
        round_.warm = warm
        self.ids.add(key_of(event.id))
        self._keep(round_)
        if warm is not None:
            self._keep_view(round_, warm)
        return round_

    def open_to_offers(self, utterance_id: str) -> Round:
        """The round that outputs which come late are for."""
        round_ = self.touch(utterance_id)
        if round_ is None:
            raise UnknownRound(
                f"no round is known for utterance {utterance_id!r} that these outputs could join",
                "utterance.id",
                "send all that is there, without late",
            )
        if round_.status is not Status.PENDING:
            raise OtherFeedback(
                f"the round of utterance {utterance_id!r} has been taught: outputs that come now change nothing",
                "utterance.late",
            )
        return round_

    def revised(self, event: Revised, warm: Warm | None = None) -> Round:
        """Outputs came late; what was taught is not touched by it."""
        round_ = self.touch(event.id)
        if round_ is None:
            raise StoreDamaged(f"the journal revises round {event.id!r}, which has not begun")
        if round_.warm is not None:
            self._views.remove(round_)
            self._view_slots -= len(round_.warm.choice)
        round_.revised(event)
        round_.warm = warm
        if warm is not None:
            self._keep_view(round_, warm)
        return round_

    def taught(self, utterance_id: str) -> Round:
        """The round that an event teaches."""
        round_ = self.touch(utterance_id)
        if round_ is None or round_.status not in (Status.PENDING, Status.TEACHING):
            raise StoreDamaged(f"the journal teaches round {utterance_id!r}, which is not pending")
        return round_

    def learned(self, gain: float) -> None:
        """The combiner has learned a round."""
        self.lessons += 1
        self.total_gain += gain

    def withdrawn(self) -> None:
        """A round waits again; what was gained stays counted until the state has been rebuilt."""
        self.lessons -= 1

    def take_counts(self, other: "Rounds") -> None:
        """Of a learner whose state takes the place of the present one; rounds go on as they are numbered."""
        self.lessons, self.total_gain, self.expired_count = (
            other.lessons,
            other.total_gain,
            other.expired_count,
        )

    def cut_at(self, seq: int) -> None:
        """Retention takes everything up to this entry, but for rounds that have one after it."""
        self.cut = max(self.cut, seq)
        for round_ in [each for each in self.recent.values() if each.seq <= seq]:
            del self.recent[round_.id]

    def forget(self, utterance_ids: Iterable[str]) -> None:
        """Rounds that were erased."""
        for utterance_id in utterance_ids:
            self.recent.pop(utterance_id, None)

    def adopt(self, round_: Round) -> None:
        """A round of formats 1 and 2, in memory until it is in the history."""
        self.ids.add(key_of(round_.id))
        self.recent[round_.id] = round_

    def expired(self, utterance_ids: tuple[str, ...]) -> None:
        for utterance_id in utterance_ids:
            self.expired_count += 1
            round_ = self.recent.get(utterance_id)
            if round_ is not None:
                round_.status = Status.EXPIRED

    def _keep(self, round_: Round) -> None:
        self.recent[round_.id] = round_
        durable = self.durable()
        # While many wait for the disk none of them can go, and to look at all of them each time costs ever more.
        for _ in range(min(LOOKED_AT, len(self.recent) - self.warm_rounds)):
            oldest = self.recent.pop(next(iter(self.recent)))
            if oldest.seq > durable or oldest.status is Status.TEACHING or oldest is round_:
                self.recent[oldest.id] = oldest  # nowhere else yet

    def cool(self) -> None:
        """Forget all views: they belong to a combiner that has gone."""
        for round_ in self._views:
            round_.warm = None
        self._views.clear()
        self._view_slots = 0

    def _keep_view(self, round_: Round, warm: Warm) -> None:
        self._views.append(round_)
        self._view_slots += len(warm.choice)
        while len(self._views) > WARM_VIEWS or (self._view_slots > WARM_SLOTS and len(self._views) > 1):
            coldest = self._views.popleft()
            assert coldest.warm is not None, "rounds in here are warm"
            self._view_slots -= len(coldest.warm.choice)
            coldest.warm = None

    # Snapshots: the counts alone.

    def capture(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that counts as state, as scalars and arrays."""
        meta = {"started": self.started, "lessons": self.lessons, "expired": self.expired_count}
        return meta, {"total_gain": np.array([self.total_gain])}

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        check_counts(meta, arrays)
        self.started, self.lessons = int(meta["started"]), int(meta["lessons"])
        self.expired_count, self.total_gain = int(meta["expired"]), float(arrays["total_gain"][0])
        self._views.clear()
        self._view_slots = 0
        self.recent = {}


def check_counts(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse numbers that no run of rounds leads to: these bytes may come from a client."""
    started, *ended = (count_in(meta, name) for name in ("started", "lessons", "expired"))
    if sum(ended) > started or not np.isfinite(arrays["total_gain"]).all():
        raise DamagedState("the rounds of this learner's state contradict each other")
