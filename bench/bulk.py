"""A large file by many workers: `python -m bench.bulk --lines 1000000 --workers 2`.

The lines of the OCR sample (five engines, texts alone) are repeated under new ids. One worker and then several
combine the file through the command. Printed are the clock, the processor time of all processes, the largest
process in the first two thirds of the run and in the last (memory that grows with the file would show there), and
whether the bytes are the same. On a busy machine the clock says little; equal processor time says that workers
cost nothing on top, so that idle cores would be gained in full.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from bench.progressive import FIRST_FIVE
from galloon.clients.samples import ocr_sample


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the command took."""

    workers: int
    seconds: float
    cpu_s: float
    early_bytes: int  # of the largest process, in the first two thirds of the run
    late_bytes: int  # in the last
    digest: str


def make_file(path: Path, lines: int) -> None:
    with gzip.open(ocr_sample(), "rt", encoding="utf-8") as file:
        sample = [json.loads(line)["experts"] for line in file]
    texts = [{name: {"text": said[name]["text"]} for name in FIRST_FIVE} for said in sample]
    endings = [f'", "experts": {json.dumps(each, ensure_ascii=False)}}}\n' for each in texts]
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            file.write(f'{{"id": "line-{number}{endings[number % len(endings)]}')


def run(path: Path, output: Path, workers: int) -> Run:
    command = [sys.executable, "-m", "galloon", "combine", str(path), "--workers", str(workers)]
    before, started = _children_s(), time.monotonic()
    process = subprocess.Popen([*command, "-o", str(output)], stderr=subprocess.DEVNULL)
    sizes: list[tuple[float, int]] = []
    while process.poll() is None:
        sizes.append((time.monotonic() - started, max(map(_memory, _family(process.pid)), default=0)))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"galloon combine ended with status {process.returncode}")
    seconds = time.monotonic() - started
    early = max(size for moment, size in sizes if moment <= seconds * 2 / 3)
    late = max((size for moment, size in sizes if moment > seconds * 2 / 3), default=early)
    digest = hashlib.blake2b(output.read_bytes(), digest_size=16).hexdigest()
    return Run(workers, seconds, _children_s() - before, early, late, digest)


def _children_s() -> float:
    """Processor time of all processes that have ended and were waited for, theirs too."""
    times = os.times()
    return times.children_user + times.children_system


def _family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _family(int(child)))]


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it has just ended
    return 0


@click.command()
@click.option("--lines", default=1_000_000, show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option(
    "--folder", type=click.Path(path_type=Path, exists=True), help="For the file; the system's, if none."
)
def main(lines: int, workers: int, folder: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="galloon-bulk-", dir=folder) as scratch:
        path = Path(scratch) / "lines.jsonl"
        make_file(path, lines)
        print(
            f"{lines:,} lines, {path.stat().st_size / 1e6:,.0f} MB, load {os.getloadavg()[0]:.0f}", flush=True
        )
        runs = []
        for count in (1, workers):
            runs.append(run(path, Path(scratch) / f"out-{count}", count))
            print(json.dumps(asdict(runs[-1])), flush=True)
        one, many = runs
        print(
            f"{workers} workers: {one.seconds / many.seconds:.2f} times one worker by the clock, processor time "
            f"{many.cpu_s / one.cpu_s:.2f} times; {lines / one.cpu_s:,.0f} lines a second of processor time; "
            f"largest process {many.early_bytes / 1e6:.0f} MB, later {many.late_bytes / 1e6:.0f} MB; "
            f"bytes {'equal' if one.digest == many.digest else 'DIFFER'}"
        )
        raise SystemExit(0 if one.digest == many.digest else 1)


if __name__ == "__main__":
    main()
