"""PAGE XML (Transkribus, OCR-D, kraken, eScriptorium): `read_page_xml`.

`TextLine` holds `Word` elements, and a `TextEquiv` of its own with the line's text. Of several `TextEquiv`,
the one of the smallest `index` is the text; the others of a line become its n-best list, scored by the
logarithm of their confidence, those of a word or glyph its alternatives. Boxes come from `Coords`. Regions are
read in their `ReadingOrder`, lines of a region in Transkribus' `custom="readingOrder {index:0;}"`.
"""

import math
import re
from dataclasses import dataclass, field, replace

from galloon.clients.formats.outline import outline_of
from galloon.clients.formats.readings import Readings, shared_rest
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words, finite, split_text
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Hypothesis, Reading

NAME = "page"
_INDEX = re.compile(r"readingOrder\s*\{\s*index:\s*(\d{1,9})")


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
    glyphs: list[list[_Reading]] = field(default_factory=list)  # of a word
    words: Readings | None = None  # of a line
    custom: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A line that waits for the end of its page."""

    id: str
    output: ExpertOutput
    line: int
    place: Place
    index: int | None  # in its region


class _Page:
    def __init__(self, source: Source) -> None:
        self.lines = Lines(source)
        self._source = source
        self._line: _Box | None = None
        self._word: _Box | None = None
        self._in_glyph = False
        self._equiv: dict[str, str] = {}
        self._regions: list[str] = []
        self._found: list[_Found] = []
        self._order: dict[str, int] = {}  # of regions

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        del line
        if name == "Page":
            size = [finite(attributes.get(key, "")) for key in ("imageWidth", "imageHeight")]
            self.lines.new_page(attributes.get("imageFilename", ""), *size)
        elif name.endswith("Region"):
            self._regions.append(attributes.get("id", ""))
        elif name == "TextLine":
            name = attributes.get("id") or f"line_{len(self._found) + 1}"
            self._line = _Box(name, words=Readings(self._source), custom=attributes.get("custom", ""))
            self._word, self._in_glyph = None, False
        elif name == "Word":
            self._word = _Box(attributes.get("id", ""))
        elif name == "Glyph":
            self._in_glyph = True
            if self._word is not None:
                self._word.glyphs.append([])
        elif name == "TextEquiv":
            self._equiv = attributes
        elif name == "Coords":
            box = self._word or self._line
            if box is not None and not self._in_glyph:
                box.box, box.slope = _outline(attributes.get("points", ""))
        elif name in {"RegionRefIndexed", "RegionRef", "OrderedGroupIndexed", "UnorderedGroupIndexed"}:
            self._order.setdefault(attributes.get("regionRef", ""), len(self._order))

    def end(self, name: str, text: str, line: int) -> None:
        if name == "Glyph":
            self._in_glyph = False
        elif name.endswith("Region") and self._regions:
            self._regions.pop()
        elif name == "Unicode" and self._in_glyph:
            if self._word is not None and self._word.glyphs:
                slot = self._word.glyphs[-1]
                slot.append(self._reading(text, len(slot), line))
        elif name == "Unicode":
            box = self._word or self._line
            if box is not None:
                box.readings.append(self._reading(text, len(box.readings), line))
        elif name == "Word":
            self._end_word(line)
        elif name == "TextLine":
            self._end_line(line)
        elif name == "Page":
            self._end_page()

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
        best, *others = sorted(word.readings, key=lambda reading: reading.index)
        words = boxed_words(best.text, self._source, word.box, best.confidence, line)
        known = [Reading(other.text, other.confidence) for other in others if other.confidence]
        known += shared_rest(best.confidence, [other.text for other in others if not other.confidence])
        several = any(len(slot) > 1 for slot in word.glyphs)
        if self._line.words is not None:
            self._line.words.add(words, known, [_letters(slot) for slot in word.glyphs] if several else ())

    def _end_line(self, line: int) -> None:
        box, self._line = self._line, None
        if box is None:
            return
        readings = sorted(box.readings, key=lambda reading: reading.index)
        words = box.words or Readings(self._source)
        if not words.words and readings:
            words.add(split_text(readings[0].text, self._source, line))
        if not words.words:
            self._source.note("line without text left out", line)
            return
        confidence = readings[0].confidence if readings else None
        nbest = tuple(self._hypothesis(reading, line) for reading in readings) if len(readings) > 1 else ()
        place = Place(box.box, box.slope, region=self._regions[-1] if self._regions else "")
        output = replace(words.output(line, confidence), nbest=nbest)
        found = _INDEX.search(box.custom)
        self._found.append(_Found(box.id, output, line, place, int(found[1]) if found else None))
        self._source.check("lines", len(self._found), line)

    def _end_page(self) -> None:
        """Lines come in the order that the file gives to regions, and Transkribus to the lines of a region."""
        places: dict[str, int] = {}
        for found in self._found:
            places.setdefault(found.place.region, len(places))

        def rank(found: _Found) -> tuple[int, int, int]:
            region = self._order.get(found.place.region, len(self._order))
            return region, places[found.place.region], -1 if found.index is None else found.index

        for found in sorted(self._found, key=rank):
            self.lines.add(found.id, found.output, found.line, found.place)
        self._found, self._order = [], {}

    def _hypothesis(self, reading: _Reading, line: int) -> Hypothesis:
        confidence = reading.confidence
        score = math.log(confidence) if confidence is not None and confidence > 0 else None
        return Hypothesis(split_text(reading.text, self._source, line), score)


def _letters(slot: list[_Reading]) -> list[Reading]:
    """What a glyph may be; without confidences, the first is as sure as all others together."""
    ordered = sorted(slot, key=lambda reading: reading.index)
    return [
        Reading("".join(reading.text.split()), reading.confidence or 1.0 / (1 + place))
        for place, reading in enumerate(ordered)
    ]


def _outline(points: str) -> tuple[Box | None, float | None]:
    """The upright box around a polygon `x,y x,y ...`, and its slope."""
    pairs = [[finite(part) for part in point.partition(",")[::2]] for point in points.split()]
    return outline_of([(x, y) for x, y in pairs if x is not None and y is not None])
