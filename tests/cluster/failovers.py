"""`make failover`, 200 of them if nothing is said: many faults in a row, and how long streams were silent.

Goals: silence of at most 2 s after a kill, at most the lease and 4 s after a pause.
"""

import asyncio
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from random import Random

import click

from tests.cluster.rig import FAULTS, Workload, cluster, judge
from tests.postgres import running


@click.command()
@click.option("--faults", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--lease", "lease_s", default=3.0, show_default=True)
@click.option("--only", type=click.Choice(list(FAULTS)), help="Faults of this kind alone.")
def main(faults: int, seed: int, lease_s: float, only: str | None) -> None:
    random, silences = Random(seed), defaultdict[str, list[float]](list)
    kinds = [only] if only else list(FAULTS)
    with (
        tempfile.TemporaryDirectory(prefix="galloon-failovers-") as folder,
        running() as server,
        cluster(Path(folder), server, lease_s=lease_s) as daemons,
    ):
        workload = Workload(daemons.addresses)
        try:
            workload.wait_for_lessons(20)
            for number in range(faults):
                kind, stream = kinds[number % len(kinds)], random.choice(workload.streams)
                began = time.monotonic()
                FAULTS[kind](daemons, stream.learner, random)
                workload.wait_for_lessons(2)
                silent = max(
                    (
                        end - max(start, began)
                        for s in workload.streams
                        for start, end in s.gaps
                        if end > began
                    ),
                    default=1.0,
                )
                silences[kind].append(silent)
                click.echo(f"{number + 1}/{faults} {kind}: silent for {silent:.1f} s at most")
                time.sleep(random.uniform(0.2, 1.0))
        finally:
            workload.stop()
        errors = [error for stream in workload.streams for error in stream.errors]
        verdict = asyncio.run(judge(daemons.addresses, daemons.url, workload))
    for kind, found in silences.items():
        ordered = sorted(found)
        middle, longest = ordered[len(ordered) // 2], ordered[-1]
        click.echo(f"{kind}: {len(found)} times, silence median {middle:.1f} s, longest {longest:.1f} s")
    click.echo(f"{verdict}; errors that callers saw: {len(errors)} {errors[:3]}")
    raise SystemExit(0 if (verdict.lost, verdict.twice, verdict.digests_differ) == (0, 0, 0) else 1)


if __name__ == "__main__":
    main()
