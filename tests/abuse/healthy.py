"""A healthy client in a process of its own, so that what is measured is the daemon and not whoever bothers it.

`Healthy.start`, then `stop` gives the 99th percentile. The process (`python -m tests.abuse.healthy ADDRESS`)
plays small rounds, one after the other, until its standard input ends, and prints their latencies as JSON.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import grpc

from tests.abuse.blast import latencies

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
        out, _ = await self._process.communicate()
        seen: list[float] = json.loads(out)
        return seen


async def _play(address: str) -> None:
    seen: list[float] = []
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
