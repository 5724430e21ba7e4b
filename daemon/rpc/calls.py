"""From methods to gRPC handlers: `Calls`, for services other than the stream.

A method takes the request and the principal, and raises what the table in `errors` knows: that becomes a status.
Requests that cannot be read are refused without the parser's own words.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from galloon.daemon.errors import CODES, Internal, Invalid, Refused, Unavailable, refusal
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.quota import Quota

log = structlog.get_logger()
Context = grpc.aio.ServicerContext[Any, Any]
M = TypeVar("M", bound=Message)
T = TypeVar("T")
STALL_S = 30.0  # in which a client must read an answer of a stream, or send the next part of one


class Calls:
    """What services share: who may call, what streams cost, how errors travel."""

    _registry: Registry

    def __init__(self, gate: Gate, quota: Quota, metrics: Metrics) -> None:
        self.gate, self.quota, self.metrics = gate, quota, metrics

    def unary(
        self, method: Callable[[M, Principal], Awaitable[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        return grpc.unary_unary_rpc_method_handler(
            self.refusing(method), request_deserializer=reader(request), response_serializer=_to_bytes
        )

    def streaming(
        self, method: Callable[[M, Principal], AsyncGenerator[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        async def handle(message: M | None, context: Context) -> None:
            try:
                caller = await self._caller(message, context)
                with self._held(message, caller):
                    self.quota.open_stream(caller.name)
                    try:
                        async with aclosing(method(message, caller)) as answers:  # type: ignore[arg-type]  # not None
                            async for answer in answers:
                                await in_time(context.write(answer), "read", "call again, and read on")
                    finally:
                        self.quota.close_stream(caller.name)
            except Exception as error:  # noqa: BLE001  # becomes a status
                await self._abort(context, error)

        return grpc.unary_stream_rpc_method_handler(
            handle, request_deserializer=reader(request), response_serializer=_to_bytes
        )

    def refusing(self, method: Callable[[Any, Principal], Awaitable[Message]]) -> Callable[..., Any]:
        async def handle(message: Any, context: Context) -> Message | None:
            try:
                caller = await self._caller(message, context)
                with self._held(message, caller):
                    return await method(message, caller)
            except Exception as error:  # noqa: BLE001  # becomes a status
                await self._abort(context, error)
                return None

        return handle

    async def _caller(self, message: Message | None, context: Context) -> Principal:
        """Who asks; and the learner that is asked for is brought here, or is known to be another daemon's."""
        if message is None:
            raise unreadable()
        caller = self.gate.principal(context.invocation_metadata() or (), context.auth_context())
        for field in ("name", "learner"):
            if name := getattr(message, field, ""):
                caller.check(name, field)
                await self._registry.bring(name, field)
        return caller

    @contextmanager
    def _held(self, message: Any, caller: Principal) -> Iterator[None]:
        """The bytes of a request count until it is answered; those of a stream are counted by whoever reads it."""
        size = message.ByteSize() if isinstance(message, Message) else 0
        check(self.quota.limits, "message_bytes", size, "request")
        self.quota.hold(caller.name, size)
        try:
            yield
        finally:
            self.quota.release(caller.name, size)

    async def _abort(self, context: Context, error: Exception) -> None:
        refused: Refused = refusal(error)
        if isinstance(refused, Internal):
            log.error("call failed", exc_info=error)
        self.metrics.rejects[type(refused)].inc()
        told = (("galloon-owner", refused.owner),) if refused.owner else ()
        await context.abort(CODES[type(refused)][0], str(refused), trailing_metadata=told)


async def in_time(step: Awaitable[T], done: str, advice: str) -> T:
    """A client that reads or sends nothing holds memory and a place: not for ever."""
    try:
        async with asyncio.timeout(STALL_S):
            return await step
    except TimeoutError as error:
        raise Unavailable(f"nothing was {done} for {STALL_S:g} seconds", advice=advice) from error


def reader(kind: type[M]) -> Callable[[bytes], M | None]:
    def read(data: bytes) -> M | None:
        try:
            return kind.FromString(data)
        except DecodeError:
            return None

    return read


def _to_bytes(message: Message) -> bytes:
    return message.SerializeToString()


def unreadable() -> Invalid:
    return Invalid("not a readable message of this method", "request")
