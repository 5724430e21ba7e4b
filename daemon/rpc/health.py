"""grpc.health.v1: the daemon as a whole under the empty name, and each learner under its own.

The whole is shown to everybody, because orchestrators have no token. Where there are tokens, a learner is shown to
those alone who may use it: its name is nobody else's business.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from galloon.daemon.errors import Unauthenticated
from galloon.daemon.rpc.auth import Gate

HEALTH_SERVICES = (health.SERVICE_NAME,)
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Health:
    """What load balancers and orchestrators ask."""

    def __init__(self, gate: Gate) -> None:
        self._servicer = _Guarded(gate)
        self._tasks: set[asyncio.Task[None]] = set()  # the loop itself holds tasks only weakly

    def add_to(self, server: grpc.aio.Server) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def set_daemon(self) -> None:
        self._do(self._servicer.set("", SERVING))

    def set_learner(self, name: str, usable: bool | None) -> None:
        """Whether it can be used; None once there is no such learner."""
        if usable is None:
            self._do(self._servicer.forget(name))
        else:
            self._do(self._servicer.set(name, SERVING if usable else NOT_SERVING))

    async def shut_down(self) -> None:
        """Everything stops serving, and stays so."""
        await self._servicer.enter_graceful_shutdown()

    def _do(self, change: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(change)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Guarded(health.aio.HealthServicer):  # type: ignore[misc]  # the package carries no types
    """Looks at the caller before it answers for a learner."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    async def Check(self, request: Any, context: Any) -> Any:
        await self._admit(request.service, context)
        return await super().Check(request, context)

    async def Watch(self, request: Any, context: Any) -> None:
        await self._admit(request.service, context)
        await super().Watch(request, context)

    async def forget(self, service: str) -> None:
        """Unknown from now on, also to those who watch: names that never come back would pile up."""
        if self._gracefully_shutting_down:
            return
        watchers = self._server_watchers.get(service) or asyncio.Condition()
        async with watchers:
            self._server_status.pop(service, None)
            watchers.notify_all()

    async def _admit(self, learner: str, context: Any) -> None:
        if not learner or not self._gate.asks_for_tokens:
            return
        try:
            caller = self._gate.principal(context.invocation_metadata() or (), context.auth_context())
        except Unauthenticated as refused:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, refused.message)
        if not caller.may_use(learner):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not a learner of yours")
