"""What is done with ranges of a file: `scan` looks who is in one, `combine` writes its part. Both run anywhere.

Between the two, `observe` lets the learner see lines of all ranges, so that it knows whom the others confirm
before it decides anything. From then on its state does not change. A choice depends on that state, on what the
engines said and on the number of the round, which is the number of the line. So a part has the same bytes whoever
makes it, and when. What is there is done: a file gets its name when it is whole.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from galloon.clients.bulk.ranges import Range, lines_of
from galloon.clients.formats.encoding import decode
from galloon.clients.formats.limits import DEFAULT_LIMITS
from galloon.clients.formats.notes import NoteBook
from galloon.clients.formats.source import Source
from galloon.clients.formats.utterances import utterance_of_line
from galloon.clients.replay.material import shown_to_learner, with_experts
from galloon.clients.report.offers import choice_line
from galloon.codec.answer import Choice, answer_to_bytes, choice_from_wire, joined_choice
from galloon.codec.chosen import choice_of
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Combiner
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.documents.cutting import pieces
from galloon.learners.observation import Utterance
from galloon.learners.saved_learner import read_saved
from galloon.v1 import combine_pb2 as wire

OBSERVED = 20_000  # lines that the learner sees before it decides


@dataclass(frozen=True, slots=True)
class Job:
    """A file, the learner that reads it, and where parts go: all that a worker needs to know."""

    path: Path
    folder: Path
    spec: str  # as JSON; the learner's engines are in it
    state: Path | None  # a learner that has learned, as `galloon replay --save-state` writes it
    as_json: bool
    longest: int

    def part(self, number: int) -> Path:
        return self.folder / f"{number:06d}.part"

    @property
    def observed(self) -> Path:
        """The learner's state after `observe`."""
        return self.folder / "observed.state"


@dataclass(frozen=True, slots=True)
class Scanned:
    """What is in a range: lines, how many of them hold an utterance, and the engines in order of appearance."""

    lines: int
    utterances: int
    engines: tuple[str, ...]


def scan(path: Path, folder: Path, part: Range) -> Scanned:
    """Look through a range, or at what somebody found who did."""
    target = folder / f"{part.number:06d}.scan"
    if not target.exists():
        lines = utterances = 0
        engines: dict[str, None] = {}
        for line in lines_of(path, part):
            lines += 1
            if not line.isspace():
                utterances += 1
                engines |= dict.fromkeys(_engines(line))
        with _whole(target) as file:
            json.dump([lines, utterances, list(engines)], file)
    lines, utterances, names = json.loads(target.read_text(encoding="utf-8"))
    return Scanned(lines, utterances, tuple(names))


def observe(job: Job, parts: Sequence[tuple[Range, int]]) -> int:
    """Learn from agreement in the first lines of each range, unless that is done; gives the number of lines.

    One worker does it, in the order of the file, and the number of lines is bounded: rates of agreement are known
    well after some thousands. A range comes with the number of its first line.
    """
    if job.observed.exists():
        return 0
    combiner, spec, played = _learner(job.spec, job.state)
    quota, count = -(-OBSERVED // len(parts)), 0
    for part, first_line in parts:
        for utterance in islice(_utterances(job, part, first_line), quota):
            shown = shown_to_learner(with_experts(utterance, spec.engines), utterance.id, spec.labels)
            for piece in pieces(shown, spec.unit, job.longest):
                choice = combiner.choose(piece, played + count)
                combiner.observe(choice.memory, choice.view)
            count += 1
    with _whole(job.observed, "wb") as file:
        file.write(combiner.to_bytes())
    _learner.cache_clear()  # what it gave has changed
    return count


def combine(job: Job, part: Range, first_line: int, first_round: int) -> int:
    """Write the part of a range, unless it is there; gives the number of its lines."""
    target = job.part(part.number)
    if target.exists():
        with target.open("rb") as done:
            return sum(1 for _ in done)
    combiner, spec, played = _observer(job)
    count = 0
    with _whole(target) as file:
        for number, utterance in enumerate(_utterances(job, part, first_line), played + first_round):
            shown = shown_to_learner(with_experts(utterance, spec.engines), utterance.id, spec.labels)
            choice = joined_choice(
                [
                    _chosen(combiner, piece, number, job.as_json)
                    for piece in pieces(shown, spec.unit, job.longest)
                ]
            )
            experts = (*spec.engines, *spec.derived)
            file.write(choice_line(utterance.id, choice, experts) if job.as_json else choice.text + "\n")
            count += 1
    return count


def _chosen(combiner: Combiner, utterance: Utterance, number: int, alternatives: bool) -> Choice:
    """As the daemon would answer: numbers have the precision of the wire."""
    answer = choice_of(combiner.choose(utterance, number), utterance.id, number, 0, alternatives)
    return choice_from_wire(wire.CombineResponse.FromString(answer_to_bytes(answer)).choice)


def _utterances(job: Job, part: Range, first_line: int) -> Iterator[Utterance]:
    source = Source(str(job.path), b"", DEFAULT_LIMITS, NoteBook(DEFAULT_LIMITS.notes), job.path.parent)
    for at, line in enumerate(lines_of(job.path, part), first_line):
        if not line.isspace():
            yield utterance_of_line(decode(line, str(job.path), at), source, at)


def _engines(line: bytes) -> list[str]:
    """The engines of a line; what is wrong with it is said when it is combined."""
    try:
        record = json.loads(line)
    except ValueError:
        return []
    experts = record.get("experts") if isinstance(record, dict) else None
    return list(experts) if isinstance(experts, dict) else []


@lru_cache(maxsize=1)
def _learner(spec: str, path: Path | None) -> tuple[Combiner, CombinerSpec, int]:
    """The learner of a job, and how many rounds it has played before."""
    made = CombinerSpec.from_json(spec)
    combiner = build(made)
    if path is None:
        return combiner, made, 0
    saved = read_saved(path.read_bytes())
    combiner.restore(saved.combiner)
    return combiner, made, saved.rounds


@lru_cache(maxsize=1)
def _observer(job: Job) -> tuple[Combiner, CombinerSpec, int]:
    """The learner of a job as `observe` left it."""
    _, made, played = _learner(job.spec, job.state)
    combiner = build(made)
    combiner.restore(job.observed.read_bytes())
    return combiner, made, played


class _whole:  # noqa: N801  # used like a function
    """A file that gets its name when all of it is written."""

    def __init__(self, target: Path, mode: Literal["w", "wb"] = "w") -> None:
        self._target, self._partial = target, target.with_name(f"{target.name}.{os.getpid()}")
        self._mode = mode

    def __enter__(self) -> IO[Any]:
        self._file: IO[Any] = (
            self._partial.open("w", encoding="utf-8", newline="\n")
            if self._mode == "w"
            else self._partial.open("wb")
        )
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._partial.replace(self._target)
        else:
            self._partial.unlink()
