"""Daemons that share a PostgreSQL: `python -m bench.shared_store`.

First a daemon on fenced PostgreSQL against one on SQLite, at full load (16 streams, 32 rounds each in flight,
every lesson durable), in pairs that take turns; the ratio of rounds a second is the median of the pairs', and so
is that of the daemons' own processor time, which says more where others use the machine. As many rounds stay warm
as are in flight: others would be read from the store, which is another figure. Then a thousand learners with a
stream each over three daemons, one of which is killed: how long the streams of its learners were silent, and what
each daemon holds. PostgreSQL is started here, with its files in memory where there is such a place: what is
compared is the daemon's work and the fence's, not a disk.
"""

import asyncio
import os
import signal
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import click

from bench.load import put_load
from bench.servers import Server, daemon
from bench.work import SPEC, rounds
from galloon.clients.api.client import Client
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.learners.combiners.contract import TrueTokens
from galloon.learners.observation import Utterance
from tests.postgres import running

STREAMS, WINDOW = 16, 32
TICK_S = 0.01  # the system counts processor time in ticks
SETTLE_S = 4.0  # in which daemons that have started share the shards out


def compare(url: str, directory: Path, pairs: int, each: int) -> list[tuple[float, float]]:
    """Of each pair: rounds a second on PostgreSQL over those on SQLite, and the same of the processor's."""
    for name in ("sqlite", "shared"):
        (directory / name).mkdir()
    warm = f"limits.warm_rounds={2 * STREAMS * WINDOW}"
    with (
        daemon(directory / "sqlite", warm) as alone,
        daemon(directory / "shared", warm, f"store.url={url}") as fenced,
    ):
        time.sleep(SETTLE_S)
        ratios = []
        for pair in range(-1, pairs):  # the first warms up
            (sqlite, sqlite_cpu), (shared, shared_cpu) = [
                _speed(server, f"pair-{pair}", each) for server in (alone, fenced)
            ]
            if pair >= 0:
                ratios.append((shared / sqlite, shared_cpu / sqlite_cpu))
                click.echo(
                    f"pair {pair + 1}: SQLite {sqlite:.0f} rounds/s, PostgreSQL {shared:.0f}, "
                    f"ratio {ratios[-1][0]:.2f}, of processor time {ratios[-1][1]:.2f}"
                )
        return ratios


def _speed(server: Server, name: str, each: int) -> tuple[float, float]:
    """Rounds a second, by the clock and by the daemon's processor time."""
    work = [rounds(f"{name}-{stream}", each) for stream in range(STREAMS)]
    cpu_s = server.cpu_s()
    taken = asyncio.run(put_load(server.address, ["bench"] * STREAMS, work, WINDOW))
    count = STREAMS * each
    return count / taken.seconds, count / max(server.cpu_s() - cpu_s, TICK_S)


def crowd(url: str, directory: Path, learners: int) -> None:
    with ExitStack() as stack:
        for n in range(3):
            (directory / f"node-{n}").mkdir()
        nodes = [
            stack.enter_context(daemon(directory / f"node-{n}", f"store.url={url}", "limits.streams=4000"))
            for n in range(3)
        ]
        time.sleep(SETTLE_S)
        asyncio.run(_killed(nodes, learners))


async def _killed(nodes: list[Server], learners: int) -> None:
    addresses = ",".join(node.address for node in nodes)
    options = StreamOptions(timeout_s=300, open_timeout_s=300, give_up_s=300)
    async with Client(addresses, options=options) as client:
        streams = [client.stream(f"crowd/{n}", create=SPEC) for n in range(learners)]
        await asyncio.gather(*(stream.open() for stream in streams))
        await asyncio.gather(*(_lesson(stream, "before") for stream in streams))
        held = [f"{node.memory_bytes() / 1e6:.0f} MB" for node in nodes]
        before = [stream.opened.run_id for stream in streams]
        os.kill(nodes[0].pid, signal.SIGKILL)
        killed = time.monotonic()
        done = await asyncio.gather(*(_lesson(stream, "after") for stream in streams))
        moved = [
            moment - killed
            for moment, stream, run in zip(done, streams, before, strict=True)
            if stream.opened.run_id != run
        ]
        await asyncio.gather(*(stream.close() for stream in streams))
    click.echo(
        f"{learners} learners over three daemons ({', '.join(held)}), one killed: {len(moved)} streams moved, "
        f"taught again after {median(moved):.1f} s (median), {max(moved):.1f} s at most"
    )


async def _lesson(stream: CombineStream, name: str) -> float:
    """When it was acknowledged."""
    said = {engine: ["so", "far", "so", "good"] for engine in SPEC.engines}
    choice = await stream.choose(Utterance.of_slots(name, said))
    await stream.learn(choice.id, TrueTokens(("so", "far", "so", "good")))
    return time.monotonic()


@click.command()
@click.option("--pairs", default=9, show_default=True)
@click.option("--rounds", "each", default=100, show_default=True, help="Of each of 16 streams, in each run.")
@click.option("--learners", default=1000, show_default=True)
def main(pairs: int, each: int, learners: int) -> None:
    click.echo(f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="galloon-bench-") as scratch, running() as server:
        if pairs:
            ratios = compare(server.new_database(), Path(scratch), pairs, each)
            by_clock, by_processor = map(median, zip(*ratios, strict=True))
            click.echo(
                f"PostgreSQL / SQLite, medians of {pairs} pairs: {by_clock:.2f} (goal 0.75), by the daemons' "
                f"processor time {by_processor:.2f}"
            )
        if learners:
            crowd(server.new_database(), Path(scratch), learners)


if __name__ == "__main__":
    main()
