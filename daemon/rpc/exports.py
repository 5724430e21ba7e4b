"""Learners on their way out as bytes: one copy for all who ask while nothing changes, and a few at once.

A copy lives as long as somebody reads it. Who reads none of it for `STALL_S` (see `calls`) loses it, so that
silent readers neither fill the memory nor keep their places.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from galloon.daemon.errors import LimitPassed
from galloon.daemon.learner.learner import Learner

AT_ONCE = 2  # exports of one principal


@dataclass(slots=True, eq=False)
class _Copy:
    data: asyncio.Task[bytes]
    readers: int = 0


class Exports:
    """The copies that are read now."""

    def __init__(self) -> None:
        self._copies: dict[tuple[Learner, int], _Copy] = {}
        self._readers: Counter[str] = Counter()

    def __len__(self) -> int:
        """Copies in memory."""
        return len(self._copies)

    @asynccontextmanager
    async def copy_of(self, learner: Learner, principal: str) -> AsyncIterator[bytes]:
        if self._readers[principal] >= AT_ONCE:
            raise LimitPassed(
                "exports of one principal at once", AT_ONCE + 1, AT_ONCE, "wait for another one to end"
            )
        key = (learner, learner.seq)
        copy = self._copies.get(key)
        if copy is None:
            copy = self._copies[key] = _Copy(asyncio.create_task(learner.export()))
        self._readers[principal] += 1
        copy.readers += 1
        try:
            yield await asyncio.shield(copy.data)
        finally:
            self._readers -= Counter({principal: 1})
            copy.readers -= 1
            if not copy.readers:
                del self._copies[key]
