"""JSON of PaddleOCR, versions 2 and 3: `read_paddleocr`.

Version 3 (`save_to_json`) has lists side by side: `rec_texts`, `rec_scores`, `rec_polys`, in PP-Structure under
`overall_ocr_res`. What version 2 returns, saved as JSON, is a list of lines `[polygon, [text, score]]` for each
page.
"""

import re
from collections.abc import Iterator

from galloon.clients.formats.line_boxes import LineBox, add_line_boxes
from galloon.clients.formats.outline import box_of_edges, corners_of, outline_of
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "paddleocr"
_NUMBER = r"\s*-?[\d.eE+-]{1,30}\s*"
POLYGON = rf"\[\s*(\[{_NUMBER},{_NUMBER}\]\s*,?\s*){{4}}\]"
_VERSION_2 = re.compile(rf'\s*\[\s*(\[\s*)?\[\s*{POLYGON}\s*,\s*\[\s*"')


def sniff_paddleocr(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"rec_texts"\s*:\s*\[', sample.text) or _VERSION_2.match(sample.text[:2000])
    )


def read_paddleocr(source: Source) -> ReadResult:
    """The lines of each page."""
    lines = Lines(source)
    for document in load_json_sequence(source):
        if isinstance(document.value, list):
            entries = list(document.items())
            # A page is a list of lines; a single page may come without the list of pages around it.
            page = [document] if _is_line(document) else entries
            if page is entries or len(lines) == 0:
                lines.new_page()
            add_line_boxes(lines, [_version_2(line) for line in page], source)
        elif document.value is not None:
            result = next((part for part in _results(document)), None)
            if result is None:
                raise document.wrong('an object with "rec_texts"')
            lines.new_page((document["input_path"].text() or "").replace("\\", "/").rpartition("/")[2])
            add_line_boxes(lines, _version_3(result), source)
    return lines.result(NAME)


def _results(document: Node) -> Iterator[Node]:
    for part in (document, document["overall_ocr_res"], document["res"]):
        if "rec_texts" in part:
            yield part


def _version_3(result: Node) -> list[LineBox]:
    texts = list(result["rec_texts"].items())
    scores, polygons, boxes = (list(result[key].items()) for key in ("rec_scores", "rec_polys", "rec_boxes"))
    for name, found in (("rec_scores", scores), ("rec_polys", polygons), ("rec_boxes", boxes)):
        if found and len(found) != len(texts):
            raise result[name].wrong(f"as many entries as rec_texts has ({len(texts)}, not {len(found)})")
    lines = []
    for place, text in enumerate(texts):
        box, slope = outline_of(corners_of(polygons[place])) if polygons else (None, None)
        box = box or (box_of_edges(boxes[place]) if boxes else None)
        lines.append(LineBox(text.text() or "", box, slope, scores[place].number() if scores else None))
    return lines


def _is_line(node: Node) -> bool:
    """Whether this is `[polygon, [text, score]]` rather than a list of such."""
    parts = node.value
    return len(parts) == 2 and isinstance(parts[1], list) and bool(parts[1]) and isinstance(parts[1][0], str)


def _version_2(line: Node) -> LineBox:
    parts = list(line.items())
    if len(parts) != 2:
        raise line.wrong("a pair of a polygon and what was read")
    said = list(parts[1].items())
    if not said:
        raise parts[1].wrong("a pair of a text and a score")
    box, slope = outline_of(corners_of(parts[0]))
    return LineBox(said[0].text() or "", box, slope, said[1].number() if len(said) > 1 else None)
