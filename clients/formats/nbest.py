"""N-best lists as text, one alternative a line, best first: `read_nbest`.

Each line is one of these, the same throughout the file:

    score<TAB>text                    id<TAB>score<TAB>text
    text (id)                         as in NIST's trn files, repeated ids are alternatives; a score may lead
    id ||| text ||| ... ||| score     Moses and its successors
    id-1 text                         Kaldi's nbest-to-linear: alternatives of one id are numbered from 1
    (score) text                      after a first line NBestList1.0, as SRILM and Sphinx write

Scores are logarithms and go into the hypotheses as they are, but for SRILM's, which become natural ones.
Alternatives of the same id make one line of text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import SILENT, finite, split_text
from galloon.learners.observation import ExpertOutput, Hypothesis

NAME = "nbest"
NATURAL_OF_BYTELOG = 1024 / 10000.5  # Decipher's integers, which SRILM keeps
_NUMBER = r"[-+]?\d{1,40}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,4})?"
_TRN = re.compile(rf"(?:({_NUMBER})\t)?(.*)\(([^()\s]+)\)\s*")
_SCORED = re.compile(rf"({_NUMBER})\t(.*)")
_NAMED = re.compile(rf"([^\t]+)\t({_NUMBER})\t(.*)")
_KALDI = re.compile(r"(\S{1,300})-(\d{1,6})(?:\s+(.*))?")
_SRILM = re.compile(rf"\(\s*({_NUMBER})\s*\)(.*)")


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str
    score: float | None
    text: str


_Shape = Callable[[str], _Entry | None]


def sniff_nbest(sample: Sample) -> bool:
    lines = sample.lines
    return bool(lines) and (lines[0].startswith("NBestList1.0") or _shape(lines) is not None)


def read_nbest(source: Source) -> ReadResult:
    """The alternatives of each id; the first is the 1-best."""
    rows = ((at, row) for at, row in source.rows() if row.strip())
    beginning = list(islice(rows, 50))
    shape: _Shape | None = _srilm
    if beginning and beginning[0][1].startswith("NBestList1.0"):
        del beginning[0]
    else:
        shape = _shape([row for _, row in beginning])
    if shape is None:
        raise source.error(1, "not an n-best list", "write `score<TAB>text`, one alternative a line")
    grouped: dict[str, list[Hypothesis]] = {}
    for at, row in chain(beginning, rows):
        entry = shape(row)
        if entry is None:
            raise source.error(at, f"this line is not like the first: {row[:40]!r}")
        words = tuple(word for word in split_text(entry.text, source, at) if word.text not in SILENT)
        alternatives = grouped.setdefault(entry.id or source.stem, [])
        alternatives.append(Hypothesis(words, entry.score))
        source.check("nbest", len(alternatives), at)
        source.check("lines", len(grouped), at)
    lines = Lines(source)
    for name, alternatives in grouped.items():
        if _out_of_order(alternatives):
            source.note("alternatives were sorted by score")
            alternatives.sort(key=lambda entry: -(entry.score or 0.0))
        lines.add(name, ExpertOutput(source.stem, alternatives[0].words, nbest=tuple(alternatives)))
    return lines.result(NAME)


def _out_of_order(alternatives: list[Hypothesis]) -> bool:
    scores = [entry.score for entry in alternatives if entry.score is not None]
    return len(scores) == len(alternatives) and any(a < b for a, b in pairwise(scores))


def _shape(lines: list[str]) -> _Shape | None:
    """The first way of reading a line that works for all of these."""
    for shape in (_moses, _named, _scored, _trn):
        if lines and all(shape(line) is not None for line in lines):
            return shape
    return _kaldi if _numbered(lines) else None


def _numbered(lines: list[str]) -> bool:
    """Whether these are `id-1 ...`, `id-2 ...`, each id counted from 1, and one of them more than once."""
    reached: dict[str, int] = {}
    for line in lines:
        match = _KALDI.fullmatch(line)
        if match is None or int(match[2]) != reached.get(match[1], 0) + 1:
            return False
        reached[match[1]] = int(match[2])
    return max(reached.values(), default=0) > 1


def _kaldi(line: str) -> _Entry | None:
    match = _KALDI.fullmatch(line)
    return _Entry(match[1], None, match[3] or "") if match else None


def _scored(line: str) -> _Entry | None:
    match = _SCORED.fullmatch(line)
    return _Entry("", finite(match[1]), match[2]) if match else None


def _named(line: str) -> _Entry | None:
    match = _NAMED.fullmatch(line)
    return _Entry(match[1].strip(), finite(match[2]), match[3]) if match else None


def _trn(line: str) -> _Entry | None:
    match = _TRN.fullmatch(line)
    return _Entry(match[3], finite(match[1]) if match[1] else None, match[2]) if match else None


def _moses(line: str) -> _Entry | None:
    cells = [cell.strip() for cell in line.split("|||")]
    if len(cells) < 3:
        return None
    score = finite(cells[-1].split()[0]) if cells[-1].split() else None
    return None if score is None else _Entry(cells[0], score, cells[1])


def _srilm(line: str) -> _Entry | None:
    match = _SRILM.fullmatch(line)
    if not match:
        return None
    score = finite(match[1])
    return _Entry("", None if score is None else score * NATURAL_OF_BYTELOG, match[2])
