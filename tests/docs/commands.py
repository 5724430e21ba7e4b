"""The commands that a document tells people to type, as one list: `commands`; and those it only names: `mentions`.

A command stands in a `sh` block, one a line, with a comment after it or not and lines joined by a backslash; or
after "$ " in a `console` block, followed by what it prints; or in a code span, where it has arguments and no
placeholder. A mention is a command's name alone, or a command with a placeholder such as FILE, INPUT... or <this>.
"""

import re
from dataclasses import dataclass

from tests.docs.markdown import Document, Piece

PROGRAMS = (
    *(
        "galloon",
        "make",
        "python",
        "python3.11",
        "pip",
        "git",
        "docker",
        "kubectl",
        "promtool",
        "sqlite3",
        "curl",
    ),
    *(
        ".venv/bin/galloon",
        ".venv/bin/python",
        ".venv/bin/pip",
        "deploy/build_image.sh",
        "deploy/try_image.py",
    ),
)
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b(?!=)|\.\.\.|…|<\w")
COMMENT = re.compile(r"\s+# .*$")


@dataclass(frozen=True, slots=True)
class Command:
    where: str
    text: str
    output: str | None = None  # what the document says that it prints


def commands(document: Document) -> list[Command]:
    """In the order of the document's blocks; those of spans come last."""
    found = []
    for block in document.blocks:
        if block.language == "sh":
            found += [Command(block.where, line) for line in _lines(block.text)]
        elif block.language == "console":
            found += _shown(block)
    return [*found, *(Command(span.where, span.text) for span in document.spans if _complete(span.text))]


def mentions(document: Document) -> list[Piece]:
    return [span for span in document.spans if _program(span.text) and not _complete(span.text)]


def _lines(text: str) -> list[str]:
    joined = re.sub(r"\s*\\\n\s*", " ", text)
    lines = (COMMENT.sub("", line).strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _shown(block: Piece) -> list[Command]:
    found = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, output = re.sub(r"\s*\\\n\s*", " ", part).partition("\n")
        found.append(Command(block.where, COMMENT.sub("", line), output.rstrip() or None))
    return found


def _program(text: str) -> bool:
    return text.split()[0] in PROGRAMS


def _complete(text: str) -> bool:
    """More than a name: `galloon top` and `make test` are names, `galloon top --once` is a command."""
    return _program(text) and len(text.split()) > 2 and PLACEHOLDER.search(text) is None
