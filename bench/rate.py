"""How many messages a second the daemon keeps of a bare echo of the same schema, and where its time goes.

16 streams, 5 experts x 20 slots, a choice and durable feedback for every utterance, Expanded Hedge with n = 2 on
windows of 8; and the default learner on plain texts of as many words. Echo and daemon take turns in pairs, so that
a busy machine slows both; figures are medians. Rates are those under full load, where latencies are mostly
queueing; latencies under a light load stand beside them. `figures()` gives them all.
"""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.load import Taken, put_load
from bench.profiles import breakdown
from bench.servers import Server, daemon, echo_server
from bench.work import DEFAULT, SPEC, rounds
from galloon.clients.api.answered import Answered
from galloon.clients.api.client import Client
from galloon.clients.api.stream import StreamOptions
from galloon.learners.combiners.contract import TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

STREAMS, ROUNDS, PAIRS = 16, 100, 7
WINDOW = 32  # rounds of one stream in flight: enough that neither server ever waits for the load
LIGHT_ROUNDS, LIGHT_WINDOW = 25, 1  # for latencies: every stream waits for each answer
WARM_UP_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Run:
    """One load on one server."""

    messages_per_s: float
    cpu_us_per_round: float
    choose_s: list[float]
    learn_s: list[float]


def figures() -> dict[str, Any]:
    """Everything as numbers: rates a second, milliseconds, microseconds, shares."""
    with tempfile.TemporaryDirectory(prefix="galloon-bench-") as scratch:
        return {**_interleaved(Path(scratch) / "pairs"), **_profiled(Path(scratch) / "profiled")}


def _interleaved(directory: Path) -> dict[str, Any]:
    directory.mkdir()
    with echo_server(directory) as echo, daemon(directory) as served:
        for server in (echo, served):
            for spec in (SPEC, DEFAULT):
                _run(server, "warm-up", WARM_UP_ROUNDS, WINDOW, spec)
        pairs = [_pair(echo, served, f"full-{n}", ROUNDS, WINDOW) for n in range(PAIRS)]
        light = [_pair(echo, served, f"light-{n}", LIGHT_ROUNDS, LIGHT_WINDOW) for n in range(PAIRS)]
        texts = [_pair(echo, served, f"texts-{n}", ROUNDS, WINDOW, DEFAULT) for n in range(PAIRS)]
        shipped = _shipped_client(served)
    echoes, daemons = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    light_echoes, light_daemons = [pair[0] for pair in light], [pair[1] for pair in light]
    return {
        "pairs": PAIRS,
        "streams": STREAMS,
        "echo_messages_per_s": _median(echoes, lambda run: run.messages_per_s),
        "daemon_messages_per_s": _median(daemons, lambda run: run.messages_per_s),
        "daemon_share_of_echo": median(ours.messages_per_s / bare.messages_per_s for bare, ours in pairs),
        "daemon_share_of_echo_worst": min(ours.messages_per_s / bare.messages_per_s for bare, ours in pairs),
        "echo_cpu_us_per_round": _median(echoes, lambda run: run.cpu_us_per_round),
        "daemon_cpu_us_per_round": _median(daemons, lambda run: run.cpu_us_per_round),
        "default_learner_on_plain_text": {
            "daemon_messages_per_s": _median([ours for _, ours in texts], lambda run: run.messages_per_s),
            "daemon_share_of_echo": median(ours.messages_per_s / bare.messages_per_s for bare, ours in texts),
            "daemon_cpu_us_per_round": _median([ours for _, ours in texts], lambda run: run.cpu_us_per_round),
        },
        "full_load": _latencies(daemons),
        "light_load": _latencies(light_daemons),
        "light_load_echo": _latencies(light_echoes),
        "shipped_client_messages_per_s": shipped,
    }


def _pair(
    echo: Server, served: Server, prefix: str, count: int, window: int, spec: CombinerSpec = SPEC
) -> tuple[Run, Run]:
    return _run(echo, prefix, count, window, spec), _run(served, prefix, count, window, spec)


def _latencies(runs: list[Run]) -> dict[str, float]:
    """Of choices and of acknowledged feedback, in milliseconds."""
    return {
        "choose_p50_ms": _median(runs, lambda run: 1000 * quantile(run.choose_s, 0.5)),
        "choose_p99_ms": _median(runs, lambda run: 1000 * quantile(run.choose_s, 0.99)),
        "learn_p50_ms": _median(runs, lambda run: 1000 * quantile(run.learn_s, 0.5)),
        "learn_p99_ms": _median(runs, lambda run: 1000 * quantile(run.learn_s, 0.99)),
    }


def quantile(values: list[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _run(server: Server, prefix: str, count: int, window: int, spec: CombinerSpec = SPEC) -> Run:
    """The paper's learner gets slots, the default one plain texts."""
    plain_text = spec is DEFAULT
    work = [rounds(f"{prefix}-{stream}", count, plain_text) for stream in range(STREAMS)]
    learner = "texts" if plain_text else "rate"
    cpu_s = server.cpu_s()
    taken: Taken = asyncio.run(put_load(server.address, [learner] * STREAMS, work, window, spec))
    used_s = server.cpu_s() - cpu_s
    return Run(taken.messages_per_s, 1e6 * used_s / (STREAMS * count), taken.choose_s, taken.learn_s)


def _median(runs: list[Run], value: Callable[[Run], float]) -> float:
    return median(map(value, runs))


def _shipped_client(server: Server) -> float:
    """The same work through the client that users have: its own cost is part of the figure."""

    async def stream(client: Client, number: int, count: int) -> None:
        async with client.stream(
            "shipped", create=SPEC, options=StreamOptions(max_in_flight=2 * WINDOW)
        ) as opened:
            offers = dict.fromkeys(SPEC.engines, ("the", "quick", "brown", "fox") * 5)
            ids = [f"{number}-{n}" for n in range(count)]
            async for choice in opened.choose_each(Utterance.of_slots(id_, offers) for id_ in ids):
                del choice
            truth = TrueTokens(("the", "quick", "brown", "fox") * 5)
            async for lesson in opened.learn_each(Answered(id_, truth) for id_ in ids):
                del lesson

    async def work() -> float:
        loop = asyncio.get_running_loop()
        async with Client(server.address) as client:
            started = loop.time()
            await asyncio.gather(*(stream(client, n, ROUNDS // 2) for n in range(STREAMS)))
            return STREAMS * ROUNDS / (loop.time() - started)

    return asyncio.run(work())


def _profiled(directory: Path) -> dict[str, Any]:
    """Shares of the main thread's time, from a run under the profiler (which slows Python more than C)."""
    profiles = {name: directory / name / "profile" for name in ("idle", "loaded")}
    for name, profile in profiles.items():
        profile.parent.mkdir(parents=True)
        with daemon(profile.parent, profile=profile) as served:
            if name == "loaded":
                _run(served, "profiled", ROUNDS, WINDOW)
    return {"daemon_time_by_part": breakdown(profiles["loaded"], profiles["idle"])}
