"""Feedback: galloon.v1.Feedback to and from what a combiner learns from; `check_feedback` finds what is wrong."""

from dataclasses import dataclass
from math import isfinite

from galloon.codec.errors import InvalidMessage, MessageTooLarge
from galloon.codec.utterance import check_id
from galloon.learners.combiners.contract import Feedback, Score, ShownGains, TrueText, TrueTokens
from galloon.v1 import combine_pb2 as wire

# A true text is normalised and cut into tokens before these can be counted, and a letter may become 18 of them.
TRUE_TEXT_BYTES = 131_072


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What was taught is taken back, as if it had never been."""


def check_feedback(message: wire.Feedback, replace: bool = False) -> None:
    """Refuse what is malformed; `replace` says whether it may take the place of other feedback."""
    check_id(message.id, "feedback.id")
    match message.WhichOneof("feedback"):
        case "withdrawn" if not message.withdrawn or not replace:
            raise InvalidMessage("feedback.withdrawn", "only true, and only with replace", "set both")
        case None:
            raise InvalidMessage("feedback", "give one of true_text, true_tokens, shown_gains and score")
        case "true_text":
            size = len(message.true_text.encode())
            if size > TRUE_TEXT_BYTES:
                raise MessageTooLarge(
                    "feedback.true_text", "bytes of a true text", size, TRUE_TEXT_BYTES, "cut the utterance"
                )
        case "score":
            _check_finite(message.score, "feedback.score")
        case "shown_gains":
            for number, gain in enumerate(message.shown_gains.gains):
                _check_finite(gain, f"feedback.shown_gains.gains[{number}]")


def feedback_from_wire(message: wire.Feedback) -> Feedback:
    """The feedback in a message that was checked before, now or when it was journaled."""
    match message.WhichOneof("feedback"):
        case "true_text":
            return TrueText(message.true_text)
        case "true_tokens":
            return TrueTokens(tuple(message.true_tokens.tokens))
        case "shown_gains":
            return ShownGains(tuple(message.shown_gains.gains))
        case _:
            return Score(message.score)


def feedback_to_wire(
    feedback: Feedback | Withdrawn, utterance_id: str, replace: bool = False
) -> wire.Feedback:
    message = _to_wire(feedback, utterance_id)
    message.replace = replace
    return message


def _to_wire(feedback: Feedback | Withdrawn, utterance_id: str) -> wire.Feedback:
    match feedback:
        case Withdrawn():
            return wire.Feedback(id=utterance_id, withdrawn=True)
        case TrueText(text):
            return wire.Feedback(id=utterance_id, true_text=text)
        case TrueTokens(tokens):
            return wire.Feedback(id=utterance_id, true_tokens=wire.TrueTokens(tokens=tokens))
        case ShownGains(gains):
            return wire.Feedback(id=utterance_id, shown_gains=wire.ShownGains(gains=gains))
        case Score(value):
            return wire.Feedback(id=utterance_id, score=value)


def _check_finite(value: float, field: str) -> None:
    if not isfinite(value):
        raise InvalidMessage(field, f"{value} is not a finite number")
