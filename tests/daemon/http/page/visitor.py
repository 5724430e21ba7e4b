"""Somebody who looks at a running daemon's HTTP port: `get` and `post` JSON, `listen` to events."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.daemon.serving import Daemon, feedback, simple_spec, utterance


class Visitor:
    """One session of HTTP requests; `headers` go with each."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session, self._root = session, f"http://{address}"

    async def ask(self, path: str, **query: str) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        async with self._session.get(self._root + path, params=query) as answer:
            return answer.status, await answer.json()

    async def get(self, path: str, **query: str) -> Any:
        status, body = await self.ask(path, **query)
        assert status == 200, body
        return body

    async def post(self, path: str, body: Any, **options: Any) -> tuple[int, Any]:
        async with self._session.post(self._root + path, json=body, **options) as answer:
            return answer.status, await answer.json()

    async def raw(self, method: str, path: str, **options: Any) -> tuple[int, Mapping[str, str], bytes]:
        async with self._session.request(method, self._root + path, **options) as answer:
            return answer.status, answer.headers, await answer.read()

    @asynccontextmanager
    async def listen(self, **query: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        async with self._session.get(f"{self._root}/events", params=query) as answer:
            assert answer.status == 200, await answer.text()
            assert answer.content_type == "text/event-stream"
            yield _news(answer)


async def _news(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.content:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what nobody tells us of."""
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110  # there is no event to await, as with any visitor
            await asyncio.sleep(0.01)


@asynccontextmanager
async def visiting(daemon: Daemon, **headers: str) -> AsyncIterator[Visitor]:
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield Visitor(session, daemon.app.http_address)


async def play(daemon: Daemon, rounds: int, learner: str = "test", first: int = 0, **spec: Any) -> None:
    """Rounds over a real stream, each with its feedback."""
    stream = await daemon.open(learner, simple_spec(**spec))
    for number in range(first, first + rounds):
        await stream.choice(utterance(number))
        await stream.learned(feedback(number))
    await stream.close()
