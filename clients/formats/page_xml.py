"""PAGE XML (Transkribus, OCR-D, kraken, eScriptorium): `read_page_xml`.

`TextLine` holds `Word` elements, and a `TextEquiv` of its own with the line's text. Of several `TextEquiv`,
the one of the smallest `index` is the text; the others of a line become its n-best list, scored by the
logarithm of their confidence. Boxes come from `Coords`.
"""

import math
import re
from dataclasses import dataclass, field

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import FARTHEST, finite, split_text, spoken_words
from galloon.learners.documents.document import Box
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
    box: Box | None = None
    slope: float | None = None
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
        self._regions: list[str] = []

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "Page":
            size = [finite(attributes.get(key, "")) for key in ("imageWidth", "imageHeight")]
            self.lines.new_page(attributes.get("imageFilename", ""), *size)
        elif name.endswith("Region"):
            self._regions.append(attributes.get("id", ""))
        elif name == "TextLine":
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
                box.box, box.slope = _outline(attributes.get("points", ""))
        elif name == "ReadingOrder":
            self._source.note("reading order not used: lines come as in the file", line)

    def end(self, name: str, text: str, line: int) -> None:
        if name == "Glyph":
            self._in_glyph = False
        elif name.endswith("Region") and self._regions:
            self._regions.pop()
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
        box = word.box
        self._line.words += spoken_words(
            best.text,
            self._source,
            confidence=best.confidence,
            start=box.left if box else None,
            end=box.right if box else None,
            top=box.top if box else None,
            bottom=box.bottom if box else None,
            line=line,
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
        place = Place(box.box, box.slope, region=self._regions[-1] if self._regions else "")
        self.lines.add(box.id, ExpertOutput(self._source.stem, words, confidence, nbest), line, place)

    def _hypothesis(self, reading: _Reading, line: int) -> Hypothesis:
        confidence = reading.confidence
        score = math.log(confidence) if confidence is not None and confidence > 0 else None
        return Hypothesis(split_text(reading.text, self._source, line), score)


def _outline(points: str) -> tuple[Box | None, float | None]:
    """The upright box around a polygon `x,y x,y ...`, and the slope of its upper edge if it has four corners."""
    corners = []
    for point in points.split():
        x, y = (finite(part) for part in (point.partition(",")[0], point.partition(",")[2]))
        if x is not None and y is not None and max(abs(x), abs(y)) < FARTHEST:
            corners.append((x, y))
    if not corners:
        return None, None
    across, down = zip(*corners, strict=True)
    box = Box(min(across), min(down), max(across), max(down))
    slope = None
    if len(corners) == 4 and corners[1][0] > corners[0][0]:
        slope = (corners[1][1] - corners[0][1]) / (corners[1][0] - corners[0][0])
    return box, slope
