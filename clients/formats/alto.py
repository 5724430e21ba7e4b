"""ALTO XML, versions 2 to 4 (Tesseract, ABBYY, libraries): `read_alto`.

`TextLine` holds `String` elements with CONTENT, HPOS, WIDTH and the word confidence WC (0 to 1); a hyphen
at the end of a line (`HYP`) belongs to the word before it. Other readings of a word are `ALTERNATIVE`, those of
its characters `Variant` of a `Glyph`.
"""

import re
from dataclasses import replace

from galloon.clients.formats.readings import Readings, shared_rest
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import FARTHEST, finite, spoken_words
from galloon.learners.documents.document import Box
from galloon.learners.observation import Reading, Word

NAME = "alto"


def sniff_alto(sample: Sample) -> bool:
    return bool(re.search(r"<(\w+:)?alto[\s>]", sample.text))


def read_alto(source: Source) -> ReadResult:
    """The words of each line, under the line's ID."""
    page = _Page(source)
    walk_xml(source, page)
    return page.lines.result(NAME)


class _Page:
    def __init__(self, source: Source) -> None:
        self.lines = Lines(source)
        self._source = source
        self._line_id: str | None = None
        self._words = Readings(source)
        self._string: list[Word] | None = None  # the open String
        self._sure: float | None = None
        self._alternatives: list[str] = []
        self._glyphs: list[list[Reading]] = []
        self._box: Box | None = None
        self._region = self._image = ""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        source = self._source
        if name == "TextLine":
            self._line_id = attributes.get("ID") or f"line_{len(self.lines) + 1}"
            self._words, self._string = Readings(source), None
            self._box = self._box_of(attributes, line)
        elif name == "Page":
            width, height = (_optional(source, attributes, key, line) for key in ("WIDTH", "HEIGHT"))
            self.lines.new_page(self._image, width, height)
        elif name == "TextBlock":
            self._region = attributes.get("ID", "")
        elif name == "String":
            if self._line_id is None:
                source.note("String outside any TextLine left out", line)
                return
            box = self._box_of(attributes, line)
            left, width = (_optional(source, attributes, key, line) for key in ("HPOS", "WIDTH"))
            self._sure = _optional(source, attributes, "WC", line)
            self._alternatives, self._glyphs = [], []
            self._string = spoken_words(
                attributes.get("CONTENT", ""),
                source,
                confidence=self._sure,
                start=left,
                end=None if left is None or width is None else left + width,
                top=box.top if box else None,
                bottom=box.bottom if box else None,
                line=line,
            )
        elif name == "HYP" and self._words.words:
            hyphen = "".join(attributes.get("CONTENT", "").split())
            longer = self._words.words[-1].text + hyphen
            source.check("word_characters", len(longer), line)
            self._words.words[-1] = replace(self._words.words[-1], text=longer)
        elif name in {"Glyph", "Variant"} and self._string is not None:
            if name == "Glyph":
                self._glyphs.append([])
            sure = _optional(source, attributes, "GC" if name == "Glyph" else "VC", line)
            if self._glyphs:
                reading = Reading("".join(attributes.get("CONTENT", "").split()), max(0.0, sure or 0.0))
                self._glyphs[-1].append(reading)

    def end(self, name: str, text: str, line: int) -> None:
        if name == "MeasurementUnit" and text.strip() not in {"pixel", ""}:
            self._source.note(f"positions are in {text.strip()[:20]}, not pixels", line)
        if name == "fileName":
            self._image = text.strip()
        if name == "ALTERNATIVE" and self._string is not None and text.strip():
            self._alternatives.append(text.strip())
        if name == "String" and self._string is not None:
            several = any(len(slot) > 1 for slot in self._glyphs)
            others = shared_rest(self._sure, self._alternatives)
            self._words.add(self._string, others, self._glyphs if several else ())
            self._string = None
        if name != "TextLine" or self._line_id is None:
            return
        if self._words.words:
            place = Place(self._box, region=self._region)
            self.lines.add(self._line_id, self._words.output(line), line, place)
        else:
            self._source.note("line without text left out", line)
        self._line_id, self._words = None, Readings(self._source)

    def _box_of(self, attributes: dict[str, str], line: int) -> Box | None:
        edges = [
            _optional(self._source, attributes, key, line) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
        ]
        left, top, width, height = edges
        if left is None or top is None or width is None or height is None:
            return None
        return Box(left, top, left + width, top + height) if max(map(abs, (left, top))) < FARTHEST else None


def _optional(source: Source, attributes: dict[str, str], key: str, line: int) -> float | None:
    value = attributes.get(key)
    if value is None:
        return None
    number = finite(value)
    if number is None:
        raise source.error(line, f"{key}={value[:20]!r} is not a number")
    return number
