"""The contract between a combiner and whoever hosts it (the daemon, or a program that embeds it).

A combiner takes in what the engines said of one utterance and gives out a `Choice`; later, or never, it takes
in feedback on it and gives out a `Lesson`. It keeps no list of pending rounds: all that it will need is in
`Choice.memory`, which the host stores. `choose` changes nothing and is a function of the state, the
utterance and the round number. There are two state transitions: `observe`, when a choice has become an event,
and `learn`. What is observed depends on observed rounds alone, so the host may observe a round at once and learn
what is durable later: replaying its journal in order, it arrives at the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from galloon.learners.combiners.explanation import WeighedSlot
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.observation import Utterance
from galloon.learners.offers import Alternative, Offers
from galloon.learners.paths.protocol import FloatArray


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """One slot of the answer: the token (empty for null), whose it was, and what else was on offer.

    The probability is that of the token in its slot, NaN where the learner has no cheap way to tell.
    """

    text: str
    expert: str
    probability: float
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The answer to one utterance, slot by slot, with the offers that it was made on.

    The text has every token as an engine wrote it. Tokens are as the normaliser makes them equal.
    `memory` is all that `learn` and `explain` need: the host stores it, and gives it back with the feedback.
    `view` is what the combiner would otherwise read again from the memory. It belongs to the combiner that made
    it, is never stored, and saves time while the host still has it; without it everything is equal to the bit.
    """

    text: str
    offers: Offers
    shown: Sequence[str]  # the token of each slot, empty for null
    credited: Sequence[str]  # the expert that each comes from, or the transition of an explicit automaton
    probabilities: Sequence[float]  # of the shown tokens; NaN where the learner has no cheap way to tell
    trust: FloatArray  # rows x experts of the offers: slot i has row i modulo the rows
    log_probability: float
    memory: bytes
    view: object | None = None
    written: Sequence[str] | None = (
        None  # the form that each slot adds to the text; None where it is the token
    )

    def __len__(self) -> int:
        return len(self.shown)

    def alternatives(self, slot: int) -> tuple[Alternative, ...]:
        """What else was on offer in a slot, most probable first."""
        if not self.offers.experts:
            return ()
        return self.offers.alternatives(slot, self.trust[slot % len(self.trust)].tolist(), self.shown[slot])

    @property
    def tokens(self) -> tuple[ChosenToken, ...]:
        """All slots, for people and for tests: looks up all alternatives."""
        return self.first_tokens(len(self))

    def first_tokens(self, most: int) -> tuple[ChosenToken, ...]:
        """At most so many slots from the first on."""
        return tuple(
            ChosenToken(
                self.shown[i] if self.written is None else self.written[i],
                self.credited[i],
                self.probabilities[i],
                self.alternatives(i),
            )
            for i in range(min(most, len(self)))
        )


@dataclass(frozen=True, slots=True)
class TrueText:
    """Feedback: what was really said or written. The combiner aligns it to the slots."""

    text: str


@dataclass(frozen=True, slots=True)
class TrueTokens:
    """Feedback: the true tokens; for pre-aligned slots one of each slot, empty for null."""

    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownGains:
    """Feedback on the shown path alone: a gain for each of its transitions (one a slot for slot match)."""

    gains: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Feedback: one number, the gain of what was shown."""

    value: float


Feedback = TrueText | TrueTokens | ShownGains | Score


@dataclass(frozen=True, slots=True)
class Lesson:
    """The result of one feedback."""

    gain: float
    expert_gains: Mapping[str, float] = field(default_factory=dict)  # of each alone, where the truth is known
    changed: tuple[str, ...] = ()  # engines whose errors were seen to change with this


@dataclass(frozen=True, slots=True)
class Statistics:
    """The current figures of a combiner. Regret and bound are None where they are not known.

    `guarantee` says in words what the bound is on, or why there is none. Only `regret_limit` may be held against
    regret: the bound and the largest deviation that draws may have (see `paths.guarantee`).
    """

    rounds_learned: int
    gain: float
    regret: float | None
    regret_estimate: float | None
    bound: float | None
    expert_states: int
    expert_transitions: int
    context_states: int
    context_transitions: int
    state_bytes: int
    guarantee: str
    regret_limit: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class LearnsWhenTold:
    """For combiners that learn from feedback alone."""

    def observe(self, memory: bytes, view: object | None = None) -> None:
        """Nothing follows from a choice."""

    def observed(self) -> bytes:
        return b""


class Combiner(Protocol):
    """One learner with its alignment, windows, derived experts, gains and statistics."""

    @property
    def experts(self) -> tuple[str, ...]: ...

    @property
    def derived(self) -> tuple[str, ...]:
        """Experts that it computes from the engines, in the order of the offers."""
        ...

    @property
    def game(self) -> Any:
        """The `paths.game.Game` that it plays, for whoever draws its automata; None where there is none.

        The type is not imported: the codec imports this contract, and clients stay light.
        """
        ...

    def choose(self, utterance: Utterance, round_number: int) -> Choice: ...

    def observe(self, memory: bytes, view: object | None = None) -> None:
        """Take in that this was chosen: what engines agree in, without any truth."""
        ...

    def learn(self, memory: bytes, feedback: Feedback, view: object | None = None) -> Lesson:
        """Take in feedback on the choice of this memory; `view` is that choice's, if the host still has it."""
        ...

    def explain(self, memory: bytes, slots: range, view: object | None = None) -> tuple[WeighedSlot, ...]:
        """Why tokens of a round were chosen, for those of the slots that it has. Changes nothing."""
        ...

    def offers(self, memory: bytes) -> Offers:
        """What was on offer in the round of this memory; none for an explicit automaton. Any thread may ask."""
        ...

    def weights(self, most_rows: int) -> WeightTable:
        """The trust in each expert as a table for people: the most important rows, at most so many."""
        ...

    def statistics(self) -> Statistics:
        """Computed when asked: regret in hindsight costs a pass over A'."""
        ...

    def observed(self) -> bytes:
        """What comes of observed rounds alone, for `to_bytes` later."""
        ...

    def to_bytes(self, observed: bytes = b"") -> bytes:
        """The state; with what had been observed at an earlier moment, if given."""
        ...

    def restore(self, data: bytes) -> None: ...

    def digest(self) -> str: ...
