"""`make soak`: hours of work with a random fault every half minute; does memory grow, do descriptors leak?

In the first tenth of the time faults may end the daemon: SIGKILL, SIGTERM, a sync that fails. From then on one
process must live through everything that is left: nuisances of clients, a full disk that heals, a slow one, a
pause of the whole process. In the second and third tenth these come in turn and ten times as often: each flood
leaves free memory scattered between what stays, up to a point, and that point shall be behind us when measuring
begins. In the end all is judged as by `make fault`, and memory as `memory` says; exit status 1 if it grew.
memory.png in the directory shows the whole time.
"""

import argparse
import asyncio
import json
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from random import Random

from galloon.clients.api.client import Client
from galloon.daemon.limits import Limits
from tests.daemon_process import Daemon
from tests.fault import replay
from tests.fault.archive import histories, keep_everything
from tests.fault.commit import commit
from tests.fault.disk.shim import Switch, compiled, preloaded
from tests.fault.memory import Sample, judge_memory, sampled, watched
from tests.fault.nuisances import NUISANCES
from tests.fault.soak_plot import plot
from tests.fault.verdict import judge
from tests.fault.workload import POSTS, Log, keep_busy

DEADLY, WARM_UP = 0.1, 0.3  # until then, of the time
HASTE = 10
PAUSE_S = 0.4  # of each stream between two rounds: an hour of it can be played again in minutes
# Small, so that what grows up to a limit is at its limit when the warm-up is over.
LIMITS = Limits(warm_rounds=128)
SURVIVABLE = (*NUISANCES, "full_disk", "slow_disk", "pause")
SETTINGS = ("store.snapshot_events=400", "limits.warm_rounds=128")


class Soak:
    """One daemon on a faulty disk, its streams and its nemesis."""

    def __init__(self, directory: Path, seed: int, every_s: float) -> None:
        self._random, self._every_s = Random(seed), every_s
        self._switch = Switch(directory / "switch")
        disk = preloaded(compiled(directory), directory / "data", switch=self._switch.path)
        self._in_use = directory / "in_use"
        environment = {**disk, **watched(self._in_use)}
        self.daemon = Daemon(directory, *SETTINGS, "log.level=error", environment=environment)
        self._in_turn = cycle(SURVIVABLE)
        self.faults: Counter[str] = Counter()
        self._last = ""
        self.samples: list[Sample] = []
        self.log = Log()

    async def run(self, duration_s: float, plan: Sequence[str] = ()) -> None:
        """Random faults for this long; or those of a plan, one after the other, whatever time they take."""
        keep_everything(self.daemon.data_dir)
        await asyncio.to_thread(self.daemon.start)
        stop, seed = asyncio.Event(), self._random.getrandbits(32)
        async with asyncio.TaskGroup() as streams:
            posts = [post for post in POSTS for _ in range(post.streams)]
            for number, post in enumerate(posts):
                random = Random(f"{seed} {number}")
                streams.create_task(
                    keep_busy(self.daemon.address, post, number, self.log, stop, random, PAUSE_S)
                )
            start = time.monotonic()
            for name in plan:
                await self._suffer(name)
                await asyncio.sleep(self._every_s)
            while (elapsed := time.monotonic() - start) < duration_s:
                name, pause_s = self._next_fault(elapsed / duration_s)
                await self._suffer(name)
                end = min(start + duration_s, time.monotonic() + pause_s)
                while time.monotonic() < end:
                    await asyncio.sleep(min(5.0, max(0.0, end - time.monotonic())))
                    self._look(time.monotonic() - start)
            stop.set()

    def _next_fault(self, progress: float) -> tuple[str, float]:
        """What to suffer now, and how long to wait after it."""
        if progress < DEADLY:
            return self._random.choice((*SURVIVABLE, "kill", "terminate", "failed_sync")), self._every_s
        if progress < WARM_UP:
            return next(self._in_turn), self._every_s / HASTE
        return self._random.choice(SURVIVABLE), self._every_s

    async def _suffer(self, name: str) -> None:
        self.faults[name] += 1
        self._last = name
        if name in NUISANCES:
            await NUISANCES[name](self.daemon.address, self._random)
        else:
            await getattr(self, f"_{name}")()

    async def _full_disk(self) -> None:
        self._switch.on(f"full@{self._random.randint(0, 20_000)}")
        await asyncio.sleep(self._random.uniform(0.5, 5.0))
        self._switch.off()

    async def _slow_disk(self) -> None:
        self._switch.on(f"slow@{self._random.randint(20, 300)}")
        await asyncio.sleep(self._random.uniform(1.0, 5.0))
        self._switch.off()

    async def _pause(self) -> None:
        os.kill(self.daemon.pid, signal.SIGSTOP)
        await asyncio.sleep(self._random.uniform(0.1, 3.0))
        os.kill(self.daemon.pid, signal.SIGCONT)

    async def _kill(self) -> None:
        self.daemon.kill()
        await asyncio.to_thread(self.daemon.start)

    async def _terminate(self) -> None:
        status = await asyncio.to_thread(self.daemon.stop)
        assert status == 0, f"the daemon ended with {status}:\n{self.daemon.log_tail()}"
        await asyncio.to_thread(self.daemon.start)

    async def _failed_sync(self) -> None:
        """The daemon must stop by itself, with status 1."""
        assert self.daemon.process is not None
        self._switch.on("sync_error@1")
        status = await asyncio.to_thread(self.daemon.process.wait, 60)
        self._switch.off()
        assert status == 1, f"after a failed sync the daemon ended with {status}:\n{self.daemon.log_tail()}"
        self.daemon.process = None
        await asyncio.to_thread(self.daemon.start)

    def _look(self, at_s: float) -> None:
        sample = sampled(self.daemon.pid, at_s, self._last, self._in_use)
        self.samples.append(sample)
        print(
            f"{at_s:7.0f} s  {sample.resident_mb:7.1f} MB, {sample.in_use_mb:.1f} in use  "
            f"{sample.descriptors:4d} descriptors  "
            f"{sample.threads:3d} threads  {self.log.acknowledgements:,} acknowledged  "
            f"{sum(self.faults.values())} faults, last {self._last}",
            flush=True,
        )


async def soak(
    directory: Path, seed: int, duration_s: float, every_s: float, plan: Sequence[str] = ()
) -> Soak:
    """The whole of it; raises what was wrong."""
    run = Soak(directory, seed, every_s)
    try:
        await run.run(duration_s, plan)
        run.daemon.kill()
        await asyncio.to_thread(run.daemon.start)
        async with Client(run.daemon.address) as client:
            shown = {post.name: await client.get_learner(post.name) for post in POSTS}
            for learner in await client.list_learners("nuisance/"):
                await client.delete_learner(learner.name)
    finally:
        run.daemon.kill()
    again = await asyncio.to_thread(replay.in_own_process, run.daemon.data_dir, LIMITS)
    judge(run.log, histories(run.daemon.data_dir), shown, again)
    return run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fault.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=4.0)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two faults (default 30)")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--directory", type=Path, default=None, help="keep the store and the log here")
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="galloon-soak-"))
    directory.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}, commit {commit()}, data in {directory}", flush=True)
    duration_s = arguments.hours * 3600
    run = asyncio.run(soak(directory.resolve(), seed, duration_s, arguments.every))
    measured = [each for each in run.samples if each.at_s > WARM_UP * duration_s]
    first, last, grown = measured[0], measured[-1], judge_memory(measured)
    figures = {
        "hours": arguments.hours,
        "acknowledged": run.log.acknowledgements,
        "faults": dict(run.faults),
        "memory": asdict(grown),
        "descriptors": [first.descriptors, last.descriptors],
        "threads": [first.threads, last.threads],
    }
    plot(run.samples, measured, directory / "memory.png")
    print(json.dumps(figures))
    for complaint in grown.complaints():
        print(f"FAILED: {complaint}")
    return int(bool(grown.complaints()))


if __name__ == "__main__":
    sys.exit(main())
