"""Whether the two constructions of A' agree: the paper's, by OpenFst's composition, and the direct one.

`build_both` builds A' both ways and compares. The transitions of the direct A' carry windows of A's transitions;
`written_by` writes each window out as the context symbols that T_A writes for it. Both automata are then acceptors
over the same symbols. Determinised and minimised they are isomorphic exactly if they accept the same sequences.
"""

from dataclasses import dataclass

import pynini
import pywrapfst

from galloon.learners.automata.context import ContextAutomaton, check_budget
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.literal import LiteralContext, literal_context
from galloon.learners.automata.rewriting import ARC_BUDGET, RewriteRules, RewriteTransducer
from galloon.learners.errors import InvalidInput
from galloon.learners.gains.count_gain import CountGain
from galloon.learners.gains.gain import Gain
from galloon.learners.gains.slot_match import SlotMatch


@dataclass(frozen=True)
class BothWays:
    """A' by both constructions. `difference` is what one of them accepts and the other does not; None if equal."""

    literal: LiteralContext
    direct: ContextAutomaton
    written: pynini.Fst  # the direct A' over context symbols, minimised
    difference: tuple[str, ...] | None

    @property
    def agree(self) -> bool:
        return bool(pynini.isomorphic(self.literal.machine, self.written))


def rules_of(gain: Gain) -> RewriteRules:
    """The rewrite rules for what this gain looks at."""
    if isinstance(gain, CountGain):
        return RewriteRules(gain.lengths, gain.max_gap)
    if isinstance(gain, SlotMatch):
        return RewriteRules((1,))
    raise InvalidInput(
        f"a gain of class {type(gain).__name__} has no rewrite rules",
        advice="choose one that counts patterns",
    )


def build_both(expert: ExpertAutomaton, gain: Gain, budget: int = ARC_BUDGET) -> BothWays:
    """A' for this gain, built literally and directly, and compared."""
    literal = literal_context(expert, rules_of(gain), budget)
    direct = context_automaton(expert, gain.reach, budget)
    written = written_by(direct, literal.transducer, budget)
    return BothWays(literal, direct, written, find_difference(literal, written))


def written_by(
    context: ContextAutomaton, transducer: RewriteTransducer, budget: int = ARC_BUDGET
) -> pynini.Fst:
    """The direct A' as an acceptor of context symbols, deterministic and minimal.

    A transition with a window becomes a chain of arcs, one for each symbol that T_A writes when it reads the last
    transition of the window; where T_A writes nothing, it becomes an epsilon. An unknown symbol gets a new label.
    """
    rules, labels = transducer.rules, dict(transducer.labels)
    windows = [context.window(edge) for edge in range(context.transition_count)]
    check_budget(sum(max(1, rules.written_count(len(window))) for window in windows), budget)
    machine = pynini.Fst()
    machine.add_states(context.state_count)
    machine.set_start(0)
    machine.set_final(context.state_count - 1)
    one = pywrapfst.Weight.one(machine.weight_type())
    sources, targets = context.source_targets()
    for edge, window in enumerate(windows):
        symbols = rules.written(window) if window else ()
        chain = [labels.setdefault(symbol, len(labels) + 1) for symbol in symbols] or [0]
        state = int(sources[edge])
        for label in chain[:-1]:
            between = machine.add_state()
            machine.add_arc(state, pywrapfst.Arc(label, label, one, between))
            state = between
        machine.add_arc(state, pywrapfst.Arc(chain[-1], chain[-1], one, int(targets[edge])))
    minimal: pynini.Fst = pynini.determinize(machine.rmepsilon()).minimize()
    return minimal


def find_difference(literal: LiteralContext, written: pynini.Fst) -> tuple[str, ...] | None:
    """The symbols of one path that only one of the two accepts."""
    transducer = literal.transducer
    for one, other in ((literal.machine, written), (written, literal.machine)):
        left = pynini.difference(one, other.copy().arcsort("ilabel"))
        if left.start() != pywrapfst.NO_STATE_ID:
            path = pynini.shortestpath(left)
            state, labels = path.start(), []
            while path.num_arcs(state):
                arc = next(iter(path.arcs(state)))
                labels.append(arc.ilabel)
                state = arc.nextstate
            known = len(transducer.symbols)
            return tuple(
                transducer.symbol_name(transducer.symbols[label - 1]) if label <= known else "unknown symbol"
                for label in labels
                if label
            )
    return None
