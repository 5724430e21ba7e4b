"""Expert automata as OpenFst machines: pynini objects and OpenFst's binary files.

`from_pynini` and `to_pynini`, and `read_binary`, for data that is trusted: OpenFst can crash
on malicious bytes, or spend minutes on them. `untrusted.read_untrusted` does the same in a child process.
The names of transitions are the input symbols, or the labels' numbers where there is no symbol table.
"""

import numpy as np
import pynini
import pywrapfst

from galloon.learners.automata.expert import ExpertAutomaton, ExplicitAutomaton
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.automata.literal import acceptor
from galloon.learners.errors import InvalidInput


def from_pynini(
    machine: pynini.Fst, *, ignore_weights: bool = False, limits: AutomatonLimits | None = None
) -> ExplicitAutomaton:
    """The expert automaton of an acyclic, unweighted, epsilon-free acceptor with a label for each arc."""
    limits = limits or AutomatonLimits()
    limits.check_states(machine.num_states())
    limits.check_arcs(sum(machine.num_arcs(state) for state in machine.states()))
    if machine.start() == pywrapfst.NO_STATE_ID:
        raise InvalidInput("the automaton is empty: it has no initial state")
    zero = pywrapfst.Weight.zero(machine.weight_type())
    one = pywrapfst.Weight.one(machine.weight_type())
    table = machine.input_symbols()
    sources: list[int] = []
    targets: list[int] = []
    names: list[str] = []
    finals: list[int] = []
    for state in machine.states():
        final = machine.final(state)
        if final != zero:
            _check_weight(final == one or ignore_weights, f"the final state {state}")
            finals.append(state)
        for arc in machine.arcs(state):
            where = f"the transition from state {state} to {arc.nextstate}"
            _check_weight(arc.weight == one or ignore_weights, where)
            sources.append(state)
            targets.append(arc.nextstate)
            names.append(_name(arc.ilabel, arc.olabel, table, where))
    return ExplicitAutomaton(
        machine.num_states(),
        machine.start(),
        tuple(finals),
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        tuple(names),
    )


def to_pynini(expert: ExpertAutomaton) -> pynini.Fst:
    """The automaton as an acceptor with its names as symbols; transition e has the label e + 1."""
    automaton = expert.explicit()
    machine = acceptor(automaton)
    table = pywrapfst.SymbolTable()
    table.add_symbol("<eps>", 0)
    for label, name in enumerate(automaton.names, start=1):
        if table.add_symbol(name, label) != label:
            raise InvalidInput(f"the name {name!r} means epsilon in OpenFst", advice="rename that transition")
    named: pynini.Fst = machine.set_input_symbols(table).set_output_symbols(table)
    return named


def read_binary(
    data: bytes, *, ignore_weights: bool = False, limits: AutomatonLimits | None = None
) -> ExplicitAutomaton:
    """The automaton of an OpenFst binary file that is trusted."""
    limits = limits or AutomatonLimits()
    limits.check_bytes(len(data))
    try:
        machine = pynini.Fst.read_from_string(data)
    except (pywrapfst.FstIOError, pywrapfst.FstBadWeightError, pywrapfst.FstArgError) as error:
        raise InvalidInput("these bytes are not a whole OpenFst binary file") from error
    return from_pynini(machine, ignore_weights=ignore_weights, limits=limits)


def _check_weight(allowed: bool, where: str) -> None:
    if not allowed:
        raise InvalidInput(
            f"{where} has a weight, which would be lost, for path experts carry no weights; "
            "remove it or ask to ignore weights"
        )


def _name(read: int, written: int, table: pywrapfst.SymbolTableView | None, where: str) -> str:
    if read != written:
        raise InvalidInput(
            f"{where} reads label {read} and writes label {written}; a transition of an expert automaton "
            "has one name"
        )
    if read == 0:
        raise InvalidInput(f"{where} is an epsilon; every transition needs a name (remove epsilons first)")
    if table is None:
        return str(read)
    try:
        name: str = table.find(read)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{where} has label {read}, whose name in the symbol table is not UTF-8"
        ) from error
    if not name:
        raise InvalidInput(f"{where} has label {read}, which is not in the machine's symbol table")
    return name
