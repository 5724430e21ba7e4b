"""Expert automata as AT&T text, the format of fstprint and fstcompile; read and written without OpenFst.

A line is `source target name [name] [weight]` for a transition or `state [weight]` for a final state; the
source of the first line is the initial state. A symbol table is a text of `name number` lines; with one, a
label may also be a number. `read_text`, `read_graph` (cycles allowed), `write_text`, `write_symbols`. Errors
name the line.
"""

from collections.abc import Mapping
from math import isinf

import numpy as np

from galloon.learners.automata.expert import ExpertAutomaton, ExplicitAutomaton, Graph
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.errors import InvalidInput

EPSILONS = frozenset({"<eps>", "<epsilon>", "ε", "0"})


def read_text(
    text: str,
    symbols: str | None = None,
    *,
    ignore_weights: bool = False,
    limits: AutomatonLimits | None = None,
) -> ExplicitAutomaton:
    """The automaton of a text. Weights are refused, for they would be lost, unless told to ignore them."""
    graph = read_graph(text, symbols, ignore_weights=ignore_weights, limits=limits)
    return ExplicitAutomaton(
        graph.state_count, graph.initial, graph.finals, graph.sources, graph.targets, graph.names
    )


def read_graph(
    text: str,
    symbols: str | None = None,
    *,
    ignore_weights: bool = False,
    limits: AutomatonLimits | None = None,
) -> Graph:
    """The same for a text whose transitions may form cycles."""
    limits = limits or AutomatonLimits()
    limits.check_bytes(len(text.encode()) + len((symbols or "").encode()))
    table = _read_symbols(symbols) if symbols is not None else None
    sources: list[int] = []
    targets: list[int] = []
    names: list[str] = []
    finals: list[int] = []
    initial: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        where = f"line {number}"
        state = _state(fields[0], where)
        initial = state if initial is None else initial
        if len(fields) <= 2:
            if len(fields) < 2 or _weight(fields[1], where, ignore_weights):
                finals.append(state)
            continue
        sources.append(state)
        targets.append(_state(fields[1], where))
        names.append(_name(fields[2:], where, table, ignore_weights))
        limits.check_arcs(len(names))
    if initial is None:
        raise InvalidInput("the automaton is empty: there is no line in it")
    if not finals:
        raise InvalidInput(
            "no state is final", advice="add a line with the number of a state at which paths may end"
        )
    count = _state_count({*sources, *targets, *finals})
    limits.check_states(count)
    return Graph(
        count,
        initial,
        tuple(dict.fromkeys(finals)),
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        tuple(names),
    )


def write_text(expert: ExpertAutomaton) -> str:
    """The automaton as text that `read_text` and fstcompile (with `write_symbols`) read."""
    automaton = expert.explicit()
    for name in automaton.names:
        if name.split() != [name] or name in EPSILONS:
            raise InvalidInput(
                f"the name {name!r} cannot stand in a text: it is an epsilon or has a space in it"
            )
    arcs = [
        f"{automaton.sources[edge]}\t{automaton.targets[edge]}\t{automaton.names[edge]}"
        for state in (automaton.initial, *(s for s in range(automaton.state_count) if s != automaton.initial))
        for edge in automaton.outgoing[state]
    ]
    # Where the initial state has no transition its own line must come first to say that it is the initial.
    finals = sorted(automaton.finals, key=lambda state: (state != automaton.initial, state))
    return "\n".join([*arcs, *map(str, finals)]) + "\n"


def write_symbols(expert: ExpertAutomaton) -> str:
    """The symbol table for `write_text`: transition e has the number e + 1."""
    automaton = expert.explicit()
    return (
        "\n".join(["<eps>\t0", *(f"{name}\t{edge}" for edge, name in enumerate(automaton.names, start=1))])
        + "\n"
    )


def _read_symbols(text: str) -> dict[str, str]:
    """From a label, which may be a number or a name, to the name. Epsilon is left out."""
    names: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not _is_number(fields[1]):
            raise InvalidInput(f"symbol table, line {number}: a line is a name and a number, got {line!r}")
        if fields[1] in names:
            raise InvalidInput(f"symbol table, line {number}: the number {fields[1]} was given before")
        names[fields[1]] = fields[0]
    names.pop("0", None)
    return names | {name: name for name in names.values()}


def _name(labels: list[str], where: str, table: Mapping[str, str] | None, ignore_weights: bool) -> str:
    label, *rest = labels
    if len(rest) > 2:
        raise InvalidInput(f"{where}: too many fields; a transition is `source target name [name] [weight]`")
    if rest and (len(rest) == 2 or rest[0] == label or not _is_float(rest[0])):
        output = rest.pop(0)
        if output != label:
            raise InvalidInput(
                f"{where}: reads {label!r} and writes {output!r}; "
                "a transition of an expert automaton has one name"
            )
    if rest:
        _weight(rest[0], where, ignore_weights)
    if label in EPSILONS:
        raise InvalidInput(
            f"{where}: {label!r} is an epsilon; every transition needs a name (remove epsilons first)"
        )
    if table is None:
        return label
    if label in table:
        return table[label]
    raise InvalidInput(f"{where}: the label {label!r} is not in the symbol table")


def _state(field: str, where: str) -> int:
    if not _is_number(field):
        raise InvalidInput(f"{where}: {field!r} is not the number of a state")
    return int(field)


def _is_number(field: str) -> bool:
    return field.isascii() and field.isdigit() and len(field) <= 9


def _is_float(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _weight(field: str, where: str, ignore_weights: bool) -> bool:
    """Whether a weight lets a path through; an infinite one does not. Weights other than 0 are refused."""
    if not _is_float(field):
        raise InvalidInput(f"{where}: {field!r} is not a weight")
    if isinf(float(field)):
        return False
    if float(field) != 0.0 and not ignore_weights:
        raise InvalidInput(
            f"{where}: the weight {field} would be lost, for path experts carry no weights; "
            "remove it or ask to ignore weights"
        )
    return True


def _state_count(used: set[int]) -> int:
    for state in range(len(used)):
        if state not in used:
            raise InvalidInput(f"states are numbered from 0 without holes; state {state} does not occur")
    return len(used)
