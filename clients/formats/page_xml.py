"""PAGE XML (Transkribus, OCR-D, kraken, eScriptorium): `read_page_xml`.

`TextLine` holds `Word` elements, and a `TextEquiv` of its own with the line's text. Of several `TextEquiv`,
the one of the smallest `index` is the text; the others of a line become its n-best list, scored by the
logarithm of their confidence. Boxes come from `Coords`.
"""

import math
import re
from dataclasses import dataclass, field

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Hypothesis, Word

NAME = "page"


def sniff_page_xml(sample: Sample) -> bool:
    return bool(re.search(r"<(\w+:)?PcGts[\s>]", sample.text))


def read_page_xml(source: Source) -> ReadResult:
    """The words of each line, under the line's id."""
    page = _Page(source)
    walk_xml(source, page)
    return page.lines.result(NAME)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One TextEquiv."""

    text: str
    index: float
    confidence: float | None


@dataclass(slots=True)
class _Box:
    """An open Word or TextLine."""

    id: str
    start: float | None = None
    end: float | None = None
    readings: list[_Reading] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)


class _Page:
    def __init__(self, source: Source) -> None:
        self.lines = Lines(source)
        self._source = source
        self._line: _Box | None = None
        self._word: _Box | None = None
        self._in_glyph = False
        self._equiv: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "TextLine":
            self._line = _Box(attributes.get("id") or f"line_{len(self.lines) + 1}")
            self._word, self._in_glyph = None, False
        elif name == "Word":
            self._word = _Box(attributes.get("id", ""))
        elif name == "Glyph":
            self._in_glyph = True
        elif name == "TextEquiv":
            self._equiv = attributes
        elif name == "Coords":
            box = self._word or self._line
            if box is not None and not self._in_glyph:
                box.start, box.end = _span(attributes.get("points", ""))
        elif name == "ReadingOrder":
            self._source.note("reading order not used: lines come as in the file", line)

    def end(self, name: str, text: str, line: int) -> None:
        if name == "Glyph":
            self._in_glyph = False
        elif name == "Unicode" and not self._in_glyph:
            box = self._word or self._line
            if box is not None:
                box.readings.append(self._reading(text, len(box.readings), line))
        elif name == "Word":
            self._end_word(line)
        elif name == "TextLine":
            self._end_line(line)

    def _reading(self, text: str, order: int, line: int) -> _Reading:
        numbers: dict[str, float | None] = {}
        for key in ("index", "conf"):
            value = self._equiv.get(key)
            numbers[key] = None if value is None else finite(value)
            if value is not None and numbers[key] is None:
                raise self._source.error(line, f"{key}={value[:20]!r} is not a number")
        index = numbers["index"]
        return _Reading(text, order if index is None else index, numbers["conf"])

    def _end_word(self, line: int) -> None:
        word, self._word = self._word, None
        if word is None or self._line is None:
            return
        if not word.readings:
            self._source.note("word without text left out", line)
            return
        if len(word.readings) > 1:
            self._source.note("alternative reading of a word not used", line)
        best = min(word.readings, key=lambda reading: reading.index)
        self._line.words += spoken_words(
            best.text, self._source, confidence=best.confidence, start=word.start, end=word.end, line=line
        )

    def _end_line(self, line: int) -> None:
        box, self._line = self._line, None
        if box is None:
            return
        readings = sorted(box.readings, key=lambda reading: reading.index)
        words = tuple(box.words)
        if not words and readings:
            words = split_text(readings[0].text, self._source, line)
        if not words:
            self._source.note("line without text left out", line)
            return
        confidence = readings[0].confidence if readings else None
        nbest = tuple(self._hypothesis(reading, line) for reading in readings) if len(readings) > 1 else ()
        self.lines.add(box.id, ExpertOutput(self._source.stem, words, confidence, nbest), line)

    def _hypothesis(self, reading: _Reading, line: int) -> Hypothesis:
        confidence = reading.confidence
        score = math.log(confidence) if confidence is not None and confidence > 0 else None
        return Hypothesis(split_text(reading.text, self._source, line), score)


def _span(points: str) -> tuple[float | None, float | None]:
    """The left and right end of a polygon, `x,y x,y ...`."""
    across = [finite(point.partition(",")[0]) for point in points.split()]
    known = [x for x in across if x is not None]
    return (min(known), max(known)) if known else (None, None)
