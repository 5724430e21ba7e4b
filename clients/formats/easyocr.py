"""JSON of EasyOCR and RapidOCR: `read_easyocr`.

EasyOCR's `output_format="json"` gives an object a line: `boxes` (four corners), `text`, `confident`. What
`readtext` and RapidOCR return, saved as JSON, is a list of `[corners, text, score]`.
"""

import re

from galloon.clients.formats.line_boxes import LineBox, add_line_boxes
from galloon.clients.formats.outline import corners_of, outline_of
from galloon.clients.formats.paddleocr import POLYGON
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "easyocr"
_TRIPLE = re.compile(rf'\s*\[\s*(\[\s*)?{POLYGON}\s*,\s*"')
_OBJECT = re.compile(r'"(boxes|box)"\s*:\s*\[\s*\[')


def sniff_easyocr(sample: Sample) -> bool:
    return sample.is_json and bool(
        _TRIPLE.match(sample.text[:2000])
        or (_OBJECT.search(sample.text) and re.search(r'"(text|txt)"\s*:\s*"', sample.text))
    )


def read_easyocr(source: Source) -> ReadResult:
    """The lines of the page."""
    lines = Lines(source)
    found = []
    for entry in load_json_sequence(source):
        if isinstance(entry.value, dict):
            if not entry.first("text", "txt"):
                raise entry.wrong('an object with "boxes" and "text"')
            confidence = entry.first("confident", "confidence", "score").number()
            found.append(_line(entry.first("boxes", "box", "bbox"), entry.first("text", "txt"), confidence))
            continue
        parts = list(entry.items())
        if len(parts) < 2:
            raise entry.wrong("corners, text and score")
        found.append(_line(parts[0], parts[1], parts[2].number() if len(parts) > 2 else None))
    add_line_boxes(lines, found, source)
    return lines.result(NAME)


def _line(corners: Node, text: Node, confidence: float | None) -> LineBox:
    box, slope = outline_of(corners_of(corners))
    return LineBox(text.text() or "", box, slope, confidence)
