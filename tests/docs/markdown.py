"""A document as the tests see it: fenced blocks, code spans, links and the anchors of its headings, with lines."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^ *```(\w*)\s*$")
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something in a document: a block's or span's text, or a link's target, and the line it begins in."""

    file: str
    line: int
    text: str
    language: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Document:
    file: str
    blocks: tuple[Piece, ...]
    spans: tuple[Piece, ...]
    links: tuple[Piece, ...]
    indented: tuple[Piece, ...]  # code blocks without a fence, which say nothing about what they hold
    anchors: frozenset[str]


def documents() -> list[str]:
    """Every document of the tree that people read, from its root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def read(file: str) -> Document:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    blocks, spans, links, indented, anchors = [], [], [], [], set()
    language, begin, held = None, 0, []
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if language is not None:
            if fence and not fence[1]:
                blocks.append(Piece(file, begin, "\n".join(held), language))
                language = None
            else:
                held.append(line)
        elif fence:
            language, begin, held = fence[1], number, []
        else:
            if line.startswith("    ") and (number == 1 or not lines[number - 2].strip()):
                indented.append(Piece(file, number, line))
            spans += [Piece(file, number, text) for text in SPAN.findall(line)]
            links += [Piece(file, number, target) for target in LINK.findall(line)]
            if heading := HEADING.match(line):
                anchors.add(_anchor(heading[1]))
    assert language is None, f"{file}:{begin}: this block has no end"
    return Document(file, tuple(blocks), tuple(spans), tuple(links), tuple(indented), frozenset(anchors))


def _anchor(heading: str) -> str:
    """As GitHub makes it: small letters, punctuation gone, spaces to hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
