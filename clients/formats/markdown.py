"""Markdown, as vision language models and converters write pages: `read_markdown`, and `plain_lines` for others.

Marks are taken off and the text stays: headings, quotes, bullets, emphasis, links, code, tables (a row is a
line), HTML. Images are left out. A form feed or a comment such as `<!-- page break -->` begins a new page. It
goes line by line, not by CommonMark's grammar: only the words are wanted, and hostile files cost no more than
others.
"""

import re
from collections.abc import Iterator
from html import unescape

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput

NAME = "markdown"
_PAGE = re.compile(r"\s*(?:\f|<!--\s*(?:page|new page)\b[^<>]{0,40}-->|\{\d{1,6}\}-{20,})\s*", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*")
_RULE = re.compile(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+)\s*")
_QUOTE = re.compile(r"(?:\s{0,3}>\s?){1,8}")
_BULLET = re.compile(r"\s*[-*+]\s+(?:\[[ xX]\]\s+)?")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_IMAGE = re.compile(r"!\[[^\]\n]{0,2000}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,200}\])?")
_LINK = re.compile(r"\[([^\[\]\n]{0,2000})\]\([^()\n]{0,2000}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|<!--[^<>\n]{0,500}-->")
_ROW_END = re.compile(r"<br\s*/?>|</(?:tr|p|div|li|h[1-6]|caption)>", re.IGNORECASE)
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,2000})(?<=\S)\1(?![\w*])|(?<!\w)(_{1,3})(?=\S)([^_\n]{1,2000})(?<=\S)\3(?!\w)"
)
_STRUCK = re.compile(r"~~([^~\n]{1,2000})~~|`{1,3}([^`\n]{1,2000})`{1,3}")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>()#+\-.!|~$&])")
_KEPT = "\ue000"  # stands before what was escaped, so that it is no mark
_FRONT = re.compile(r"\s*---\n(?:[A-Za-z_][\w-]{0,60}:[^\n]{0,500}\n){1,40}---\n")
_SIGNS = (
    re.compile(r"(?:^|\n)#{1,6} \S[^\n]*(?:\n\s*\n|\n?$)"),
    re.compile(r"(?:^|\n)\s*\|[^\n]*\|\s*\n\s*\|?\s*:?-{3,}:?\s*\|"),
    re.compile(r"(?<![\w*])\*\*[^\s*][^*\n]{0,200}\*\*(?![\w*])"),
    re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)"),
    re.compile(r"(?:^|\n)```\w*\n"),
    re.compile(r"<!-- page break -->"),
    re.compile(r"(?:^|\n)<table[ >]"),
)


def sniff_markdown(sample: Sample) -> bool:
    """By marks that pages of plain text hardly have."""
    if "\0" in sample.text or sample.text.lstrip()[:1] in {"{", "["}:
        return False
    return any(sign.search(sample.text) for sign in _SIGNS)


def read_markdown(source: Source) -> ReadResult:
    """Each line of text, under its number."""
    lines = Lines(source)
    text = source.text()
    front = _FRONT.match(text)
    add_markdown(lines, text[front.end() :] if front else text, source)
    if not len(lines):
        source.note("no text in the file")
    return lines.result(NAME)


def add_markdown(lines: Lines, text: str, source: Source) -> None:
    """Add the lines of a Markdown text; page breaks in it begin new pages."""
    breaks, region, blank, begun = 0, 0, True, False
    for at, row in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        source.check("line_bytes", len(row), at)
        for part in re.split(r"(\f)", row):
            if _PAGE.fullmatch(part):
                breaks += 1
                continue
            found = False
            for plain in plain_lines(part):
                if words := split_text(plain, source, at):
                    for _ in range(breaks if begun else 0):
                        lines.new_page()
                    breaks, begun, found = 0, True, True
                    region += blank
                    blank = False
                    lines.add(
                        str(len(lines) + 1), ExpertOutput(source.stem, words), at, Place(region=str(region))
                    )
            blank = blank or not found


def plain_lines(row: str) -> Iterator[str]:
    """The text of one line of Markdown; a line of HTML may hold several."""
    if _FENCE.match(row) or _RULE.fullmatch(row) or (row.count("-") and _TABLE_RULE.fullmatch(row)):
        return
    row = _ESCAPED.sub(lambda found: f"{_KEPT}{ord(found[1]):x};", row)
    row = _QUOTE.sub("", row, count=1) if _QUOTE.match(row) else row
    heading = _HEADING.fullmatch(row)
    row = heading[1] if heading else _BULLET.sub("", row, count=1) if _BULLET.match(row) else row
    if row.strip().startswith("|") or row.count(" | ") > 1:
        row = row.replace("|", " ")
    row = _LINK.sub(r"\1", _IMAGE.sub(" ", row))
    for _ in range(2):  # bold inside italics
        row = _EMPHASIS.sub(lambda found: found[2] or found[4], row)
    row = _STRUCK.sub(lambda found: found[1] or found[2], row)
    for part in _ROW_END.split(row):
        plain = unescape(_TAG.sub(" ", part) if re.search(r"</?t[dh]", part) else _TAG.sub("", part))
        yield re.sub(f"{_KEPT}([0-9a-f]{{1,4}});", lambda found: chr(int(found[1], 16)), plain)
