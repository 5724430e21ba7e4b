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
    EVERYTHING,
    LEVELS,
    Contexts,
    Seen,
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


@dataclass(frozen=True, slots=True)
class Books:
    """Sums over the rounds learned, for rates and bounds. N is a round's slots in which experts differ."""

    slots: int = 0  # sum of N
    squares: float = 0.0  # sum of N**2
    most: int = 0  # largest N
    spread: float = 0.0  # sum of N x variance of the estimated losses
    penalties: float = 0.0  # sum of rate x N x variance

    def with_round(self, slots: int, spread: float, penalty: float) -> "Books":
        return Books(
            self.slots + slots,
            self.squares + slots**2,
            max(self.most, slots),
            self.spread + spread,
            self.penalties + penalty,
        )

    def meta(self) -> dict[str, Any]:
        numbers = (self.squares.hex(), self.spread.hex(), self.penalties.hex())
        return {"slots": self.slots, "most": self.most, "sums": list(numbers)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> "Books":
        squares, spread, penalties = (float.fromhex(number) for number in meta["sums"])
        return cls(int(meta["slots"]), squares, int(meta["most"]), spread, penalties)


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
        self._books = Books()

    def choose(self, round_number: int, view: SlotView) -> TiedChoice:
        """Draw an expert for each slot, or take the most trusted token."""
        seen = slot_contexts(view.tokens, view.engines, view.labels)
        slots = len(view.tokens)
        rate = self._rate(int(seen.counts[0, EVERYTHING]) if slots else 0)
        probabilities = self._trust(seen, rate)
        best = self._decide == "best"
        draws = np.zeros(0) if best else uniforms(self._seed, round_number, slots)
        shown, chances = pick(view.tokens, probabilities, draws, best)
        # What is certain to be shown is divided by 1, whatever its weight.
        divisors = np.ones(slots) if best else chances
        experts_chances = np.ones(1) if best else probabilities[np.arange(slots), shown]
        log_probability = float(np.log(experts_chances).sum())
        memory = TiedMemory(probabilities, shown, divisors, rate)
        return TiedChoice(shown, probabilities, log_probability, memory)

    def learn(self, memory: TiedMemory, view: SlotView, feedback: Feedback) -> None:
        """Take in what was revealed: gains of all experts, of what was shown, or one score for all slots."""
        slots, experts = memory.probabilities.shape
        if view.tokens.shape != (slots, experts):
            raise DamagedState(f"this memory is of {slots} slots, the slots given are {len(view.tokens)}")
        seen = slot_contexts(view.tokens, view.engines, view.labels)
        self._table.make_room(slots * LEVELS)
        match feedback:
            case FullFeedback(gains) if self.setting is Setting.FULL:
                _in_range(gains)
                learn_gains(self._contexts, seen, memory.probabilities, gains.reshape(slots, experts))
                spread = 0.0
            case SemiBanditFeedback(gains) if self.setting is Setting.SEMI_BANDIT:
                _in_range(gains)
                losses = shown_losses(view.tokens, memory.shown, memory.divisors, gains)
                spread = self._learn_losses(memory, seen, losses)
            case BanditFeedback(gain) if self.setting is Setting.BANDIT:
                losses = score_losses(view.tokens, memory.shown, memory.divisors, gain, view.predicted)
                spread = self._learn_losses(memory, seen, losses)
            case _:
                raise InvalidInput(
                    f"this learner plays in the {self.setting.value} setting, not with this feedback"
                )
        differing = int(seen.counts[0, EVERYTHING]) if slots else 0
        self._books = self._books.with_round(differing, spread, memory.rate * spread)
        self.rounds_learned += 1

    def bound(self, expert: int) -> float | None:
        """Of the regret against always playing this expert. None in the bandit setting: nothing is promised."""
        contexts, prior = int(self._table.used[0]), float(self._priors[expert])
        match self.setting:
            case Setting.FULL:
                return bound_full(contexts, RATES, prior, self._books.squares, self._books.most)
            case Setting.SEMI_BANDIT:
                return bound_partial(contexts, prior, self._rate(0), self._books.penalties)
            case _:
                return None

    @property
    def slots_learned(self) -> int:
        """Slots in which experts differed."""
        return self._books.slots

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
        alone = Seen(keys, np.ones(keys.shape, dtype=np.int64), np.zeros(len(order), dtype=np.int64))
        return MetContexts(
            table.keys[order],
            table.columns["names"][order, 0],
            table.columns["names"][order, 1],
            table.columns["visits"][order, 0].astype(np.int64),
            self._trust(alone, self._rate(1)),
        )

    def meta(self) -> dict[str, Any]:
        return {"rounds": self.rounds_learned, **self._books.meta()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._table.arrays("contexts")

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._table.restore("contexts", arrays)
        self.rounds_learned, self._books = int(meta["rounds"]), Books.from_meta(meta)

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

    def _trust(self, seen: Seen, rate: float) -> NDArray[np.float64]:
        if self.setting is Setting.FULL:
            return np.asarray(trust(self._contexts, seen))
        return np.asarray(trust_estimates(self._contexts, seen, rate))

    def _rate(self, slots: int) -> float:
        """The rate of partial information for a round of so many slots in which experts differ."""
        scheduled = partial_rate(len(self.experts), LEVELS, self._books.spread)
        return min(scheduled, 1.0 / max(1, slots, self._books.most))

    def _learn_losses(self, memory: TiedMemory, seen: Seen, losses: NDArray[np.float64]) -> float:
        """Take in estimated losses; returns their spread, by which all who were awake are penalised."""
        # Where all offer the same there is nothing to learn, and no estimate to be disturbed by.
        losses = losses - losses.min(axis=1, keepdims=True)
        expected = (memory.probabilities * losses).sum(axis=1, keepdims=True)
        variance = float((memory.probabilities * (losses - expected) ** 2).sum())
        slots = float(seen.counts[0, EVERYTHING]) if len(losses) else 0.0
        spread = slots * variance
        learn_estimates(self._contexts, seen, memory.probabilities, losses, memory.rate * spread)
        return spread


def _in_range(gains: NDArray[np.float64]) -> None:
    if gains.size and not (gains.min() >= 0.0 and gains.max() <= 1.0):
        raise InvalidInput("gains of slots lie between 0 and 1; scale them, or use the score of the whole")
