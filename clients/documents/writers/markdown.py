"""Markdown: `write_markdown`. A region is a paragraph; a turn of speech begins with who speaks."""

import re

from galloon.clients.documents.combined import CombinedDocument, CombinedPage, regions

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|])")
# What would begin a heading, a list, a quotation or a rule; of a number it is the dot that can be escaped.
_AT_START = re.compile(r"^(\s*\d*)(#{1,6}\s|[-+]\s|>\s?|(?<=\d)[.)]\s|={3,}|-{3,})")


def write_markdown(document: CombinedDocument) -> str:
    """The text with its lines as they are, regions apart, and a comment between pages, as docling writes it."""
    return "\n<!-- page break -->\n\n".join(_page(page) for page in document.pages)


def _page(page: CombinedPage) -> str:
    if page.timed:
        return "".join(_turn(line.speaker, line.text) for line in page.lines if line.words)
    blocks = regions([line for line in page.lines if line.words])
    return "\n".join("".join(f"{_escaped(line.text)}\n" for line in block) for block in blocks)


def _turn(speaker: str, text: str) -> str:
    who = f"**{_escaped(speaker)}:** " if speaker else ""
    return f"{who}{_escaped(text)}\n\n"


def _escaped(text: str) -> str:
    plain = _SPECIAL.sub(r"\\\1", text)
    return _AT_START.sub(lambda found: f"{found[1]}\\{found[2]}", plain)
