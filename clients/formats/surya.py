"""Surya's results.json: `read_surya`.

An object of lists, a list for each image or PDF and an entry a page: `text_lines` with polygon, text and
confidence, `image_bbox`. Surya writes some marks as HTML, which is left out.
"""

import re
from html import unescape

from galloon.clients.formats.line_boxes import LineBox, add_line_boxes
from galloon.clients.formats.outline import box_of_edges, corners_of, outline_of
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "surya"
_TAG = re.compile(r"</?(?:b|i|u|sub|sup|math|small|mark|del|br)(?:\s[^<>]{0,100})?/?>")


def sniff_surya(sample: Sample) -> bool:
    return sample.is_json and bool(re.search(r'"text_lines"\s*:\s*\[', sample.text))


def read_surya(source: Source) -> ReadResult:
    """The lines of each page."""
    document = load_json(source)
    lines = Lines(source)
    for name, pages in _files(document):
        for page in pages:
            box = box_of_edges(page["image_bbox"])
            lines.new_page(name, box.width if box else None, box.height if box else None)
            add_line_boxes(lines, [_line(line) for line in page["text_lines"].items()], source)
    return lines.result(NAME)


def _files(document: Node) -> list[tuple[str, list[Node]]]:
    if isinstance(document.value, list):
        return [("", list(document.items()))]
    if "text_lines" in document:
        return [("", [document])]
    if not isinstance(document.value, dict):
        raise document.wrong("an object with a list of pages for each file")
    return [(name, list(document[name].items())) for name in document.value]


def _line(line: Node) -> LineBox:
    box, slope = outline_of(corners_of(line["polygon"]))
    text = unescape(_TAG.sub("", line["text"].text() or ""))
    return LineBox(text, box or box_of_edges(line["bbox"]), slope, line["confidence"].number())
