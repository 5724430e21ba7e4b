"""The expert automaton A: its accepting paths are the path experts.

`Ensemble` is r experts times l slots, every combination a path; transition `slot * experts + expert` has a
name like `h2,5`. `ExplicitAutomaton` is any acyclic automaton with named transitions. Both know their
transitions, count and list their paths, and check on construction that they are what they say. A `Graph` of named
transitions may have cycles: `unrolled.unroll` makes an expert automaton of its paths up to a length.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.paths.protocol import IntArray

PATH_LISTING_LIMIT = 1_000_000


@dataclass(frozen=True)
class Ensemble:
    """All interleavings of `experts` structured experts with `slots` substructures each (appendix A)."""

    experts: int
    slots: int

    def __post_init__(self) -> None:
        if self.experts < 1 or self.slots < 1:
            raise InvalidInput(
                f"an ensemble needs at least one expert and one slot, got {self.experts} x {self.slots}"
            )

    @property
    def state_count(self) -> int:
        return self.slots + 1

    @property
    def edge_count(self) -> int:
        return self.experts * self.slots

    @property
    def path_count(self) -> int:
        count: int = self.experts**self.slots
        return count

    @property
    def longest_path(self) -> int:
        return self.slots

    def edge_name(self, edge: int) -> str:
        slot, expert = divmod(edge, self.experts)
        return f"h{expert + 1},{slot + 1}"

    @cached_property
    def edge_slots(self) -> IntArray:
        """The slot of each transition."""
        return np.repeat(np.arange(self.slots, dtype=np.int32), self.experts)

    def explicit(self) -> "ExplicitAutomaton":
        """The same automaton written out."""
        slots = np.repeat(np.arange(self.slots, dtype=np.int32), self.experts)
        names = tuple(self.edge_name(edge) for edge in range(self.edge_count))
        return ExplicitAutomaton(self.slots + 1, 0, (self.slots,), slots, slots + np.int32(1), names)

    def paths(self, limit: int = PATH_LISTING_LIMIT) -> Iterator[tuple[int, ...]]:
        """Every accepting path, as transitions; refused beforehand when there are more than `limit`."""
        return self.explicit().paths(limit)


@dataclass(frozen=True, eq=False)
class Graph:
    """Named transitions between states, in any order and with any numbering of states; cycles are allowed."""

    state_count: int
    initial: int
    finals: tuple[int, ...]
    sources: IntArray
    targets: IntArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_names()

    @property
    def edge_count(self) -> int:
        return len(self.names)

    def edge_name(self, edge: int) -> str:
        return self.names[edge]

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """The transitions that leave each state, in their given order."""
        leaving: list[list[int]] = [[] for _ in range(self.state_count)]
        for edge, source in enumerate(self.sources.tolist()):
            leaving[source].append(edge)
        return tuple(tuple(edges) for edges in leaving)

    def is_final(self, state: int) -> bool:
        return state in self._final_set

    @cached_property
    def _final_set(self) -> frozenset[int]:
        return frozenset(self.finals)

    def _check_shape(self) -> None:
        if self.state_count < 1 or not self.finals:
            raise InvalidInput("the automaton is empty: it needs a state and at least one final state")
        if not len(self.sources) == len(self.targets) == len(self.names):
            raise InvalidInput("sources, targets and names of the transitions differ in length")
        used = [self.initial, *self.finals, *self.sources.tolist(), *self.targets.tolist()]
        wrong = [state for state in used if not 0 <= state < self.state_count]
        if wrong:
            raise InvalidInput(f"state {wrong[0]} does not exist: states are 0 to {self.state_count - 1}")

    def _check_names(self) -> None:
        first: dict[str, int] = {}
        for edge, name in enumerate(self.names):
            if not name:
                raise InvalidInput(
                    f"transition {edge} (state {self.sources[edge]} to {self.targets[edge]}) has no name"
                )
            other = first.setdefault(name, edge)
            if other != edge:
                raise InvalidInput(
                    f"the name {name!r} stands on two transitions (from states {self.sources[other]} and "
                    f"{self.sources[edge]}); each transition needs a name of its own"
                )


@dataclass(frozen=True, eq=False)
class ExplicitAutomaton(Graph):
    """An acyclic automaton given by its transitions."""

    def __post_init__(self) -> None:
        Graph.__post_init__(self)
        _ = self.order  # raises on a cycle
        self._check_connection()

    def explicit(self) -> "ExplicitAutomaton":
        return self

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The states in topological order, ties by number."""
        indegree = np.bincount(self.targets, minlength=self.state_count).tolist()
        ready = [state for state in range(self.state_count) if indegree[state] == 0]
        order: list[int] = []
        while ready:
            state = ready.pop()
            order.append(state)
            for edge in self.outgoing[state]:
                target = int(self.targets[edge])
                indegree[target] -= 1
                if indegree[target] == 0:
                    ready.append(target)
        if len(order) < self.state_count:
            inside = self._on_a_cycle({state for state in range(self.state_count) if indegree[state] > 0})
            raise InvalidInput(
                f"the automaton has a cycle through transition {self.names[inside]!r} "
                f"(state {self.sources[inside]} to {self.targets[inside]}); path experts need an acyclic one",
                advice="unroll it to paths of some length (galloon automaton --longest)",
            )
        return tuple(order)

    def _on_a_cycle(self, left: set[int]) -> int:
        """A transition on a cycle, given the states left when all without predecessors are taken away."""
        entering = {int(self.targets[e]): e for e in range(self.edge_count) if int(self.sources[e]) in left}
        state, seen = min(left), set[int]()
        while (
            state not in seen
        ):  # every state left over has a predecessor left over: backwards it must repeat
            seen.add(state)
            state = int(self.sources[entering[state]])
        return entering[state]

    @cached_property
    def path_count(self) -> int:
        """How many accepting paths there are, exactly."""
        return self.paths_from[self.initial]

    @cached_property
    def paths_from(self) -> tuple[int, ...]:
        """How many ways there are from each state to the end of an accepting path, exactly."""
        counts = [0] * self.state_count
        for state in reversed(self.order):
            onward = sum(counts[self.targets[edge]] for edge in self.outgoing[state])
            counts[state] = onward + (state in self._final_set)
        return tuple(counts)

    @cached_property
    def longest_path(self) -> int:
        """The number of transitions of the longest accepting path."""
        longest = [0] * self.state_count
        for state in reversed(self.order):
            longest[state] = max((1 + longest[self.targets[e]] for e in self.outgoing[state]), default=0)
        return longest[self.initial]

    @cached_property
    def edge_slots(self) -> IntArray:
        """The place of each transition along the paths through it, from 0; refused where paths disagree."""
        depth = {self.initial: 0}
        for state in self.order:
            for edge in self.outgoing[state]:
                target = int(self.targets[edge])
                if depth.setdefault(target, depth[state] + 1) != depth[state] + 1:
                    raise InvalidInput(
                        f"state {target} is reached after {depth[target]} and after {depth[state] + 1} "
                        f"transitions (by {self.names[edge]!r}): slots need ways of equal length to a state"
                    )
        return np.array([depth[source] for source in self.sources.tolist()], dtype=np.int32)

    def paths(self, limit: int = PATH_LISTING_LIMIT) -> Iterator[tuple[int, ...]]:
        """Every accepting path, as transitions; refused beforehand when there are more than `limit`."""
        if self.path_count > limit:
            raise BudgetExceeded("paths to list", self.path_count, limit, "use a smaller automaton")
        return self._walk()

    def _walk(self) -> Iterator[tuple[int, ...]]:
        ahead: list[tuple[int, tuple[int, ...]]] = [(self.initial, ())]
        while ahead:
            state, prefix = ahead.pop()
            if state in self._final_set:
                yield prefix
            ahead.extend(
                (int(self.targets[edge]), (*prefix, edge)) for edge in reversed(self.outgoing[state])
            )

    def _check_connection(self) -> None:
        reached = {self.initial}
        for state in self.order:
            if state in reached:
                reached.update(int(self.targets[edge]) for edge in self.outgoing[state])
        for state in range(self.state_count):
            if state not in reached:
                raise InvalidInput(f"state {state} cannot be reached from the initial state {self.initial}")
            if self.paths_from[state] == 0:
                raise InvalidInput(f"no final state can be reached from state {state}", advice="remove it")


ExpertAutomaton = Ensemble | ExplicitAutomaton
