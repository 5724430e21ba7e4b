"""Crowds of clients: a thousand streams at once; two hundred slow or silent ones for a minute; and a hundred
that send as fast as they can and never read.

`run` measures what they cost the daemon's memory and a healthy client's latency, before and during.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import grpc

from tests.abuse.blast import resident_mb
from tests.abuse.healthy import Healthy, p99_ms
from tests.daemon_process import Daemon
from tests.fault.nuisances import never_reading, opened, silent, slow, utterance_request

CALM_S = 15.0  # of a healthy client alone, to compare with
MOST_MB = 64.0  # that a crowd may cost


@dataclass(frozen=True, slots=True)
class Crowd:
    """Figures of one crowd. Descriptors are counted when it has gone."""

    who: str
    streams: int
    grown_mb: float
    p99_before_ms: float
    p99_during_ms: float
    descriptors_grown: int

    def sentence(self) -> str:
        return (
            f"{self.streams:,} {self.who}: memory +{self.grown_mb:.1f} MB, "
            f"healthy p99 {self.p99_before_ms:.1f} ms before, {self.p99_during_ms:.1f} ms during; "
            f"{self.descriptors_grown:+d} descriptors afterwards"
        )


async def slow_and_silent(daemon: Daemon, streams: int, seconds: float) -> Crowd:
    """Half say nothing, half dawdle."""

    async def crowd() -> None:
        half = streams // 2
        await asyncio.gather(
            silent(daemon.address, Random(1), half, seconds),
            slow(daemon.address, Random(2), streams - half, seconds),
        )

    return await _measured(daemon, "slow or silent streams", streams, crowd())


async def flooding(daemon: Daemon, streams: int, seconds: float) -> Crowd:
    """All send until flow control stops them, and read nothing. The windows are the client's own: they may be
    large, so that for most of the time this is a busy daemon rather than a blocked one.
    """
    crowd = never_reading(daemon.address, Random(3), streams, seconds, slots=20)
    return await _measured(daemon, "streams that never read", streams, crowd)


async def many_streams(daemon: Daemon, streams: int) -> Crowd:
    """All open at once, each plays rounds, each is answered."""

    async def crowd() -> None:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            calls = [await opened(channel, f"crowd/{number % 10}") for number in range(streams)]
            for count in range(3):
                for number, call in enumerate(calls):
                    await call.write(utterance_request(f"c{number}-{count}"))
                for call in calls:
                    assert (await call.read()).HasField("choice")
            for call in calls:
                await call.done_writing()
                assert await call.code() == grpc.StatusCode.OK

    return await _measured(daemon, "busy streams", streams, crowd())


async def _measured(daemon: Daemon, who: str, streams: int, crowd: Awaitable[None]) -> Crowd:
    before = await _healthy(daemon, asyncio.sleep(CALM_S))
    size, descriptors = resident_mb(daemon.pid), _descriptors(daemon.pid)
    peak = [size]

    async def watch() -> None:
        while True:
            peak[0] = max(peak[0], resident_mb(daemon.pid))
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    during = await _healthy(daemon, crowd)
    watching.cancel()
    for _ in range(100):  # connections are closed a little after their streams
        if _descriptors(daemon.pid) <= descriptors:
            break
        await asyncio.sleep(0.1)
    grown = _descriptors(daemon.pid) - descriptors
    return Crowd(who, streams, peak[0] - size, p99_ms(before), p99_ms(during), grown)


async def _healthy(daemon: Daemon, meanwhile: Awaitable[None]) -> list[float]:
    client = Healthy(daemon.address)
    await client.start()
    await meanwhile
    return await client.stop()


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def run(directory: Path, seconds: float = 60.0) -> list[Crowd]:
    daemon = Daemon(directory, "log.level=error")
    await asyncio.to_thread(daemon.start)
    try:
        crowds = [
            await many_streams(daemon, 1000),
            await slow_and_silent(daemon, 200, seconds),
            await flooding(daemon, 100, seconds / 2),
        ]
        assert all(each.descriptors_grown <= 0 and each.grown_mb < MOST_MB for each in crowds), crowds
        return crowds
    finally:
        daemon.kill()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="galloon-crowd-") as scratch:
        for each in asyncio.run(run(Path(scratch), float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)):
            print(each.sentence())
