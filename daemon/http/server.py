"""The HTTP port: /metrics, /healthz (the process lives), /readyz (it serves), and room for the page.

`application` makes the routes; the page adds its own to them. With `require_token` everything but the two checks
asks for a bearer token, as the gRPC services do; the page's routes do so themselves, and more often.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from galloon.daemon.config import split_address
from galloon.daemon.errors import PortUnavailable, Unauthenticated
from galloon.daemon.rpc.auth import Gate

OPEN_PATHS = ("/healthz", "/readyz")
PAGE_PATHS = ("/api/", "/static/", "/events")  # and "/": see page.access


def application(
    metrics: Callable[[], Awaitable[bytes]], is_ready: Callable[[], bool], gate: Gate, require_token: bool
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

    app = web.Application(middlewares=[_authenticating(gate)] if require_token else [])
    app.add_routes(
        [web.get("/metrics", show_metrics), web.get("/healthz", healthz), web.get("/readyz", readyz)]
    )
    return app


async def open_http_port(app: web.Application, listen: str) -> tuple[web.AppRunner, str]:
    """Start serving; returns what to clean up in the end, and the address with the port that was picked."""
    host, port = split_address(listen)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        await runner.cleanup()
        raise PortUnavailable(
            f"http.listen: cannot listen on {listen}: {error.strerror}; "
            "stop the other process, or choose another port with --http"
        ) from error
    return runner, f"{listen.rpartition(':')[0]}:{runner.addresses[0][1]}"


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
