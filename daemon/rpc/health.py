"""grpc.health.v1: the daemon as a whole under the empty name, and each learner under its own.

The whole is shown to everybody, because orchestrators have no token. Where there are tokens, a learner is shown to
those alone who may use it: its name is nobody else's business.

The library's servicer writes to a watcher while it holds the lock that every change of a status needs. So one
client that never reads would hold up all of them, and the end of the daemon too. Here a change waits for nobody.
"""

import asyncio
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from galloon.daemon.errors import Unauthenticated
from galloon.daemon.rpc.auth import ANYONE, Gate, Principal

HEALTH_SERVICES = (health.SERVICE_NAME,)
LISTED = 100  # learners in one answer to List, as many as the protocol's own servers give
_Status = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]  # the package carries no types
    """What load balancers and orchestrators ask."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._statuses: dict[str, int] = {"": _Status.NOT_SERVING}
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._stopped = False

    def add_to(self, server: grpc.aio.Server) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(self, server)

    def set_daemon(self, serving: bool) -> None:
        self._set("", _Status.SERVING if serving else _Status.NOT_SERVING)

    def set_learner(self, name: str, usable: bool | None) -> None:
        """Whether it can be used; None once there is no such learner."""
        self._set(name, None if usable is None else _Status.SERVING if usable else _Status.NOT_SERVING)

    def shut_down(self) -> None:
        """Everything stops serving, and stays so."""
        for name in list(self._statuses):
            self._set(name, _Status.NOT_SERVING)
        self._stopped = True

    def _set(self, name: str, status: int | None) -> None:
        if self._stopped:
            return
        if status is None:
            self._statuses.pop(name, None)
        else:
            self._statuses[name] = status
        for changed in self._watchers.get(name, ()):
            changed.set()

    # The protocol.

    async def Check(self, request: Any, context: Any) -> Any:
        await self._admit(request.service, context)
        if request.service not in self._statuses:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no learner of this name")
        return _Status(status=self._statuses[request.service])

    async def Watch(self, request: Any, context: Any) -> None:
        await self._admit(request.service, context)
        changed = asyncio.Event()
        watchers = self._watchers.setdefault(request.service, set())
        watchers.add(changed)
        last = None
        try:
            while True:
                changed.clear()
                status = self._statuses.get(request.service, _Status.SERVICE_UNKNOWN)
                if status != last:
                    await context.write(_Status(status=status))
                last = status
                await changed.wait()
        finally:
            watchers.discard(changed)
            if not watchers:
                self._watchers.pop(request.service, None)

    async def List(self, _: Any, context: Any) -> Any:
        caller = self._caller(context) if self._gate.asks_for_tokens else ANYONE
        names = [name for name in self._statuses if not name or (caller and caller.may_use(name))]
        statuses = {name: _Status(status=self._statuses[name]) for name in sorted(names)[: LISTED + 1]}
        return health_pb2.HealthListResponse(statuses=statuses)

    def _caller(self, context: Any) -> Principal | None:
        try:
            return self._gate.principal(context.invocation_metadata() or (), context.auth_context())
        except Unauthenticated:
            return None

    async def _admit(self, learner: str, context: Any) -> None:
        if not learner or not self._gate.asks_for_tokens:
            return
        caller = self._caller(context)
        if caller is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "a learner's health needs a token")
        elif not caller.may_use(learner):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not a learner of yours")
