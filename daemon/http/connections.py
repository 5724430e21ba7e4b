"""Limits on the connections of the HTTP port: how many there are, and how long one may stay without a request.

aiohttp has neither. Without them a thousand half-sent requests hold every descriptor of the process, and no gRPC
client can connect any more. `Connections.factory` wraps aiohttp's factory of protocols; `Connections.middleware`
knows which connections have a request that is being answered, and ends requests that take too long.
"""

import asyncio
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

SILENCE_S = 10.0  # that a connection may last without a whole request
REQUEST_S = 30.0  # that a request may take, its body included
ENDLESS = ("/events",)  # paths whose answers last as long as somebody listens

Factory = Callable[[], asyncio.Protocol]


class Connections:
    """All connections of the port."""

    def __init__(self, most: int, silence_s: float = SILENCE_S, request_s: float = REQUEST_S) -> None:
        self._most, self.silence_s, self._request_s = most, silence_s, request_s
        self.open: set[_Bounded] = set()
        self.answering: set[asyncio.BaseTransport] = set()

    @property
    def full(self) -> bool:
        return len(self.open) > self._most

    def factory(self, make: Factory) -> Factory:
        return lambda: _Bounded(make(), self)

    def middleware(self) -> Middleware:
        @web.middleware
        async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
            transport = request.transport
            if transport is None:
                raise web.HTTPRequestTimeout
            self.answering.add(transport)
            try:
                if request.path in ENDLESS:
                    return await handler(request)
                async with asyncio.timeout(self._request_s):
                    return await handler(request)
            except TimeoutError as error:
                raise web.HTTPRequestTimeout from error
            finally:
                self.answering.discard(transport)

        return answer


class _Bounded(asyncio.Protocol):
    """Stands between the socket and aiohttp's protocol, and passes everything on."""

    def __init__(self, inner: asyncio.Protocol, connections: Connections) -> None:
        self._inner, self._connections = inner, connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.open.add(self)
        self._inner.connection_made(transport)
        self._look_later()
        if self._connections.full:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._connections.open.discard(self)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._connections.silence_s, self._look)

    def _look(self) -> None:
        if self._transport in self._connections.answering:
            self._look_later()
        else:
            self._transport.abort()
