"""The paper's game: a path learner, the gain that values its paths, and the books of both.

`choose` gives a path for a round. `learn_target`, `learn_shown` and `learn_score` turn what was revealed into
the feedback that the learner's setting allows it, no more, and add the gain to the books. Both
combiners and the simulation play it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.combiners.contract import Statistics
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import BudgetExceeded, DamagedState, InvalidInput
from galloon.learners.gains.arbitrary import ArbitraryGain
from galloon.learners.gains.spec import gain_from_spec
from galloon.learners.paths.build import Making, fitting_context, make_learner
from galloon.learners.paths.catalogue import CATALOGUE
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.gain_books import GainBooks
from galloon.learners.paths.guarantee import Guarantee, as_played
from galloon.learners.paths.path_learner import PathLearner
from galloon.learners.paths.protocol import (
    BanditFeedback,
    Feedback,
    FloatArray,
    FullFeedback,
    IntArray,
    Memories,
    Memory,
    PathChoice,
    PathChoices,
    SemiBanditFeedback,
    Setting,
)

ROUND_BYTES = 1 << 24  # of the memories of one utterance's windows: they are journaled as one entry
ROUND_TRANSITIONS = (
    1 << 24
)  # of all windows of one utterance: their gains are eight bytes each while it is learned


@dataclass(frozen=True, slots=True)
class PathRound:
    """One round with its target: the memory, the token of each transition of A, the true tokens.

    Tokens are indices of the vocabulary; index 0 is null.
    """

    memory: Memory
    outputs: IntArray
    target: IntArray
    vocabulary: Sequence[str]


def path_round(memory: Memory, outputs: Sequence[str], target: Sequence[str]) -> PathRound:
    """A round whose tokens are texts."""
    ids = {"": 0}
    shown, true = (
        np.array([ids.setdefault(token, len(ids)) for token in tokens], dtype=np.int32)
        for tokens in (outputs, target)
    )
    return PathRound(memory, shown, true, tuple(ids))


class Game:
    """One learner on one expert automaton, with its gain."""

    def __init__(
        self, spec: CombinerSpec, expert: ExpertAutomaton, transition_budget: int, node_budget: int
    ) -> None:
        self.expert = expert
        self.capabilities = CATALOGUE[spec.algorithm]
        self.gain = gain_from_spec(spec.gain)
        self._decide_best = spec.decide == "best"
        self._counts = not isinstance(self.gain, ArbitraryGain)
        edge_bound, path_bound = self._bounds(spec)
        making = Making(
            edge_bound=edge_bound,
            path_bound=path_bound,
            horizon=spec.horizon,
            learning_rate=spec.learning_rate,
            seed=spec.seed,
            transition_budget=transition_budget,
            node_budget=node_budget,
            options=spec.options,
        )
        self.learner: PathLearner | Exp3Paths = make_learner(spec.algorithm, expert, self.gain.reach, making)
        if spec.setting and spec.setting != self.learner.setting.value:
            raise InvalidInput(
                f"{spec.algorithm} learns from {self.learner.setting.value} feedback, "
                f"not from {spec.setting}",
                field="setting",
            )
        self.context: ContextAutomaton | None = None  # where gains are valued; EXP3-AG itself plays on A
        if not self.capabilities.on_expert:
            self.context = self.learner.automaton
        elif self._counts:
            self.context = fitting_context(spec.algorithm, expert, self.gain.reach, transition_budget)
        self.books = GainBooks(self.context)

    def choose(self, round_number: int) -> PathChoice:
        """A path: drawn, or the most probable one, as the spec decides."""
        return self.learner.choose_best() if self._decide_best else self.learner.choose(round_number)

    def choose_many(self, first_round: int, count: int) -> PathChoices:
        """As `choose` for so many rounds, if what they remember and what they will be taught keeps its budget."""
        self._check_budget(count)
        if self._decide_best:
            return PathChoices.of([self.learner.choose_best()] * count)
        return self.learner.choose_many(first_round, count)

    def _check_budget(self, windows: int) -> None:
        """By arithmetic, before anything is made or journaled: nothing is chosen that could not be learned."""
        transitions = self.expert.edge_count if self.context is None else self.context.transition_count
        for limit, needed, allowed in (
            ("bytes that a round remembers", windows * self.learner.memory_bytes(), ROUND_BYTES),
            ("transitions of all windows", windows * transitions, ROUND_TRANSITIONS),
        ):
            if needed > allowed:
                raise BudgetExceeded(
                    limit, needed, allowed, "cut the utterance, or use fewer experts or a shorter gain"
                )

    def path_of(self, memory: Memory) -> IntArray:
        """The path of A that was chosen."""
        return self.learner.automaton.expert_path(memory.edges)

    def checked_path(self, memory: Memory) -> IntArray:
        """The same, for a memory that may be damaged or of another learner."""
        if not self.learner.automaton.is_path(memory.edges):
            raise DamagedState(
                "the memory of this round is not one of this learner's: it is damaged or foreign"
            )
        return self.path_of(memory)

    def learn_target(self, rounds: Sequence[PathRound]) -> float:
        """The truth is known: each learner is told what its setting reveals. Returns what was gained."""
        if self.context is None:
            raise InvalidInput(
                "an arbitrary gain is a score that the client gives", advice="send a score, not the truth"
            )
        wants_all = self.books.wants_edge_gains or self.learner.setting is Setting.FULL
        shown: list[float] = []
        everything: list[FloatArray | None] = []
        feedback: list[Feedback] = []
        for played in rounds:
            edges = self._valued_edges(played.memory)
            values = gains = None
            if wants_all:
                values = self.gain.numbered_edge_gains(
                    self.context, played.outputs, played.target, played.vocabulary
                )
                gains = values[edges]
            else:
                outputs, target = (
                    [played.vocabulary[token] for token in tokens.tolist()]
                    for tokens in (played.outputs, played.target)
                )
                gains = self.gain.path_gains(self.context, outputs, target, edges)
            shown.append(float(gains.sum()))
            everything.append(values)
            feedback.append(self._revealed(values, gains))
        self._teach([played.memory for played in rounds], feedback)
        for gain, values in zip(shown, everything, strict=True):
            self.books.add(gain, values)
        return sum(shown)

    def learn_windows(self, memories: Memories, tokens: IntArray, truth: IntArray) -> float | None:
        """`learn_target` on all windows of an utterance in a few calls; None where there is no such way.

        tokens [slots, experts] and truth [slots] as for `Gain.window_gains`.
        """
        learner, context = self.learner, self.context
        if learner.setting is not Setting.FULL or not len(memories):
            return None
        if not isinstance(context, EnsembleContext):
            return None
        assert isinstance(learner, PathLearner)
        valued = self.gain.window_gains(context, tokens, truth, len(memories))
        if valued is None:
            return None
        values, largest = valued
        gains = learner.learn_full(memories, values, largest)
        for gain, row in zip(gains, values, strict=True):
            self.books.add(gain, row)
        return float(sum(gains))

    def learn_shown(self, memories: Sequence[Memory], gains: Sequence[float]) -> float:
        """Only the gains of the shown paths' transitions are known, path after path."""
        if self.learner.setting is Setting.FULL:
            raise InvalidInput(
                f"{self.learner.name} needs the truth", advice="send the true text or the true tokens"
            )
        if self.context is None:
            raise InvalidInput(
                "an arbitrary gain is one score a path", advice="send a score, not shown gains"
            )
        lengths = [self._valued_edges(memory).size for memory in memories]
        if len(gains) != sum(lengths):
            raise InvalidInput(
                f"{len(gains)} shown gains, but the shown path has {sum(lengths)} transitions",
                advice="send one each",
            )
        ends = np.cumsum(lengths)
        parts = [
            np.array(gains[end - size : end], dtype=np.float64)
            for end, size in zip(ends, lengths, strict=True)
        ]
        self._teach(memories, [self._revealed(None, part) for part in parts])
        for part in parts:
            self.books.add(float(part.sum()), None)
        return float(sum(gains))

    def learn_score(self, memory: Memory, score: float) -> float:
        """Only the gain of the shown path is known."""
        if self.learner.setting is not Setting.BANDIT:
            more = " or the shown gains" if self.learner.setting is Setting.SEMI_BANDIT else ""
            raise InvalidInput(
                f"{self.learner.name} needs more than a score", advice=f"send the true text{more}"
            )
        self._teach([memory], [BanditFeedback(score)])
        self.books.add(score, None)
        return score

    def guarantee(self) -> Guarantee:
        """What holds of the learner as it is played here."""
        return as_played(self.learner.promise(), drawn=not self._decide_best)

    def statistics(self) -> Statistics:
        """The current figures; computes regret in hindsight."""
        size, learner = self.learner.size(), self.learner
        regret, promised = self.books.regret(), self.guarantee()
        estimate = self.books.regret_estimate(learner.scores) if regret is None else None
        return Statistics(
            rounds_learned=learner.rounds_learned,
            gain=self.books.gain,
            regret=regret,
            regret_estimate=estimate,
            bound=promised.bound,
            regret_limit=promised.limit,
            guarantee=promised.words,
            expert_states=self.expert.state_count,
            expert_transitions=self.expert.edge_count,
            context_states=size.states,
            context_transitions=size.transitions,
            state_bytes=size.state_bytes,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"learner": np.frombuffer(self.learner.to_bytes(), dtype=np.uint8), **self.books.arrays()}

    def meta(self) -> dict[str, Any]:
        return self.books.meta()

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.learner.restore(arrays["learner"].tobytes())
        self.books.restore(meta, arrays)

    def _bounds(self, spec: CombinerSpec) -> tuple[float, float]:
        """The most that a transition of A' and that a path can gain: as the spec says, else the worst case."""
        length = self.expert.longest_path
        if spec.gain_bound > 0:
            return spec.gain_bound, spec.gain_bound * max(length - self.gain.reach.shortest + 1, 1)
        path_bound = self.gain.path_bound(length, length)
        if self.capabilities.on_expert:
            return path_bound, path_bound
        return self.gain.edge_bound(length), path_bound

    def _valued_edges(self, memory: Memory) -> IntArray:
        """The shown path as a path of the A' that gains are valued on."""
        if self.capabilities.on_expert:
            assert self.context is not None
            return self.context.context_path(self.path_of(memory))
        return memory.edges

    def _revealed(self, values: FloatArray | None, gains: FloatArray) -> Feedback:
        match self.learner.setting:
            case Setting.FULL:
                assert values is not None
                return FullFeedback(values)
            case Setting.SEMI_BANDIT:
                return SemiBanditFeedback(gains)
            case Setting.BANDIT:
                return BanditFeedback(float(gains.sum()))

    def _teach(self, memories: Sequence[Memory], feedback: Sequence[Feedback]) -> None:
        self.learner.learn_many(list(zip(memories, feedback, strict=True)))
