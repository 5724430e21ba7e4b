"""OpenFst's binary files, decoded without OpenFst, mean what OpenFst wrote."""

import struct

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.openfst_binary import parse_openfst_binary
from galloon.clients.formats.source import source_of_bytes

WORDS = ("<eps>", "call", "me", "ishmaël")


@st.composite
def automata(draw):
    """An acyclic automaton with a complete path, made by OpenFst."""
    count = draw(st.integers(2, 6))
    fst = pywrapfst.VectorFst(draw(st.sampled_from(["standard", "log", "log64"])))
    for _ in range(count):
        fst.add_state()
    fst.set_start(0)
    pairs = st.integers(0, count - 2).flatmap(lambda a: st.tuples(st.just(a), st.integers(a + 1, count - 1)))
    arcs = [(a, a + 1) for a in range(count - 1)] + draw(st.lists(pairs, max_size=6))
    cost = st.integers(-32, 64).map(lambda number: number / 8)
    for begin, end in sorted(arcs):
        label = draw(st.integers(0, 3))
        fst.add_arc(begin, pywrapfst.Arc(label, label, pywrapfst.Weight(fst.weight_type(), draw(cost)), end))
    fst.set_final(count - 1)
    if draw(st.booleans()):
        table = pynini.SymbolTable()
        for word in WORDS:
            table.add_symbol(word)
        fst.set_output_symbols(table)
    if draw(st.booleans()) and fst.arc_type() != "log64":
        fst = pywrapfst.convert(fst, "const")
    return fst


@settings(deadline=None, max_examples=100)
@given(automata())
def test_a_lattice_holds_the_arcs_that_openfst_wrote(fst):
    """Every state, arc, label and cost, for vector and const, with and without symbols."""
    lattice = parse_openfst_binary(source_of_bytes("a.fst", fst.write_to_string()))
    names = WORDS if fst.output_symbols() is not None else ("", "1", "2", "3")
    expected = sorted(
        (state, arc.nextstate, names[arc.olabel].replace("<eps>", ""), -float(arc.weight))
        for state in fst.states()
        for arc in fst.arcs(state)
    )
    rows = zip(
        lattice.sources.tolist(), lattice.targets.tolist(), lattice.words, lattice.log_scores, strict=True
    )
    assert sorted((a, b, word, float(score)) for a, b, word, score in rows) == expected
    assert lattice.state_count == len(list(fst.states()))


def plain() -> bytearray:
    fst = pywrapfst.VectorFst()
    fst.add_state()
    fst.add_state()
    fst.set_start(0)
    fst.add_arc(0, pywrapfst.Arc(1, 1, pywrapfst.Weight("tropical", 0.5), 1))
    fst.set_final(1)
    return bytearray(fst.write_to_string())


STATES_AT, ARC_AT = 4 + 10 + 12 + 8 + 8 + 8, 4 + 10 + 12 + 8 + 8 + 24 + 12


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        (0, struct.pack("<i", 7), "not a binary file"),
        (8, b"Vector", "type 'Vector'"),
        (26, struct.pack("<i", 9), "version 9"),
        (STATES_AT, struct.pack("<q", 3), "more was announced"),
        (STATES_AT, struct.pack("<q", 1 << 60), "lattice_states"),
        (STATES_AT, struct.pack("<q", -1), "empty"),
        (ARC_AT - 8, struct.pack("<q", 1 << 18), "more was announced"),
        (ARC_AT - 8, struct.pack("<q", -1), "negative"),
        (ARC_AT + 8, struct.pack("<f", float("nan")), "not a number"),
        (ARC_AT + 12, struct.pack("<i", 9), "does not exist"),
        (ARC_AT + 12, struct.pack("<i", 0), "closes a cycle"),
    ],
)
def test_lying_headers_are_refused(at: int, value: bytes, what: str):
    """No count is believed before the bytes are there."""
    data = plain()
    data[at : at + len(value)] = value
    with pytest.raises(FormatError, match=what):
        parse_openfst_binary(source_of_bytes("a.fst", bytes(data)))


def test_an_infinite_cost_is_an_arc_that_is_not_there():
    """Left out, and said."""
    data = plain()
    data[ARC_AT + 8 : ARC_AT + 12] = struct.pack("<f", np.inf)
    source = source_of_bytes("a.fst", bytes(data))
    with pytest.raises(FormatError, match="no path"):
        parse_openfst_binary(source)
    assert "infinite cost" in str(source.notebook.notes()[0])
