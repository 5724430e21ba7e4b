"""OpenFst's binary files (types vector and const, arcs standard, log and log64): `read_openfst_binary`.

The bytes are decoded here, not by OpenFst: a file from elsewhere says how much memory to reserve and which
code to load, and OpenFst believes it, while a client need not have OpenFst at all. Each count is checked
against the bytes that are left before anything is reserved. In errors the line is the arc's number. Tests
compare with what OpenFst itself wrote.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.symbols import symbols_for, word_of
from galloon.clients.formats.word_graph import Arcs, best_path, build_lattice
from galloon.learners.observation import ExpertOutput, Lattice

NAME = "openfst"
FST_MAGIC = 2125659606
SYMBOLS_MAGIC = 2125658996
_HAS_INPUT_SYMBOLS, _HAS_OUTPUT_SYMBOLS, _IS_ALIGNED = 1, 2, 4
_ALIGNMENT = 16
_LONGEST_NAME = 256
_WEIGHTS = {"standard": "<f4", "log": "<f4", "log64": "<f8"}
_ADVICE = "convert it with `fstconvert --fst_type=vector` and standard arcs"


def sniff_openfst_binary(sample: Sample) -> bool:
    return sample.data[:4] == struct.pack("<i", FST_MAGIC)


def read_openfst_binary(source: Source) -> ReadResult:
    """The lattice of a file, and the best path through it as the 1-best."""
    lattice = parse_openfst_binary(source)
    lines = Lines(source)
    lines.add(source.stem, ExpertOutput(source.stem, best_path(lattice), lattice=lattice))
    return lines.result(NAME)


def parse_openfst_binary(source: Source) -> Lattice:
    """The lattice; words are the output labels, costs become log scores."""
    cursor = _Cursor(source)
    if cursor.number("<i") != FST_MAGIC:
        raise source.error(None, "not a binary file of OpenFst")
    kind, arc_kind = cursor.string(_LONGEST_NAME), cursor.string(_LONGEST_NAME)
    version, flags = cursor.number("<i"), cursor.number("<i")
    cursor.number("<Q")  # properties: claims about the automaton that are not believed
    start, state_count, arc_count = (cursor.number("<q") for _ in range(3))
    if kind not in {"vector", "const"} or arc_kind not in _WEIGHTS:
        raise source.error(
            None, f"an FST of type {kind[:40]!r} with {arc_kind[:40]!r} arcs is not read", _ADVICE
        )
    if (kind, version) not in {("vector", 2), ("const", 1), ("const", 2)}:
        raise source.error(None, f"version {version} of type {kind} is not known", _ADVICE)
    source.check("lattice_states", state_count)
    source.check("lattice_arcs", arc_count)
    tables = [
        cursor.symbols() if flags & flag else None for flag in (_HAS_INPUT_SYMBOLS, _HAS_OUTPUT_SYMBOLS)
    ]
    if start < 0 or state_count < 1:
        raise source.error(None, "the automaton is empty: it has no initial state")
    weight = np.dtype(_WEIGHTS[arc_kind])
    if kind == "vector":
        graph = _vector(cursor, state_count, weight)
    else:
        aligned = version == 1 or bool(flags & _IS_ALIGNED)
        graph = _const(cursor, state_count, arc_count, weight, aligned=aligned)
    return _lattice(source, graph, start, tables[1])


@dataclass(frozen=True, slots=True)
class _Graph:
    final_costs: NDArray[np.float64]
    sources: NDArray[np.int64]
    arcs: NDArray[np.void]  # fields input, output, cost, target


def _arc_type(weight: "np.dtype[np.floating]") -> "np.dtype[np.void]":
    # C++ lays a double on a multiple of eight, and const FSTs are its memory; vector FSTs are written packed,
    # and for these two layouts that is the same.
    return np.dtype([("input", "<i4"), ("output", "<i4"), ("cost", weight), ("target", "<i4")])


def _vector(cursor: "_Cursor", state_count: int, weight: "np.dtype[np.floating]") -> _Graph:
    arc_type = _arc_type(weight)
    final_costs, out_degrees, blocks = [], [], []
    total = 0
    for _ in range(state_count):
        final_costs.append(cursor.number("<f" if weight.itemsize == 4 else "<d"))
        degree = cursor.number("<q")
        total += max(degree, 0)
        cursor.source.check("lattice_arcs", total)
        blocks.append(cursor.array(arc_type, degree))
        out_degrees.append(degree)
    arcs = np.concatenate(blocks)
    sources = np.repeat(np.arange(state_count), out_degrees)
    return _Graph(np.array(final_costs, dtype=np.float64), sources, arcs)


def _const(
    cursor: "_Cursor", state_count: int, arc_count: int, weight: "np.dtype[np.floating]", *, aligned: bool
) -> _Graph:
    if weight.itemsize != 4:
        raise cursor.source.error(None, "const FSTs with log64 arcs are not read", _ADVICE)
    state_type = np.dtype(
        [("final", weight), ("first", "<u4"), ("arcs", "<u4"), ("in", "<u4"), ("out", "<u4")]
    )
    if aligned:
        cursor.align(_ALIGNMENT)
    states = cursor.array(state_type, state_count)
    if aligned:
        cursor.align(_ALIGNMENT)
    arcs = cursor.array(_arc_type(weight), arc_count)
    degrees = states["arcs"].astype(np.int64)
    if degrees.sum() != arc_count or (np.cumsum(degrees) - degrees != states["first"])[degrees > 0].any():
        raise cursor.source.error(None, "the states' arcs do not add up: the file is damaged")
    return _Graph(_doubles(states["final"]), np.repeat(np.arange(state_count), degrees), arcs)


def _doubles(column: NDArray[Any]) -> NDArray[np.float64]:
    # Widening a signalling NaN warns; all NaNs are refused with a sentence of ours.
    with np.errstate(invalid="ignore"):
        return np.asarray(column, dtype=np.float64)


def _lattice(source: Source, graph: _Graph, start: int, table: Mapping[str, str] | None) -> Lattice:
    if np.isnan(graph.final_costs).any() or np.isnan(graph.arcs["cost"]).any():
        raise source.error(None, "a cost is not a number")
    finite_arcs = graph.arcs["cost"] != np.inf
    if not finite_arcs.all():
        source.note("arc of infinite cost left out")
    arcs, sources = graph.arcs[finite_arcs], graph.sources[finite_arcs]
    labels = [str(label) for label in arcs["output"].tolist()]
    if table is None:
        symbols = symbols_for(source, labels)
        words = [word_of(label, symbols, source, 0) for label in labels]
    else:
        unknown = {label for label in labels if label not in table}
        if unknown - {"0"}:
            raise source.error(None, f"the label {min(unknown)} is not in the file's symbol table")
        words = [word_of(table.get(label, ""), None, source, 0) for label in labels]
    finals = {state: -cost for state, cost in enumerate(graph.final_costs.tolist()) if cost != math.inf}
    columns = Arcs(
        sources.tolist(),
        arcs["target"].tolist(),
        ["_".join(word.split()) for word in words],
        -_doubles(arcs["cost"]),
        range(1, len(words) + 1),
    )
    return build_lattice(source, len(graph.final_costs), start, finals, columns)


class _Cursor:
    """A place in the bytes; asking for more than is left is an error, whatever the file says."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._at = 0

    def number(self, layout: str) -> int:
        size = struct.calcsize(layout)
        return struct.unpack(layout, self._take(size))[0]  # type: ignore[no-any-return]  # as the layout says

    def string(self, longest: int) -> str:
        length = self.number("<i")
        if not 0 <= length <= longest:
            raise self.source.error(
                None, f"a string of {length:,} bytes where at most {longest:,} make sense"
            )
        return self._take(length).decode("utf-8", "replace")

    def array(self, kind: "np.dtype[np.void]", count: int) -> NDArray[np.void]:
        if count < 0:
            raise self.source.error(None, f"a count of {count:,} where none can be negative")
        return np.frombuffer(self._take(count * kind.itemsize), dtype=kind)

    def align(self, size: int) -> None:
        self._take(-self._at % size)

    def symbols(self) -> dict[str, str]:
        if self.number("<i") != SYMBOLS_MAGIC:
            raise self.source.error(None, "the symbol table is damaged")
        self.string(1 << 16)
        self.number("<q")  # the next free key
        size = self.number("<q")
        if not 0 <= size <= len(self.source.data) // 12:  # each takes twelve bytes at least
            raise self.source.error(None, f"a symbol table of {size:,} entries is more than the file holds")
        longest = self.source.limits.word_characters
        table = {}
        for _ in range(size):
            symbol = self.string(4 * longest)
            table[str(self.number("<q"))] = symbol
        return table

    def _take(self, size: int) -> bytes:
        data = self.source.data
        if size > len(data) - self._at:
            raise self.source.error(
                None, f"the file ends at byte {len(data):,}, more was announced", "is it cut off?"
            )
        taken = data[self._at : self._at + size]
        self._at += size
        return taken
