"""Learners as the learners' service shows them: `LearnerInfo`, `Statistics`, `Snapshot`, to and from the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from galloon.codec.spec import spec_from_wire, spec_to_wire
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import learners_pb2 as wire

_NUMBERS = (
    *("rounds_started", "lessons", "rounds_pending", "rounds_expired", "gain", "guarantee", "expert_states"),
    *("expert_transitions", "context_states", "context_transitions", "state_bytes", "journal_entries"),
    *("snapshot_bytes", "streams"),
)
_OPTIONAL = ("regret", "regret_estimate", "bound", "snapshot_age_s")


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors against true texts, in so many corrections of the history."""

    word_edits: int
    words: int
    char_edits: int
    chars: int
    corrections: int = 0

    @property
    def wer(self) -> float | None:
        """Word error rate in percent; None before the first true word."""
        return 100.0 * self.word_edits / self.words if self.words else None

    @property
    def cer(self) -> float | None:
        """Character error rate in percent; None before the first true character."""
        return 100.0 * self.char_edits / self.chars if self.chars else None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Where a learner stands. What is not known is None."""

    rounds_started: int
    lessons: int
    rounds_pending: int
    rounds_expired: int
    gain: float
    regret: float | None
    regret_estimate: float | None
    bound: float | None
    guarantee: str  # what the bound is on, or "none: " and why there is none
    expert_states: int
    expert_transitions: int
    context_states: int
    context_transitions: int
    state_bytes: int
    journal_entries: int
    snapshot_bytes: int
    snapshot_age_s: float | None
    streams: int
    extra: Mapping[str, Any] = field(default_factory=dict)
    error_rates: Mapping[str, ErrorRate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LearnerInfo:
    """One learner. A listing leaves statistics and digests out (None and "")."""

    name: str
    spec: CombinerSpec
    experts: tuple[str, ...]
    statistics: Statistics | None = None
    digest: str = ""
    state_digest: str = ""
    created: bool = False  # by the call that returned this
    daemon: str = ""  # that has it, in a listing of several daemons' learners


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that is durable."""

    snapshot_bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Update:
    """What came of another spec for a learner."""

    learner: LearnerInfo
    changed_fields: tuple[str, ...]  # none where it had it so already
    rebuilt: bool  # from the history; else what was learned was carried over
    rounds: int  # played again
    lessons: int  # learned again
    lessons_lost: int  # that could not be
    cpu_seconds: float


def update_from_wire(message: wire.UpdateLearnerResponse) -> Update:
    return Update(
        learner_from_wire(message.learner),
        tuple(message.changed_fields),
        message.rebuilt,
        message.rounds,
        message.lessons,
        message.lessons_lost,
        message.cpu_seconds,
    )


def learner_to_wire(learner: LearnerInfo) -> wire.Learner:
    statistics = learner.statistics
    return wire.Learner(
        name=learner.name,
        spec=spec_to_wire(learner.spec),
        experts=learner.experts,
        statistics=None if statistics is None else statistics_to_wire(statistics),
        digest=learner.digest,
        state_digest=learner.state_digest,
        daemon=learner.daemon,
    )


def learner_from_wire(message: wire.Learner, *, created: bool = False) -> LearnerInfo:
    statistics = statistics_from_wire(message.statistics) if message.HasField("statistics") else None
    return LearnerInfo(
        message.name,
        spec_from_wire(message.spec),
        tuple(message.experts),
        statistics,
        message.digest,
        message.state_digest,
        created,
        message.daemon,
    )


def statistics_to_wire(statistics: Statistics) -> wire.Statistics:
    message = wire.Statistics(
        **{name: getattr(statistics, name) for name in (*_NUMBERS, *_OPTIONAL)},
        extra=extra_to_wire(statistics.extra),
    )
    for name, rate in statistics.error_rates.items():
        message.error_rates[name].CopyFrom(
            wire.ErrorRate(
                word_edits=rate.word_edits,
                words=rate.words,
                char_edits=rate.char_edits,
                chars=rate.chars,
                corrections=rate.corrections,
            )
        )
    return message


def statistics_from_wire(message: wire.Statistics) -> Statistics:
    return Statistics(
        **{name: getattr(message, name) for name in _NUMBERS},
        **{name: getattr(message, name) if message.HasField(name) else None for name in _OPTIONAL},  # type: ignore[arg-type]
        extra=MessageToDict(message.extra),
        error_rates={
            name: ErrorRate(rate.word_edits, rate.words, rate.char_edits, rate.chars, rate.corrections)
            for name, rate in message.error_rates.items()
        },
    )


def snapshot_to_wire(snapshot: Snapshot) -> wire.SnapshotLearnerResponse:
    return wire.SnapshotLearnerResponse(snapshot_bytes=snapshot.snapshot_bytes, digest=snapshot.digest)


def snapshot_from_wire(message: wire.SnapshotLearnerResponse) -> Snapshot:
    return Snapshot(message.snapshot_bytes, message.digest)


def extra_to_wire(extra: Mapping[str, Any]) -> Struct:
    """Numbers, texts, lists and objects, as deep as an algorithm nests them."""
    message = Struct()
    message.update(_plain(extra))
    return message


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case None | bool() | str():
            return value
        case _:
            return float(value)
