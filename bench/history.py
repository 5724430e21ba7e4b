"""Many rounds that wait for feedback on one daemon: memory, disk, start, time until one is taught; a rebuild.

`python -m bench.history --rounds 1000000` is the whole measure; `python -m bench history` plays fewer. Latencies
are by the clock; starts by clock and processor time, beside the same of a daemon without rounds; the rebuild is
by processor time.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from typing import Any

import click
import grpc

from bench.load import METHOD
from bench.servers import daemon
from bench.work import DEFAULT, EXPERTS, WORDS, opening
from galloon.clients.api.client import Client
from galloon.codec.feedback import Withdrawn
from galloon.codec.page import page_request
from galloon.codec.request import utterance_request
from galloon.learners.combiners.contract import TrueText
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2 as wire

FEW = 2_000
TAUGHT = 100
TEXTS = 500  # different ones; ids are all different
PAGE, PAGES_AHEAD = 32, 2


def figures() -> dict[str, dict[str, float]]:
    return measured(FEW)


def measured(rounds: int, rebuild: bool = True) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder) / "empty", Path(folder) / "full"
        for directory in (empty, full):
            directory.mkdir()
        starts = {"none": _start_s(empty), "new": _start_s(full)}
        with daemon(full) as server:
            asyncio.run(_choose(server.address, "w", TEXTS))
            before = server.memory_bytes()
            asyncio.run(_choose(server.address, "u", rounds))
            grown = server.memory_bytes() - before
        size = sum(file.stat().st_size for file in (full / "data").iterdir())
        starts["waiting"] = _start_s(full)
        with daemon(full) as server:
            picked = Random(1).sample(range(rounds), TAUGHT)
            taught = asyncio.run(_teach(server.address, picked))
            rebuilt = {}
            if rebuild:
                asyncio.run(_withdraw(server.address, picked[: TAUGHT // 10]))
                rebuilt = {"rebuild": _rebuilt(full / "daemon.log")}
    return {
        f"{rounds:,} rounds wait": {
            "memory_grew_mb": round(grown / 1e6, 1),
            "disk_bytes_a_round": round(size / (rounds + TEXTS)),
            "start_s": round(starts["waiting"][0], 2),
            "start_cpu_s": round(starts["waiting"][1], 2),
            "start_of_an_empty_one_s": round(starts["none"][0], 2),
            "start_of_an_empty_one_cpu_s": round(starts["none"][1], 2),
            "taught_ms_median": round(1000 * median(taught), 1),
            "taught_ms_worst": round(1000 * max(taught), 1),
        },
        **rebuilt,
    }


def _start_s(directory: Path) -> tuple[float, float]:
    """By the clock, and of the processor."""
    start = perf_counter()
    with daemon(directory) as server:
        return perf_counter() - start, server.cpu_s()


async def _choose(address: str, prefix: str, count: int) -> None:
    """Pages of ready-made messages: the shipped client would take longer than the daemon."""
    random = Random(prefix)
    made = [
        utterance_request(
            Utterance.of_texts(
                "-", {name: " ".join(filter(None, random.choices(WORDS, k=12))) for name in EXPERTS}
            )
        )
        for _ in range(TEXTS)
    ]

    def page(start: int) -> bytes:
        messages = []
        for number in range(start, min(start + PAGE, count)):
            message = wire.CombineRequest()
            message.CopyFrom(made[number % TEXTS])
            message.utterance.id = f"{prefix}{number}"
            messages.append(message)
        return page_request(messages).SerializeToString()

    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream(METHOD)()
        await call.write(opening("bench", DEFAULT))
        await call.read()
        sent = 0
        for start in range(0, count, PAGE):
            await call.write(page(start))
            sent += 1
            if sent > PAGES_AHEAD:
                await _answered(call)
        for _ in range(min(sent, PAGES_AHEAD)):
            await _answered(call)
        await call.done_writing()


async def _answered(call: Any) -> None:
    response = wire.CombineResponse.FromString(await call.read())
    kinds = {each.WhichOneof("response") for each in response.page.responses} or {
        response.WhichOneof("response")
    }
    assert kinds == {"choice"}, response


async def _teach(address: str, numbers: list[int]) -> list[float]:
    seconds = []
    async with Client(address) as client, client.stream("bench") as stream:
        for number in numbers:
            start = perf_counter()
            await stream.learn(f"u{number}", TrueText("the quick brown fox"))
            seconds.append(perf_counter() - start)
    return seconds


async def _withdraw(address: str, numbers: list[int]) -> None:
    async with Client(address) as client, client.stream("bench") as stream:
        for number in numbers:
            await stream.learn(f"u{number}", Withdrawn(), replace=True)


def _rebuilt(log: Path) -> dict[str, float]:
    """What the daemon says of its rebuild."""
    while True:
        for line in log.read_text().splitlines():
            if "learner rebuilt" in line and line.startswith("{"):
                told = json.loads(line)
                return {name: told[name] for name in ("rounds", "lessons", "seconds")} | {
                    "rounds_a_cpu_second": round(told["rounds"] / max(told["seconds"], 1e-9))
                }
            if "learner rebuilt" in line:
                found = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)\b", line)}
                return {name: found[name] for name in ("rounds", "lessons", "seconds")} | {
                    "rounds_a_cpu_second": round(found["rounds"] / max(found["seconds"], 1e-9))
                }
        sleep(0.5)


@click.command()
@click.option("--rounds", type=click.IntRange(min=TAUGHT), default=FEW, show_default=True)
@click.option("--rebuild/--no-rebuild", default=True, help="Withdraw some and wait for the rebuild.")
def main(rounds: int, rebuild: bool) -> None:
    """Print the figures as JSON."""
    click.echo(json.dumps(measured(rounds, rebuild), indent=1))


if __name__ == "__main__":
    main()
