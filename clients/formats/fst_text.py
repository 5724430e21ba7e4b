"""Text of weighted automata, a line per arc: `read_openfst_text`, and the arcs that Kaldi's reader shares.

    source target [input] output [cost]        an arc; an acceptor has one label
    state [cost]                               a final state

The first line's source is the initial state. Costs are negated natural logarithms. Labels are words, or
numbers with a symbol table; 0, `<eps>` and silences say nothing.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.symbols import symbols_for, word_of
from galloon.clients.formats.word_graph import Arcs, best_path, build_lattice
from galloon.clients.formats.words import finite
from galloon.learners.observation import ArcScores, ExpertOutput, Lattice

NAME = "openfst-text"
_ROWS_LOOKED_AT = 10_000  # to tell acceptors from transducers
_FLOAT = re.compile(r"[-+]?(\d{1,40}(\.\d{0,40})?([eE][-+]?\d{1,4})?|\.\d{1,40}|Infinity)")


def sniff_openfst_text(sample: Sample) -> bool:
    rows = [line.split() for line in sample.lines]
    return (
        len(rows) > 1
        and 3 <= len(rows[0]) <= 5
        and all(
            (3 <= len(row) <= 5 and row[0].isdecimal() and row[1].isdecimal())
            or (len(row) == 1 and row[0].isdecimal())
            or (len(row) == 2 and row[0].isdecimal() and bool(_FLOAT.fullmatch(row[1])))
            for row in rows
        )
    )


def read_openfst_text(source: Source) -> ReadResult:
    """The lattice of a file, and the best path through it as the 1-best."""
    label, weight = _label_columns([row.split() for _, row in islice(source.rows(), _ROWS_LOOKED_AT)])
    graph = TextGraph()
    for at, row in source.rows():
        cells = row.split()
        if not cells:
            continue
        if len(cells) <= 2:
            graph.final(cells[0], _score(source, cells[1], at) if len(cells) == 2 else 0.0, source, at)
            continue
        if len(cells) > weight + 1 or len(cells) <= label:
            raise source.error(at, f"{len(cells)} columns: unlike the arcs before it")
        score = _score(source, cells[weight], at) if len(cells) > weight else 0.0
        graph.arc(cells[0], cells[1], cells[label], score, source, at)
    lattice = graph.lattice(source, symbols_for(source, graph.labels))
    lines = Lines(source)
    lines.add(source.stem, ExpertOutput(source.stem, best_path(lattice), lattice=lattice))
    return lines.result(NAME)


@dataclass(slots=True)
class TextGraph:
    """Arcs as they are read; states are numbered as they appear, so that a large name costs nothing."""

    numbers: dict[str, int] = field(default_factory=dict)
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    finals: dict[int, float] = field(default_factory=dict)
    acoustic: list[float] = field(default_factory=list)  # parts of the scores, for formats that tell them
    language: list[float] = field(default_factory=list)

    def arc(self, begin: str, end: str, label: str, score: float, source: Source, at: int) -> None:
        if score == -math.inf:
            source.note("arc of infinite cost left out", at)
            return
        self.begins.append(self._state(begin, source, at))
        self.ends.append(self._state(end, source, at))
        self.labels.append(label)
        self.scores.append(score)
        self.lines.append(at)
        source.check("lattice_arcs", len(self.labels), at)

    def final(self, state: str, score: float, source: Source, at: int) -> None:
        if score == -math.inf:
            return  # an infinite final cost is how OpenFst says "not final"
        self.finals[self._state(state, source, at)] = score

    def lattice(self, source: Source, symbols: Mapping[str, str] | None) -> Lattice:
        words = [
            word_of(label, symbols, source, at) for label, at in zip(self.labels, self.lines, strict=True)
        ]
        parts = None
        if self.acoustic:
            parts = ArcScores(np.array(self.acoustic), np.array(self.language))
        arcs = Arcs(self.begins, self.ends, words, self.scores, self.lines, parts=parts)
        return build_lattice(source, len(self.numbers), 0, self.finals, arcs)

    def _state(self, name: str, source: Source, at: int) -> int:
        number = self.numbers.get(name)
        if number is None:
            if not name.isdecimal() or len(name) > 12:
                raise source.error(at, f"{name[:20]!r} is not the number of a state")
            number = len(self.numbers)
            source.check("lattice_states", number + 1, at)
            self.numbers[name] = number
        return number


def _label_columns(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Which columns hold the word and the cost: acceptors are printed with one label, others with two."""
    widths = {len(row) for row in rows if len(row) > 2}
    if 5 in widths:
        return 3, 4
    if 4 in widths and 3 not in widths:
        fourth = [row[3] for row in rows if len(row) == 4]
        numeric = all(_FLOAT.fullmatch(cell) for cell in fourth)
        third_words = any(not row[2].isdecimal() for row in rows if len(row) == 4)
        if numeric and (third_words or any(not cell.isdecimal() for cell in fourth)):
            return 2, 3
        return 3, 4
    return 2, 3


def _score(source: Source, cell: str, at: int) -> float:
    if cell == "Infinity":
        return -math.inf
    cost = finite(cell)
    if cost is None:
        raise source.error(at, f"the cost {cell[:20]!r} is not a number")
    return -cost
