"""Rounds of a learner's history as clients see them: `PastRound`, from the wire."""

from collections.abc import Sequence
from dataclasses import dataclass

from galloon.codec.feedback import feedback_from_wire
from galloon.codec.utterance import decode_utterance
from galloon.learners.combiners.contract import Feedback
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2, utterance_pb2
from galloon.v1 import history_pb2 as wire

_STATES = {
    combine_pb2.ROUND_STATE_PENDING: "pending",
    combine_pb2.ROUND_STATE_LEARNED: "learned",
    combine_pb2.ROUND_STATE_EXPIRED: "expired",
}
STATES = tuple(_STATES.values())


@dataclass(frozen=True, slots=True)
class PastRound:
    """One round as it stands now. `utterance` is None unless it was asked for and is known."""

    id: str
    round: int
    time: float  # seconds of Unix; 0 where an older version did not write it
    state: str  # pending, learned or expired
    text: str  # that was answered
    feedback: Feedback | None
    utterance: Utterance | None


def past_round_from_wire(message: wire.PastRound) -> PastRound:
    return PastRound(
        message.id,
        message.round,
        message.time,
        _STATES.get(message.state, "unknown"),
        message.text,
        feedback_from_wire(message.feedback) if message.HasField("feedback") else None,
        _utterance(message.utterance) if message.HasField("utterance") else None,
    )


def state_to_wire(state: str) -> combine_pb2.RoundState.ValueType:
    """`state` is one of `STATES`, or empty for any."""
    return next(
        (number for number, name in _STATES.items() if name == state), combine_pb2.ROUND_STATE_UNSPECIFIED
    )


def _utterance(message: utterance_pb2.Utterance) -> Utterance:
    """Whatever engines are in it: the learner may have got others since."""
    slots = message.slots.offers if message.WhichOneof("said") == "slots" else ()
    engines = [each.engine for each in (*slots, *message.outputs.engines)]
    return decode_utterance(message, engines, None)


@dataclass(frozen=True, slots=True)
class Erasure:
    """Rounds that are gone for good."""

    erased: int  # now
    erased_before: int  # of the ids that were asked for
    unknown_ids: tuple[str, ...]  # neither in the history nor erased before
    lessons: int  # that the learner has now
    cpu_seconds: float
    digest: str


def erasure_from_wire(parts: Sequence[wire.EraseRoundsResponse]) -> Erasure:
    """What came of one or more requests for the same learner."""
    return Erasure(
        sum(part.erased for part in parts),
        sum(part.erased_before for part in parts),
        tuple(id_ for part in parts for id_ in part.unknown_ids),
        parts[-1].lessons,
        sum(part.cpu_seconds for part in parts),
        parts[-1].digest,
    )
