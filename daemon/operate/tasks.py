"""Background tasks that never die unseen: a task that fails is logged, counted, and started again after a pause.

`Supervisor.start` runs work for the life of the daemon; `Supervisor.once` runs it a single time; `stop` ends all.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

log = structlog.get_logger()
PAUSE_S = 1.0  # before work that failed is started again

Work = Callable[[], Coroutine[Any, Any, None]]


class Supervisor:
    """The background tasks of one daemon. `failed` is told the name of each task that fails."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()  # the event loop itself holds tasks only weakly

    def start(self, name: str, work: Work) -> None:
        """Run work for ever: it is started again when it fails, and when it returns."""
        self._keep(self._forever(name, work), name)

    def once(self, name: str, work: Work) -> None:
        """Run work a single time."""
        self._keep(self._guarded(name, work), name)

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forever(self, name: str, work: Work) -> None:
        while True:
            await self._guarded(name, work)
            await asyncio.sleep(PAUSE_S)

    async def _guarded(self, name: str, work: Work) -> None:
        try:
            await work()
        except Exception:
            log.exception("background task failed", task=name)
            self._failed(name)
