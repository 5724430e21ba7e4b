"""CTM, the time-marked words of NIST's scoring tools: `read_ctm`, `write_ctm`.

    file channel start duration word [confidence [type [speaker]]]

The last two are of NIST's rich transcription and of NeMo; what is no word (`non-lex`, `noise`) is left out.
Lines that start with `;;` are comments. Of alternations (`<ALT_BEGIN>` ... `<ALT>` ... `<ALT_END>`) the first
branch is taken. A file and channel make one line of text.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import SILENT, finite, spoken_words
from galloon.learners.observation import ExpertOutput, Utterance, Word

NAME = "ctm"
_ABSENT = frozenset({"NA", "na", "-", "<NA>"})
_NO_WORDS = frozenset({"non-lex", "non-speech", "noise", "misc"})


def sniff_ctm(sample: Sample) -> bool:
    rows = [line.split() for line in sample.lines if not line.startswith(";;")]
    return bool(rows) and all(
        5 <= len(row) <= 8 and (row[2] == "*" or (_is_time(row[2]) and _is_time(row[3]))) for row in rows
    )


def read_ctm(source: Source) -> ReadResult:
    """The words of each file and channel, in order of time, under the file's name."""
    grouped: dict[tuple[str, str], list[tuple[Word, str]]] = {}  # words, and who says them
    skipping = False
    for at, row in source.rows():
        cells = row.split()
        if not cells or cells[0].startswith(";;"):
            continue
        if not 5 <= len(cells) <= 8:
            what = f"{len(cells)} columns, 5 to 8 are needed"
            raise source.error(at, what, "file channel start duration word")
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
        if len(cells) > 6 and cells[6].lower() in _NO_WORDS:
            source.note(f"{cells[6].lower()} left out", at)
            continue
        confidence = _confidence(source, cells[5], at) if len(cells) > 5 else None
        speaker = cells[7] if len(cells) > 7 and cells[7] not in _ABSENT else ""
        found = spoken_words(
            cells[4], source, confidence=confidence, start=start, end=start + length, line=at
        )
        words += [(word, speaker) for word in found]
    lines = Lines(source, timed=True)
    channels: dict[str, int] = {}
    for file, _ in grouped:
        channels[file] = channels.get(file, 0) + 1
    for (file, channel), words in grouped.items():
        if any((a.start or 0.0) > (b.start or 0.0) for (a, _), (b, _) in pairwise(words)):
            source.note("words out of order were sorted by time")
            words.sort(key=lambda entry: entry[0].start or 0.0)
        name = file if channels[file] == 1 else f"{file}-{channel}"
        many = len(channels) > 1 or channels[file] > 1
        for number, (speaker, said) in enumerate(groupby(words, key=lambda entry: entry[1])):
            output = ExpertOutput(source.stem, tuple(word for word, _ in said))
            place = Place(speaker=speaker, channel=channel if many else "")
            lines.add(name if number == 0 else f"{name}-{number + 1}", output, place=place)
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
