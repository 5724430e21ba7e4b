"""What the daemon answers: messages of the wire to the values of `results`."""

from google.protobuf.json_format import MessageToDict

from galloon.clients.api.results import (
    Choice,
    ErrorRate,
    LearnerInfo,
    Lesson,
    Opened,
    SlotAlternative,
    Snapshot,
    Statistics,
)
from galloon.clients.codec.spec import spec_from_wire
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2 as managed

_COUNTS = (
    *("rounds_started", "lessons", "rounds_pending", "rounds_expired", "gain", "expert_states"),
    *("expert_transitions", "context_states", "context_transitions", "state_bytes", "journal_entries"),
    *("snapshot_bytes", "streams"),
)


def choice_from_wire(message: wire.Choice) -> Choice:
    alternatives = tuple(
        SlotAlternative(entry.slot, entry.token, tuple(entry.experts), entry.probability)
        for entry in message.alternatives
    )
    return Choice(
        message.id,
        message.round,
        message.text,
        tuple(message.tokens),
        tuple(message.experts),
        tuple(message.probabilities),
        message.log_probability,
        message.lessons,
        message.repeated_answer,
        alternatives,
    )


def lesson_from_wire(message: wire.Learned) -> Lesson:
    return Lesson(
        message.id,
        message.round,
        message.gain,
        dict(message.expert_gains),
        message.lessons,
        message.total_gain,
        message.repeated_answer,
    )


def opened_from_wire(message: wire.Opened) -> Opened:
    return Opened(
        message.learner,
        spec_from_wire(message.spec),
        tuple(message.experts),
        message.max_in_flight,
        message.created,
        message.rounds_started,
        message.lessons,
    )


def learner_from_wire(message: managed.Learner, *, created: bool = False) -> LearnerInfo:
    statistics = statistics_from_wire(message.statistics) if message.HasField("statistics") else None
    return LearnerInfo(
        message.name,
        spec_from_wire(message.spec),
        tuple(message.experts),
        statistics,
        message.digest,
        message.state_digest,
        created,
    )


def statistics_from_wire(message: managed.Statistics) -> Statistics:
    return Statistics(
        **{name: getattr(message, name) for name in _COUNTS},
        regret=message.regret if message.HasField("regret") else None,
        regret_estimate=message.regret_estimate if message.HasField("regret_estimate") else None,
        bound=message.bound if message.HasField("bound") else None,
        guarantee=message.guarantee,
        snapshot_age_s=message.snapshot_age_s if message.HasField("snapshot_age_s") else None,
        extra=MessageToDict(message.extra),
        error_rates={
            name: ErrorRate(rate.word_edits, rate.words, rate.char_edits, rate.chars)
            for name, rate in message.error_rates.items()
        },
    )


def snapshot_from_wire(message: managed.SnapshotLearnerResponse) -> Snapshot:
    return Snapshot(message.snapshot_bytes, message.journal_entries_dropped, message.digest)
