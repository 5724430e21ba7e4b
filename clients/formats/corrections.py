"""Corrections in bulk: `read_corrections`, a file with one in each line; `edited_lines`, texts that were edited
beside the combined ones.

A line is a JSON object with "id" and "true_text" (or "withdrawn": true), or an id, a tab and the text; a first
line that begins with `id` and a tab names the columns. A file with wrong lines is refused as a whole, and all of
them are named: whoever made it made a mistake that its other lines may share.
"""

import io
import sys
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.encoding import decode
from galloon.clients.formats.limits import DEFAULT_LIMITS
from galloon.clients.formats.safe_json import parse
from galloon.clients.formats.source import Source, open_source, source_of_bytes
from galloon.clients.formats.utterances import read_utterances

FILE_BYTES = 1 << 30  # some millions of corrections
SHOWN = 20  # numbers of wrong lines
LIMITS = replace(DEFAULT_LIMITS, file_bytes=FILE_BYTES)


@dataclass(frozen=True, slots=True)
class Correction:
    """What is true of an utterance; None takes back what was taught."""

    id: str
    text: str | None


def read_corrections(path: Path) -> list[Correction]:
    """One of each line, of either form; `-` is standard input."""
    source = _source(path)
    found: dict[str, tuple[int, Correction]] = {}
    wrong: list[FormatError] = []
    for number, line in enumerate(_lines(source), start=1):
        if not line.strip() or (number == 1 and line.startswith("id\t")):
            continue
        try:
            correction = _correction(line, source, number)
            before, other = found.setdefault(correction.id, (number, correction))
            if other != correction:
                raise source.error(number, f"says of {correction.id!r} otherwise than line {before:,}")
        except FormatError as problem:
            wrong.append(problem)
    if wrong:
        first = wrong[0]
        more = ", ".join(f"{problem.line:,}" for problem in islice(wrong, 1, SHOWN + 1))
        more += " ..." if len(wrong) > SHOWN + 1 else ""
        others = f"; {len(wrong) - 1:,} more lines are wrong: {more}" if more else ""
        raise FormatError(first.file, first.line, first.what, f"nothing was sent{others}")
    if not found:
        raise FormatError(source.name, None, "there are no corrections in it")
    return [correction for _, correction in found.values()]


def edited_lines(edited: Path, utterances: Path, combined: Path | None) -> list[Correction]:
    """A correction of each utterance by its line; only of those that differ from `combined`, if it is given."""
    ids = [utterance.id for utterance in read_utterances(utterances, lattices=False)]
    texts = _as_many_lines(edited, len(ids), utterances)
    before = [None] * len(ids) if combined is None else _as_many_lines(combined, len(ids), utterances)
    return [
        Correction(id_, text)
        for id_, text, was in zip(ids, texts, before, strict=True)
        if was is None or was != text
    ]


def _as_many_lines(path: Path, count: int, utterances: Path) -> list[str]:
    lines = _lines(_source(path))
    if len(lines) != count:
        raise FormatError(
            str(path),
            None,
            f"{len(lines):,} lines, but {utterances} has {count:,} utterances: edit lines, but never add, join "
            "or remove one",
        )
    return lines


def _source(path: Path) -> Source:
    if str(path) == "-":
        return source_of_bytes("standard input", sys.stdin.buffer.read(FILE_BYTES + 1), LIMITS)
    return open_source(path, LIMITS)


def _lines(source: Source) -> list[str]:
    text = decode(source.data, source.name)
    return [line.rstrip("\n") for line in io.StringIO(text, newline=None)]


def _correction(line: str, source: Source, number: int) -> Correction:
    if not line.lstrip().startswith("{"):
        utterance_id, *columns = line.split("\t")
        if not columns or not utterance_id:
            raise source.error(number, "neither a JSON object nor an id, a tab and a text")
        if len(columns) > 1:
            raise source.error(number, f"{1 + len(columns)} columns, but it takes two: an id and a text")
        return Correction(utterance_id, columns[0])
    found = parse(line, source, number)
    name, true_text = found.get("id"), found.get("true_text")
    if not isinstance(name, str) or not name:
        raise source.error(number, 'wants "id", a text')
    if found.get("withdrawn") is True:
        return Correction(name, None)
    if not isinstance(true_text, str):
        raise source.error(number, 'wants "true_text", a text, or "withdrawn": true')
    return Correction(name, true_text)
