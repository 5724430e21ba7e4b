"""The power fails, hundreds of times: kill -9 cannot show a missing sync, a disk that forgets can.

`run` traces a few lives on the faulty disk, then for each of many moments makes a directory as it may be
found after the power failed at that moment, recovers from it with the daemon's own code, and compares with
the reference: every acknowledged feedback is there, and the state is that of an uninterrupted run over the
surviving events.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import structlog

from galloon.daemon.errors import StoreError
from galloon.daemon.learner.events import Taught, from_entry
from galloon.daemon.learner.fold import Fold, recover
from galloon.daemon.learner.learner import Learner
from galloon.daemon.store.protocol import StoredEntry
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.daemon.store.sqlite_schema import FILE_NAME
from galloon.learners import state
from galloon.learners.combiners.build import build
from tests.fault.archive import ALL
from tests.fault.disk.power import MOODS, Disk
from tests.fault.disk.shim import compiled, preloaded
from tests.fault.disk.trace import Kind, Operation, read_trace
from tests.fault.player import LIMITS
from tests.fault.workload import POSTS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class PowerLost:
    """What a campaign came to."""

    points: int
    operations: int
    acknowledged: int  # in the whole trace
    recovered_entries: int  # summed over all points
    by_mood: dict[str, int]


@dataclass(slots=True)
class Expected:
    """One learner of the reference: its state after each entry, and the entry of each feedback."""

    digests: list[str] = field(default_factory=list)
    taught: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Known:
    """What clients knew at a moment."""

    acknowledged: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    passing: dict[str, str] = field(default_factory=dict)

    def hear(self, news: dict[str, Any]) -> None:
        match news:
            case {"acknowledged": id_, "learner": learner}:
                self.acknowledged[learner].add(id_)
            case {"creating": name} | {"deleting": name} | {"created": name} | {"deleted": name}:
                self.passing[name] = next(iter(news))


def run(directory: Path, points: int, rounds: int, seed: int) -> PowerLost:
    """A campaign in this folder; the image of a point that fails is kept in it."""
    data_dir, trace = directory / "data", directory / "trace"
    environment = {**os.environ, **preloaded(compiled(directory), data_dir, trace)}
    command = [sys.executable, "-m", "tests.fault.traced", str(data_dir), str(rounds), str(seed)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the traced lives failed:\n{done.stderr}"
    operations, expected, random = list(read_trace(trace)), _expected(data_dir), Random(seed)
    moments = sorted(random.randrange(1, len(operations) + 1) for _ in range(points))
    disk, known, recovered, moods, at = Disk(), Known(), 0, Counter[str](), 0
    for number, moment in enumerate(moments):
        for operation in operations[at:moment]:
            _follow(operation, disk, known)
        at = moment
        mood, image = random.choice(list(MOODS)), directory / f"image-{number}"
        disk.image(image, random, mood)
        try:
            recovered += _judge(image, known, expected)
        except (AssertionError, StoreError) as problem:
            raise AssertionError(
                f"power lost at operation {moment} of {len(operations)}, disk {mood}: {problem}; see {image}"
            ) from problem
        moods[mood] += 1
        shutil.rmtree(image)
    acknowledged = sum(map(len, known.acknowledged.values()))
    return PowerLost(points, len(operations), acknowledged, recovered, dict(moods))


def _follow(operation: Operation, disk: Disk, known: Known) -> None:
    if operation.kind == Kind.MARK:
        known.hear(json.loads(operation.name))
    else:
        disk.apply(operation)


def _expected(data_dir: Path) -> dict[str, Expected]:
    """The uninterrupted run over everything that was ever written."""
    database, found = sqlite3.connect(data_dir / FILE_NAME), {}
    for post in POSTS:
        (key,) = database.execute("SELECT key FROM learners WHERE name = ?", (post.name,)).fetchone()
        limits = replace(LIMITS, warm_rounds=10**9)  # it has no store to read others from
        host, expected = Learner(post.name, post.spec, build, limits, lambda: 0.0), Expected()
        folding = Fold(host)
        expected.digests.append(_digest(host))
        for row in database.execute(ALL, (key,)).fetchall():
            entry = StoredEntry(*row)
            event = from_entry(entry)
            folding.take(entry)
            if isinstance(event, Taught):
                expected.taught[event.id] = row[0]
            expected.digests.append(_digest(_finished(host, folding)))
        found[post.name] = expected
    database.close()
    return found


def _judge(image: Path, known: Known, expected: dict[str, Expected]) -> int:
    """Recover from what the power left, and compare; the entries that survived."""
    backend = SqliteBackend(image)
    try:
        hosts = {one.learner.name: one.learner for one in recover(backend, build, LIMITS, lambda: 0.0)}
    finally:
        backend.close()
    survived = 0
    for name, reference in expected.items():
        host = hosts.pop(name, None)
        last = host.seq if host is not None else 0
        survived += last
        lost = [id_ for id_ in known.acknowledged[name] if reference.taught[id_] > last]
        assert not lost, f"{name}: {len(lost)} feedbacks were acknowledged and are lost, such as {lost[0]}"
        if host is not None:
            assert _digest(host) == reference.digests[last], f"{name}: another state after entry {last}"
    for name, step in known.passing.items():
        assert not (step == "created" and name not in hosts), f"learner {name} was created and is lost"
        assert not (step == "deleted" and name in hosts), f"learner {name} was deleted and is back"
    return survived


def _finished(host: Learner, folding: Fold) -> Learner:
    """What a start would make of it if nothing followed: feedback that is durable is applied."""
    if not folding._waiting:
        return host
    other = Learner(host.name, host.spec, build, host.limits, lambda: 0.0)
    other.restore(host.capture())
    other.rounds.ids.complete = False
    other.rounds.find_cold = lambda id_: replace(host.rounds.recent[id_], warm=None, waiters=[])
    finishing = Fold(other)
    for taught in folding._waiting.values():
        finishing.wait(taught)
    finishing.finish()
    return other


def _digest(host: Learner) -> str:
    return state.digest(host.capture())


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    directory, points, rounds, seed = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    directory.mkdir(parents=True, exist_ok=True)
    json.dump(asdict(run(directory, points, rounds, seed)), sys.stdout)


if __name__ == "__main__":
    main()
