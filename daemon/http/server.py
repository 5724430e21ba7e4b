"""The HTTP port: /metrics, /healthz (the process lives), /readyz (it accepts work), and room for the page.

`application` makes the routes; the page adds its own to them. Metrics name the learners that the caller may use:
all where there are no tokens; none for a caller without a token where there are, whom `require_token` refuses.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

from galloon.daemon.config import split_address
from galloon.daemon.errors import Denied, PortUnavailable, Unauthenticated
from galloon.daemon.http.connections import Connections
from galloon.daemon.http.page.access import Access
from galloon.daemon.http.scrape import MaySee

OPEN_PATHS = ("/healthz", "/readyz")  # for orchestrators, which have no token
SHUTDOWN_S = 0.5  # for answers that are under way when the daemon stops


def application(
    metrics: Callable[[MaySee], Awaitable[bytes]],
    is_ready: Callable[[], bool],
    access: Access,
    require_token: bool,
    connections: Connections,
) -> web.Application:
    """All routes of the daemon."""

    async def show_metrics(request: web.Request) -> web.Response:
        may_see: MaySee
        try:
            may_see = access.principal(request).may_use
        except Unauthenticated as refused:
            if require_token:
                raise web.HTTPUnauthorized(
                    text=f"{refused}\n", headers={"WWW-Authenticate": "Bearer"}
                ) from refused
            may_see = _nobody
        except Denied as refused:
            raise web.HTTPForbidden(text=f"{refused}\n") from refused
        return web.Response(
            body=await metrics(may_see), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        ready = is_ready()
        return web.Response(text="ready\n" if ready else "not ready\n", status=200 if ready else 503)

    app = web.Application(middlewares=[connections.middleware()])
    app.add_routes(
        [
            web.get("/metrics", show_metrics),
            *(web.get(path, check) for path, check in zip(OPEN_PATHS, (healthz, readyz), strict=True)),
        ]
    )
    return app


def _nobody(_: str) -> bool:
    """The learners that a caller without a token may see by name, where there are tokens."""
    return False


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
