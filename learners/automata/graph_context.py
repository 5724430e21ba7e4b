"""The A' of an explicit automaton, written out, and its padding to paths of equal length.

A state of A' is a state of A with the last transitions that led there. A path that may stop at a state with
ways onward takes a *stop* transition, which stands for nothing. An accepting path shorter than every
pattern gets a transition of its own, so that paths of A and A' stay one to one (the paper merges those).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import TRANSITION_BUDGET, IndexArray, Pushed, Reach, check_budget
from galloon.learners.automata.expert import ExplicitAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import graph
from galloon.learners.paths.protocol import FloatArray, IntArray

EXPLICIT_TRANSITION_BUDGET = min(2_000_000, TRANSITION_BUDGET)


@dataclass(frozen=True, slots=True)
class _Transition:
    source: object
    target: object
    window: tuple[int, ...]
    emits: int  # how many of the window's last transitions of A this one adds to the path


SINK = "sink"
START = "start"


class GraphContext:
    """The context-dependent automaton of an explicit automaton."""

    def __init__(
        self, expert: ExplicitAutomaton, reach: Reach, budget: int = EXPLICIT_TRANSITION_BUDGET
    ) -> None:
        # Nothing spans more than the longest path: memory beyond it would only cost.
        head = min(reach.shortest, expert.longest_path + 1)
        reach = Reach(head, max(head, min(reach.span, expert.longest_path)))
        check_budget(_transitions_needed(expert, reach), budget)
        self.expert = expert
        self.reach = reach
        self._set_transitions(_transitions(expert, reach))

    def _set_transitions(self, transitions: list[_Transition]) -> None:
        """Number the states topologically, the initial one 0, the sink last; sort transitions by source."""
        number = _topological_numbers(transitions)
        transitions = sorted(transitions, key=lambda t: number[t.source])  # stable: A's own order within
        self.state_count = len(number)
        self.sources = np.array([number[t.source] for t in transitions], dtype=np.int32)
        self.targets = np.array([number[t.target] for t in transitions], dtype=np.int32)
        self.first = np.searchsorted(self.sources, np.arange(self.state_count + 1)).astype(np.int64)
        self.emits = np.array([t.emits for t in transitions], dtype=np.int32)
        self.windows = np.full((len(transitions), self.reach.span), -1, dtype=np.int32)
        for e, t in enumerate(transitions):
            if t.window:
                self.windows[e, -len(t.window) :] = t.window

    @property
    def transition_count(self) -> int:
        return int(self.sources.size)

    @cached_property
    def longest_path(self) -> int:
        return int(self._depths[-1])

    @cached_property
    def path_count(self) -> int:
        counts = [0] * self.state_count
        counts[-1] = 1
        for e in range(self.transition_count - 1, -1, -1):
            counts[self.sources[e]] += counts[self.targets[e]]
        return counts[0]

    @cached_property
    def equal_lengths(self) -> bool:
        return bool(np.all(self._depths[self.targets] == self._depths[self.sources] + 1))

    def push(self, log_weights: FloatArray) -> Pushed:
        return self.push_from(log_weights, self.distances(log_weights))

    def distances(self, log_weights: FloatArray) -> FloatArray:
        """The backward half of a push: the log of the sum over all ways from each state to the sink."""
        d = np.empty(self.state_count)
        graph.distances(log_weights, self.first, self.targets, d)
        return d

    def redistances(self, log_weights: FloatArray, changed: IntArray, distances: FloatArray) -> int:
        """Bring distances up to date after `changed` transitions moved; returns the states visited."""
        first, entering = self._entering
        dirty = np.zeros(self.state_count, dtype=np.bool_)
        return int(
            graph.redistances(
                log_weights,
                self.first,
                self.targets,
                first,
                entering,
                self.sources,
                changed,
                distances,
                dirty,
            )
        )

    def push_from(self, log_weights: FloatArray, distances: FloatArray) -> Pushed:
        """The forward half of a push: the flows, given the distances."""
        flows = np.empty(self.transition_count)
        graph.flows(log_weights, distances, self.first, self.targets, flows)
        return Pushed(flows, float(distances[0]))

    def sample(self, flows: FloatArray, uniforms: FloatArray) -> IntArray:
        path: IntArray = graph.sample(flows, self.first, self.targets, uniforms)
        return path

    def best_path(self, values: FloatArray) -> tuple[IntArray, float]:
        path, value = graph.best_path(values, self.first, self.targets)
        return path, float(value)

    def context_path(self, path: IntArray) -> IntArray:
        edges: list[int] = []
        state, position, sink = 0, 0, self.state_count - 1
        rest = tuple(int(edge) for edge in path)
        while state != sink:
            step = next(
                (
                    e
                    for e, emitted in self._steps[state]
                    if rest[position : position + len(emitted)] == emitted
                    and self._may_take(e, position + len(emitted), len(rest))
                ),
                None,
            )
            if step is None:
                raise InvalidInput(
                    f"this is not an accepting path of the automaton (wrong at step {position + 1})"
                )
            edges.append(step)
            position += int(self.emits[step])
            state = int(self.targets[step])
        return np.array(edges, dtype=np.int32)

    def _may_take(self, edge: int, position: int, length: int) -> bool:
        """A way into the sink must use up the path, any other may leave some of it."""
        return position == length or int(self.targets[edge]) != self.state_count - 1

    def expert_path(self, edges: IntArray) -> IntArray:
        if self._one_by_one:
            newest: IntArray = self.windows[edges, -1]
            return newest[self.emits[edges] > 0]
        emitted = [self.windows[e, self.reach.span - self.emits[e] :] for e in edges]
        return np.concatenate([*emitted, np.empty(0, dtype=np.int32)]).astype(np.int32)

    def is_path(self, edges: IntArray) -> bool:
        return bool(graph.is_path(edges, self.sources, self.targets, self.state_count - 1))

    def window(self, edge: int) -> tuple[int, ...]:
        return tuple(int(e) for e in self.windows[edge] if e >= 0)

    def emitted(self, edges: IntArray) -> IntArray:
        """How many transitions of A each transition of this path of A' adds to the path of A."""
        return self.emits[edges]

    def edge_marginals(self, flows: FloatArray) -> FloatArray:
        """The probability that a path uses each transition of A."""
        used = np.zeros(self.expert.edge_count)
        for back in range(1, int(self.emits.max(initial=0)) + 1):
            emitting = self.emits >= back
            used += np.bincount(self.windows[emitting, -back], weights=flows[emitting], minlength=used.size)
        return used

    def entering(self, edges: IntArray) -> tuple[IntArray, IndexArray]:
        first, entering = self._entering
        states = self.targets[edges]
        counts = first[states + 1] - first[states]
        starts = np.cumsum(counts) - counts
        return entering[np.arange(counts.sum()) + np.repeat(first[states] - starts, counts)], starts

    def state_flows(self, flows: FloatArray) -> FloatArray:
        through = np.bincount(self.targets, weights=flows, minlength=self.state_count).astype(np.float64)
        through[0] = 1.0
        return through

    def source_targets(self) -> tuple[IntArray, IntArray]:
        return self.sources, self.targets

    def layers(self) -> tuple[IndexArray, IndexArray]:
        depths = np.arange(self.longest_path + 1)
        edge_first = np.searchsorted(self._depths[self.sources], depths).astype(np.int64)
        return edge_first, np.searchsorted(self._depths, depths).astype(np.int64)

    def padded(self) -> "GraphContext":
        """The same paths, all of one length: a transition that skips depths is followed by idle ones.

        Idle chains that lead into one state are shared, which keeps to the paper's (K - 2)(Q - 2) + 1.
        """
        if self.equal_lengths:
            return self
        depth = self._depths
        transitions: list[_Transition] = []
        chains: set[tuple[int, int]] = set()
        for e in range(self.transition_count):
            source, target = int(self.sources[e]), int(self.targets[e])
            entry = (target, int(depth[source]) + 1)  # a state at its own depth is its own chain's end
            window = self.window(e)
            transitions.append(_Transition((source, int(depth[source])), entry, window, int(self.emits[e])))
            while entry[1] < depth[target] and entry not in chains:
                chains.add(entry)
                onward = (target, entry[1] + 1)
                transitions.append(_Transition(entry, onward, (), 0))
                entry = onward
        padded = object.__new__(GraphContext)
        padded.expert, padded.reach = self.expert, self.reach
        start, end = (0, 0), (self.state_count - 1, int(depth[-1]))
        rename: dict[object, object] = {start: START, end: SINK}
        padded._set_transitions(
            [
                _Transition(rename.get(t.source, t.source), rename.get(t.target, t.target), t.window, t.emits)
                for t in transitions
            ]
        )
        return padded

    @cached_property
    def _one_by_one(self) -> bool:
        return int(self.emits.max(initial=0)) <= 1

    @cached_property
    def _depths(self) -> IntArray:
        """The longest way from the initial state to each state."""
        depths = np.zeros(self.state_count, dtype=np.int32)
        for e in range(self.transition_count):
            target = self.targets[e]
            depths[target] = max(depths[target], depths[self.sources[e]] + 1)
        return depths

    @cached_property
    def _entering(self) -> tuple[NDArray[np.int64], IntArray]:
        """The transitions that enter each state, by target, with where each state's begin."""
        entering = np.argsort(self.targets, kind="stable").astype(np.int32)
        first = np.searchsorted(self.targets[entering], np.arange(self.state_count + 1)).astype(np.int64)
        return first, entering

    @cached_property
    def _steps(self) -> list[list[tuple[int, tuple[int, ...]]]]:
        """For each state the transitions that leave it and what each emits, stopping last."""
        steps: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in range(self.state_count)]
        for e in range(self.transition_count):
            emitted = tuple(int(a) for a in self.windows[e, self.reach.span - self.emits[e] :])
            steps[self.sources[e]].append((e, emitted))
        for leaving in steps:
            leaving.sort(key=lambda step: -len(step[1]))
        return steps


def _transitions_needed(expert: ExplicitAutomaton, reach: Reach) -> int:
    """How many transitions A' has, at most, by counting path segments: cheap even when A' is huge."""
    walks = [1] * expert.state_count  # of the current length, from each state
    needed = 0
    for length in range(1, reach.span + 1):
        walks = [sum(walks[expert.targets[e]] for e in leaving) for leaving in expert.outgoing]
        needed += sum(walks) if length == reach.span else walks[expert.initial]
    return 2 * needed  # each may be followed by a stop


def _transitions(expert: ExplicitAutomaton, reach: Reach) -> list[_Transition]:
    """Every transition of A', by walking A with a memory of `span - 1` transitions."""
    transitions: list[_Transition] = []
    arrivals: dict[int, set[tuple[int, ...]]] = {}  # state of A: the memories that reach it

    def enter(source: object, path: tuple[int, ...], emits: int) -> None:
        end = int(expert.targets[path[-1]])
        window = path[-reach.span :]
        if not expert.outgoing[end]:
            transitions.append(_Transition(source, SINK, window, emits))
            return
        memory = window[1:] if len(window) == reach.span else window
        arrivals.setdefault(end, set()).add(memory)
        transitions.append(_Transition(source, (end, memory), window, emits))

    heads: list[tuple[int, tuple[int, ...]]] = [(expert.initial, ())]
    while heads:
        state, path = heads.pop()
        if len(path) == reach.shortest:
            enter(START, path, len(path))
            continue
        if expert.is_final(state):
            transitions.append(_Transition(START, SINK, path, len(path)))
        heads.extend((int(expert.targets[edge]), (*path, edge)) for edge in reversed(expert.outgoing[state]))
    for state in expert.order:
        for memory in sorted(arrivals.get(state, ())):
            here = (state, memory)
            for edge in expert.outgoing[state]:
                enter(here, (*memory, edge), 1)
            if expert.is_final(state):
                transitions.append(_Transition(here, SINK, (), 0))
    return transitions


def _topological_numbers(transitions: list[_Transition]) -> dict[object, int]:
    """A number for each state: START 0, the sink last, and every transition leads upwards."""
    waiting: dict[object, int] = {START: 0, SINK: 0}
    leaving: dict[object, list[object]] = {}
    for t in transitions:
        waiting.setdefault(t.source, 0)
        waiting[t.target] = waiting.get(t.target, 0) + 1
        leaving.setdefault(t.source, []).append(t.target)
    number: dict[object, int] = {}
    ready: list[object] = [START]
    for state in ready:
        if state != SINK:
            number[state] = len(number)
        for target in leaving.get(state, ()):
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    number[SINK] = len(number)
    return number
