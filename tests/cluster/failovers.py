"""`make failover`, 200 of them if nothing is said: many faults in a row, and how long streams were silent.

Goals: silence of at most 2 s after a kill, at most the lease and 4 s after a pause.
"""

import asyncio
import os
import signal
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from random import Random

import click

from tests.cluster.faults import FAULTS, faults_of
from tests.cluster.rig import Cluster, cluster
from tests.cluster.workload import Verdict, Workload, judge
from tests.postgres import running

BETWEEN_S = (0.2, 1.0)  # two faults


class Enough(BaseException):
    """Somebody ends the run before its last fault."""


def _enough(*_: object) -> None:
    raise Enough


def load() -> str:
    """How busy the machine is: silence is as long as its daemons wait for a processor."""
    return f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"


Silences = dict[str, list[float]]


def play(
    daemons: Cluster,
    faults: int,
    random: Random,
    only: str | None = None,
    pause_s: float = 0.0,
    *,
    hasty: bool = False,
) -> tuple[Verdict, Silences, list[str]]:
    """So many faults, in turn of every kind; the judgement, how long streams were silent, errors that they saw.

    Each comes to a cluster in which every daemon serves, unless `hasty`.
    """
    silences = defaultdict[str, list[float]](list)
    kinds = [only] if only else faults_of(daemons)
    workload = Workload(daemons.addresses, pause_s=pause_s)
    try:
        with suppress(Enough):
            workload.wait_for_lessons(2)
            for number in range(faults):
                kind, stream = kinds[number % len(kinds)], random.choice(workload.streams)
                if not hasty:
                    daemons.wait_until_whole()
                began = time.monotonic()
                FAULTS[kind](daemons, stream.learner)
                workload.wait_for_lessons(2)
                silences[kind].append(workload.silence_since(began))
                click.echo(
                    f"{number + 1}/{faults} {kind}: silent for {silences[kind][-1]:.1f} s at most; {load()}"
                )
                time.sleep(random.uniform(*BETWEEN_S))
    finally:
        workload.stop()
    return asyncio.run(judge(daemons.addresses, daemons.url, workload)), silences, workload.errors


@click.command()
@click.option("--faults", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--lease", "lease_s", default=3.0, show_default=True)
@click.option("--only", type=click.Choice(list(FAULTS)), help="Faults of this kind alone.")
@click.option("--pause", "pause_s", default=0.05, show_default=True, help="Of a stream between two lessons.")
@click.option("--hasty", is_flag=True, help="Do not wait for daemons to come back before the next fault.")
@click.option("--keep", type=click.Path(path_type=Path), help="The folder for the daemons' logs.")
def main(
    faults: int, seed: int, lease_s: float, only: str | None, pause_s: float, hasty: bool, keep: Path | None
) -> None:
    # Also where it runs in the background of a shell, which makes it deaf to Ctrl-C: what was seen is judged, and
    # daemons and networks go.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _enough)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="galloon-failovers-") as folder,
        running(public=True) as server,
        cluster(keep or Path(folder), server, lease_s=lease_s) as daemons,
    ):
        if only is None and len(faults_of(daemons)) < len(FAULTS):
            click.echo("network namespaces cannot be made here: nobody is cut off")
        verdict, silences, errors = play(daemons, faults, Random(seed), only, pause_s, hasty=hasty)
    for kind, found in silences.items():
        ordered = sorted(found)
        middle, longest = ordered[len(ordered) // 2], ordered[-1]
        click.echo(f"{kind}: {len(found)} times, silence median {middle:.1f} s, longest {longest:.1f} s")
    click.echo(f"{verdict}; errors that callers saw: {len(errors)} {errors[:3]}")
    raise SystemExit(0 if verdict.is_good else 1)


if __name__ == "__main__":
    main()
