"""A' as the paper builds it: A composed with the transducer of the rewrite rules, by OpenFst.

`literal_context` composes, projects, removes epsilons and minimises; the reference for the direct
construction, which is hundreds of times faster. Its transitions carry one context symbol each, so that for
gappy and mixed-length patterns a path of A' is longer than its path of A (10 symbols for 5 transitions in the
paper's example); the direct A' carries the sum of the symbols that are written together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pynini
import pywrapfst

from galloon.learners.automata.expert import ExpertAutomaton, ExplicitAutomaton
from galloon.learners.automata.rewriting import (
    ARC_BUDGET,
    ContextSymbol,
    RewriteRules,
    RewriteTransducer,
    rewrite_transducer,
)
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.protocol import IntArray


@dataclass(frozen=True)
class LiteralContext:
    """A' as an OpenFst acceptor over the context symbols of T_A. Paths without any symbol are one in it."""

    expert: ExplicitAutomaton
    transducer: RewriteTransducer
    machine: pynini.Fst

    @property
    def state_count(self) -> int:
        return int(self.machine.num_states())

    @property
    def transition_count(self) -> int:
        return sum(int(self.machine.num_arcs(state)) for state in self.machine.states())

    def context_symbols(self, path: Sequence[int] | IntArray) -> tuple[ContextSymbol, ...]:
        """The path of A' for a path of A, as its symbols; refused if A' does not accept it."""
        symbols = self.transducer.context_symbols(path)
        if not self.accepts(symbols):
            raise InvalidInput("this is not an accepting path of the automaton")
        return symbols

    def accepts(self, symbols: Sequence[ContextSymbol]) -> bool:
        """Whether these symbols are an accepting path of A'."""
        state = self.machine.start()
        for symbol in symbols:
            label = self.transducer.labels.get(symbol)
            onward = [arc.nextstate for arc in self.machine.arcs(state) if arc.ilabel == label]
            if not onward:
                return False
            state = onward[0]
        return self._is_final(state)

    def paths(self) -> Iterator[tuple[ContextSymbol, ...]]:
        """Every accepting path, as its symbols: for small automata."""
        stack: list[tuple[int, tuple[ContextSymbol, ...]]] = [(self.machine.start(), ())]
        while stack:
            state, written = stack.pop()
            if self._is_final(state):
                yield written
            stack.extend(
                (arc.nextstate, (*written, self.transducer.symbols[arc.ilabel - 1]))
                for arc in self.machine.arcs(state)
            )

    def _is_final(self, state: int) -> bool:
        return bool(self.machine.final(state) != pywrapfst.Weight.zero(self.machine.weight_type()))


def literal_context(expert: ExpertAutomaton, rules: RewriteRules, budget: int = ARC_BUDGET) -> LiteralContext:
    """A' = minimised, epsilon-free projection of A o T_A."""
    explicit = expert.explicit()
    transducer = rewrite_transducer(explicit, rules, budget=budget)
    return LiteralContext(explicit, transducer, compose_and_minimise(acceptor(explicit), transducer.machine))


def acceptor(expert: ExplicitAutomaton) -> pynini.Fst:
    """A as an OpenFst acceptor; label e + 1 is transition e."""
    machine = pynini.Fst()
    machine.add_states(expert.state_count)
    machine.set_start(expert.initial)
    for state in expert.finals:
        machine.set_final(state)
    one = pywrapfst.Weight.one(machine.weight_type())
    for edge in range(expert.edge_count):
        arc = pywrapfst.Arc(edge + 1, edge + 1, one, int(expert.targets[edge]))
        machine.add_arc(int(expert.sources[edge]), arc)
    return machine


def compose_and_minimise(expert: pynini.Fst, transducer: pynini.Fst) -> pynini.Fst:
    """The operations of the construction alone: composition, projection, epsilon removal, minimisation.

    What T_A remembers says where in A a path is, so that the composition is no larger than T_A, whose size was
    checked; no later step makes it larger.

    Every symbol names its last transition of A, and before the first symbol is written too few transitions
    were read for two to be possible: what epsilon removal leaves is deterministic, no determinisation needed.
    """
    composed = pynini.compose(expert, transducer)
    machine: pynini.Fst = composed.project("output").rmepsilon().minimize()
    return machine
