"""What can go wrong in the daemon, and the one table from error to gRPC code.

DaemonError
├── Refused                 a request that fails: field, problem, advice; the client sees code, reason and sentence
│   ├── Invalid             a field is malformed, missing, or contradicts another one
│   ├── WrongOrder          utterance or feedback before open, or open twice
│   ├── UnknownLearner      no learner of that name
│   ├── OtherSpec           a learner of that name has another spec
│   ├── OtherContent        an utterance id used again with other content
│   ├── UnknownRound        a round that is not known, or forgotten
│   ├── ExpiredRound        feedback on a round that waited too long
│   ├── OtherFeedback       another feedback on a round that has learned
│   ├── WrongSetting        feedback of a kind that the learner's setting does not take
│   ├── LimitPassed         over a limit; names it and its value
│   ├── Denied              the principal may not use this learner
│   ├── Unauthenticated     no principal at all
│   ├── OutOfService        a learner that could not be restored, or that a defect has stopped
│   ├── Unavailable         the daemon drains or cannot write; the same request may succeed later
│   │   └── NotOwner        another daemon has the learner; knows its address, or that nobody has it at the moment
│   └── Internal            a defect; the client learns no more than that
├── ConfigError             a wrong key or value, with the file, the line and what to do (exit status 2)
├── PortUnavailable         a port that cannot be opened, mostly because another process has it (exit status 1)
└── StoreError              the store cannot be used
    ├── StoreDamaged        bytes that are not what was written
    ├── StoreTooNew         written by a newer galloon
    ├── StoreLocked         another daemon holds the data directory
    ├── StoreFull           no space; heals when space returns
    ├── StoreConflict       one request contradicts what is stored: it fails, the store goes on
    └── StoreFailed         a write or a sync failed: stop, never retry in place
        └── Fenced          another daemon has taken over: stop, acknowledge nothing

`refusal` turns any exception of a request into the `Refused` that the client sees.
"""

import grpc

from galloon.codec.answer import PassedLimit, Problem
from galloon.codec.errors import MessageTooLarge
from galloon.learners.errors import BudgetExceeded, InvalidInput, LearnerError, sentence
from galloon.v1 import combine_pb2 as wire

Code = grpc.StatusCode


class DaemonError(Exception):
    """The root: catch this to catch everything that the daemon raises on purpose."""


class Refused(DaemonError):
    """A request that fails. It prints as `field: problem; advice`, without the parts that are empty."""

    owner = ""  # address of the daemon to ask instead

    def __init__(self, problem: str, field: str = "", advice: str = "") -> None:
        super().__init__(problem)
        self.problem, self.field, self.advice = problem, field, advice

    def __str__(self) -> str:
        return sentence(self.problem, self.field, self.advice)

    def answer_to(self, request_id: str, about: wire.RequestKind.ValueType) -> Problem:
        """The answer to a request of a stream."""
        code, reason = CODES[type(self)]
        return Problem(
            request_id, about, code.value[0], reason, str(self), self.field, self._limit(), self.owner
        )

    def _limit(self) -> PassedLimit | None:
        return None


class Invalid(Refused):
    pass


class WrongOrder(Refused):
    pass


class UnknownLearner(Refused):
    pass


class OtherSpec(Refused):
    pass


class OtherContent(Refused):
    pass


class UnknownRound(Refused):
    pass


class ExpiredRound(Refused):
    pass


class OtherFeedback(Refused):
    pass


class WrongSetting(Refused):
    pass


class LimitPassed(Refused):
    """Over a limit of the configuration."""

    def __init__(self, limit: str, needed: float, allowed: float, advice: str, field: str = "") -> None:
        super().__init__(f"{limit}: {needed:.15g} asked, {allowed:.15g} allowed", field, advice)
        self.limit, self.needed, self.allowed = limit, needed, allowed

    def __str__(self) -> str:
        return sentence(self.problem, "", self.advice)  # the limit says what it is about

    def _limit(self) -> PassedLimit | None:
        return PassedLimit(self.limit, self.allowed, self.needed)


class Denied(Refused):
    pass


class Unauthenticated(Refused):
    pass


class OutOfService(Refused):
    pass


class Unavailable(Refused):
    pass


class NotOwner(Unavailable):
    def __init__(self, name: str, owner: str, field: str = "") -> None:
        where = f"the daemon at {owner} has it" if owner else "nobody has it at the moment"
        advice = "ask there" if owner else "ask again"
        super().__init__(f"learner {name!r} is not of this daemon; {where}", field, advice)
        self.owner = owner


class Internal(Refused):
    pass


class PortUnavailable(DaemonError):
    """The configuration may be right, but this machine does not give us the port now."""


class ConfigError(DaemonError):
    pass


class StoreError(DaemonError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class StoreLocked(StoreError):
    pass


class StoreFull(StoreError):
    pass


class StoreConflict(StoreError):
    pass


class StoreFailed(StoreError):
    pass


class Fenced(StoreFailed):
    pass


# The one table. Everything that reaches a client has a row here.
CODES: dict[type[Refused], tuple[grpc.StatusCode, wire.Reason.ValueType]] = {
    Invalid: (Code.INVALID_ARGUMENT, wire.REASON_INVALID),
    WrongOrder: (Code.FAILED_PRECONDITION, wire.REASON_WRONG_ORDER),
    UnknownLearner: (Code.NOT_FOUND, wire.REASON_UNKNOWN_LEARNER),
    OtherSpec: (Code.ALREADY_EXISTS, wire.REASON_OTHER_SPEC),
    OtherContent: (Code.ALREADY_EXISTS, wire.REASON_OTHER_CONTENT),
    UnknownRound: (Code.NOT_FOUND, wire.REASON_UNKNOWN_ROUND),
    ExpiredRound: (Code.NOT_FOUND, wire.REASON_EXPIRED_ROUND),
    OtherFeedback: (Code.ALREADY_EXISTS, wire.REASON_OTHER_FEEDBACK),
    WrongSetting: (Code.FAILED_PRECONDITION, wire.REASON_WRONG_SETTING),
    LimitPassed: (Code.RESOURCE_EXHAUSTED, wire.REASON_LIMIT),
    Denied: (Code.PERMISSION_DENIED, wire.REASON_DENIED),
    Unauthenticated: (Code.UNAUTHENTICATED, wire.REASON_DENIED),
    OutOfService: (Code.FAILED_PRECONDITION, wire.REASON_OUT_OF_SERVICE),
    Unavailable: (Code.UNAVAILABLE, wire.REASON_UNAVAILABLE),
    NotOwner: (Code.UNAVAILABLE, wire.REASON_UNAVAILABLE),
    Internal: (Code.INTERNAL, wire.REASON_INTERNAL),
}

# What a client can do about each limit, said after its name and value.
ADVICE = {
    "message_bytes": "send shorter utterances, or raise limits.message_bytes",
    "engines": "use fewer engines, or raise limits.engines",
    "outputs": "send fewer engines of one utterance, or raise limits.outputs",
    "slots": "cut the utterance into shorter ones, or raise limits.slots",
    "transitions": "use fewer experts, a shorter pattern or window, or raise limits.transitions",
    "learners": "delete learners that are not needed, or raise limits.learners",
    "learners_per_principal": "delete learners that are not needed, or raise limits.learners_per_principal",
    "streams": "close streams that are not needed, or raise limits.streams",
    "streams_per_principal": "close streams that are not needed, or raise limits.streams_per_principal",
    "page_requests": "send more pages with fewer requests, or raise limits.page_requests",
    "bytes_per_principal": "wait for answers before sending more, or raise limits.bytes_per_principal",
    "import_bytes": "raise limits.import_bytes to import a learner this large",
}

# Budgets of the learners that are limits of the configuration, and what to do about them.
BUDGETS = {
    "transitions of A'": (
        "transitions",
        "use fewer experts, a shorter window, pattern or gap, or raise limits.transitions",
    )
}


def refusal(error: BaseException, field: str = "") -> Refused:
    """What a client is told of this error: never internal text."""
    match error:
        case Refused():
            return error
        case MessageTooLarge():
            advice = ADVICE.get(error.limit, error.advice)
            return LimitPassed(error.limit, error.needed, error.allowed, advice, error.field)
        case BudgetExceeded():
            name, advice = BUDGETS.get(error.limit, (error.limit, error.advice))
            return LimitPassed(name, error.needed, error.allowed, advice, field)
        case InvalidInput():
            return Invalid(error.problem, error.field or field, error.advice)
        case StoreFull():
            problem, advice = "the disk of the daemon is full: nothing was recorded", "send this again later"
            return Unavailable(problem, advice=advice)
        case StoreConflict():
            problem, advice = "the learner was made or deleted meanwhile", "look again, then send this again"
            return Unavailable(problem, advice=advice)
        case StoreError():
            problem, advice = "the daemon cannot write and stops", "reconnect later and send this again"
            return Unavailable(problem, advice=advice)
        case LearnerError():
            return Invalid(str(error), field)
        case _:
            return Internal("the daemon failed on this request; it has logged why")
