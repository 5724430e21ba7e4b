"""Bringing documents together, in processes of their own: `Matcher` is this side, `matching_process` the other.

What it takes to match a page depends on what is on it, and a stranger chooses that. A process has a limit on its
time and its memory, can be ended at any moment, and holds no interpreter lock that others wait for. A few of them
are kept for the next page. On their standard input come a line of JSON with what is to be done and its bytes; on
their output frames, each a length and JSON, of which the last says how it ended.
"""

import asyncio
import json
import signal
import struct
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog

from galloon.codec.errors import InvalidMessage, MessageTooLarge
from galloon.daemon.errors import DaemonError, LimitPassed
from galloon.learners.documents.matched import Unmatchable
from galloon.v1 import document_pb2 as wire

AT_ONCE = 2  # pages that are matched at the same time
PROCESSOR_S = 20  # that one page may take
MEMORY_BYTES = 1 << 30  # of a process
LENGTH = struct.Struct("<I")

log = structlog.get_logger()


class MatchingFailed(DaemonError):
    """A defect: the process ended, or said something that nobody understands."""


class Matcher:
    """Hands work to its processes, `AT_ONCE` at a time, in the order in which it came."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._idle: list[asyncio.subprocess.Process] = []
        self._closed = False

    async def check(self, document: wire.Document, engines: Sequence[str], most_engines: int) -> None:
        """Refuse a document that is not well formed, before anything of it is combined."""
        head = {"work": "check", "engines": list(engines), "most_engines": most_engines}
        await self._done(head, document.SerializeToString(), "document")

    async def match(
        self, page: wire.DocumentPage, engines: Sequence[str], order_from: str
    ) -> tuple[list[bytes], dict[str, Any]]:
        """The lines of a page as JSON, and what could not be matched; raises `Unmatchable`."""
        head = {"work": "match", "engines": list(engines), "order_from": order_from}
        return await self._done(head, page.SerializeToString(), "document")

    async def true_lines(self, lines: Sequence[str], text: str) -> list[str | None]:
        """Which part of a true text is that of each line."""
        told, _ = await self._done({"work": "true_lines"}, json.dumps([list(lines), text]).encode(), "pages")
        found: list[str | None] = json.loads(told[0])
        return found

    async def close(self) -> None:
        self._closed = True
        for process in self._idle:
            await _end(process)

    async def _done(
        self, head: dict[str, Any], body: bytes, field: str
    ) -> tuple[list[bytes], dict[str, Any]]:
        async with self._places, self._process() as process:
            assert process.stdin is not None
            assert process.stdout is not None
            limits = {"processor_s": PROCESSOR_S, "memory_bytes": MEMORY_BYTES, "bytes": len(body)}
            try:
                process.stdin.write(json.dumps(head | limits).encode() + b"\n")
                process.stdin.write(body)
                await process.stdin.drain()
                told = [frame async for frame in _frames(process.stdout)]
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                status = await process.wait()
                if status == -signal.SIGXCPU:
                    raise LimitPassed(
                        "seconds of matching", PROCESSOR_S, PROCESSOR_S, "send the page in parts", field
                    ) from error
                raise MatchingFailed(f"matching ended with status {status}") from error
            end: dict[str, Any] = json.loads(told.pop())
            _raise(end, field)
            return told, end

    @asynccontextmanager
    async def _process(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """One that has nothing to do. Only who is done without an error gives it back."""
        process = self._idle.pop() if self._idle else await _started()
        done = False
        try:
            yield process
            done = True
        except (InvalidMessage, Unmatchable):
            done = True
            raise
        finally:
            if done and not self._closed:
                self._idle.append(process)
            else:
                await _end(process)


async def _started() -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "galloon.daemon.rpc.matching_process"]
    return await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )


async def _frames(source: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """All frames up to one without length, which says that the next is the last."""
    while True:
        (size,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
        last = not size
        if last:
            (size,) = LENGTH.unpack(await source.readexactly(LENGTH.size))
        yield await source.readexactly(size)
        if last:
            return


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]  # else its pipes wait for the collector


def _raise(end: dict[str, Any], field: str) -> None:
    """What the process could not do, as the error that it met."""
    match end:
        case {"invalid": [where, problem, advice]}:
            raise InvalidMessage(where, problem, advice)
        case {"too_large": [where, limit, needed, allowed, advice]}:
            raise MessageTooLarge(where, limit, needed, allowed, advice)
        case {"unmatchable": [engine, why]}:
            raise Unmatchable(engine, why)
        case {"memory": allowed}:
            raise LimitPassed("bytes of matching", allowed, allowed, "send the page in parts", field)
        case {"defect": words}:
            log.error("matching failed", words=words)
            raise MatchingFailed("matching failed")
