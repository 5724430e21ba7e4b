"""The tied learner for n = 1: `choose` an expert in every slot by the slot's contexts, `learn` what it was worth.

Contexts from coarse to fine (everything, who agrees with whom, who offers null, the slot before, the labels)
are specialists side by side, so that rare ones matter little until they have something to say. Nothing is
tuned. What the slots contain does not matter to the learner, only which experts offer the same: see
`learners.kernels.tied` for the rules and `learners.tied.bounds` for what they promise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners import blobs
from galloon.learners.bounded_table import BoundedTable
from galloon.learners.draws import uniforms
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.tied import (
    LEVELS,
    Contexts,
    learn_estimates,
    learn_gains,
    pick,
    slot_contexts,
    trust,
    trust_estimates,
)
from galloon.learners.protocol import BanditFeedback, FullFeedback, SemiBanditFeedback, Setting, Size
from galloon.learners.tied.bounds import bound_full, bound_partial, partial_rate
from galloon.learners.tied.estimates import score_losses, shown_losses

RATES = tuple(2.0**-k for k in range(1, 11))
CONTEXT_LIMIT = 1 << 13
Feedback = FullFeedback | SemiBanditFeedback | BanditFeedback


@dataclass(frozen=True, slots=True)
class SlotView:
    """What the learner sees of an utterance: equal numbers in a slot are equal offers, 0 is null."""

    tokens: NDArray[np.int32]  # slots x experts
    engines: int  # the first columns, among which agreement counts
    labels: NDArray[np.uint64]  # a number for each label
    predicted: NDArray[np.float64]  # slots x experts: guessed gains, for the bandit setting


@dataclass(frozen=True, slots=True)
class TiedMemory:
    """What learning will need: stored at choice time, never recomputed."""

    probabilities: NDArray[np.float64]  # slots x experts
    shown: NDArray[np.int32]  # the expert of each slot
    divisors: NDArray[np.float64]  # the probability that the shown token would be shown
    rate: float

    def to_bytes(self) -> bytes:
        return blobs.join(
            [
                self.probabilities.astype("<f8").tobytes(),
                self.shown.astype("<i4").tobytes(),
                self.divisors.astype("<f8").tobytes(),
                np.array([self.rate], dtype="<f8").tobytes(),
            ]
        )

    @classmethod
    def from_bytes(cls, data: bytes, experts: int) -> "TiedMemory":
        try:
            probabilities, shown, divisors, rate = blobs.split(data)
            memory = cls(
                np.frombuffer(probabilities, "<f8").astype(np.float64).reshape(-1, experts),
                np.frombuffer(shown, "<i4").astype(np.int32),
                np.frombuffer(divisors, "<f8").astype(np.float64),
                float(np.frombuffer(rate, "<f8")[0]),
            )
        except ValueError as error:
            raise DamagedState("this memory is not one of a tied learner") from error
        lengths = {len(memory.probabilities), len(memory.shown), len(memory.divisors)}
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
            raise InvalidInput("priors: one positive number for each expert")
        self._rates = np.array(RATES if setting is Setting.FULL else (1.0,))
        self._table = BoundedTable(
            CONTEXT_LIMIT,
            {
                "visits": (1, np.float64),
                "logs": (len(experts) * len(self._rates), np.float64),
                "sums": (len(experts), np.float64),
                "names": (2, np.int64),
            },
        )
        self.rounds_learned = 0
        self._slots = 0  # learned, in which experts differed
        self._squares = 0.0  # for the bound of partial information

    def choose(self, round_number: int, view: SlotView) -> TiedChoice:
        """Draw an expert for each slot, or take the most trusted token."""
        keys, _ = slot_contexts(view.tokens, view.engines, view.labels)
        rate = partial_rate(len(self.experts), LEVELS, self._slots)
        full = self.setting is Setting.FULL
        probabilities = trust(self._contexts, keys) if full else trust_estimates(self._contexts, keys, rate)
        best = self._decide == "best"
        draws = np.zeros(0) if best else uniforms(self._seed, round_number, len(keys))
        shown, chances = pick(view.tokens, probabilities, draws, best)
        # What is certain to be shown is divided by 1, whatever its weight.
        divisors = np.ones(len(keys)) if best else chances
        experts_chances = np.ones(1) if best else probabilities[np.arange(len(keys)), shown]
        log_probability = float(np.log(experts_chances).sum())
        memory = TiedMemory(probabilities, shown, divisors, rate)
        return TiedChoice(shown, probabilities, log_probability, memory)

    def learn(self, memory: TiedMemory, view: SlotView, feedback: Feedback) -> None:
        """Take in what was revealed: gains of all experts, of what was shown, or one score for all slots."""
        slots, experts = memory.probabilities.shape
        if view.tokens.shape != (slots, experts):
            raise DamagedState(f"this memory is of {slots} slots, the slots given are {len(view.tokens)}")
        differ = (view.tokens != view.tokens[:, :1]).any(axis=1)
        self._table.make_room(slots * LEVELS)
        match feedback:
            case FullFeedback(gains) if self.setting is Setting.FULL:
                _in_range(gains)
                contexts = slot_contexts(view.tokens, view.engines, view.labels)
                learn_gains(self._contexts, *contexts, memory.probabilities, gains.reshape(slots, experts))
            case SemiBanditFeedback(gains) if self.setting is Setting.SEMI_BANDIT:
                _in_range(gains)
                losses = shown_losses(view.tokens, memory.shown, memory.divisors, gains)
                self._learn_losses(memory, view, losses, differ)
            case BanditFeedback(gain) if self.setting is Setting.BANDIT:
                losses = score_losses(view.tokens, memory.shown, memory.divisors, gain, view.predicted)
                self._learn_losses(memory, view, losses, differ)
            case _:
                raise InvalidInput(
                    f"this learner plays in the {self.setting.value} setting, not with this feedback"
                )
        self._slots += int(differ.sum())
        self.rounds_learned += 1

    def bound(self, expert: int, variation: float) -> float:
        """Of the regret against always playing this expert; `variation` is at least the slots that differed."""
        contexts = int(self._table.used[0])
        prior = float(self._priors[expert])
        if self.setting is Setting.FULL:
            return bound_full(contexts, RATES, prior, variation)
        rate = partial_rate(len(self.experts), LEVELS, self._slots)
        return bound_partial(contexts, prior, rate, self._squares)

    @property
    def slots_learned(self) -> int:
        """Slots in which experts differed."""
        return self._slots

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
        rate = partial_rate(len(self.experts), LEVELS, self._slots)
        full = self.setting is Setting.FULL
        return MetContexts(
            table.keys[order],
            table.columns["names"][order, 0],
            table.columns["names"][order, 1],
            table.columns["visits"][order, 0].astype(np.int64),
            trust(self._contexts, keys) if full else trust_estimates(self._contexts, keys, rate),
        )

    def meta(self) -> dict[str, Any]:
        return {"rounds": self.rounds_learned, "slots": self._slots, "squares": self._squares.hex()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._table.arrays("contexts")

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._table.restore("contexts", arrays)
        self.rounds_learned, self._slots = int(meta["rounds"]), int(meta["slots"])
        self._squares = float.fromhex(meta["squares"])

    @property
    def _contexts(self) -> Contexts:
        columns = self._table.columns
        return Contexts(
            self._table.keys,
            columns["visits"],
            columns["logs"],
            columns["sums"],
            columns["names"],
            self._table.used,
            self._rates,
            self._priors,
        )

    def _learn_losses(
        self,
        memory: TiedMemory,
        view: SlotView,
        losses: NDArray[np.float64],
        differ: NDArray[np.bool_],
    ) -> None:
        # Where all offer the same there is nothing to learn, and no estimate to be disturbed by.
        losses = np.where(differ[:, None], losses, 0.0)
        contexts = slot_contexts(view.tokens, view.engines, view.labels)
        learn_estimates(self._contexts, *contexts, memory.rate, memory.probabilities, losses)
        self._squares += memory.rate / 2 * float((memory.probabilities * losses**2).sum())


def _in_range(gains: NDArray[np.float64]) -> None:
    if gains.size and not (gains.min() >= 0.0 and gains.max() <= 1.0):
        raise InvalidInput("gains of slots lie between 0 and 1; scale them, or use the score of the whole")
