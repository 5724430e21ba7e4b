"""A healthy client in a process of its own, so that what is measured is the daemon and not whoever bothers it.

`Healthy.start`, then `stop` gives the 99th percentile. The process (`python -m tests.abuse.healthy ADDRESS`)
plays small rounds, one after the other, until its standard input ends, and prints their latencies as JSON.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc
from galloon.v1 import utterance_pb2 as said
from tests.abuse.bombs import LEARNERS

ROOT = Path(__file__).parents[2]


class Healthy:
    def __init__(self, address: str) -> None:
        self._address = address

    async def start(self) -> None:
        command = [sys.executable, "-m", "tests.abuse.healthy", self._address]
        self._process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        await self._process.stdout.readline()  # it is at work

    async def stop(self) -> list[float]:
        """The seconds that each round took."""
        return [seconds for _, seconds in await self.stop_timed()]

    async def stop_timed(self) -> list[tuple[float, float]]:
        """When each round began, by the system's monotonic clock, and the seconds that it took."""
        out, _ = await self._process.communicate(b"")  # which also ends its input
        return [(began, seconds) for began, seconds in json.loads(out)]


async def latencies(channel: grpc.aio.Channel, seen: list[tuple[float, float]], stop: asyncio.Event) -> None:
    """A healthy client: small rounds, one after the other, each timed."""
    stream = combine_pb2_grpc.CombineServiceStub(channel).Combine()
    await stream.write(wire.CombineRequest(open=wire.Open(learner="healthy", create=LEARNERS["words"])))
    await stream.read()
    number = 0
    while not stop.is_set():
        offers = [said.SlotOffers(engine=name, tokens=["a", "b", "c"]) for name in ("ann", "bob", "cy")]
        message = said.Utterance(id=f"h{number}", slots=said.Slots(offers=offers))
        started = time.monotonic()
        await stream.write(wire.CombineRequest(utterance=message))
        await stream.read()
        seen.append((started, time.monotonic() - started))
        number += 1
        await asyncio.sleep(0.005)


def p99_ms(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(0.99 * (len(seconds) - 1))] * 1000


async def _play(address: str) -> None:
    seen: list[tuple[float, float]] = []
    stop = asyncio.Event()
    async with grpc.aio.insecure_channel(address) as channel:
        playing = asyncio.create_task(latencies(channel, seen, stop))
        await asyncio.sleep(0.5)
        print("at work", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        await playing
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(_play(sys.argv[1]))
