"""hOCR, the HTML of OCR engines (Tesseract, OCRopus, kraken): `read_hocr`.

Lines are elements of class `ocr_line` (or `ocr_header`, `ocr_caption`, `ocr_textfloat`, `ocrx_line`), words
those of class `ocrx_word`, pages those of class `ocr_page`; the `title` attribute holds the box, the slope of a
line (`baseline`) and, in percent, the confidence (`x_wconf`). A word's characters stand in it one by one
(`hocr_char_boxes`), or each with what Tesseract chose it from (`lstm_choice_mode`), as `ocrx_cinfo`.
"""

import re
from dataclasses import dataclass

from galloon.clients.formats.readings import Readings
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import FARTHEST, boxed_words, finite, split_text
from galloon.learners.documents.document import Box
from galloon.learners.observation import Reading, Word

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
        self._words = Readings(source)
        self._characters: list[list[Reading]] = []  # of the open word
        self._title = self._line_title = _Title()
        self._region = ""
        self._letter_confidence = 0.0

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        del name
        classes = set(attributes.get("class", "").split())
        kind = ""
        if classes & _LINE_CLASSES and self._line_id is None:
            kind = "line"
            self._line_id = attributes.get("id") or f"line_{len(self.lines) + 1}"
            self._words = Readings(self._source)
            self._line_title = _title(attributes.get("title", ""))
        elif "ocr_page" in classes:
            page = _title(attributes.get("title", ""))
            size = page.box
            self.lines.new_page(page.image, size.width if size else None, size.height if size else None)
        elif "ocr_carea" in classes:
            self._region = attributes.get("id", "")
        elif classes & _WORD_CLASSES and "word" not in self._open:
            kind = "word"
            self._characters = []
            self._title = _title(attributes.get("title", ""))
            if self._line_id is None:
                self._source.note("word outside any line: a line was made of it", line)
        elif "ocrx_cinfo" in classes and "word" in self._open:
            title = attributes.get("title", "")
            kind = "choice" if "x_confs" in title else "letter" if "x_conf" in title else "letters"
            self._letter_confidence = _confidence(title)
            if kind != "choice":
                self._characters.append([])
        self._open.append(kind)

    def end(self, name: str, text: str, line: int) -> None:
        del name
        kind = self._open.pop()
        if kind in {"choice", "letter"} and self._characters:
            self._characters[-1].append(Reading("".join(text.split()), self._letter_confidence))
            self._source.check("nbest", len(self._characters[-1]), line)
        elif kind == "word":
            slots = [slot for slot in self._characters if slot and slot[0].text]
            spelled = "".join(slot[0].text for slot in slots)
            chosen = any(len(slot) > 1 for slot in slots)
            # With choices the word itself stands before its characters.
            own = next(iter(text.split()), "") if chosen else spelled or text
            words = boxed_words(own, self._source, self._title.box, self._title.confidence, line)
            if self._line_id is None:
                self._add(f"word_{len(self.lines) + 1}", _alone(words, self._source), line, self._title)
            else:
                self._words.add(words, (), slots if chosen else ())
        elif kind == "line" and self._line_id is not None:
            if not self._words.words and text.strip():
                self._source.note("line without word elements: its text was split", line)
                self._words.add(split_text(text, self._source, line))
            self._add(self._line_id, self._words, line, self._line_title)
            self._line_id = None

    def _add(self, line_id: str, words: Readings, line: int, title: "_Title") -> None:
        if words.words:
            place = Place(title.box, title.slope, region=self._region)
            self.lines.add(line_id, words.output(line), line, place)
        else:
            self._source.note("line without text left out", line)


def _alone(words: list[Word], source: Source) -> Readings:
    readings = Readings(source)
    readings.add(words)
    return readings


def _confidence(title: str) -> float:
    """Of a character, in percent, from 0 to 100."""
    found = re.search(r"x_confs?\s+([\d.]{1,20})", title)
    value = finite(found[1]) if found else None
    return min(100.0, value or 0.0)


@dataclass(frozen=True, slots=True)
class _Title:
    """What a title attribute says: `bbox 36 92 96 116; x_wconf 95; baseline 0.01 -3; image "a.png"`."""

    box: Box | None = None
    confidence: float | None = None
    slope: float | None = None
    image: str = ""


def _title(text: str) -> _Title:
    box = confidence = slope = None
    image = ""
    for part in text.split(";"):
        key, *values = part.split()[:6] or [""]
        if key == "image":
            image = part.partition("image")[2].strip().strip("\"'")
            continue
        numbers = [finite(value) for value in values]
        known = [number for number in numbers if number is not None]
        if key == "bbox" and len(known) >= 4 and abs(max(known, key=abs)) < FARTHEST:
            box = Box(*known[:4])
        elif key == "x_wconf" and known:
            confidence = known[0] / 100
        elif key == "baseline" and len(known) == 2:
            slope = known[0]
    return _Title(box, confidence, slope, image)
