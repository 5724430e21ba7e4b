"""Subtitles, SubRip and WebVTT: `read_srt`, `read_vtt`. A cue is a segment.

Who speaks stands in a voice span (`<v Ann>`, WebVTT alone), or in brackets, as WhisperX writes
(`[SPEAKER_00]: text`). Times inside a cue (`<00:00:01.500>`), as automatic captions have them, become the times of
words. Other tags are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Word

SRT, VTT = "srt", "vtt"
_CLOCK = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?")
_INSIDE = re.compile(rf"<{_CLOCK}>")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]{1,200})>")
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")
_NAMED = re.compile(r"\[([^\]\n]{1,200})\]:\s")
_BLOCKS = ("NOTE", "STYLE", "REGION")  # of WebVTT, that hold no cue


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    end: float
    rows: tuple[str, ...]
    line: int


def sniff_srt(sample: Sample) -> bool:
    lines = sample.lines[:2]
    timed = [_TIMES.fullmatch(line) is not None for line in lines]
    return len(lines) == 2 and lines[0].strip("\ufeff ").isdecimal() and timed[1]


def sniff_vtt(sample: Sample) -> bool:
    return re.match(r"\ufeff?WEBVTT(\s|$)", sample.text) is not None


def read_srt(source: Source) -> ReadResult:
    """Each cue under its place in the file."""
    return _read(source, SRT)


def read_vtt(source: Source) -> ReadResult:
    """Each cue under its place in the file."""
    return _read(source, VTT)


def _read(source: Source, name: str) -> ReadResult:
    lines = Lines(source, timed=True)
    for place, cue in enumerate(_cues(source, name)):
        if cue.end < cue.start:
            raise source.error(cue.line, "the cue ends before it starts", "is the file damaged?")
        text = " ".join(cue.rows)
        found = _VOICE.match(text) or _NAMED.match(text)
        speaker = unescape(found[1]).strip() if found else ""
        if found:
            text = text[found.end() :]
        words = _words(text, cue, source)
        if words:
            where = Place(start=cue.start, end=cue.end, speaker=speaker)
            lines.add(str(place), ExpertOutput(source.stem, tuple(words)), cue.line, where)
        else:
            source.note("cue without text left out", cue.line)
    return lines.result(name)


def _cues(source: Source, name: str) -> Iterator[_Cue]:
    """Blocks of lines that have a line of times; what stands before that is its name or its number."""
    block: list[tuple[int, str]] = []
    first = True
    for at, row in chain(source.rows(), [(0, "")]):
        if row.strip():
            source.check("line_bytes", len(row), at)
            block.append((at, row))
            continue
        if block:
            cue = _cue(source, block, name, header=first and name == VTT)
            first = False
            if cue is not None:
                yield cue
        block = []


def _cue(source: Source, block: list[tuple[int, str]], name: str, *, header: bool) -> _Cue | None:
    at, row = block[0]
    if header or (name == VTT and row.split()[0] in _BLOCKS):
        return None
    timed = next((place for place, (_, row) in enumerate(block[:2]) if "-->" in row), None)
    if timed is None:
        raise source.error(
            at, f"a cue with its times is needed, {row[:40]!r} is there", "is the file cut off?"
        )
    at, row = block[timed]
    match = _TIMES.fullmatch(row)
    if match is None:
        raise source.error(at, f"times such as 00:00:01,000 --> 00:00:02,500 are needed, not {row[:40]!r}")
    start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
    return _Cue(start, end, tuple(row for _, row in block[timed + 1 :]), at)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, part = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{part}")


def _words(text: str, cue: _Cue, source: Source) -> list[Word]:
    """The words of a cue; with times of their own where the cue has times inside."""
    pieces: list[tuple[float, str]] = []
    reached, started = 0, cue.start
    for match in _INSIDE.finditer(text):
        pieces.append((started, text[reached : match.start()]))
        reached, started = match.end(), _seconds(match.groups())
    pieces.append((started, text[reached:]))
    words: list[Word] = []
    for place, (start, piece) in enumerate(pieces):
        plain = unescape(_TAG.sub("", piece))
        if not plain.strip():
            continue
        end = pieces[place + 1][0] if place + 1 < len(pieces) else cue.end
        if len(pieces) > 1:
            words += spoken_words(plain, source, start=start, end=end, line=cue.line)
        else:  # a cue without times inside says nothing of its single words
            words += split_text(plain, source, cue.line)
    return words
