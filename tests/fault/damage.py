"""Bytes that rot: flip, tear and zero parts of the database, its log and its snapshots, and look what
recovery says.

Damage must be refused by an error that names the file, or have hit bytes that hold nothing. What must never
happen is a daemon that starts with another state. `python -m tests.fault.damage DIRECTORY TRIALS SEED` prints
figures as JSON.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import structlog

from galloon.daemon.errors import StoreError
from galloon.daemon.learner.fold import recover
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.daemon.store.sqlite_schema import FILE_NAME
from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.kernels import warm_up
from tests.fault.lives import Lives
from tests.fault.player import LIMITS

ROOT = Path(__file__).parents[2]
WAL = f"{FILE_NAME}-wal"
CLOSED, KILLED = "closed", "killed"  # a store after a clean end, and one with a log that waits for recovery
SECTOR = 512


@dataclass(frozen=True, slots=True)
class Damaged:
    """How many trials were refused, and how many hit nothing that matters."""

    refused: int
    harmless: int
    sentences: dict[str, int]


def run(directory: Path, trials: int, seed: int) -> Damaged:
    """Raises AssertionError at the first damage that goes unnoticed; its directory is kept."""
    random, outcomes, sentences = Random(seed), Counter[str](), Counter[str]()
    whole = {kind: _digests(directory / kind) for kind in _stores(directory, seed)}
    for trial in range(trials):
        kind = random.choice([CLOSED, KILLED])
        copy = directory / "copy"
        shutil.copytree(directory / kind, copy)
        name = random.choice([path.name for path in copy.iterdir() if path.name in {FILE_NAME, WAL}])
        what = _damage(copy / name, random)
        try:
            found = _digests(copy)
        except StoreError as refused:
            sentence = str(refused)
            outcomes["refused"] += 1
            outcomes["names nothing"] += str(copy) not in sentence and "learner" not in sentence
            sentences[sentence.replace(str(copy), "").split(":")[1].strip()[:40]] += 1
        else:
            assert found == whole[kind], (
                f"trial {trial}: {what} of the {kind} store went unnoticed; see {copy}"
            )
            outcomes["harmless"] += 1
        shutil.rmtree(copy)
    assert not outcomes["names nothing"], f"an error names neither the file nor the learner: {sentences}"
    return Damaged(outcomes["refused"], outcomes["harmless"], dict(sentences))


def _stores(directory: Path, seed: int) -> tuple[str, str]:
    """Two stores with snapshots and journals."""
    for kind in (CLOSED, KILLED):
        lives = Lives(directory / kind, seed)
        lives.live(rounds=6)
        if kind == KILLED:
            lives.live(failpoints="journal.after_sync=kill@25")
    return CLOSED, KILLED


def _digests(data_dir: Path) -> dict[str, str]:
    """Every learner's state after recovery, from a copy of the directory: opening changes files."""
    scratch = data_dir.with_name("scratch")
    shutil.copytree(data_dir, scratch)
    try:
        backend = SqliteBackend(scratch)
        try:
            learners = [one.learner for one in recover(backend, build, LIMITS, lambda: 0.0)]
            return {learner.name: f"{learner.seq} {state.digest(learner.capture())}" for learner in learners}
        finally:
            backend.close()
    except StoreError as refused:
        raise type(refused)(str(refused).replace(str(scratch), str(data_dir))) from refused
    finally:
        shutil.rmtree(scratch)


def _damage(path: Path, random: Random) -> str:
    """Change a file; what was done, in words."""
    data = bytearray(path.read_bytes())
    at = random.randrange(len(data))
    match random.choice(["flip", "flip", "flip", "zero", "cut", "noise"]):
        case "flip":
            data[at] ^= 1 << random.randrange(8)
            what = "a flipped bit"
        case "zero":
            data[at // SECTOR * SECTOR : (at // SECTOR + 1) * SECTOR] = bytes(SECTOR)
            what = "a sector of zeros"
        case "noise":
            data[at // SECTOR * SECTOR : (at // SECTOR + 1) * SECTOR] = random.randbytes(SECTOR)
            what = "a sector of noise"
        case _:
            del data[at:]
            what = "a cut"
    path.write_bytes(data)
    return f"{what} at byte {at} of {len(data)} of {path.name}"


def in_own_process(directory: Path, trials: int, seed: int) -> Damaged:
    command = [sys.executable, "-m", "tests.fault.damage", str(directory), str(trials), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}, data kept in {directory}:\n{done.stderr}"
    return Damaged(**json.loads(done.stdout))


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    directory, trials, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    warm_up()
    json.dump(asdict(run(directory, trials, seed)), sys.stdout)


if __name__ == "__main__":
    main()
