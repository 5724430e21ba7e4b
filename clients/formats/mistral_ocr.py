"""JSON of Mistral's OCR: `read_mistral_ocr`.

`pages` hold Markdown, and the size of the image that was read. Where they were asked for, `header` and `footer`
stand apart from it, and so do `tables`, to which it links by their ids.
"""

import re

from galloon.clients.formats.markdown import add_markdown
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source

NAME = "mistral-ocr"
_TABLE = re.compile(r"\[([^\[\]\n]{1,200})\]\(\1\)")


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
        text = "\n\n".join(page[part].text() or "" for part in ("header", "markdown", "footer"))
        add_markdown(lines, _with_tables(text, page).replace("\f", " "), source)
    return lines.result(NAME)


def _with_tables(text: str, page: Node) -> str:
    """The text with each table where the text links to it."""
    tables = {table["id"].name(""): table["content"].text() or "" for table in page["tables"].items()}

    def table(found: re.Match[str]) -> str:
        body = tables.get(found[1])
        return found[0] if body is None else f"\n\n{body}\n\n"

    return _TABLE.sub(table, text) if tables else text
