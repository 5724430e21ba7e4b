"""What can go wrong in the clients.

ClientError
├── FormatError         a file is not what its reader takes; says which file, where, what, and what to do
│   └── LimitExceeded   the file is larger or deeper than a named number of `ReadLimits` allows
├── WrongUsage          the caller asked for something that makes no sense, e.g. used a closed stream
├── Unreachable         no daemon answers, or the connection was lost and did not come back in time
├── TimedOut            no answer in time; the request may have succeeded, and sending it again is safe
├── ChoiceReplaced      a crash took a choice before it was durable, and the daemon now shows another one
├── FateUnknown         feedback was sent, and its round left the history before anybody could say its fate
└── Refused             the daemon said no; carries its code, reason, sentence, field and limit
    ├── InvalidRequest  a field is malformed, missing, or contradicts another one
    ├── NotFound        no such learner or round, or the round expired
    ├── AlreadyExists   the name or id is taken by something else
    ├── NotAllowed      the token is missing, wrong, or does not cover this learner
    ├── OverLimit       over a limit of the daemon, which is named
    ├── WrongState      not now, or not with a learner of this setting
    └── DaemonFailed    a defect of the daemon, or something in between that is not a daemon
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a name for readers; errors import nothing
    from galloon.codec.answer import Choice, PassedLimit


class ClientError(Exception):
    """The root: catch this to catch everything that the clients raise on purpose."""


class FormatError(ClientError):
    """A file that cannot be read. `line` counts from one; None where the format has no lines."""

    def __init__(self, file: str, line: int | None, what: str, advice: str = "") -> None:
        self.file, self.line, self.what, self.advice = file, line, what, advice
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {what}" + (f"; {advice}" if advice else ""))


class LimitExceeded(FormatError):
    """Refused before memory or time is spent; `limit` is the field of `ReadLimits` that says so."""

    def __init__(self, file: str, line: int | None, limit: str, allowed: float, what: str) -> None:
        self.limit, self.allowed = limit, allowed
        super().__init__(
            file, line, f"{what}: the limit {limit} is {allowed:,}", f"raise {limit} if this is meant"
        )


class WrongUsage(ClientError):
    """The caller asked for something that makes no sense here; the message says what to do instead."""


class Unreachable(ClientError):
    """No daemon at this address, or none that came back in time. Nothing acknowledged is lost."""


class TimedOut(ClientError):
    """No answer in time. Whether the daemon took it in is unknown; sending the same id again is safe."""


class ChoiceReplaced(ClientError):
    """Feedback on what was shown fits no longer: the daemon lost that choice and made another one.

    A choice is answered before it is durable, so a crash can lose it. Its utterance was sent again and the
    answer differs, so a score of the old text must not be credited to the new one. `replacement` is the new
    `Choice`: judge that, or leave the round without feedback.
    """

    def __init__(self, utterance_id: str, replacement: "Choice") -> None:
        self.utterance_id, self.replacement = utterance_id, replacement
        super().__init__(
            f"utterance {utterance_id!r}: the daemon lost the choice that this feedback is about and made another "
            "one; judge the replacement instead, or send the true text"
        )


class FateUnknown(ClientError):
    """Feedback was learned once or not at all, and nobody can say which.

    It was sent, the connection broke, and when it was back the round had gone from the daemon's history: cut off
    by retention, or erased. Sending it again could teach twice, so it was not.
    """

    def __init__(self, utterance_id: str) -> None:
        self.utterance_id = utterance_id
        super().__init__(
            f"feedback on utterance {utterance_id!r} was sent before the connection broke, and the daemon's "
            "history no longer goes back to that round: it was learned once or not at all; leave it, or let the "
            "history go further back (store.history_days, store.history_bytes)"
        )


class Refused(ClientError):
    """The daemon refused a request; nothing changed there. `code` is the name of a gRPC status code."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        reason: str = "",
        request_id: str = "",
        field: str = "",
        limit: "PassedLimit | None" = None,
    ) -> None:
        self.code, self.reason, self.request_id, self.field, self.limit = (
            code,
            reason,
            request_id,
            field,
            limit,
        )
        super().__init__(message)


class InvalidRequest(Refused):
    """A field is malformed, missing, or contradicts another one."""


class NotFound(Refused):
    """No such learner or round."""


class AlreadyExists(Refused):
    """The name or id is taken by something else."""


class NotAllowed(Refused):
    """The token is missing, wrong, or does not cover this learner."""


class OverLimit(Refused):
    """Over a limit of the daemon; `limit` names it where the daemon did."""


class WrongState(Refused):
    """Not now, or not with a learner of this setting."""


class DaemonFailed(Refused):
    """A defect of the daemon, or something in between that is not a daemon."""
