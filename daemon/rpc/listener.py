"""The gRPC port, kept open: `Listener.open` starts serving, `watch` starts a new server when the old one has died.

gRPC's Python server ends its accept loop for good on a request whose path is not UTF-8, and the process goes on
without a port. `watch` notices that at once. By calls to its own port it notices other reasons why the port does
not answer. The new server listens on the same port. Streams of the old one go on until they end.
"""

import asyncio
from collections.abc import Callable

import grpc
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.daemon.config import split_address
from galloon.daemon.errors import PortUnavailable

log = structlog.get_logger()
LOOK_S = 0.05  # between two looks at whether the server has died
CALL_EVERY = 100  # looks
CALL_TIMEOUT_S = 5.0
UNANSWERED_CALLS = 3  # in a row, after which the port counts as dead
OLD_STREAMS_S = 3600.0  # that streams of a server that died may last
REOPEN_PAUSE_S = 0.05  # between two attempts to listen again


class Listener:
    """One port. `make` gives a server with all services that is not started yet."""

    def __init__(
        self, make: Callable[[], grpc.aio.Server], listen: str, credentials: grpc.ServerCredentials | None
    ) -> None:
        self._make, self._listen, self._credentials = make, listen, credentials
        self._old: list[asyncio.Task[None]] = []  # servers that died, until their last stream has ended
        self.accepting = False

    async def open(self) -> str:
        """Start serving; returns the address with the port that was picked."""
        await self._serve()
        return self._listen

    async def watch(self) -> None:
        """Until cancelled."""
        looks, unanswered = 0, 0
        while True:
            looks += 1
            try:
                await self._server.wait_for_termination(LOOK_S)
            except Exception as error:  # noqa: BLE001  # whatever killed the server
                await self._reopen(f"its server died: {error}", OLD_STREAMS_S)
            if looks % CALL_EVERY == 0:
                unanswered = 0 if await self._answers() else unanswered + 1
                if unanswered == UNANSWERED_CALLS:
                    await self._reopen(f"it did not answer {unanswered} calls in a row", None)
                    unanswered = 0

    async def stop(self, grace_s: float) -> None:
        self.accepting = False
        await self._server.stop(grace_s)
        for task in self._old:
            task.cancel()

    async def _serve(self) -> None:
        self._server = server = self._make()
        try:
            port = (
                server.add_secure_port(self._listen, self._credentials)
                if self._credentials
                else server.add_insecure_port(self._listen)
            )
        except RuntimeError as error:
            raise PortUnavailable(
                f"server.listen: cannot listen on {self._listen}: the port is in use, or the certificate and key "
                "do not fit; stop the other process, or choose another port with --listen"
            ) from error
        await server.start()
        self._listen = f"{self._listen.rpartition(':')[0]}:{port}"
        self.accepting = True

    async def _reopen(self, reason: str, grace_s: float | None) -> None:
        """Calls that the old server still answers have so long to end."""
        log.error("gRPC port stopped accepting; opening it again", reason=reason)
        self.accepting = False
        self._old = [task for task in self._old if not task.done()]
        self._old.append(asyncio.create_task(self._server.stop(grace_s)))
        while True:
            try:
                await self._serve()
            except PortUnavailable:
                await asyncio.sleep(REOPEN_PAUSE_S)  # the old server has not let go of the port yet
            else:
                return

    async def _answers(self) -> bool:
        """Whether a call to this port is answered; with TLS, whether a connection is accepted."""
        host, port = split_address(self._listen)
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                if self._credentials is not None:
                    _, writer = await asyncio.open_connection(host, port)
                    writer.close()
                    return True
                address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
                async with grpc.aio.insecure_channel(address) as channel:
                    await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
                    return True
        except (OSError, TimeoutError, grpc.RpcError):
            return False
