"""EXP3-AG: full bandit with arbitrary gains (appendix B of the paper), a few microseconds a round.

EXP3 over all paths of A itself, for a gain of which nothing is known but a number per shown path. The paper
composes a weighted automaton with an update automaton each round; here the same automaton is a prefix tree
grafted on A (`kernels.trie`), where a round touches one path. Losses U - gain are learned, not gains: without
mixing, one lucky draw of a gain would be believed for ever (docs/algorithms.md, erratum 4).

`exploration: implicit` divides a loss by the probability and half the rate (EXP3-IX, Neu 2015): a little too
small an estimate, but one that never explodes, so that the bound holds of the drawn paths with high
probability.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import BoundExceeded, BudgetExceeded, InvalidInput
from galloon.learners.kernels import trie
from galloon.learners.paths import bounds
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.exp3_tree import check_tree
from galloon.learners.paths.expanded_hedge import log_count
from galloon.learners.paths.guarantee import UNKNOWN_PACE, Guarantee, expected, none
from galloon.learners.paths.pace import Pace
from galloon.learners.paths.path_learner import GAIN_SLACK, STATE_VERSION, check_bound, checked_rounds
from galloon.learners.paths.protocol import (
    BanditFeedback,
    Feedback,
    FloatArray,
    IntArray,
    Memory,
    PathChoice,
    PathChoices,
    Setting,
    Size,
    check_memory,
)
from galloon.learners.paths.tuning import Rate

NODE_BUDGET = 50_000_000
PLACES = 65_535  # a tail keeps a place among the transitions of a state in 16 bits
EXPLORATIONS = ("none", "implicit")
CONFIDENCE = 0.05  # how probably the bound of implicit exploration fails, at most
LARGEST_LOSS = 1e300  # where sums of losses stop: e**-(eta * that) is 0 for every rate


class Exp3Paths:
    """EXP3 over the paths of an expert automaton."""

    name = "exp3_paths"
    setting = Setting.BANDIT
    scores: FloatArray | None = None  # it estimates gains of paths, not of transitions

    def __init__(
        self,
        expert: ExpertAutomaton,
        path_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
        node_budget: int = NODE_BUDGET,
        exploration: str = "none",
    ) -> None:
        check_bound(path_bound, "path")
        if exploration not in EXPLORATIONS:
            raise InvalidInput(
                f"exploration {exploration!r} is not one of {', '.join(EXPLORATIONS)}", field="options"
            )
        self.exploration = exploration
        self.graph = GraphContext(expert.explicit(), Reach(1, 1))
        self.path_bound = path_bound
        self.seed = seed
        self.node_budget = node_budget
        count = self.graph.path_count
        # eta = sqrt(2 ln N / (N T)) / U; for N beyond all floats it is as good as 0
        roughness = path_bound**2 * min(float(count) if count.bit_length() < 1000 else 1e300, 1e300) / 2
        self.rate = Rate(log_count(count), roughness, horizon, learning_rate, doubling=True)
        self.rounds_learned = 0
        self.pace = Pace()
        self._log_ways = self.graph.distances(np.zeros(self.graph.transition_count))
        self._most_ways = int(np.diff(self.graph.first).max(initial=0))
        if self._most_ways > PLACES:
            raise BudgetExceeded("transitions that leave a state", self._most_ways, PLACES, "split the state")
        ways = int(self.graph.first[1])
        self._used = np.array([1, ways, 0], dtype=np.int64)
        self._value = np.zeros(64)
        self._data = np.zeros(64, dtype=np.int64)
        self._state = np.zeros(64, dtype=np.int32)
        self._children = np.zeros(max(64, 2 * ways), dtype=np.int32)
        self._tails = np.zeros(256, dtype=np.uint16)
        self._rate_in_use = self.rate.at(0)
        self._rebuild()

    @property
    def automaton(self) -> GraphContext:
        """The automaton whose paths are chosen: A itself."""
        return self.graph

    # The protocol.

    def choose(self, round_number: int) -> PathChoice:
        numbers = uniforms(self.seed, round_number, self.graph.longest_path)
        return self._choice(trie.sample(*self._tree, self._tails, *self._ways, numbers))

    def choose_many(self, first_round: int, count: int) -> PathChoices:
        return PathChoices.of([self.choose(number) for number in range(first_round, first_round + count)])

    def choose_best(self) -> PathChoice:
        """A path never played, if there is one (all share the largest weight); else the one that lost least."""
        return self._choice(self._lightest())

    def learn(self, memory: Memory, feedback: Feedback) -> None:
        self.learn_many([(memory, feedback)])

    def learn_many(self, lessons: list[tuple[Memory, Feedback]]) -> None:
        """As one `learn` after the other; all feedback is checked before any of it changes the state."""
        for memory, _ in lessons:
            check_memory(memory, self.graph.is_path(memory.edges), 1 + (memory.numbers.size == 2))
        gains = [self._checked(feedback) for _, feedback in lessons]
        self._make_room(sum(memory.edges.size + 2 for memory, _ in lessons))
        first, target, eta, log_ways = self._ways
        for (memory, _), gain in zip(lessons, gains, strict=True):
            loss = max(self.path_bound - gain, 0.0) * self._scale(memory)
            if loss > 0:
                trie.add_loss(
                    memory.edges,
                    min(loss, LARGEST_LOSS),
                    *self._tree,
                    self._tails,
                    first,
                    self.graph.sources,
                    target,
                    eta,
                    log_ways,
                    self._used,
                )
        for memory, _ in lessons:
            at_choice = float(memory.numbers[1]) if memory.numbers.size > 1 else None
            self.pace.lesson(self.rate.at(int(at_choice or 0)), self.rounds_learned, at_choice)
            self.rounds_learned += 1
        if self.rate.at(self.rounds_learned) != self._rate_in_use:
            self._rate_in_use = self.rate.at(self.rounds_learned)
            self._rebuild()

    def _scale(self, memory: Memory) -> float:
        """1 over the probability of the path when it was drawn, or over that and half the rate of then."""
        log_probability = float(memory.numbers[0])
        if self.exploration == "none":
            return math.exp(min(-log_probability, 690.0))
        learned = int(memory.numbers[1]) if memory.numbers.size > 1 else self.rounds_learned
        explored = self.path_bound * self.rate.at(max(learned, 0)) / 2
        return 1.0 / (math.exp(min(log_probability, 0.0)) + explored)

    def _checked(self, feedback: Feedback) -> float:
        if not isinstance(feedback, BanditFeedback):
            raise InvalidInput(f"{self.name} learns from bandit feedback, not {type(feedback).__name__}")
        if not math.isfinite(feedback.gain):
            raise InvalidInput("the gain of a path is not finite")
        if not 0 <= feedback.gain <= self.path_bound * (1 + GAIN_SLACK):
            raise BoundExceeded(
                f"the gain of a path is {feedback.gain:.6g}, outside of 0 to {self.path_bound:.6g}: "
                "build the learner with a larger gain bound"
            )
        return feedback.gain

    def log_probability(self, path: IntArray) -> float:
        return self._log_probability(self.graph.context_path(path))

    def marginals(self) -> FloatArray:
        flows = np.empty(self.graph.transition_count)
        trie.flows(*self._tree, self._tails, *self._ways, self._used, flows)
        return flows

    def memory_bytes(self) -> int:
        return 4 * self.automaton.longest_path + 8 * 2

    def size(self) -> Size:
        nodes, children, tails = (int(n) for n in self._used)
        used_bytes = nodes * (8 + 8 + 4) + children * 4 + tails * 2
        return Size(nodes, nodes - 1, used_bytes)

    def to_bytes(self) -> bytes:
        nodes, children, tails = (int(n) for n in self._used)
        arrays: dict[str, NDArray[Any]] = {
            "value": self._value[:nodes],
            "data": self._data[:nodes],
            "state": self._state[:nodes],
            "children": self._children[:children],
            "tails": self._tails[:tails],
        }
        meta = {
            "rounds_learned": self.rounds_learned,
            "pace": self.pace.to_json(),
            "signature": self._signature(),
        }
        return state.pack(self.name, STATE_VERSION, meta, arrays)

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, self.name, STATE_VERSION)
        rounds_learned = checked_rounds(found, self._signature())
        arrays = found.arrays
        check_tree(found, self.graph.first, self.graph.targets)
        self.pace = Pace.from_json(found.meta.get("pace"), rounds_learned)
        self.rounds_learned = rounds_learned
        self._value, self._data, self._state = arrays["value"], arrays["data"], arrays["state"]
        self._children, self._tails = arrays["children"], arrays["tails"]
        self._used = np.array([self._value.size, self._children.size, self._tails.size], dtype=np.int64)
        self._rate_in_use = self.rate.at(self.rounds_learned)

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    def promise(self) -> Guarantee:
        if not self.pace.known:
            return none(UNKNOWN_PACE)
        log_paths = log_count(self.graph.path_count)
        if self.exploration == "implicit":
            if self.pace.waited:
                return none("implicit exploration needs feedback before the next choice")
            bound = bounds.exp3_implicit_played(self.pace, log_paths, self.path_bound, CONFIDENCE)
            return Guarantee(f"regret of drawn paths, with probability {1 - CONFIDENCE:g}", bound)
        bound = bounds.exp3_played(self.pace, log_paths, self.path_bound)
        return expected(bound, self.pace.note)

    # Details.

    @property
    def learning_rate(self) -> float:
        return self._rate_in_use

    @property
    def _tree(self) -> tuple[NDArray[Any], ...]:
        return self._value, self._data, self._state, self._children

    @property
    def _ways(self) -> tuple[Any, ...]:
        return self.graph.first, self.graph.targets, self._rate_in_use, self._log_ways

    def _choice(self, edges: IntArray) -> PathChoice:
        log_probability = self._log_probability(edges)
        numbers = np.array([log_probability, float(self.rounds_learned)])
        return PathChoice(self.graph.expert_path(edges), log_probability, Memory(edges, numbers))

    def _lightest(self) -> IntArray:
        first, target, _, log_ways = self._ways
        path: IntArray = trie.lightest(*self._tree, self._tails, first, target, log_ways, self._used)
        return path

    def _log_probability(self, edges: IntArray) -> float:
        loss = trie.loss_of(
            edges, self._value, self._data, self._children, self._tails, self.graph.first, self.graph.sources
        )
        return float(-self._rate_in_use * loss - self._value[0])

    def _rebuild(self) -> None:
        trie.rebuild(*self._tree, *self._ways, self._used)

    def _make_room(self, length: int) -> None:
        """Grow the arrays so that paths of this length in all surely fit; refuse beyond the budget first."""
        nodes = int(self._used[0]) + length
        if nodes > self.node_budget:
            raise BudgetExceeded(
                "nodes of EXP3-AG's tree",
                nodes,
                self.node_budget,
                "start a new learner, use fewer slots, or raise the budget",
            )
        self._value = _grown(self._value, nodes)
        self._data = _grown(self._data, nodes)
        self._state = _grown(self._state, nodes)
        self._children = _grown(self._children, int(self._used[1]) + length * self._most_ways)
        self._tails = _grown(self._tails, int(self._used[2]) + length)

    def _signature(self) -> list[Any]:
        rate = self.rate
        return [
            self.graph.transition_count,
            self.graph.state_count,
            self.path_bound,
            [rate.complexity, rate.roughness, rate.horizon, rate.fixed],
            self.seed,
            *([] if self.exploration == "none" else [self.exploration]),
        ]


def _grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """The array with room for at least `needed`, half as much again when it must move."""
    if needed <= array.size:
        return array
    grown = np.zeros(max(needed, array.size + array.size // 2), dtype=array.dtype)
    grown[: array.size] = array
    return grown
