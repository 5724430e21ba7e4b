"""What the daemon says when it refuses, as errors: `refusal_of_problem` (in a stream), `refusal_from_status`.

`reading_answers` turns an answer that this client cannot read into an error that says so. `is_temporary` says of a
status whether the same request may succeed when it is sent again.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from grpc import aio

from galloon.clients.api.errors import (
    AlreadyExists,
    DaemonFailed,
    InvalidRequest,
    NotAllowed,
    NotFound,
    OverLimit,
    Refused,
    WrongState,
)
from galloon.codec.answer import Problem
from galloon.codec.errors import InvalidMessage
from galloon.v1 import combine_pb2 as wire

_BY_CODE: dict[str, type[Refused]] = {
    "INVALID_ARGUMENT": InvalidRequest,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "PERMISSION_DENIED": NotAllowed,
    "UNAUTHENTICATED": NotAllowed,
    "RESOURCE_EXHAUSTED": OverLimit,
    "FAILED_PRECONDITION": WrongState,
}
_CODE_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}
# A server that dies under a call shows as UNAVAILABLE; one that drains may cancel or abort it.
_TEMPORARY = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED, grpc.StatusCode.CANCELLED}
# What the library itself says, as INTERNAL, of a write on a connection that just broke.
_BROKEN = ("Internal error from Core", "RST_STREAM")


def refusal_of_problem(problem: Problem) -> Refused:
    code = _CODE_NAMES.get(problem.code, "UNKNOWN")
    return _BY_CODE.get(code, DaemonFailed)(
        problem.message,
        code=code,
        reason=_reason_name(problem.reason),
        request_id=problem.id,
        field=problem.field,
        limit=problem.limit,
    )


def refusal_from_status(error: aio.AioRpcError, about: str) -> Refused:
    """`about` says what was asked, for a status that carries no sentence."""
    code = error.code().name
    sentence = error.details() or f"the daemon answered {code} and no more"
    return _BY_CODE.get(code, DaemonFailed)(f"{about}: {sentence}", code=code)


@contextmanager
def reading_answers() -> Iterator[None]:
    """For code that decodes an answer: a newer daemon may send what this client does not know."""
    try:
        yield
    except InvalidMessage as error:
        raise DaemonFailed(f"{error}; upgrade this client to the daemon's version", code="UNKNOWN") from error


def is_temporary(error: aio.AioRpcError) -> bool:
    details = error.details() or ""
    broken = any(sign in details for sign in _BROKEN) and error.code() is grpc.StatusCode.INTERNAL
    return broken or error.code() in _TEMPORARY


def _reason_name(reason: int) -> str:
    """A daemon newer than this client may send reasons that have no name here."""
    if reason not in wire.Reason.values():
        return f"reason_{reason}"
    return wire.Reason.Name(wire.Reason.ValueType(reason)).removeprefix("REASON_").lower()
