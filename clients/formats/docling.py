"""Docling's JSON (DoclingDocument): `read_docling`.

Texts and tables come in reading order through `body`, which points to them and to groups of them; older files
have heads and feet of pages under `furniture`. Their boxes
are of paragraphs, not of lines, and are not used: what they say finds its place by what other engines say.
"""

import re
from collections.abc import Iterator

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput

NAME = "docling"
_REFERENCE = re.compile(r"#/(\w{1,40})/(\d{1,9})")
_DEEPEST = 32
_PARTS = ("texts", "tables", "groups", "pictures", "key_value_items", "form_items")


def sniff_docling(sample: Sample) -> bool:
    return sample.is_json and bool(re.search(r'"schema_name"\s*:\s*"DoclingDocument"', sample.text))


def read_docling(source: Source) -> ReadResult:
    """The lines of all texts and the rows of all tables, page by page."""
    document = load_json(source)
    if "body" not in document:
        raise document.wrong('an object with "body"')
    parts = {name: list(document[name].items()) for name in _PARTS}
    by_page: dict[int, list[tuple[str, str]]] = {int(name): [] for name in _page_names(document)}
    seen: set[str] = set()
    found = [item for root in ("body", "furniture") for item in _items(document[root], parts, seen, 0)]
    for number, (name, item) in enumerate(found):
        page = next((prov["page_no"].number() for prov in item["prov"].items()), None)
        rows = _rows(item) if name == "tables" else _text(item).split("\n")
        by_page.setdefault(int(page or 1), []).extend((row, str(number)) for row in rows)
    lines = Lines(source)
    for page_number in sorted(by_page):
        size = document["pages"][str(page_number)]["size"]
        lines.new_page("", size["width"].number(), size["height"].number())
        for row, region in by_page[page_number]:
            if words := split_text(row, source):
                lines.add(str(len(lines)), ExpertOutput(source.stem, words), place=Place(region=region))
    return lines.result(NAME)


def _page_names(document: Node) -> list[str]:
    pages = document["pages"].value
    if pages is not None and not isinstance(pages, dict):
        raise document["pages"].wrong("an object of pages by their numbers")
    return [name for name in pages or () if name.isdecimal() and len(name) < 10]


def _items(
    parent: Node, parts: dict[str, list[Node]], seen: set[str], depth: int
) -> Iterator[tuple[str, Node]]:
    """What the children of a part point to, in order; nothing twice."""
    for child in parent["children"].items():
        reference = child.first("$ref", "cref").text() or ""
        match = _REFERENCE.fullmatch(reference)
        if match is None or (match[1] in parts and int(match[2]) >= len(parts[match[1]])):
            raise child.wrong(f"a part that exists (not {reference[:40]})")
        if reference in seen or depth > _DEEPEST or match[1] not in parts:
            continue
        seen.add(reference)
        item = parts[match[1]][int(match[2])]
        if match[1] in {"texts", "tables"}:
            yield match[1], item
        yield from _items(item, parts, seen, depth + 1)


def _text(item: Node) -> str:
    """What a part says; the number of a list's entry stands apart from it."""
    text = item["text"].text() or item["orig"].text() or ""
    marker = item["marker"].text() or ""
    return f"{marker} {text}" if any(map(str.isalnum, marker)) and not text.startswith(marker) else text


def _rows(table: Node) -> list[str]:
    """The rows of a table. A cell over several rows or columns is in the grid at each of its places: said once."""
    rows = []
    for down, row in enumerate(table["data"]["grid"].items()):
        cells = []
        for across, cell in enumerate(row.items()):
            starts = cell["start_row_offset_idx"].number(), cell["start_col_offset_idx"].number()
            if starts in {(None, None), (down, across)}:
                cells.append(cell["text"].text() or "")
        rows.append(" ".join(cells))
    return rows
