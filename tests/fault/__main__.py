"""`make fault`: everything that must not break a promise, one part after the other; exit status 1 if one did.

Each part prints what it did in figures. `--part NAME` runs one, `--scale 0.1` a tenth of each, `--seed`
repeats the moments of another run. Data directories of a part that failed are kept, and named.
"""

import argparse
import asyncio
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import structlog

from tests.abuse import blast, codec_fuzz, import_fuzz, port_fuzz, reader_bombs
from tests.fault import campaign, crowd, damage, history, kills, power_loss, state_machine
from tests.fault.commit import commit
from tests.sabotage import planting

Part = Callable[[Path, float, int], str]


def daemon_kills(directory: Path, scale: float, seed: int) -> str:
    """The whole daemon killed 40 times under 12 busy streams."""
    return asyncio.run(campaign.run(directory / "fault", max(2, round(40 * scale)), seed)).sentences()


def harness_kills(directory: Path, scale: float, seed: int) -> str:
    """Store and hosts killed 1,000 times."""
    return str(asdict(kills.in_own_process(directory, "random", max(5, round(1000 * scale)), seed)))


def failpoints(directory: Path, scale: float, seed: int) -> str:
    """Death and delay at every failpoint."""
    return str(asdict(kills.in_own_process(directory, "failpoints", 0, seed)))


def power(directory: Path, scale: float, seed: int) -> str:
    """The power lost at 300 moments."""
    return str(asdict(power_loss.run(directory, max(10, round(300 * scale)), 5, seed)))


def rot(directory: Path, scale: float, seed: int) -> str:
    """Flipped and torn bytes, 300 times."""
    return str(asdict(damage.in_own_process(directory, max(10, round(300 * scale)), seed)))


def crowds(directory: Path, scale: float, seed: int) -> str:
    """A thousand streams; two hundred slow or silent clients for a minute; a hundred that never read."""
    return "\n".join(each.sentence() for each in asyncio.run(crowd.run(directory, max(5.0, 60 * scale))))


def bombs(directory: Path, scale: float, seed: int) -> str:
    """Requests and files that are small to send and huge to honour, and what they cost."""
    blasts = asyncio.run(blast.run(directory))
    over = [each for each in blasts.each if not each.good]
    assert not over, f"not refused as documented, or too dear: {over}"
    worst = max(blasts.each, key=lambda each: each.cpu_s)
    return (
        f"{len(blasts.each)} bombs; the dearest {worst.bomb!r}: {worst.cpu_s:.2f} s, {worst.memory_mb:.0f} MB; "
        f"others' p99 {blasts.p99_before_ms:.1f} ms before, {blasts.p99_during_ms:.1f} ms during\n"
        f"{reader_bombs.run()}"
    )


def messages(directory: Path, scale: float, seed: int) -> str:
    """300,000 mutated messages on the codec, 5,000 over the port, 500 forged learners."""
    outcomes = codec_fuzz.run(max(1000, round(300_000 * scale)), seed)
    said: list[str] = [f"{outcomes.total():,} messages on the codec: {dict(outcomes)}"]
    asyncio.run(port_fuzz.measured(directory / "port", max(200, round(5000 * scale)), seed, said.append))
    forged = asyncio.run(import_fuzz.measured(directory / "import", max(3, round(60 * scale)), seed))
    return "\n".join([*said, f"{forged.total()} forged learners: {dict(forged)}"])


def any_order(directory: Path, scale: float, seed: int) -> str:
    """All requests of two tenants in 10,000 random steps, cut off, killed, and on a full disk."""
    return state_machine.run(directory, max(100, round(10_000 * scale)), seed).sentence()


def undo(directory: Path, scale: float, seed: int) -> str:
    """2,000 lessons, 20 of them wrong, undone under 8 streams with a death at every step."""
    lessons = max(96, round(2000 * scale))
    return asyncio.run(history.undo(directory / "undo", lessons, max(4, lessons // 100), seed))


def erasure(directory: Path, scale: float, seed: int) -> str:
    """Rounds erased under 8 streams with a death at every step."""
    lessons = max(96, round(1000 * scale))
    return asyncio.run(history.erase(directory / "erasure", lessons, max(3, lessons // 50), seed))


def retention(directory: Path, scale: float, seed: int) -> str:
    """History cut under 8 streams with a death at every step."""
    return asyncio.run(history.retention(directory / "retention", max(160, round(2000 * scale)), seed))


def sabotage(directory: Path, scale: float, seed: int) -> str:
    """Planted bugs, each noticed."""
    tree = planting.copied(directory / "tree")
    for number, plant in enumerate(planting.PLANTS):
        planting.noticed(tree, plant, directory / f"scratch-{number}")
    return f"{len(planting.PLANTS)} planted bugs, all noticed"


PARTS: dict[str, Part] = {
    part.__name__: part
    for part in (
        daemon_kills, harness_kills, failpoints, power, rot, crowds, bombs, messages, any_order,
        undo, erasure, retention, sabotage
    )
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fault", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given again")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of each part (default 1)")
    parser.add_argument("--seed", type=int, default=None, help="repeats the moments of another run")
    parser.add_argument("--directory", type=Path, default=None, help="where parts work; kept when one fails")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    root = arguments.directory or Path(tempfile.mkdtemp(prefix="galloon-fault-"))
    print(f"seed {seed}, commit {commit()}", flush=True)
    failed = [
        name for name in arguments.part or PARTS if not _passed(name, root.resolve(), arguments.scale, seed)
    ]
    if failed:
        print(f"FAILED: {', '.join(failed)}; data kept in {root}")
    return int(bool(failed))


def _passed(name: str, root: Path, scale: float, seed: int) -> bool:
    directory, started = root / name, time.monotonic()
    directory.mkdir(parents=True, exist_ok=True)
    print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
    try:
        print(PARTS[name](directory, scale, seed))
    except Exception:  # whatever it is, the other parts are worth knowing too
        traceback.print_exc()
        return False
    print(f"({time.monotonic() - started:.0f} s)", flush=True)
    shutil.rmtree(directory)
    return True


if __name__ == "__main__":
    sys.exit(main())
