"""From methods to gRPC handlers: `Calls`, for services other than the stream.

A method takes the request and the principal, and raises what the table in `errors` knows: that becomes a status.
Requests that cannot be read are refused without the parser's own words.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from galloon.daemon.errors import CODES, Internal, Invalid, Refused, Unavailable, refusal
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.registry import Registry
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.quota import Quota

log = structlog.get_logger()
Context = grpc.aio.ServicerContext[Any, Any]
M = TypeVar("M", bound=Message)
STALL_S = 30.0  # in which a client must read an answer of a stream


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
                self.quota.open_stream(caller.name)
                try:
                    async with aclosing(method(message, caller)) as answers:  # type: ignore[arg-type]  # not None here
                        async for answer in answers:
                            await _read_in_time(context.write(answer))
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
                return await method(message, await self._caller(message, context))
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

    async def _abort(self, context: Context, error: Exception) -> None:
        refused: Refused = refusal(error)
        if isinstance(refused, Internal):
            log.error("call failed", exc_info=error)
        self.metrics.rejects[type(refused)].inc()
        told = (("galloon-owner", refused.owner),) if refused.owner else ()
        await context.abort(CODES[type(refused)][0], str(refused), trailing_metadata=told)


async def _read_in_time(write: Awaitable[None]) -> None:
    """A client that reads nothing holds memory and a place: not for ever."""
    try:
        async with asyncio.timeout(STALL_S):
            await write
    except TimeoutError as error:
        raise Unavailable(
            f"nothing was read for {STALL_S:g} seconds", advice="call again, and read on"
        ) from error


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
