"""Symbol tables, for lattices whose labels are numbers: `read_symbols`, and `word_of` a label.

A table is a text file of `symbol number` lines, as OpenFst and Kaldi (`words.txt`) write it. It is given with
the command, or lies beside the lattice as `words.txt`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.source import Source, open_source
from galloon.clients.formats.words import SILENT

USUAL_NAME = "words.txt"


def read_symbols(path: str | Path, limits: ReadLimits = DEFAULT_LIMITS) -> dict[str, str]:
    """From number (as written) to symbol."""
    source = open_source(path, limits)
    symbols: dict[str, str] = {}
    for at, row in source.rows():
        cells = row.split()
        if not cells:
            continue
        if len(cells) != 2 or not cells[1].isdecimal():
            raise source.error(at, "not a `symbol number` line of a symbol table")
        source.check("word_characters", len(cells[0]), at)
        symbols[cells[1]] = cells[0]
    return symbols


def symbols_for(source: Source, labels: Sequence[str]) -> Mapping[str, str] | None:
    """The table to read these labels with: none if they are words."""
    if source.symbols is not None or not all(label.isdecimal() for label in labels):
        return source.symbols
    beside = None if source.folder is None else source.folder / USUAL_NAME
    if beside is not None and beside.is_file():
        source.note(f"labels read with {USUAL_NAME}, which lies beside the file")
        return read_symbols(beside, source.limits)
    if any(label != "0" for label in labels):
        source.note("labels are numbers and there is no symbol table: the numbers are the words")
    return {"0": ""}


def word_of(label: str, symbols: Mapping[str, str] | None, source: Source, line: int) -> str:
    """The word of a label, empty for silence."""
    if symbols is not None and label.isdecimal():
        found = symbols.get(label)
        if found is None and source.symbols is not None:
            raise source.error(line, f"the label {label[:20]} is not in the symbol table")
        label = label if found is None else found
    if label in SILENT:
        return ""
    source.check("word_characters", len(label), line)
    return label
