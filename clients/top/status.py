"""Where the learners of a daemon stand, again and again: `Watcher.status` gives the newest `Status`.

Each learner is watched by a call of its own, so that statistics come without digests, which cost more. A daemon
that goes away is waited for; the last figures stay and are marked as old.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from galloon.clients.api.client import Client
from galloon.clients.api.errors import ClientError, NotFound, Unreachable
from galloon.clients.top.latency import Scrape, quantile, scrape
from galloon.codec.learner import LearnerInfo, Statistics

HISTORY = 24  # rates kept for each learner
LIST_EVERY_S = 3.0
SCRAPE_EVERY_S = 3.0
RETRY_S = 1.0
LATENCIES = {
    "choose": "galloon_choose_seconds",
    "learn": "galloon_learn_seconds",
    "commit": "galloon_store_commit_seconds",
}


@dataclass(slots=True)
class Followed:
    """One learner under watch: what it is, its newest statistics, and its rounds a second so far."""

    info: LearnerInfo
    statistics: Statistics | None = None
    at_s: float = 0.0
    rounds_rates: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY))
    lessons_rate: float = 0.0

    def take(self, statistics: Statistics, now_s: float) -> None:
        before, seconds = self.statistics, now_s - self.at_s
        if before is not None and seconds > 0:
            # A crash takes rounds that were not durable; a count that fell is no negative rate.
            self.rounds_rates.append(max(0.0, (statistics.rounds_started - before.rounds_started) / seconds))
            self.lessons_rate = max(0.0, (statistics.lessons - before.lessons) / seconds)
        self.statistics, self.at_s = statistics, now_s


@dataclass(frozen=True, slots=True)
class Latency:
    """Half of all are quicker than `p50_s`, all but one in a hundred quicker than `p99_s`."""

    p50_s: float
    p99_s: float


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that a view shows."""

    address: str
    learners: tuple[Followed, ...]  # by name; at most as many as asked for
    learner_count: int
    latencies: Mapping[str, Latency]
    problem: str = ""  # why figures are old or missing


class Watcher:
    """Use it as `async with Watcher(client, ...) as watcher`."""

    def __init__(
        self, client: Client, *, prefix: str, most: int, interval_s: float, metrics_url: str | None
    ) -> None:
        self._client, self._prefix, self._most = client, prefix, most
        self._interval_s, self._metrics_url = interval_s, metrics_url
        self._followed: dict[str, Followed] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._count = 0
        self._latencies: dict[str, Latency] = {}
        self._problem = ""
        self._errands: list[asyncio.Task[None]] = []

    def status(self) -> Status:
        """The newest figures."""
        return Status(
            self._client.connection.address,
            tuple(self._followed[name] for name in sorted(self._followed)),
            self._count,
            dict(self._latencies),
            self._problem,
        )

    async def refresh(self) -> None:
        """Look which learners there are, and begin or end to watch them."""
        found = await self._client.list_learners(self._prefix)
        self._count, self._problem = len(found), ""
        shown = {learner.name: learner for learner in found[: self._most]}
        for name in list(self._followed):
            if name not in shown:
                del self._followed[name]
                self._watches.pop(name).cancel()
        for name, learner in shown.items():
            if name not in self._followed:
                self._followed[name] = Followed(learner)
                self._watches[name] = asyncio.create_task(self._watch(self._followed[name]))

    async def __aenter__(self) -> Self:
        await self.refresh()
        self._errands = [asyncio.create_task(self._keep_list())]
        if self._metrics_url is not None:
            self._errands.append(asyncio.create_task(self._keep_latencies(self._metrics_url)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = [*self._errands, *self._watches.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, followed: Followed) -> None:
        loop, name = asyncio.get_running_loop(), followed.info.name
        while True:
            try:
                async for statistics in self._client.watch_learner(name, interval_s=self._interval_s):
                    followed.take(statistics, loop.time())
            except NotFound:
                return  # deleted: the next list knows
            except ClientError as error:
                self._problem = str(error)  # until the next list succeeds; the daemon may come back
            await asyncio.sleep(RETRY_S)

    async def _keep_list(self) -> None:
        while True:
            await asyncio.sleep(LIST_EVERY_S)
            try:
                await self.refresh()
            except ClientError as error:
                self._problem = str(error)

    async def _keep_latencies(self, url: str) -> None:
        before: Scrape | None = None
        while True:
            try:
                now = await asyncio.to_thread(scrape, url, self._client.connection.token)
            except Unreachable:
                self._latencies, before = {}, None
            else:
                self._latencies = _latencies(now, before)
                before = now
            await asyncio.sleep(SCRAPE_EVERY_S)


def _latencies(now: Scrape, before: Scrape | None) -> dict[str, Latency]:
    found = {}
    for name, metric in LATENCIES.items():
        buckets = now.histograms.get(metric, {}) if before is None else now.since(before, metric)
        half, most = quantile(buckets, 0.5), quantile(buckets, 0.99)
        if half is not None and most is not None:
            found[name] = Latency(half, most)
    return found
