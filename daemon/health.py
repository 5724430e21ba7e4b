"""grpc.health.v1: the daemon as a whole under the empty name, and each learner under its own."""

import asyncio

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

HEALTH_SERVICES = (health.SERVICE_NAME,)
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Health:
    """What load balancers and orchestrators ask."""

    def __init__(self) -> None:
        self._servicer = health.aio.HealthServicer()
        self._tasks: set[asyncio.Task[None]] = set()  # the loop itself holds tasks only weakly

    def add_to(self, server: grpc.aio.Server) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def set_daemon(self) -> None:
        self._set("", SERVING)

    def set_learner(self, name: str, usable: bool) -> None:
        self._set(name, SERVING if usable else NOT_SERVING)

    async def shut_down(self) -> None:
        """Everything stops serving, and stays so."""
        await self._servicer.enter_graceful_shutdown()

    def _set(self, name: str, status: int) -> None:
        task = asyncio.get_running_loop().create_task(self._servicer.set(name, status))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
