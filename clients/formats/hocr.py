"""hOCR, the HTML of OCR engines (Tesseract, OCRopus, kraken): `read_hocr`.

Lines are elements of class `ocr_line` (or `ocr_header`, `ocr_caption`, `ocr_textfloat`, `ocrx_line`), words
those of class `ocrx_word`; the `title` attribute holds the box and, in percent, the confidence (`x_wconf`).
"""

import re

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Word

NAME = "hocr"
_LINE_CLASSES = frozenset({"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"})
_WORD_CLASSES = frozenset({"ocrx_word", "ocr_word"})


def sniff_hocr(sample: Sample) -> bool:
    return bool(re.search(r"""class=["'][^"']*ocrx?_(page|line|word|carea)""", sample.text))


def read_hocr(source: Source) -> ReadResult:
    """The words of each line, under the line's id."""
    page = _Page(source)
    walk_xml(source, page)
    return page.lines.result(NAME)


class _Page:
    """Follows the elements; `_open` says for each open one whether it is a line, a word, or neither."""

    def __init__(self, source: Source) -> None:
        self.lines = Lines(source)
        self._source = source
        self._open: list[str] = []
        self._line_id: str | None = None
        self._words: list[Word] = []
        self._box: tuple[float | None, float | None, float | None] = (None, None, None)

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        del name
        classes = set(attributes.get("class", "").split())
        kind = ""
        if classes & _LINE_CLASSES and self._line_id is None:
            kind = "line"
            self._line_id = attributes.get("id") or f"line_{len(self.lines) + 1}"
            self._words = []
        elif classes & _WORD_CLASSES and "word" not in self._open:
            kind = "word"
            self._box = _box(attributes.get("title", ""))
            if self._line_id is None:
                self._source.note("word outside any line: a line was made of it", line)
        self._open.append(kind)

    def end(self, name: str, text: str, line: int) -> None:
        del name
        kind = self._open.pop()
        if kind == "word":
            start, end, confidence = self._box
            words = spoken_words(text, self._source, confidence=confidence, start=start, end=end, line=line)
            if self._line_id is None:
                self._add(f"word_{len(self.lines) + 1}", words, line)
            else:
                self._words += words
        elif kind == "line" and self._line_id is not None:
            words = self._words
            if not words and text.strip():
                self._source.note("line without word elements: its text was split", line)
                words = list(split_text(text, self._source, line))
            self._add(self._line_id, words, line)
            self._line_id = None

    def _add(self, line_id: str, words: list[Word], line: int) -> None:
        if words:
            self.lines.add(line_id, ExpertOutput(self._source.stem, tuple(words)), line)
        else:
            self._source.note("line without text left out", line)


def _box(title: str) -> tuple[float | None, float | None, float | None]:
    """Left, right and confidence from `bbox 36 92 96 116; x_wconf 95`."""
    left = right = confidence = None
    for part in title.split(";"):
        key, *values = part.split()[:6] or [""]
        if key == "bbox" and len(values) >= 3:
            left, right = finite(values[0]), finite(values[2])
        elif key == "x_wconf" and values:
            percent = finite(values[0])
            confidence = None if percent is None else percent / 100
    return left, right, confidence
