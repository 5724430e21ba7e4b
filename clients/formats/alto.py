"""ALTO XML, versions 2 to 4 (Tesseract, ABBYY, libraries): `read_alto`.

`TextLine` holds `String` elements with CONTENT, HPOS, WIDTH and the word confidence WC (0 to 1); a hyphen
at the end of a line (`HYP`) belongs to the word before it.
"""

import re
from dataclasses import replace

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, spoken_words
from galloon.learners.observation import ExpertOutput, Word

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
        self._words: list[Word] = []

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        source = self._source
        if name == "TextLine":
            self._line_id = attributes.get("ID") or f"line_{len(self.lines) + 1}"
            self._words = []
        elif name == "String":
            if self._line_id is None:
                source.note("String outside any TextLine left out", line)
                return
            left, width = (_optional(source, attributes, key, line) for key in ("HPOS", "WIDTH"))
            self._words += spoken_words(
                attributes.get("CONTENT", ""),
                source,
                confidence=_optional(source, attributes, "WC", line),
                start=left,
                end=None if left is None or width is None else left + width,
                line=line,
            )
        elif name == "HYP" and self._words:
            hyphen = "".join(attributes.get("CONTENT", "").split())
            longer = self._words[-1].text + hyphen
            source.check("word_characters", len(longer), line)
            self._words[-1] = replace(self._words[-1], text=longer)
        elif name == "ALTERNATIVE":
            source.note("ALTERNATIVE of a word not used", line)

    def end(self, name: str, text: str, line: int) -> None:
        if name == "MeasurementUnit" and text.strip() not in {"pixel", ""}:
            self._source.note(f"positions are in {text.strip()[:20]}, not pixels", line)
        if name != "TextLine" or self._line_id is None:
            return
        if self._words:
            self.lines.add(self._line_id, ExpertOutput(self._source.stem, tuple(self._words)), line)
        else:
            self._source.note("line without text left out", line)
        self._line_id, self._words = None, []


def _optional(source: Source, attributes: dict[str, str], key: str, line: int) -> float | None:
    value = attributes.get(key)
    if value is None:
        return None
    number = finite(value)
    if number is None:
        raise source.error(line, f"{key}={value[:20]!r} is not a number")
    return number
