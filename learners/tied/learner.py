"""The tied learner for n = 1: `choose` an expert in every slot by the slot's contexts, `learn` what it was worth.

Contexts from coarse to fine (everything, who agrees with whom, who offers null, the slot before, the labels)
have specialists side by side, so that rare contexts matter little until they have evidence. Nothing is
tuned. The learner does not see the tokens, only which experts offer the same one: see
`learners.kernels.tied` for the rules and `learners.tied.bounds` for what they promise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners import framing
from galloon.learners.bounded_table import BoundedTable
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.tied import (
    LEVELS,
    Contexts,
    Seen,
    are_gains,
    play,
    slot_contexts,
    teach,
    trust,
)
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.guarantee import Guarantee, expected, none
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, SemiBanditFeedback, Setting, Size
from galloon.learners.state import count_in, real_in
from galloon.learners.tied.bounds import falling_rate, regret_bound
from galloon.learners.tied.contexts import context_name
from galloon.learners.tied.estimates import score_losses, shown_losses
from galloon.learners.tied.explanation import context_weights

CONTEXT_LIMIT = 1 << 13
ROUNDING = 1e-3  # masses are remembered in single precision
_NO_DRAWS = np.zeros(0)
Feedback = FullFeedback | SemiBanditFeedback | BanditFeedback


@dataclass(frozen=True, slots=True)
class SlotView:
    """What the learner sees of an utterance: equal numbers in a slot are equal offers, 0 is null."""

    tokens: NDArray[np.int32]  # slots x experts that are present
    ids: NDArray[np.int64]  # the number of each of them among the learner's experts, rising
    engines: int  # the first experts, among which agreement counts
    labels: NDArray[np.uint64]  # a number for each label
    predicted: NDArray[np.float64]  # slots x experts: guessed gains, for the bandit setting


@dataclass(frozen=True, slots=True)
class TiedMemory:
    """What learning will need: stored at choice time, never recomputed."""

    probabilities: NDArray[np.float64]  # slots x experts
    shown: NDArray[np.int32]  # the expert of each slot
    divisors: NDArray[np.float64]  # the probability that the shown token would be shown
    masses: NDArray[np.float32]  # of the specialists that were awake, slots x LEVELS x experts
    rate: float
    learned: int = -1  # the rounds learned by then; -1 if the memory is older than this number

    def to_bytes(self) -> bytes:
        return framing.join(
            [
                self.probabilities.astype("<f8", copy=False).tobytes(),
                self.shown.astype("<i4", copy=False).tobytes(),
                self.divisors.astype("<f8", copy=False).tobytes(),
                self.masses.astype("<f4", copy=False).tobytes(),
                np.array([self.rate, self.learned], dtype="<f8").tobytes(),
            ]
        )

    @classmethod
    def from_bytes(cls, data: bytes, experts: int) -> "TiedMemory":
        try:
            probabilities, shown, divisors, masses, scalars = framing.split(data)
            rate, *learned = np.frombuffer(scalars, "<f8").tolist()
            memory = cls(
                np.frombuffer(probabilities, "<f8").astype(np.float64).reshape(-1, experts),
                np.frombuffer(shown, "<i4").astype(np.int32),
                np.frombuffer(divisors, "<f8").astype(np.float64),
                np.frombuffer(masses, "<f4").astype(np.float32).reshape(-1, LEVELS, experts),
                rate,
                int(learned[0]) if learned else -1,
            )
        except ValueError as error:
            raise DamagedState("this memory is not one of a tied learner") from error
        parts = (memory.probabilities, memory.shown, memory.divisors, memory.masses)
        lengths = {len(part) for part in parts}
        experts_exist = ((memory.shown >= 0) & (memory.shown < experts)).all()
        if not (len(lengths) == 1 and experts_exist and memory.rate > 0 and (memory.divisors > 0).all()):
            raise DamagedState("this memory of a tied learner is damaged")
        return memory


@dataclass(frozen=True, slots=True)
class TiedChoice:
    """The expert of each slot, and how far each was trusted."""

    experts: NDArray[np.int32]
    probabilities: NDArray[np.float64]  # slots x experts
    log_probability: float
    memory: TiedMemory


@dataclass(frozen=True, slots=True)
class MetContexts:
    """Some contexts: what they are (see `kernels.tied.slot_contexts`), how often met, whom they trust."""

    keys: NDArray[np.uint32]
    levels: NDArray[np.int64]
    patterns: NDArray[np.int64]
    visits: NDArray[np.int64]
    trust: NDArray[np.float64]  # contexts x experts


class TiedLearner:
    """Specialists over the contexts of slots."""

    def __init__(
        self,
        experts: tuple[str, ...],
        setting: Setting,
        priors: NDArray[np.float64] | None = None,
        seed: int = 0,
        decide: str = "sample",
    ) -> None:
        self.experts, self.setting, self._seed, self._decide = experts, setting, seed, decide
        self._priors = np.full(len(experts), 1 / len(experts)) if priors is None else priors
        if self._priors.shape != (len(experts),) or not (self._priors > 0).all():
            raise InvalidInput("one positive number for each expert", field="priors")
        self._table = BoundedTable(
            CONTEXT_LIMIT,
            {
                "visits": (1, np.float64),
                "scores": (len(experts), np.float64),
                "sums": (len(experts), np.float64),
                "names": (2, np.int64),
            },
        )
        self.rounds_learned = 0
        self.slots_learned = 0  # in which experts differed
        self._late = 0  # lessons that came after others had been learned since their choice
        self._taken, self._spread = 0.0, 0.0  # sums over rounds for the bound and the rate, see there

    def choose(self, round_number: int, view: SlotView) -> TiedChoice:
        """Draw an expert for each slot, or take the most trusted token."""
        (slots, experts), rate, best = view.tokens.shape, self._rate, self._decide == "best"
        self._check_columns(view, experts)
        draws = _NO_DRAWS if best else uniforms(self._seed, round_number, slots)
        probabilities, masses = np.empty((slots, experts)), np.empty((slots, LEVELS, experts), np.float32)
        shown, chances = np.empty(slots, np.int32), np.empty(slots)
        played = probabilities, masses, shown, chances
        play(self._contexts, rate, view.tokens, view.ids, view.engines, view.labels, draws, best, played)
        log_probability = 0.0 if best else float(np.log(probabilities[np.arange(slots), shown]).sum())
        if best:  # shown with certainty: the probability to divide by is 1
            chances.fill(1.0)
        memory = TiedMemory(probabilities, shown, chances, masses, rate, self.rounds_learned)
        return TiedChoice(shown, probabilities, log_probability, memory)

    def learn(self, memory: TiedMemory, view: SlotView, feedback: Feedback) -> None:
        """Take in what was revealed: gains of all experts, of what was shown, or one score for all slots."""
        slots, experts = memory.probabilities.shape
        if view.tokens.shape != (slots, experts):
            raise DamagedState(f"this memory is of {slots} slots, the slots given are {len(view.tokens)}")
        self._check_columns(view, experts)
        self._table.make_room(slots * LEVELS)
        match feedback:
            case FullFeedback(gains) if self.setting is Setting.FULL:
                losses = 1.0 - _in_range(gains).reshape(slots, experts)
            case SemiBanditFeedback(gains) if self.setting is Setting.SEMI_BANDIT:
                losses = shown_losses(view.tokens, memory.shown, memory.divisors, _in_range(gains))
            case BanditFeedback(gain) if self.setting is Setting.BANDIT:
                losses = score_losses(view.tokens, memory.shown, memory.divisors, gain, view.predicted)
            case _:
                raise InvalidInput(
                    f"this learner plays in the {self.setting.value} setting, not with this feedback"
                )
        self._late += memory.learned != self.rounds_learned
        seen = view.tokens, view.ids, view.engines, view.labels
        played = memory.probabilities, memory.masses, losses
        taken, disputed = teach(self._contexts, memory.rate, *seen, *played)
        self._taken += taken
        self._spread += taken / memory.rate
        self.slots_learned += disputed
        self.rounds_learned += 1

    def bound(self, expert: int) -> float:
        """Of the regret against always playing this expert."""
        share = float(self._priors[expert] / self._priors.sum())
        return regret_bound(int(self._table.used[0]), share, self._rate, self._taken)

    def promise(self, expert: int) -> Guarantee:
        """What holds of the regret against always playing this expert, if experts were drawn."""
        if self._late:
            return none(
                "feedback of this learner came after later choices, of which its theorem does not speak"
            )
        if not self._table.may_grow:
            return none("there is no room for all contexts, and some may have been given up")
        bound = self.bound(expert)
        if self.setting is not Setting.FULL:
            return expected(bound)
        # Regret is counted with the mean over the draws here: only rounding can pass the bound.
        return replace(expected(bound), limit=bound * (1 + ROUNDING) + ROUNDING)

    def explain(self, view: SlotView, slots: range, engines: Sequence[str]) -> list[list[tuple[str, float]]]:
        """The contexts of these slots by name, each with its present share of the weight there."""
        seen = slot_contexts(view.tokens, view.ids, view.engines, view.labels)
        return [
            [
                (context_name(key, level, int(seen.patterns[slot]), engines), share)
                for key, level, share in context_weights(
                    Contexts(*self._contexts), view.ids, seen, self._rate, slot
                )
            ]
            for slot in slots
        ]

    def size(self) -> Size:
        contexts = int(self._table.used[0])
        return Size(contexts, contexts * len(self.experts), self._table.state_bytes)

    def most_met(self, count: int) -> "MetContexts":
        """The contexts met most often."""
        table = self._table
        used = np.flatnonzero(table.keys)
        order = used[np.argsort(-table.columns["visits"][used, 0], kind="stable")][:count]
        keys = np.zeros((len(order), LEVELS), dtype=np.uint32)
        keys[:, 0] = table.keys[order]
        alone = Seen(keys, keys > 0, np.zeros(len(order), dtype=np.int64))
        return MetContexts(
            table.keys[order],
            table.columns["names"][order, 0],
            table.columns["names"][order, 1],
            table.columns["visits"][order, 0].astype(np.int64),
            trust(Contexts(*self._contexts), np.arange(len(self.experts)), alone, self._rate)[0],
        )

    def meta(self) -> dict[str, Any]:
        return {
            "rounds_learned": self.rounds_learned,
            "slots_learned": self.slots_learned,
            "rounds_late": self._late,
            "taken": self._taken.hex(),
            "spread": self._spread.hex(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._table.arrays("contexts")

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._table.restore("contexts", arrays)
        self.rounds_learned, self.slots_learned = (
            count_in(meta, name) for name in ("rounds_learned", "slots_learned")
        )
        self._late = count_in(meta, "rounds_late")
        self._taken, self._spread = real_in(meta, "taken"), real_in(meta, "spread")

    def _check_columns(self, view: SlotView, columns: int) -> None:
        """What compiled code will index with."""
        ids = view.ids
        if len(ids) != columns or (columns and not 0 <= ids[0] <= ids[-1] < len(self.experts)):
            raise DamagedState("the experts of this round are not those of the learner")

    @property
    def _contexts(self) -> tuple[NDArray[Any], ...]:
        """The fields of `Contexts`, as a plain tuple."""
        columns = self._table.columns
        return (
            self._table.keys,
            columns["visits"],
            columns["scores"],
            columns["sums"],
            columns["names"],
            self._table.used,
            self._priors,
        )

    @property
    def _rate(self) -> float:
        return falling_rate(len(self.experts), LEVELS, self._spread)


def _in_range(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    if not are_gains(gains):
        raise InvalidInput("gains of slots lie between 0 and 1; scale them, or use the score of the whole")
    return gains
