"""A whole file by many workers: `combine_file`. Killed at any moment and started again, it goes on where it was.

First every range is scanned: who is in the file, and which number its lines have. Then one worker learns from
agreement in lines of all ranges, and every range is combined into a part, in a folder beside the output. At last
the parts become the output, and the folder goes.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.bulk.pools import Pool
from galloon.clients.bulk.ranges import Range, cut
from galloon.clients.bulk.work import Job, Scanned, combine, observe, scan
from galloon.learners.combiners.spec import CombinerSpec

RANGE_BYTES = 4_194_304
JOB_FILE = "job.json"


def combine_file(
    pool: Pool,
    path: Path,
    output: Path,
    spec_of: Callable[[tuple[str, ...]], CombinerSpec],
    *,
    state: Path | None = None,
    as_json: bool = False,
    longest: int,
    range_bytes: int = RANGE_BYTES,
    given: Mapping[str, Any] | None = None,
) -> int:
    """Combine a file of utterances into `output`; gives the number of lines. `spec_of` makes a spec of engines."""
    folder = output.with_name(f"{output.name}.parts")
    _claim(
        folder,
        {
            "file": str(path.resolve()),
            "bytes": path.stat().st_size,
            "changed": path.stat().st_mtime_ns,
            "state": None if state is None else hashlib.blake2b(state.read_bytes()).hexdigest(),
            "given": {name: str(value) for name, value in sorted((given or {}).items())},
            "json": as_json,
            "longest": longest,
            "range_bytes": range_bytes,
        },
    )
    ranges = cut(path, range_bytes)
    with _progress() as progress:
        scanned = _scan_all(pool, path, folder, ranges, progress)
        total = sum(found.utterances for found in scanned)
        if not total:
            raise FormatError(str(path), None, "there are no lines in it")
        engines = tuple(dict.fromkeys(name for found in scanned for name in found.engines))
        job = Job(path, folder, spec_of(engines).to_json(), state, as_json, longest)
        first_lines = list(accumulate((found.lines for found in scanned), initial=1))
        first_rounds = accumulate((found.utterances for found in scanned), initial=0)
        tasks = [(job, *place) for place in zip(ranges, first_lines, first_rounds, strict=False)]
        looking = progress.add_task("learning from agreement", total=None)
        for _ in pool.outcomes(observe, [(job, tuple(zip(ranges, first_lines, strict=False)))]):
            progress.remove_task(looking)
        bar = progress.add_task("combining", total=total)
        for lines in pool.outcomes(combine, tasks):
            progress.advance(bar, lines)
    _join(output, [job.part(part.number) for part in ranges])
    shutil.rmtree(folder)
    return total


def _claim(folder: Path, job: dict[str, Any]) -> None:
    """The folder of parts of exactly this job, new or from a run that was ended."""
    told = json.dumps(job, indent=1, sort_keys=True)
    marker = folder / JOB_FILE
    if marker.exists() and marker.read_text(encoding="utf-8") != told:
        raise WrongUsage(
            f"{folder} has parts of another run (another file, learner or option); remove it, or choose "
            "another --output"
        )
    folder.mkdir(parents=True, exist_ok=True)
    marker.write_text(told, encoding="utf-8")


def _scan_all(pool: Pool, path: Path, folder: Path, ranges: list[Range], progress: Progress) -> list[Scanned]:
    bar = progress.add_task("looking", total=None)
    for found in pool.outcomes(scan, [(path, folder, part) for part in ranges]):
        progress.advance(bar, found.utterances)
    progress.remove_task(bar)
    return [scan(path, folder, part) for part in ranges]  # in order, from the files


def _join(output: Path, parts: list[Path]) -> None:
    partial = output.with_name(f"{output.name}.joining")
    with partial.open("wb") as whole:
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, whole, 1 << 20)
    partial.replace(output)


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


class _Rate(ProgressColumn):
    """Lines a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} lines/s", style="progress.data.speed")
