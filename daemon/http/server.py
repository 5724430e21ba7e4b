"""The HTTP port: /metrics, /healthz (the process lives), /readyz (it accepts work), and room for the page.

`application` makes the routes; the page adds its own to them. With `require_token` everything but the two checks
asks for a bearer token, as the gRPC services do; the page's routes do so themselves, and more often.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from galloon.daemon.config import split_address
from galloon.daemon.errors import PortUnavailable, Unauthenticated
from galloon.daemon.http.connections import Connections
from galloon.daemon.rpc.auth import Gate

OPEN_PATHS = ("/healthz", "/readyz")
SHUTDOWN_S = 0.5  # for answers that are under way when the daemon stops
PAGE_PATHS = ("/api/", "/static/", "/events")  # and "/": see page.access


def application(
    metrics: Callable[[], Awaitable[bytes]],
    is_ready: Callable[[], bool],
    gate: Gate,
    require_token: bool,
    connections: Connections,
) -> web.Application:
    """All routes of the daemon."""

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(
            body=await metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        ready = is_ready()
        return web.Response(text="ready\n" if ready else "not ready\n", status=200 if ready else 503)

    middlewares: list[Middleware] = [connections.middleware()]
    if require_token:
        middlewares.append(_authenticating(gate))
    app = web.Application(middlewares=middlewares)
    app.add_routes(
        [web.get("/metrics", show_metrics), web.get("/healthz", healthz), web.get("/readyz", readyz)]
    )
    return app


class HttpPort:
    """The open port; `close` ends it within about a second, whatever clients do."""

    def __init__(self, runner: web.AppRunner, server: asyncio.Server) -> None:
        self._runner, self._server = runner, server
        self.port: int = server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        await self._runner.cleanup()


async def open_http_port(app: web.Application, listen: str, connections: Connections) -> HttpPort:
    """Start serving."""
    host, port = split_address(listen)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    assert runner.server is not None
    try:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(connections.factory(runner.server), host, port)
    except OSError as error:
        await runner.cleanup()
        raise PortUnavailable(
            f"http.listen: cannot listen on {listen}: {error.strerror}; "
            "stop the other process, or choose another port with --http"
        ) from error
    return HttpPort(runner, server)


def _authenticating(gate: Gate) -> Middleware:
    @web.middleware
    async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in (*OPEN_PATHS, "/") and not request.path.startswith(PAGE_PATHS):
            try:
                gate.by_headers(request.headers.getall("Authorization", []))
            except Unauthenticated as refused:
                raise web.HTTPUnauthorized(
                    text=f"{refused.message}\n", headers={"WWW-Authenticate": "Bearer"}
                ) from refused
        return await handler(request)

    return authenticate
