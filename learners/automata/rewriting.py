"""The transducer T_A of the paper's rewrite rules: reads transitions of A, writes context symbols.

A `ContextSymbol` (#e1 e3)_k stands for transitions of A that a pattern of their number may match, k others
lying between them; it is written when its last transition is read. `rewrite_transducer` builds T_A for any
set of pattern lengths and a maximum gap: its states are the last transitions read, at most span - 1 of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import pynini
import pywrapfst

from galloon.learners.automata.expert import ExplicitAutomaton
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.paths.protocol import IntArray

ARC_BUDGET = 1_000_000  # a million arcs take OpenFst some seconds and some hundred megabytes
Memory = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContextSymbol:
    """Transitions of A that a pattern may match, in order, and how many were skipped in between."""

    edges: tuple[int, ...]
    gap: int


@dataclass(frozen=True, slots=True)
class RewriteRules:
    """Which context symbols there are: one for each pattern length and way to leave out up to `max_gap`."""

    lengths: tuple[int, ...]
    max_gap: int = 0

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 1 or self.max_gap < 0:
            raise InvalidInput(
                "rewrite rules need pattern lengths from 1 on and a gap from 0 on, "
                f"got {self.lengths} and {self.max_gap}"
            )

    @property
    def span(self) -> int:
        return max(length + (self.max_gap if length > 1 else 0) for length in self.lengths)

    def written_count(self, window: int) -> int:
        """How many symbols `written` gives for a window of this many transitions."""
        return sum(
            comb(gap + length - 2, gap) if length > 1 else int(gap == 0)
            for length in set(self.lengths)
            for gap in range(min(self.max_gap, window - length) + 1)
        )

    def written(self, window: Memory) -> Iterator[ContextSymbol]:
        """The symbols that are written when the window's last transition is read; plain ones first."""
        *before, last = window
        for length in sorted(set(self.lengths)):
            for gap in range(self.max_gap + 1):
                reach = length + gap
                if reach > len(window) or (length == 1 and gap > 0):
                    break
                if length == 1:
                    yield ContextSymbol((last,), 0)
                    continue
                inside = window[len(window) - reach + 1 : -1]
                for middle in combinations(inside, length - 2):
                    yield ContextSymbol((before[len(window) - reach], *middle, last), gap)


@dataclass(frozen=True)
class RewriteTransducer:
    """T_A. Input label e + 1 is transition e of A; output label i + 1 is `symbols[i]`."""

    expert: ExplicitAutomaton
    rules: RewriteRules
    machine: pynini.Fst
    symbols: tuple[ContextSymbol, ...]
    memories: tuple[Memory, ...]  # of the first states; those after them only write further symbols

    @cached_property
    def labels(self) -> dict[ContextSymbol, int]:
        return {symbol: label for label, symbol in enumerate(self.symbols, start=1)}

    def context_symbols(self, path: Sequence[int] | IntArray) -> tuple[ContextSymbol, ...]:
        """What T_A writes when it reads this path of A."""
        written: list[ContextSymbol] = []
        state = self.machine.start()
        for position, edge in enumerate(path):
            arc = next((arc for arc in self.machine.arcs(state) if arc.ilabel == int(edge) + 1), None)
            if arc is None:
                raise InvalidInput(f"transition {edge} at step {position + 1} does not continue a path of A")
            while True:
                if arc.olabel:
                    written.append(self.symbols[arc.olabel - 1])
                state = arc.nextstate
                if state < len(self.memories):
                    break
                arc = next(iter(self.machine.arcs(state)))
        return tuple(written)

    def symbol_name(self, symbol: ContextSymbol) -> str:
        """As the paper writes it: #e1e3, and (#e1e3)_2 where gaps are allowed."""
        glued = "#" + "".join(self.expert.edge_name(edge) for edge in symbol.edges)
        return f"({glued})_{symbol.gap}" if self.rules.max_gap else glued


def rewrite_transducer(
    expert: ExplicitAutomaton, rules: RewriteRules, *, complete: bool = False, budget: int = ARC_BUDGET
) -> RewriteTransducer:
    """T_A for the path segments of A.

    With `complete` it reads any sequence of transitions, as the paper says: where one does not continue the
    last it writes nothing and begins again. Composition with A never goes there: by default it is left out.
    """
    needed = arcs_needed(expert, rules, complete=complete)
    if needed > budget:
        raise BudgetExceeded(
            "arcs of T_A", needed, budget, "use fewer experts, shorter patterns or smaller gaps"
        )
    # A path never remembers more transitions than it has.
    memories = [
        m for length in range(min(rules.span, expert.longest_path + 1)) for m in segments(expert, length)
    ]
    number = {memory: state for state, memory in enumerate(memories)}
    machine = pynini.Fst()
    machine.add_states(len(memories))
    machine.set_start(number[()])
    labels: dict[ContextSymbol, int] = {}
    one = pywrapfst.Weight.one(machine.weight_type())
    for memory in memories:
        state = number[memory]
        machine.set_final(state)
        for edge in _continuations(expert, memory):
            window = (*memory, edge)
            written = [labels.setdefault(s, len(labels) + 1) for s in rules.written(window)] or [0]
            onward = number[window[1:] if len(window) == rules.span else window]
            source, read = state, edge + 1
            for label in written[:-1]:
                between = machine.add_state()
                machine.add_arc(source, pywrapfst.Arc(read, label, one, between))
                source, read = between, 0
            machine.add_arc(source, pywrapfst.Arc(read, written[-1], one, onward))
    if complete:
        _add_restarts(machine, expert, number)
    return RewriteTransducer(expert, rules, machine.arcsort("ilabel"), tuple(labels), tuple(memories))


def arcs_needed(expert: ExplicitAutomaton, rules: RewriteRules, *, complete: bool = False) -> int:
    """How many arcs T_A has, by counting path segments: cheap even when T_A would be huge."""
    walks = [1] * expert.state_count  # of the current length, from each state
    arcs, states = 0, 1
    for length in range(1, min(rules.span, expert.longest_path) + 1):
        walks = [sum(walks[expert.targets[e]] for e in leaving) for leaving in expert.outgoing]
        arcs += sum(walks) * max(1, rules.written_count(length))
        if length < rules.span:
            states += sum(walks)
    return arcs + (states * expert.edge_count if complete else 0)


def segments(expert: ExplicitAutomaton, length: int) -> Iterator[Memory]:
    """All path segments of A with this many transitions, wherever they begin."""
    found: list[Memory] = [()]
    for _ in range(length):
        found = [(*segment, edge) for segment in found for edge in _continuations(expert, segment)]
    yield from found


def _continuations(expert: ExplicitAutomaton, segment: Memory) -> Sequence[int]:
    return expert.outgoing[expert.targets[segment[-1]]] if segment else range(expert.edge_count)


def _add_restarts(machine: pynini.Fst, expert: ExplicitAutomaton, number: dict[Memory, int]) -> None:
    one = pywrapfst.Weight.one(machine.weight_type())
    for memory, state in number.items():
        if memory:
            continuing = set(_continuations(expert, memory))
            for edge in range(expert.edge_count):
                if edge not in continuing:
                    machine.add_arc(state, pywrapfst.Arc(edge + 1, 0, one, number.get((edge,), number[()])))
