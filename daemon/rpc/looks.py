"""Looks at a history or at figures that may take seconds: in threads of their own, a few of a principal at once.

A thread cannot be interrupted. So a look keeps its place until it has ended, also when whoever asked has gone: who
asks and leaves again and again takes no more threads than who waits.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")
THREADS = 4
AT_ONCE = 2  # of one principal


class Looks:
    """All that are under way."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._places: dict[str, asyncio.Semaphore] = {}

    async def look(self, principal: str, work: Callable[[], T]) -> T:
        """What comes of work, in its turn."""
        places = self._places.setdefault(principal, asyncio.Semaphore(AT_ONCE))
        await places.acquire()
        found = asyncio.get_running_loop().run_in_executor(self._pool, work)
        found.add_done_callback(lambda _: places.release())
        return await asyncio.shield(found)
