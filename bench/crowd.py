"""A crowd on one daemon: 1,000 learners with an open stream each, and a heavy learner that must disturb nobody.

`figures()` gives the memory, the errors (none), and how much a heavy learner (M about 2e5, Component Hedge) raises
the 99th percentile of the choose latency of light learners that work at the same time.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.rate import quantile
from bench.servers import Server, daemon
from bench.work import EXPERTS, SPEC
from galloon.clients.api.client import Client
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.learners.combiners.contract import TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

CROWD = 1000
OPENED_AT_ONCE = 50
LIGHT, LIGHT_ROUNDS, PAUSE_S = 4, 120, 0.01
PAIRS = 5
# Component Hedge on 5 experts, n = 5 and windows of 68 slots: 5^5 * 64 = 200,000 transitions of A'.
HEAVY_SLOTS = 68
HEAVY = CombinerSpec(
    engines=EXPERTS, algorithm="component_hedge", gain={"kind": "ngram", "order": 5}, window=HEAVY_SLOTS
)
PATIENT = StreamOptions(timeout_s=300, open_timeout_s=300)
WORDS = ("the", "quick", "brown", "fox", "jumps")


def figures() -> dict[str, Any]:
    """Bytes, milliseconds, counts and one ratio."""
    with tempfile.TemporaryDirectory(prefix="galloon-bench-") as scratch:
        crowd, heavy = Path(scratch) / "crowd", Path(scratch) / "heavy"
        for directory in (crowd, heavy):
            directory.mkdir()
        with daemon(crowd) as served:
            found = asyncio.run(_crowd(served))
        with daemon(heavy) as served:
            return {**found, **asyncio.run(_disturbance(served))}


async def _crowd(server: Server) -> dict[str, Any]:
    """Open a stream on each of 1,000 new learners, play a round on all of them, keep them all open."""
    empty = server.memory_bytes()
    async with Client(server.address, options=PATIENT) as client:
        streams = [client.stream(f"crowd/{number:04}", create=SPEC) for number in range(CROWD)]
        places = asyncio.Semaphore(OPENED_AT_ONCE)
        await asyncio.gather(*(_within(places, stream.open) for stream in streams))
        opened = server.memory_bytes()
        outcomes = await asyncio.gather(
            *(_round(stream, "first") for stream in streams), return_exceptions=True
        )
        played = server.memory_bytes()
        listed = [info async for info in _statistics(client)]
        for stream in streams:
            await stream.close()
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    return {
        "learners": len(listed),
        "streams": CROWD,
        "errors": len(errors),
        "lessons": sum(listed),
        "memory_empty_mb": empty / 1e6,
        "memory_with_streams_mb": opened / 1e6,
        "memory_after_a_round_each_mb": played / 1e6,
        "memory_per_learner_and_stream_kb": (played - empty) / CROWD / 1e3,
    }


async def _within(places: asyncio.Semaphore, work: Callable[[], Any]) -> None:
    async with places:
        await work()


async def _statistics(client: Client) -> Any:
    """Lessons of every learner of the crowd."""
    for info in await client.list_learners("crowd/"):
        shown = await client.get_learner(info.name)
        assert shown.statistics is not None
        yield shown.statistics.lessons


async def _round(stream: CombineStream, id_: str) -> None:
    await stream.choose(Utterance.of_slots(id_, dict.fromkeys(EXPERTS, WORDS * 4)))
    await stream.learn(id_, TrueTokens(WORDS * 4))


async def _disturbance(server: Server) -> dict[str, Any]:
    """Light learners alone, then beside the heavy one, in pairs; choose latencies of the light ones alone."""
    async with Client(server.address, options=PATIENT) as client:
        made = await client.create_learner("heavy", HEAVY)
        assert made.statistics is not None
        alone, beside, heavy_rounds = [], [], 0
        await _light(client, "warm")
        await _heavy(client, "warm", asyncio.Event(), most=1)
        for pair in range(PAIRS):
            alone.append(quantile(await _light(client, f"alone-{pair}"), 0.99))
            stop = asyncio.Event()
            working = asyncio.create_task(_heavy(client, f"beside-{pair}", stop))
            beside.append(quantile(await _light(client, f"beside-{pair}"), 0.99))
            stop.set()
            heavy_rounds += await working
        ratios = [busy / quiet for quiet, busy in zip(alone, beside, strict=True)]
        return {
            "heavy_transitions": made.statistics.context_transitions,
            "heavy_rounds": heavy_rounds,
            "light_choose_p99_alone_ms": 1000 * median(alone),
            "light_choose_p99_beside_heavy_ms": 1000 * median(beside),
            "light_choose_p99_ratio": median(ratios),
        }


async def _light(client: Client, prefix: str) -> list[float]:
    """Latencies of choices at a modest rate: what a user of another learner feels."""
    taken: list[float] = []

    async def one(number: int) -> None:
        async with client.stream(f"light/{number}", create=SPEC) as stream:
            for count in range(LIGHT_ROUNDS):
                id_ = f"{prefix}-{count}"
                started = perf_counter()
                await stream.choose(Utterance.of_slots(id_, dict.fromkeys(EXPERTS, WORDS * 4)))
                taken.append(perf_counter() - started)
                await stream.learn(id_, TrueTokens(WORDS * 4))
                await asyncio.sleep(PAUSE_S)

    await asyncio.gather(*(one(number) for number in range(LIGHT)))
    return taken


async def _heavy(client: Client, prefix: str, stop: asyncio.Event, most: int = 10_000) -> int:
    """Rounds of the heavy learner, one after the other, until told to stop."""
    truth = (WORDS * HEAVY_SLOTS)[:HEAVY_SLOTS]
    offers = {name: (WORDS[shift:] * HEAVY_SLOTS)[:HEAVY_SLOTS] for shift, name in enumerate(EXPERTS)}
    count = 0
    async with client.stream("heavy") as stream:
        while count < most and not stop.is_set():
            await stream.choose(Utterance.of_slots(f"{prefix}-{count}", offers))
            await stream.learn(f"{prefix}-{count}", TrueTokens(truth))
            count += 1
    return count
