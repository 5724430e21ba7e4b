"""What is done with one range of a file: `scan` looks who is in it, `combine` writes its part. Both run anywhere.

A choice depends on the learner's state, on what the engines said and on the number of the round, which is the
number of the line; the state does not change. So a part has the same bytes whoever makes it, and when. What is
there is done: a file gets its name when it is whole.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

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


def combine(job: Job, part: Range, first_line: int, first_round: int) -> int:
    """Write the part of a range, unless it is there; gives the number of its lines."""
    target = job.part(part.number)
    if target.exists():
        with target.open("rb") as done:
            return sum(1 for _ in done)
    combiner, spec, played = _learner(job.spec, job.state)
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


class _whole:  # noqa: N801  # used like a function
    """A text file that gets its name when all of it is written."""

    def __init__(self, target: Path) -> None:
        self._target, self._partial = target, target.with_name(f"{target.name}.{os.getpid()}")

    def __enter__(self) -> IO[str]:
        self._file = self._partial.open("w", encoding="utf-8", newline="\n")
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._partial.replace(self._target)
        else:
            self._partial.unlink()
