"""olmOCR's results, JSON lines in Dolma's form: `read_olmocr`.

A line is a document: `text` of all pages, and in `attributes.pdf_page_numbers` where each page begins and ends
in it.
"""

import re

from galloon.clients.formats.markdown import add_markdown
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "olmocr"


def sniff_olmocr(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"pdf_page_numbers"\s*:', sample.text)
        or re.search(r'"source"\s*:\s*"olmocr"', sample.text)
    )


def read_olmocr(source: Source) -> ReadResult:
    """The pages of all documents in the file, one after another."""
    lines = Lines(source)
    for document in load_json_sequence(source):
        text = document["text"].text()
        if text is None:
            raise document.wrong('an object with "text"')
        spans: list[tuple[int, int]] = []
        for entry in document["attributes"]["pdf_page_numbers"].items():
            spans.append(_span(entry, spans[-1][1] if spans else 0, len(text)))
        for start, end in spans or [(0, len(text))]:
            lines.new_page()
            add_markdown(lines, text[start:end].replace("\f", " "), source)
    return lines.result(NAME)


def _span(entry: Node, reached: int, length: int) -> tuple[int, int]:
    """Where a page begins and ends; pages follow each other."""
    numbers = [number.number() or 0.0 for number in entry.items()]
    if len(numbers) < 2 or not reached <= numbers[0] <= numbers[1] <= length:
        raise entry.wrong("where a page begins and ends in the text")
    return int(numbers[0]), int(numbers[1])
