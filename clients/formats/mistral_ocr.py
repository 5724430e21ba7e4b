"""JSON of Mistral's OCR: `read_mistral_ocr`. `pages` hold Markdown, and the size of the image that was read."""

import re

from galloon.clients.formats.markdown import add_markdown
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "mistral-ocr"


def sniff_mistral_ocr(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"pages"\s*:\s*\[', sample.text) and re.search(r'"markdown"\s*:\s*"', sample.text)
    )


def read_mistral_ocr(source: Source) -> ReadResult:
    """The lines of each page's Markdown."""
    document = load_json(source)
    if "pages" not in document:
        raise document.wrong('an object with "pages"')
    lines = Lines(source)
    for page in document["pages"].items():
        lines.new_page("", page["dimensions"]["width"].number(), page["dimensions"]["height"].number())
        add_markdown(lines, (page["markdown"].text() or "").replace("\f", " "), source)
    return lines.result(NAME)
