"""SIGKILL a thousand times: at random moments, while it recovers, and at every failpoint; then the judgement.

`run` kills at random, `every_failpoint` goes through all points, with death and with delay. Both fork, so
they live in a process of their own: `python -m tests.fault.kills DIRECTORY random|failpoints KILLS SEED`
prints figures as JSON.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from random import Random
from typing import Any

from galloon.daemon.failpoints import POINTS
from galloon.learners.kernels import warm_up
from tests.fault import replay
from tests.fault.archive import histories
from tests.fault.lives import Lives
from tests.fault.player import LIMITS
from tests.fault.verdict import judge

ROOT = Path(__file__).parents[2]
LIVES_OF_A_STORE = 50  # so that the archive, which only tests keep, does not become what is measured
SIGKILLED = -9


@dataclass(frozen=True, slots=True)
class Killed:
    """What a campaign came to."""

    kills: int = 0
    at_failpoints: int = 0
    recoveries: int = 0
    acknowledged: int = 0
    rounds: int = 0
    archived: int = 0
    choices_compared: int = 0

    def __add__(self, other: "Killed") -> "Killed":
        return Killed(*(a + b for a, b in zip(_values(self), _values(other), strict=True)))


def run(directory: Path, kills: int, seed: int) -> Killed:
    """At random; a store that failed is kept."""
    total, store = Killed(), 0
    while total.kills < kills:
        store += 1
        lives, random, inside = Lives(directory / f"store-{store}", seed), Random(f"{seed} {store}"), 0
        for _ in range(min(LIVES_OF_A_STORE, kills - total.kills)):
            inside += _one_kill(lives, random)
        total += _settled(lives, lives.count, inside)
        shutil.rmtree(lives.data_dir)
    return total


def every_failpoint(directory: Path, seed: int) -> Killed:
    """Each point: death at its first and at a later passage, and a delay that a kill from outside hits."""
    lives, random = Lives(directory / "store-failpoints", seed), Random(seed)
    for point in POINTS:
        for passage in (1, random.randint(2, 4)):
            status = lives.live(failpoints=f"{point}=kill@{passage}")
            assert status == SIGKILLED, f"{point}: the life ended with status {status}, not at the failpoint"
        lives.live(failpoints=f"{point}=sleep:0.03", kill_after_s=random.uniform(0.0, 0.3))
    inside = 2 * len(POINTS)
    total = _settled(lives, lives.count, inside)
    shutil.rmtree(lives.data_dir)
    return total


def _one_kill(lives: Lives, random: Random) -> bool:
    """Whether a failpoint did it."""
    kind = random.random()
    if kind < 0.3:
        status = lives.live(failpoints=f"{random.choice(POINTS)}=kill@{random.randint(1, 3)}")
    elif kind < 0.5:
        status = lives.live(kill_after_s=random.uniform(0.0, 0.15), recovering=True)
    else:
        status = lives.live(kill_after_s=random.uniform(0.0, 0.15))
    assert status == SIGKILLED, f"life {lives.count} ended by itself with status {status}"
    return kind < 0.3


def _settled(lives: Lives, kills: int, inside: int) -> Killed:
    """One last life that answers everything, then all four witnesses: clients, store, player and a fresh
    process.
    """
    status = lives.live(rounds=2)
    assert status == 0, f"the last life ended with status {status}"
    shown: Any = lives.shown
    totals = judge(lives.log, histories(lives.data_dir), shown, replay.in_own_process(lives.data_dir, LIMITS))
    counts = Counter(
        kills=kills, at_failpoints=inside, recoveries=lives.recoveries, acknowledged=totals.acknowledged,
        rounds=totals.rounds, archived=totals.archived, choices_compared=totals.choices_compared,
    )  # fmt: skip
    return Killed(**counts)


def _values(killed: Killed) -> list[int]:
    return [getattr(killed, each.name) for each in fields(killed)]


def in_own_process(directory: Path, kind: str, kills: int, seed: int) -> Killed:
    """A campaign in a process without threads; its words when it failed."""
    command = [sys.executable, "-m", "tests.fault.kills", str(directory), kind, str(kills), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}, data kept in {directory}:\n{done.stderr}"
    return Killed(**json.loads(done.stdout))


def main() -> None:
    directory, kind, kills, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    directory.mkdir(parents=True, exist_ok=True)
    warm_up()  # once, for all lives
    killed = run(directory, kills, seed) if kind == "random" else every_failpoint(directory, seed)
    json.dump(asdict(killed), sys.stdout)


if __name__ == "__main__":
    main()
