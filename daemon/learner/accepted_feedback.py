"""The kinds of feedback that each setting takes. The table stands in docs/feedback.md too."""

from galloon.daemon.errors import WrongSetting
from galloon.daemon.learner.round import Round
from galloon.learners.combiners.contract import Feedback, Score, ShownGains
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire

# Who knows the truth may always say it: the learner is shown no more of it than its setting reveals.
ACCEPTED = {
    Setting.FULL: ("true_text", "true_tokens"),
    Setting.SEMI_BANDIT: ("true_text", "true_tokens", "shown_gains"),
    Setting.BANDIT: ("true_text", "true_tokens", "shown_gains", "score"),
}


def check_accepted(message: wire.Feedback, setting: Setting) -> None:
    """Refuse feedback of a kind that a learner of this setting does not take."""
    kind = message.WhichOneof("feedback")
    if kind not in (None, "withdrawn") and kind not in ACCEPTED[setting]:
        accepted = " or ".join(ACCEPTED[setting])
        raise WrongSetting(
            f"this learner's setting is {setting.value}, which takes {accepted}",
            f"feedback.{kind}",
        )


def check_replayable(round_: Round, feedback: Feedback) -> None:
    """Refuse feedback on a round that an older spec has answered, unless it is a truth that stands by itself."""
    if isinstance(feedback, ShownGains | Score):
        raise InvalidInput(
            f"utterance {round_.id!r} was answered by an older spec of this learner, and this judges that answer",
            "feedback",
            "send the true text",
        )
    if not round_.utterance:
        raise InvalidInput(
            f"utterance {round_.id!r} was answered by an older spec of this learner under version 0.1, which kept "
            "no utterances",
            "feedback.id",
        )
