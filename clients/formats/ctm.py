"""CTM, the time-marked words of NIST's scoring tools: `read_ctm`, `write_ctm`.

    file channel start duration word [confidence]

Lines that start with `;;` are comments. Of alternations (`<ALT_BEGIN>` ... `<ALT>` ... `<ALT_END>`) the
first branch is taken. A file and channel make one line of text.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import SILENT, finite, spoken_words
from galloon.learners.observation import ExpertOutput, Utterance, Word

NAME = "ctm"
_ABSENT = frozenset({"NA", "na", "-"})


def sniff_ctm(sample: Sample) -> bool:
    rows = [line.split() for line in sample.lines if not line.startswith(";;")]
    return bool(rows) and all(
        len(row) in {5, 6} and (row[2] == "*" or (_is_time(row[2]) and _is_time(row[3]))) for row in rows
    )


def read_ctm(source: Source) -> ReadResult:
    """The words of each file and channel, in order of time, under the file's name."""
    grouped: dict[tuple[str, str], list[Word]] = {}
    skipping = False
    for at, row in source.rows():
        cells = row.split()
        if not cells or cells[0].startswith(";;"):
            continue
        if len(cells) < 5 or len(cells) > 6:
            raise source.error(
                at, f"{len(cells)} columns, 5 or 6 are needed", "file channel start duration word"
            )
        mark = cells[4].upper()
        if mark in {"<ALT_BEGIN>", "<ALT>", "<ALT_END>"}:
            skipping = mark == "<ALT>"
            continue
        if skipping:
            source.note("word of a further alternation left out", at)
            continue
        words = grouped.setdefault((cells[0], cells[1]), [])
        start, length = (finite(cell) for cell in cells[2:4])
        if start is None or length is None:
            raise source.error(at, f"start {cells[2][:20]!r} and duration {cells[3][:20]!r} must be seconds")
        if cells[4] in SILENT or cells[4] == "@":
            continue
        confidence = _confidence(source, cells[5], at) if len(cells) > 5 else None
        words += spoken_words(
            cells[4], source, confidence=confidence, start=start, end=start + length, line=at
        )
    lines = Lines(source, timed=True)
    channels: dict[str, int] = {}
    for file, _ in grouped:
        channels[file] = channels.get(file, 0) + 1
    for (file, channel), words in grouped.items():
        if any((a.start or 0.0) > (b.start or 0.0) for a, b in pairwise(words)):
            source.note("words out of order were sorted by time")
            words.sort(key=lambda word: word.start or 0.0)
        name = file if channels[file] == 1 else f"{file}-{channel}"
        many = len(channels) > 1 or channels[file] > 1
        lines.add(name, ExpertOutput(source.stem, tuple(words)), place=Place(channel=channel if many else ""))
    return lines.result(NAME)


def write_ctm(utterances: Iterable[Utterance]) -> Iterator[str]:
    """A row per word of the first engine; a word without times gets zeros, which CTM cannot do without."""
    for utterance in utterances:
        name = "_".join(utterance.id.split()) or "_"
        for word in utterance.outputs[0].words if utterance.outputs else ():
            start = word.start if word.start is not None else 0.0
            length = word.end - start if word.end is not None else 0.0
            confidence = "" if word.confidence is None else f" {word.confidence:.4f}"
            yield f"{name} 1 {start:.3f} {length:.3f} {word.text}{confidence}\n"


def _is_time(cell: str) -> bool:
    return finite(cell) is not None


def _confidence(source: Source, cell: str, at: int) -> float | None:
    value = finite(cell)
    if value is None and cell not in _ABSENT:
        raise source.error(at, f"the confidence {cell[:20]!r} is not a number")
    return value
