"""Feedback: galloon.v1.Feedback to and from what a combiner learns from, and what each setting takes.

The table of what is taken stands in docs/feedback.md.
"""

from math import isfinite

from galloon.daemon.codec.utterance import check_id
from galloon.daemon.errors import Invalid, LimitPassed, WrongSetting
from galloon.learners.combiners.contract import Feedback, Score, ShownGains, TrueText, TrueTokens
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire

# The kinds of feedback that each setting takes. Who knows the truth may always say it: the learner is shown
# no more of it than its setting reveals.
TAKEN = {
    Setting.FULL: ("true_text", "true_tokens"),
    Setting.SEMI_BANDIT: ("true_text", "true_tokens", "shown_gains"),
    Setting.BANDIT: ("true_text", "true_tokens", "shown_gains", "score"),
}

# A true text is normalised and cut into tokens before these can be counted, and a letter may become 18 of them.
TRUE_TEXT_BYTES = 131_072


def check_feedback(message: wire.Feedback, setting: Setting) -> None:
    """Refuse what is malformed, or what the learner's setting does not take."""
    check_id(message.id, "feedback.id")
    kind = message.WhichOneof("feedback")
    if kind is None:
        raise Invalid("feedback: give one of true_text, true_tokens, shown_gains and score", "feedback")
    if kind not in TAKEN[setting]:
        taken = " or ".join(TAKEN[setting])
        raise WrongSetting(
            f"feedback.{kind}: this learner's setting is {setting.value}, which takes {taken}",
            f"feedback.{kind}",
        )
    if kind == "true_text" and len(message.true_text.encode()) > TRUE_TEXT_BYTES:
        size = len(message.true_text.encode())
        raise LimitPassed(
            "bytes of a true text", size, TRUE_TEXT_BYTES, "cut the utterance", "feedback.true_text"
        )
    if kind == "score":
        _check_finite(message.score, "feedback.score")
    if kind == "shown_gains":
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


def feedback_to_wire(feedback: Feedback, utterance_id: str) -> wire.Feedback:
    match feedback:
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
        raise Invalid(f"{field}: {value} is not a finite number", field)
