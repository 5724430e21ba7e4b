"""MinerU's JSON: `read_mineru`, of `*_middle.json` and `*_content_list.json`.

The first has lines with boxes in points; the second paragraphs alone, whose text finds its place by what other
engines say. Tables are HTML in both.
"""

import re
from collections.abc import Iterator

from galloon.clients.formats.line_boxes import LineBox, add_line_boxes
from galloon.clients.formats.markdown import plain_lines
from galloon.clients.formats.outline import box_of_edges
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "mineru"
_SCALE = 300 / 72  # points to pixels, for everything that counts in these
_DEEPEST = 8
_BODIES = ("text", "table_body", "code_body")
_LISTS = (
    *("image_caption", "image_footnote", "img_caption", "img_footnote", "chart_caption", "chart_footnote"),
    *("table_caption", "table_footnote", "code_caption", "code_footnote", "list_items"),
)


def sniff_mineru(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"pdf_info"\s*:\s*\[', sample.text)
        or (
            re.search(r'"page_idx"\s*:', sample.text)
            and re.search(
                r'"type"\s*:\s*"(text|table|image|equation|list|header|footer|page_number)"', sample.text
            )
        )
    )


def read_mineru(source: Source) -> ReadResult:
    """The lines of each page."""
    document = load_json(source)
    lines = Lines(source)
    if isinstance(document.value, list):
        _content_list(document, lines, source)
        return lines.result(NAME)
    if "pdf_info" not in document:
        raise document.wrong('a list, or an object with "pdf_info"')
    for page in document["pdf_info"].items():
        size = [(number.number() or 0.0) * _SCALE for number in page["page_size"].items()]
        lines.new_page("", *(size if len(size) == 2 else (None, None)))
        blocks = page.first("para_blocks", "preproc_blocks")
        for number, block in enumerate([*blocks.items(), *page["discarded_blocks"].items()]):
            add_line_boxes(lines, _lines(block, str(number), 0), source)
    return lines.result(NAME)


def _lines(block: Node, region: str, depth: int) -> Iterator[LineBox]:
    """The lines of a block and of the blocks in it."""
    for line in block["lines"].items():
        spans = [span for span in line["spans"].items() if (span["content"].text() or "").strip()]
        html = [span for span in line["spans"].items() if (span["html"].text() or "").strip()]
        for table in html:
            yield from (LineBox(row, None, region=region) for row in plain_lines(table["html"].text() or ""))
        scores = [score for span in spans if (score := span["score"].number()) is not None]
        text = " ".join(span["content"].text() or "" for span in spans)
        box = box_of_edges(line["bbox"], _SCALE)
        if text:
            yield LineBox(text, box, None, min(scores, default=None), region)
    if depth < _DEEPEST:
        for inner in block["blocks"].items():
            yield from _lines(inner, region, depth + 1)


def _content_list(document: Node, lines: Lines, source: Source) -> None:
    page = -1
    for number, entry in enumerate(document.items()):
        index = int(entry["page_idx"].number() or 0.0)
        source.check("lines", index)
        while page < index:  # pages without text are not listed
            page += 1
            lines.new_page()
        text = entry.first(*_BODIES).text() or ""
        rows = [row for line in text.split("\n") for row in plain_lines(line)]
        for key in _LISTS:
            rows += [row for part in entry[key].items() for row in plain_lines(part.text() or "")]
        add_line_boxes(lines, [LineBox(row, None, region=str(number)) for row in rows if row.strip()], source)
