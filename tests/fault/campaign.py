"""Kill -9 in the middle of 12 busy streams, restart, resume, again and again; then the judgement.

Half of the kills come from outside at a random moment, the others from inside, at a failpoint on one side of a
durable step. `run` returns figures, or raises what was wrong.
"""

import asyncio
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

from galloon.clients.api.client import Client
from galloon.daemon.limits import Limits
from tests.daemon_process import Daemon
from tests.fault import replay
from tests.fault.archive import histories, keep_everything
from tests.fault.verdict import Totals, judge
from tests.fault.workload import POSTS, Log, keep_busy

# Small numbers, so that snapshots, expiry and forgetting happen all the time.
LIMITS = Limits(warm_rounds=50)
SETTINGS = ("store.snapshot_events=400", "limits.warm_rounds=50")
FAILPOINTS = (
    ("journal.before_write", 60),
    ("journal.after_sync", 60),
    ("lesson.before_apply", 600),
    ("lesson.after_apply", 600),
    ("snapshot.before_write", 2),
    ("snapshot.after_sync", 2),
)
LONGEST_S = 2.0  # of work between two kills
PROGRESS_S = 120.0  # to wait for acknowledgements after a restart


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign came to."""

    kills: int
    by_failpoint: int
    reconnects: int
    replaced: int
    totals: Totals

    def sentences(self) -> str:
        totals = self.totals
        return (
            f"{self.kills} kills ({self.by_failpoint} at a failpoint), {self.reconnects} reconnects of streams\n"
            f"{totals.acknowledged:,} feedbacks acknowledged: all in the state, none twice; "
            f"{totals.uncertain:,} of unknown fate\n"
            f"{totals.rounds:,} rounds; {totals.lost_and_recalled + self.replaced:,} choices lost by a kill and "
            f"chosen anew, {self.replaced:,} of them judged anew\n"
            f"{totals.archived:,} journal entries before a snapshot\n"
            f"digests equal to an uninterrupted run, {totals.choices_compared:,} choices equal to the bit"
        )


async def run(directory: Path, kills: int, seed: int, progress: bool = False) -> Outcome:
    """One campaign with its own store in this directory."""
    random = Random(seed)
    daemon, log, stop = Daemon(directory, *SETTINGS), Log(), asyncio.Event()
    keep_everything(daemon.data_dir)
    by_failpoint = 0
    try:
        await asyncio.to_thread(daemon.start)
        async with asyncio.TaskGroup() as streams:
            posts = [post for post in POSTS for _ in range(post.streams)]
            for number, post in enumerate(posts):
                streams.create_task(
                    keep_busy(daemon.address, post, number, log, stop, Random(f"{seed} {number}"))
                )
            for count in range(1, kills + 1):
                # The daemon that runs now was started with the failpoint of the last turn, if any.
                inside = bool(daemon.environment)
                by_failpoint += await _die(daemon, log, random, inside)
                # The last one must live: streams end when all that they sent is answered.
                daemon.environment = _next_failpoint(random) if count < kills else {}
                await asyncio.to_thread(daemon.start)
                if progress:
                    print(f"kill {count}: {log.acknowledgements:,} acknowledged", flush=True)
            await _progress(daemon, log)
            stop.set()
        daemon.kill()
        daemon.environment = {}
        await asyncio.to_thread(daemon.start)
        async with Client(daemon.address) as client:
            shown = {post.name: await client.get_learner(post.name) for post in POSTS}
    finally:
        daemon.kill()
    replayed = await asyncio.to_thread(replay.in_own_process, daemon.data_dir, LIMITS)
    totals = judge(log, histories(daemon.data_dir), shown, replayed)
    return Outcome(kills, by_failpoint, log.reconnects, log.replaced, totals)


async def _die(daemon: Daemon, log: Log, random: Random, inside: bool) -> bool:
    """Let the daemon work, then let it die; whether a failpoint did it."""
    assert daemon.process is not None
    await _progress(daemon, log)
    working_s = LONGEST_S if inside else random.uniform(0.0, LONGEST_S / 2)
    died = await asyncio.to_thread(_ends_within, daemon.process, working_s)
    if died:
        assert inside, f"the daemon died by itself:\n{daemon.log_tail()}"
        assert daemon.process.returncode == -9, f"the daemon failed:\n{daemon.log_tail()}"
    daemon.kill()
    return died


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


async def _progress(daemon: Daemon, log: Log) -> None:
    """Until something new is acknowledged: a daemon that was never at work proves nothing."""
    before, loop = log.acknowledgements, asyncio.get_running_loop()
    end = loop.time() + PROGRESS_S
    while log.acknowledgements == before:
        assert daemon.process is not None
        if daemon.process.poll() is not None:
            return  # a failpoint was quicker; the caller judges the status
        assert loop.time() < end, f"nothing was acknowledged after a restart:\n{daemon.log_tail()}"
        await asyncio.sleep(0.005)


def _next_failpoint(random: Random) -> dict[str, str]:
    if random.random() < 0.5:
        return {}
    point, often = random.choice(FAILPOINTS)
    return {"GALLOON_FAILPOINTS": f"{point}=kill@{random.randint(1, often)}"}
