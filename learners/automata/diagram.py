"""What there is to draw of an automaton: numbered states, labelled arcs. No positions yet, and no format.

`expert_diagram` for A, with this round's tokens if given; `context_diagram` for A', `transducer_diagram` for
T_A, `literal_diagram` for the literal A'. `drawing` turns a diagram into DOT or SVG.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import BudgetExceeded, InvalidInput

if TYPE_CHECKING:  # OpenFst takes a while to load, and most diagrams need none of it
    import pynini

    from galloon.learners.automata.literal import LiteralContext
    from galloon.learners.automata.rewriting import RewriteTransducer

ARC_LIMIT = 500  # beyond this nobody can read a drawing
EMPTY = "ε"
NULL_SIGN = "∅"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True, slots=True)
class Arc:
    """One arrow; `strong` ones are drawn to stand out, as the chosen path."""

    source: int
    target: int
    label: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """States are numbered from 0 and labelled with their number."""

    title: str
    state_count: int
    initial: int
    finals: frozenset[int]
    arcs: tuple[Arc, ...]


def expert_diagram(
    expert: ExpertAutomaton, outputs: Sequence[str] | None = None, strong: Collection[int] = ()
) -> Diagram:
    """A, each transition with its name and, if given, its token; `strong` transitions stand out."""
    check_drawable(expert.edge_count)
    automaton = expert.explicit()
    if outputs is not None and len(outputs) != automaton.edge_count:
        raise InvalidInput(f"{len(outputs)} outputs were given for {automaton.edge_count} transitions")
    arcs = tuple(
        Arc(
            int(automaton.sources[edge]),
            int(automaton.targets[edge]),
            name if outputs is None else f"{name}:{outputs[edge] or NULL_SIGN}",
            edge in strong,
        )
        for edge, name in enumerate(automaton.names)
    )
    return Diagram(
        "expert automaton", automaton.state_count, automaton.initial, frozenset(automaton.finals), arcs
    )


def context_diagram(
    context: ContextAutomaton, outputs: Sequence[str] | None = None, strong: Collection[int] = ()
) -> Diagram:
    """The direct A', each transition with the names of its window, or with their tokens: out(A')."""
    check_drawable(context.transition_count)
    if not isinstance(context, EnsembleContext | GraphContext):
        raise InvalidInput(f"a {type(context).__name__} cannot be drawn")
    sources, targets = context.source_targets()
    arcs = []
    for edge in range(context.transition_count):
        window = context.window(edge)
        if outputs is None:
            label = "#" + "".join(context.expert.edge_name(e) for e in window)
        else:
            label = " ".join(outputs[e] or NULL_SIGN for e in window)
        arcs.append(Arc(int(sources[edge]), int(targets[edge]), label if window else EMPTY, edge in strong))
    last = context.state_count - 1
    return Diagram("context-dependent automaton", context.state_count, 0, frozenset({last}), tuple(arcs))


def transducer_diagram(transducer: "RewriteTransducer") -> Diagram:
    """T_A, each transition with what it reads and what it writes."""

    def label(read: int, written: int) -> str:
        reads = transducer.expert.edge_name(read - 1) if read else EMPTY
        return f"{reads}:{_written(transducer, written)}"

    return _machine_diagram("context-dependent transducer", transducer.machine, label)


def literal_diagram(context: "LiteralContext") -> Diagram:
    """The literal A', each transition with its context symbol."""
    return _machine_diagram(
        "context-dependent automaton", context.machine, lambda read, _: _written(context.transducer, read)
    )


def check_drawable(arcs: int) -> None:
    if arcs > ARC_LIMIT:
        raise BudgetExceeded(
            "transitions to draw", arcs, ARC_LIMIT, "draw a smaller automaton of the same kind"
        )


def _written(transducer: "RewriteTransducer", label: int) -> str:
    if not label:
        return EMPTY
    name = transducer.symbol_name(transducer.symbols[label - 1])
    body, _, gap = name.rpartition("_")
    return f"{body}{gap.translate(SUBSCRIPTS)}" if transducer.rules.max_gap else name


def _machine_diagram(title: str, machine: "pynini.Fst", label: Callable[[int, int], str]) -> Diagram:
    states = list(machine.states())
    check_drawable(sum(machine.num_arcs(state) for state in states))
    arcs = [
        Arc(state, arc.nextstate, label(arc.ilabel, arc.olabel))
        for state in states
        for arc in machine.arcs(state)
    ]
    finals = frozenset(state for state in states if str(machine.final(state)) != "Infinity")
    return Diagram(title, len(states), machine.start(), finals, tuple(arcs))
