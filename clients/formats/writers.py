"""The table of what can be written: `WRITERS`, and `write_file`.

Utterance files keep everything; the others keep what they have a place for. Plain text and CTM have a place
for one engine only.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.formats.ctm import write_ctm
from galloon.clients.formats.plain_text import write_plain_text
from galloon.clients.formats.token_table import write_token_table
from galloon.clients.formats.utterances import utterance_lines, write_utterances
from galloon.learners.observation import Utterance


@dataclass(frozen=True, slots=True)
class Writer:
    """One row of the table."""

    name: str
    title: str
    one_engine: bool
    lines: Callable[[Iterable[Utterance]], Iterable[str]]


WRITERS: tuple[Writer, ...] = (
    Writer("utterances", "galloon's utterance file, JSON lines", one_engine=False, lines=utterance_lines),
    Writer("text", "plain text, a line an utterance", one_engine=True, lines=write_plain_text),
    Writer("ctm", "CTM, time-marked words", one_engine=True, lines=write_ctm),
    Writer("tokens", "tab-separated table of tokens", one_engine=False, lines=write_token_table),
)


def writer_named(name: str) -> Writer:
    for entry in WRITERS:
        if entry.name == name:
            return entry
    raise KeyError(f"nothing is written as {name!r}; there are {', '.join(entry.name for entry in WRITERS)}")


def write_file(writer: Writer, utterances: Sequence[Utterance], path: Path | None) -> None:
    """Write to a file, or to standard output if `path` is None; lattices need a file to lie beside."""
    if path is None:
        sys.stdout.writelines(writer.lines(utterances))
    elif writer.lines is utterance_lines:
        write_utterances(path, utterances)
    else:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(writer.lines(utterances))
