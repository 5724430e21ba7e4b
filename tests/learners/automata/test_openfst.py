"""Expert automata travel as pynini objects, OpenFst text and OpenFst binary files."""

import json
import subprocess
import sys

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given, settings

from galloon.learners.automata.att_text import read_text, write_symbols, write_text
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.automata.openfst import from_pynini, read_binary, to_pynini
from galloon.learners.automata.untrusted import CHILD, read_untrusted
from galloon.learners.errors import BudgetExceeded, InvalidInput, LearnerError
from tests.learners.automata.strategies import edges, explicit_automata


def write_binary(expert):
    return to_pynini(expert).write_to_string()


def same(a, b):
    """Equal up to the order of transitions."""
    return (a.state_count, a.initial, sorted(a.finals)) == (
        b.state_count,
        b.initial,
        sorted(b.finals),
    ) and sorted(zip(a.sources.tolist(), a.targets.tolist(), a.names, strict=True)) == sorted(
        zip(b.sources.tolist(), b.targets.tolist(), b.names, strict=True)
    )


@settings(deadline=None, max_examples=60)
@given(explicit_automata())
def test_every_format_gives_back_what_it_was_given(automaton):
    assert same(read_text(write_text(automaton)), automaton)
    assert same(read_text(write_text(automaton), write_symbols(automaton)), automaton)
    assert same(from_pynini(to_pynini(automaton)), automaton)
    assert same(read_binary(write_binary(automaton)), automaton)


@settings(deadline=None, max_examples=30)
@given(explicit_automata())
def test_openfst_reads_our_text_and_we_read_its(automaton):
    table = pywrapfst.SymbolTable()
    for line in write_symbols(automaton).splitlines():
        name, number = line.split()
        table.add_symbol(name, int(number))
    compiler = pywrapfst.Compiler(
        isymbols=table, osymbols=table, acceptor=True, keep_isymbols=True, keep_osymbols=True
    )
    compiler.write(write_text(automaton))
    machine = pynini.Fst.from_pywrapfst(compiler.compile())

    # OpenFst numbers states in the order of their appearance: the paths are what must be equal.
    def named(a):
        return {tuple(a.names[e] for e in path) for path in a.paths()}

    assert named(from_pynini(machine)) == named(automaton)
    assert named(read_text(machine.print(acceptor=True))) == named(automaton)
    assert named(read_text(machine.print(show_weight_one=True))) == named(automaton)


def test_ensembles_can_be_written_too():
    assert same(read_binary(write_binary(Ensemble(2, 3))), Ensemble(2, 3).explicit())
    assert write_text(Ensemble(2, 1)) == "0\t1\th1,1\n0\t1\th2,1\n1\n"


def test_numbers_stand_for_names_where_there_is_a_symbol_table():
    assert read_text("0 1 1\n1 2 2\n2", "<eps> 0\nx 1\ny 2").names == ("x", "y")


def test_the_initial_state_is_that_of_the_first_line():
    automaton = ExplicitAutomaton(2, 1, (0, 1), edges(1), edges(0), ("a",))
    assert read_text(write_text(automaton)).initial == 1
    lone = ExplicitAutomaton(1, 0, (0,), edges(), edges(), ())
    assert same(read_text(write_text(lone)), lone)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n  \n", "is empty"),
        ("0 1 a\n", "no state is final"),
        ("0 1 a\n1 Infinity\n", "no state is final"),
        ("0 x a\n1", "line 1: 'x' is not the number of a state"),
        ("0 1 a\n-1", "line 2: '-1' is not the number of a state"),
        ("0 1 a\n1 0.5", "line 2: the weight 0.5 would be lost"),
        ("0 1 a 0.5\n1", "line 1: the weight 0.5 would be lost"),
        ("0 1 a a 2\n1", "line 1: the weight 2 would be lost"),
        ("0 1 a b\n1", "line 1: reads 'a' and writes 'b'"),
        ("0 1 a a 0 7\n1", "line 1: too many fields"),
        ("0 1 a a x\n1", "line 1: 'x' is not a weight"),
        ("0 1 <eps>\n1", "line 1: '<eps>' is an epsilon"),
        ("0 1 0\n1", "line 1: '0' is an epsilon"),
        ("0 1 a\n0 1 a\n1", "'a' stands on two transitions"),
        ("0 1 a\n1 0 b\n1", "cycle"),
        ("0 1 a\n2 1 b\n1", "state 2 cannot be reached"),
        ("0 1 a\n0 2 b\n1", "from state 2; remove"),
        ("0 1 a\n0 7 b\n1\n7", "state 2 does not occur"),
        ("0 1 a\n0 999999999999 b\n1", "'999999999999' is not the number of a state"),
    ],
)
def test_text_that_is_wrong_is_refused_with_its_line(text, message):
    with pytest.raises(InvalidInput, match=message):
        read_text(text)


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("a", "symbol table, line 1"),
        ("a x", "symbol table, line 1"),
        ("a 1\nb 1", "symbol table, line 2: the number 1 was given before"),
        ("b 1", "the label 'a' is not in the symbol table"),
    ],
)
def test_a_symbol_table_that_is_wrong_is_refused(symbols, message):
    with pytest.raises(InvalidInput, match=message):
        read_text("0 1 a\n1", symbols)


def test_weights_can_be_ignored():
    assert read_text("0 1 a 0.5\n1 0.25", ignore_weights=True).names == ("a",)
    machine = to_pynini(Ensemble(1, 1))
    machine.set_final(1, 2.0)
    with pytest.raises(InvalidInput, match="the final state 1 has a weight"):
        from_pynini(machine)
    assert from_pynini(machine, ignore_weights=True).path_count == 1


def test_names_that_text_cannot_hold_are_refused():
    for name in ("New York", "0", "<eps>"):
        with pytest.raises(InvalidInput, match="cannot stand in a text"):
            write_text(ExplicitAutomaton(2, 0, (1,), edges(0), edges(1), (name,)))
    with pytest.raises(InvalidInput, match="means epsilon"):
        to_pynini(ExplicitAutomaton(2, 0, (1,), edges(0), edges(1), ("<eps>",)))


def machine_of(*arcs, states=2, final=1):
    machine = pynini.Fst()
    machine.add_states(states)
    machine.set_start(0)
    machine.set_final(final)
    for source, read, written, weight, target in arcs:
        machine.add_arc(source, pywrapfst.Arc(read, written, weight, target))
    return machine


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (pynini.Fst(), "is empty"),
        (machine_of((0, 1, 1, 0, 1), (1, 2, 2, 0, 0)), "cycle"),
        (machine_of((0, 1, 1, 0, 1), states=3), "state 2 cannot be reached"),
        (machine_of((0, 1, 1, 0, 1), (0, 2, 2, 0, 2), states=3), "from state 2; remove"),
        (machine_of((0, 1, 1, 0, 1), (0, 1, 1, 0, 1)), "'1' stands on two transitions"),
        (machine_of((0, 0, 0, 0, 1)), "the transition from state 0 to 1 is an epsilon"),
        (machine_of((0, 1, 2, 0, 1)), "from state 0 to 1 reads label 1 and writes label 2"),
        (machine_of((0, 1, 1, 0.5, 1)), "from state 0 to 1 has a weight"),
    ],
)
def test_a_machine_that_is_no_expert_automaton_is_refused_with_its_place(machine, message):
    with pytest.raises(InvalidInput, match=message):
        from_pynini(machine)


def test_labels_without_a_symbol_are_refused():
    machine = machine_of((0, 1, 1, 0, 1))
    machine.set_input_symbols(pywrapfst.SymbolTable())
    with pytest.raises(InvalidInput, match="not in the machine's symbol table"):
        from_pynini(machine)
    assert from_pynini(machine_of((0, 7, 7, 0, 1))).names == ("7",)


def test_limits_are_checked_first():
    data = write_binary(Ensemble(3, 5))
    for limits, name in [
        (AutomatonLimits(bytes=10), "bytes"),
        (AutomatonLimits(states=5), "states"),
        (AutomatonLimits(arcs=14), "transitions"),
    ]:
        with pytest.raises(BudgetExceeded, match=name):
            read_binary(data, limits=limits)
        with pytest.raises(BudgetExceeded, match=name):
            read_text(write_text(Ensemble(3, 5)), limits=limits)
        with pytest.raises(BudgetExceeded, match=name):
            read_untrusted(data, limits)


def test_strangers_data_is_read_in_a_child():
    assert same(read_untrusted(write_binary(Ensemble(2, 4))), Ensemble(2, 4).explicit())
    with pytest.raises(InvalidInput, match="stands on two transitions"):
        read_untrusted(machine_of((0, 1, 1, 0, 1), (0, 1, 1, 0, 1)).write_to_string())
    weighted = machine_of((0, 1, 1, 0.5, 1)).write_to_string()
    assert read_untrusted(weighted, ignore_weights=True).names == ("1",)


def test_damaged_data_never_gets_further_than_an_error():
    """OpenFst aborts the process on some of these; the child dies, the caller gets a sentence."""
    data = write_binary(Ensemble(2, 3))
    generator = np.random.default_rng(4)
    damaged = [b"", b"hello", data[:100], data[:-5]]
    for _ in range(10):
        copy = bytearray(data)
        for place in generator.integers(0, len(data), 3):
            copy[place] = generator.integers(256)
        damaged.append(bytes(copy))
    # The header's number of states as the largest there is: the reader allocates what it says.
    offset = data.index(b"standard") + len(b"standard") + 4 + 4 + 8 + 8
    damaged.append(data[:offset] + b"\xff" * 7 + b"\x0f" + data[offset + 8 :])
    for copy in damaged:
        try:
            assert isinstance(read_untrusted(copy), ExplicitAutomaton)  # the damage may be harmless
        except LearnerError as error:
            assert str(error)  # noqa: PT017  # any other exception fails the test


def test_a_child_that_takes_too_long_is_ended():
    with pytest.raises(BudgetExceeded, match="seconds to read the automaton"):
        read_untrusted(write_binary(Ensemble(1, 1)), AutomatonLimits(seconds=0.001))


def test_the_child_answers_in_json():
    request = {
        "bytes": 10**6,
        "states": 9,
        "arcs": 9,
        "seconds": 10,
        "memory_bytes": 2 << 30,
        "ignore_weights": False,
    }
    child = subprocess.run(
        [sys.executable, "-m", CHILD, json.dumps(request)],
        input=write_binary(Ensemble(1, 2)),
        capture_output=True,
        check=True,
    )
    assert json.loads(child.stdout)["names"] == ["h1,1", "h1,2"]
