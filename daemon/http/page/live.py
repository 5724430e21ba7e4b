"""News while somebody listens: server-sent events, at most two a second, about what has changed.

`Live.listen` serves one listener. Nothing is computed for nobody: without listeners there is no task and no timer.
An event `news` carries JSON with any of `learners` (those that changed), `gone` (names), `learner` (the
one that is looked at, with the end of its curve) and `store`.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from galloon.daemon.errors import LimitPassed, Refused
from galloon.daemon.http.page.curves import Curves
from galloon.daemon.http.page.learner_view import brief, latest_point, mark, stored
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.rpc.auth import Principal
from galloon.daemon.store.journal import Journal

PAUSE_S = 0.5
SILENCE_S = 15.0  # after which a comment keeps proxies from giving up
STALL_S = 30.0  # after which a listener that reads nothing has gone
MOST_LISTENERS = 64
MOST_LISTENERS_OF_ONE = 32  # so that one principal leaves places for others


class Live:
    """All listeners."""

    def __init__(
        self,
        registry: Registry,
        curves: Curves,
        shown: int,
        journal: Journal,
        health: Callable[[Principal], dict[str, Any]],
        clock: Callable[[], float],
    ) -> None:
        self._registry, self._curves, self._shown = registry, curves, shown
        self._journal, self._health, self._clock = journal, health, clock
        self._end = asyncio.Event()
        self._looking: Counter[str] = Counter()  # listeners by the learner that they look at
        self._by_principal: Counter[str] = Counter()
        self.listeners = 0

    async def listen(self, request: web.Request, caller: Principal) -> web.StreamResponse:
        """Send news until the listener goes, or the daemon stops."""
        mine = self._by_principal[caller.name] + 1
        if self.listeners >= MOST_LISTENERS or mine > MOST_LISTENERS_OF_ONE:
            raise LimitPassed("listeners", mine, MOST_LISTENERS_OF_ONE, "close pages that nobody looks at")
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        listener = _Listener(
            self, caller, request.query.get("learner", ""), request.query.get("contains", "")
        )
        self.listeners += 1
        self._by_principal[caller.name] += 1
        self._looking[listener.learner] += 1
        silent_since = self._clock()
        try:
            while not self._end.is_set() and request.transport is not None:
                news = await listener.news()
                if news:
                    data = json.dumps(news, separators=(",", ":"), allow_nan=False)
                    await _read_in_time(response.write(f"event: news\ndata: {data}\n\n".encode()))
                    silent_since = self._clock()
                elif self._clock() - silent_since > SILENCE_S:
                    await _read_in_time(response.write(b": still here\n\n"))
                    silent_since = self._clock()
                await self._pause()
        except (ConnectionError, TimeoutError):
            pass  # the listener has gone, or reads no more: its place is for others
        finally:
            self.listeners -= 1
            self._by_principal[caller.name] -= 1
            self._leave(listener.learner)
        return response

    def end(self) -> None:
        """Let every listener go."""
        self._end.set()

    def visible(self, caller: Principal, contains: str) -> list[Learner]:
        """The first learners, by name, that the caller may see."""
        return self._registry.page("", self._shown, lambda name: contains in name and caller.may_use(name))

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE_S):
                await self._end.wait()
        except TimeoutError:
            pass  # the pause is over

    def _leave(self, learner: str) -> None:
        self._looking[learner] -= 1
        if self._looking[learner] <= 0:
            del self._looking[learner]

    def _find(self, name: str) -> Learner | None:
        try:
            return self._registry.find(name)
        except Refused:  # it is gone, or never was; the page says so by itself
            return None


async def _read_in_time(write: Awaitable[None]) -> None:
    async with asyncio.timeout(STALL_S):
        await write


class _Listener:
    """What one listener has been told."""

    def __init__(self, live: Live, caller: Principal, learner: str, contains: str) -> None:
        self._live, self._caller, self.learner, self._contains = live, caller, learner, contains
        self._marks: dict[str, tuple[int, ...]] = {}
        self._seen: tuple[int, ...] = ()
        self._commits = -1

    async def news(self) -> dict[str, Any]:
        """What has changed since the last call; empty for nothing."""
        live = self._live
        learners = [learner.describe() for learner in live.visible(self._caller, self._contains)]
        marks = {learner.name: mark(learner) for learner in learners}
        news: dict[str, Any] = {}
        changed = [
            brief(learner) for learner in learners if self._marks.get(learner.name) != marks[learner.name]
        ]
        gone = [name for name in self._marks if name not in marks]
        if changed:
            news["learners"] = changed
        if gone:
            news["gone"] = gone
        self._marks = marks
        news |= await self._news_of_one()
        commits = live._journal.figures.commits
        if commits != self._commits:
            self._commits = commits
            news["store"] = live._health(self._caller)
        return news

    async def _news_of_one(self) -> dict[str, Any]:
        live, learner = self._live, self._live._find(self.learner)
        if learner is None or not self._caller.may_use(learner.name):
            return {}
        described = learner.describe()
        seen = mark(described)
        if seen == self._seen or described.out_of_service:
            return {}
        self._seen = seen
        point = await latest_point(learner, live._curves.of(learner))
        return {"learner": {**brief(described), "store": stored(described), "point": point}}
