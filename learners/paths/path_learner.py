"""What the learners on A' share: a law on its paths, drawing from it, state to bytes and back.

A learner keeps `scores`, a sum of (estimated) gains for each transition of A'. A subclass says how scores
become a law (`_law`), what to remember of a choice (`_numbers`) and what feedback adds (`_increment`).
The law is computed when first asked for and kept until something is learned.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.errors import BoundExceeded, DamagedState, InvalidInput
from galloon.learners.kernels import windows
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.guarantee import UNKNOWN_PACE, Guarantee, none, surely
from galloon.learners.paths.measured_gap import MeasuredGap
from galloon.learners.paths.pace import Pace
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
    Size,
    check_memory,
    foreign_memory,
)
from galloon.learners.paths.tuning import Rate

STATE_VERSION = 1
GAIN_SLACK = 1e-9  # a gain may pass its bound by this share of it: sums of many floats do


@dataclass(frozen=True, slots=True)
class Gains:
    """What feedback adds to the scores: `values` on `edges`, or on all transitions where edges is None."""

    values: FloatArray
    edges: IntArray | None = None


class PathLearner(ABC):
    """An online learner of paths of A'."""

    name: ClassVar[str]
    setting: ClassVar[Setting]

    def __init__(self, context: ContextAutomaton, edge_bound: float, rate: Rate, seed: int = 0) -> None:
        self.context = context
        self.edge_bound = edge_bound
        self.path_bound = edge_bound * context.longest_path
        self.rate = rate
        self.seed = seed
        self.rounds_learned = 0
        self.pace = Pace()
        self.gap: MeasuredGap | None = None  # of a learner that tunes itself by it
        self._rates_at_choice: list[
            float
        ] = []  # of the lessons at hand, where the rate is no function of rounds
        self.scores = np.zeros(context.transition_count)

    @property
    def automaton(self) -> ContextAutomaton:
        """The automaton whose paths are chosen: A'."""
        return self.context

    # The protocol.

    def choose(self, round_number: int) -> PathChoice:
        edges = self._draw(round_number)
        return PathChoice(self.context.expert_path(edges), self._log_probability(edges), self._memory(edges))

    def choose_many(self, first_round: int, count: int) -> PathChoices:
        """As `choose` for so many rounds."""
        return PathChoices.of([self.choose(number) for number in range(first_round, first_round + count)])

    def choose_best(self) -> PathChoice:
        edges = self._most_probable()
        return PathChoice(self.context.expert_path(edges), self._log_probability(edges), self._memory(edges))

    def learn(self, memory: Memory, feedback: Feedback) -> None:
        self.learn_many([(memory, feedback)])

    def learn_many(self, lessons: list[tuple[Memory, Feedback]]) -> None:
        """As one `learn` after the other, but the law is brought up to date once, at the end."""
        if not lessons:
            return
        at_choice = [self._time_of(memory) for memory, _ in lessons]
        gains = [self._increment(memory, self._checked(memory, feedback)) for memory, feedback in lessons]
        if self.gap is not None:
            rates = [float(memory.numbers[0]) for memory, _ in lessons]
            several = len(gains) > 1
            values = np.sum([gain.values for gain in gains], axis=0) if several else gains[0].values
            self._measure(values, at_choice, rates)
        self._take(gains, at_choice)

    def learn_full(self, memories: Memories, edge_gains: FloatArray, largest: float) -> list[float]:
        """As `learn_many` with full feedback, a row of gains for each memory; checked all at once.

        No gain is negative, and none greater than `largest`. Returns what each path gained.
        """
        edges, sums = memories.edges, np.empty(len(memories))
        paths = windows.path_sums(edge_gains, edges, *self._ends, sums)
        numbers, own = memories.numbers, self._number_count(edges.shape[1])
        if not paths or numbers.shape[1] not in (own, own + 1):
            raise foreign_memory()
        _check_range(0.0, largest, self.edge_bound, "transition")
        at_choice = numbers[:, own].tolist() if numbers.shape[1] > own else [None] * len(memories)
        if self.gap is not None:
            self._measure(edge_gains.sum(axis=0), at_choice, numbers[:, 0].tolist())
        for row in edge_gains:
            self.scores += row
        self._count(at_choice)
        self._scores_changed(None)
        gained: list[float] = sums.tolist()
        return gained

    def log_probability(self, path: IntArray) -> float:
        return self._log_probability(self.context.context_path(path))

    @abstractmethod
    def marginals(self) -> FloatArray: ...

    def memory_bytes(self) -> int:
        """The most that the memory of one round takes."""
        length = self.context.longest_path
        return 4 * length + 8 * (self._number_count(length) + 1)

    def size(self) -> Size:
        arrays = sum(array.nbytes for array in self._arrays().values())
        return Size(self.context.state_count, self.context.transition_count, arrays)

    def to_bytes(self) -> bytes:
        meta = {
            "rounds_learned": self.rounds_learned,
            "pace": self.pace.to_json(),
            "signature": self._signature(),
        }
        if self.gap is not None:
            meta["gap"] = self.gap.to_json()
        return state.pack(self.name, STATE_VERSION, meta, self._arrays())

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, self.name, STATE_VERSION)
        signature = self._signature()
        # Rates by the measured gap became the default later: a learner from before goes on with the paper's.
        by_paper = self.gap is not None and found.meta.get("signature") == signature[1:]
        rounds_learned = checked_rounds(found, signature[1:] if by_paper else signature)
        state.check_like(found, self._arrays())
        pace = Pace.from_json(found.meta.get("pace"), rounds_learned)
        if by_paper:
            self.gap = None
        elif self.gap is not None:
            self.gap.restore(found.meta.get("gap"))
        self.pace = pace
        self.rounds_learned = rounds_learned
        self._set_arrays(found.arrays)

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    def promise(self) -> Guarantee:
        """What holds of the rounds learned so far, if every path was drawn."""
        if not self.pace.known:
            return none(UNKNOWN_PACE)
        return self._promise()

    # What a subclass defines.

    @abstractmethod
    def _promise(self) -> Guarantee:
        """Its theorem, with the pace that was measured."""

    @abstractmethod
    def _draw(self, round_number: int) -> IntArray:
        """A path of A', drawn."""

    @abstractmethod
    def _log_probability(self, edges: IntArray) -> float: ...

    @abstractmethod
    def _most_probable(self) -> IntArray: ...

    @abstractmethod
    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        """Forget or bring up to date what was computed from the scores: those touched; None for all of them."""

    def _numbers(self, edges: IntArray) -> FloatArray:
        """What the estimator will divide by; nothing, unless feedback is partial, but a rate that was measured."""
        del edges
        return np.empty(0) if self.gap is None else np.array([self.gap.rate])

    def _number_count(self, path_length: int) -> int:
        """How many numbers `_numbers` gives for a path of this length."""
        del path_length
        return 0 if self.gap is None else 1

    def _promise_of_gap(self, gap: MeasuredGap) -> Guarantee:
        bound = gap.bound(self.pace.climb)
        return surely(bound, self.pace.rounds, self.path_bound, f", rate by the measured gap{self.pace.note}")

    def _gap_of(self, gains: FloatArray) -> float:
        """How much less the law gains than the potential of the sums grows; for learners that measure it."""
        raise NotImplementedError

    def _increment(self, memory: Memory, feedback: Feedback) -> Gains:
        """What this feedback adds to the scores; here the full gains."""
        del memory
        assert isinstance(feedback, FullFeedback)
        return Gains(feedback.edge_gains)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"scores": self.scores}

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.scores = arrays["scores"]
        self._scores_changed(None)

    def _signature(self) -> list[Any]:
        """What must agree between the learner that wrote a state and the one that reads it."""
        rate = self.rate
        tuning = [] if self.gap is None else ["gap"]
        return [
            *tuning,
            self.context.transition_count,
            self.context.state_count,
            self.edge_bound,
            [rate.complexity, rate.roughness, rate.horizon, rate.fixed, rate.doubling],
            self.seed,
        ]

    # Shared details.

    @property
    def learning_rate(self) -> float:
        return self.rate_at(self.rounds_learned) if self.gap is None else self.gap.rate

    def rate_at(self, rounds_learned: int) -> float:
        """The rate of a choice after so many lessons, where it is a function of them."""
        return self.rate.at(rounds_learned)

    @cached_property
    def _ends(self) -> tuple[IntArray, IntArray, int]:
        """Where each transition of A' starts and ends, and the final state."""
        return (*self.context.source_targets(), self.context.state_count - 1)

    def _take(self, gains: list[Gains], at_choice: list[float | None]) -> None:
        """Change the state; everything has been checked before."""
        for gain in gains:
            if gain.edges is None:
                self.scores += gain.values
            else:
                self.scores[gain.edges] += gain.values
        self._count(at_choice)
        touched = [gain.edges for gain in gains if gain.edges is not None]
        self._scores_changed(touched if len(touched) == len(gains) else None)

    def _count(self, at_choice: Sequence[float | None]) -> None:
        """So many lessons more, each with the rounds that had been learned when its path was chosen."""
        rates = self._rates_at_choice or [self.rate_at(int(choice or 0)) for choice in at_choice]
        before = self.rounds_learned
        for choice, rate in zip(at_choice, rates, strict=True):
            # By the measured gap an utterance is one round: its windows do not wait for each other.
            self.pace.lesson(rate, self.rounds_learned if self.gap is None else before, choice)
            self.rounds_learned += 1
        self._rates_at_choice = []

    def _measure(self, gains: FloatArray, at_choice: Sequence[float | None], rates: list[float]) -> None:
        """The gap of an utterance, its windows' gains added up, before the sums move."""
        assert self.gap is not None
        if not all(0 < rate < math.inf for rate in rates):
            raise foreign_memory()
        waited = max(self.rounds_learned - int(choice or 0) for choice in at_choice)
        self.gap.take(self._gap_of(gains), len(rates), max(rates), max(waited, 0))
        self._rates_at_choice = rates

    def _memory(self, edges: IntArray) -> Memory:
        """The estimator's numbers, and last the rounds learned so far, for the pace."""
        return Memory(edges, np.append(self._numbers(edges), float(self.rounds_learned)))

    def _time_of(self, memory: Memory) -> float | None:
        """Check a memory; returns its last number, which older memories do not have."""
        own = self._number_count(memory.edges.size)
        told = memory.numbers.size == own + 1
        check_memory(memory, self.context.is_path(memory.edges), own + told)
        return float(memory.numbers[own]) if told else None

    def _uniforms(self, round_number: int) -> FloatArray:
        return uniforms(self.seed, round_number, self.context.longest_path)

    def _checked(self, memory: Memory, feedback: Feedback) -> Feedback:
        """The feedback, of the right kind and shape, finite, and within its bound."""
        match feedback, self.setting:
            case FullFeedback(edge_gains), Setting.FULL:
                _check_gains(edge_gains, self.context.transition_count, self.edge_bound, "transition")
            case SemiBanditFeedback(path_gains), Setting.SEMI_BANDIT:
                _check_gains(path_gains, memory.edges.size, self.edge_bound, "transition of the path")
            case BanditFeedback(gain), Setting.BANDIT:
                _check_gains(np.array([gain]), 1, self.path_bound, "path")
            case _:
                raise InvalidInput(
                    f"{self.name} learns from {self.setting.value} feedback, not {type(feedback).__name__}"
                )
        return feedback


def check_bound(bound: float, what: str) -> None:
    """Refuse a bound on gains that no learning rate can be made of."""
    if not 0 < bound < math.inf:
        raise InvalidInput(f"the bound on a {what}'s gain must be positive and finite, got {bound}")


def checked_rounds(found: state.State, signature: list[Any]) -> int:
    """The rounds learned, from a state of a learner that was built with this signature."""
    if found.meta.get("signature") != signature:
        raise DamagedState(
            f"this state belongs to a {found.kind} built otherwise: {found.meta.get('signature')}, "
            f"here {signature}"
        )
    return state.count_in(found.meta, "rounds_learned")


def _check_gains(gains: FloatArray, count: int, bound: float, what: str) -> None:
    if gains.shape != (count,):
        raise InvalidInput(f"{gains.shape} gains for {count}: one is needed for each {what}")
    if not count:
        return
    _check_range(float(gains.min()), float(gains.max()), bound, what)  # both are NaN where any gain is


def _check_range(least: float, most: float, bound: float, what: str) -> None:
    if least >= 0 and most <= bound * (1 + GAIN_SLACK):
        return
    if not (math.isfinite(least) and math.isfinite(most)):
        raise InvalidInput(f"the gain of a {what} is not finite")
    raise BoundExceeded(
        f"the gain of a {what} is {most if least >= 0 else least:.6g}, outside of 0 to {bound:.6g}: "
        "build the learner with a larger gain bound"
    )
