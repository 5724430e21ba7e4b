"""Answers, as bytes of the wire: serialised once, for the journal and for the stream.

`choice`, `lesson`, `opened` and `problem` make a galloon.v1.CombineResponse; `repeated` marks an answer that
was given before. `statistics_to_wire` is what the learners' service shows.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.struct_pb2 import Struct

from galloon.daemon.errors import CODES, LimitPassed, Refused
from galloon.learners.combiners.contract import Choice, Lesson, Statistics
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2 as learners_wire


def choice(chosen: Choice, utterance_id: str, round_number: int, lessons: int, alternatives: bool) -> bytes:
    response = wire.CombineResponse()
    answer = response.choice  # filled in place: a message that is passed to another one is copied
    answer.id, answer.round, answer.text, answer.lessons = utterance_id, round_number, chosen.text, lessons
    answer.log_probability = chosen.log_probability
    answer.tokens.extend(chosen.shown)
    answer.experts.extend(chosen.credited)
    answer.probabilities.extend(chosen.probabilities)
    if alternatives:
        answer.alternatives.extend(
            wire.Alternative(
                slot=slot,
                token=alternative.text,
                experts=alternative.experts,
                probability=alternative.probability,
            )
            for slot in range(len(chosen))
            for alternative in chosen.alternatives(slot)
        )
    return response.SerializeToString()


def lesson(taught: Lesson, utterance_id: str, round_number: int, lessons: int, total_gain: float) -> bytes:
    response = wire.CombineResponse()
    answer = response.learned
    answer.id, answer.round, answer.lessons = utterance_id, round_number, lessons
    answer.gain, answer.total_gain = taught.gain, total_gain
    gains = answer.expert_gains
    for name, gain in taught.expert_gains.items():
        gains[name] = gain
    # Deterministic, because the bytes become part of the state: maps have no order of their own.
    return response.SerializeToString(deterministic=True)


def repeated(answer: bytes) -> bytes:
    """The same answer, marked as given before."""
    message = wire.CombineResponse.FromString(answer)
    if message.HasField("choice"):
        message.choice.repeated_answer = True
    else:
        message.learned.repeated_answer = True
    return message.SerializeToString()


def opened(answer: wire.Opened) -> bytes:
    return wire.CombineResponse(opened=answer).SerializeToString()


def problem(refused: Refused, utterance_id: str, about: wire.RequestKind.ValueType) -> bytes:
    code, reason = CODES[type(refused)]
    answer = wire.Problem(
        id=utterance_id,
        about=about,
        code=code.value[0],
        reason=reason,
        message=refused.message,
        field=refused.field,
    )
    if isinstance(refused, LimitPassed):
        answer.limit.CopyFrom(
            wire.LimitPassed(name=refused.limit, allowed=refused.allowed, needed=refused.needed)
        )
    return wire.CombineResponse(problem=answer).SerializeToString()


def statistics_to_wire(statistics: Statistics) -> learners_wire.Statistics:
    """What the combiner knows; the host adds its own counts."""
    extra = Struct()
    extra.update(_plain(statistics.extra))
    return learners_wire.Statistics(
        lessons=statistics.rounds_learned,
        gain=statistics.gain,
        regret=statistics.regret,
        regret_estimate=statistics.regret_estimate,
        bound=statistics.bound,
        guarantee=statistics.guarantee,
        expert_states=statistics.expert_states,
        expert_transitions=statistics.expert_transitions,
        context_states=statistics.context_states,
        context_transitions=statistics.context_transitions,
        state_bytes=statistics.state_bytes,
        extra=extra,
    )


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and objects: what a Struct holds."""
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case None | bool() | str():
            return value
        case _:
            return float(value)
