"""The contract between a combiner and whoever hosts it (the daemon, or a program that embeds it).

A combiner takes in what the engines said of one utterance and gives out a `Decision`; later, or never, it
takes in feedback on it and gives out a `Lesson`. It keeps no list of pending rounds: all that it will need is
in `Decision.memory`, which the host stores. `choose` changes nothing and is a function of the state, the
observation and the round number; `learn` is the only state transition. So the host can journal events,
replay them in order, and arrive at the same bits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload

from galloon.learners.combiners.explanation import WeighedSlot
from galloon.learners.observation import SlotNetwork, Utterance


@dataclass(frozen=True, slots=True)
class NamedTokens:
    """For an explicit automaton: the token that each transition outputs this round, by its name."""

    tokens: Mapping[str, str]


Observation = Utterance | SlotNetwork | NamedTokens


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that was on offer, who offered it, and how probable it was."""

    text: str
    experts: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """One slot of the answer: the token (empty for null), whose it was, and what else was on offer.

    The probability is that of the token in its slot, NaN where the learner has no cheap way to tell.
    """

    text: str
    expert: str
    probability: float
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenTokens(Sequence[ChosenToken]):
    """The slots of an answer as columns. Alternatives are looked up only for a slot that somebody looks at."""

    texts: Sequence[str]
    experts: Sequence[str]
    probabilities: Sequence[float]
    alternatives: Callable[[int], tuple[Alternative, ...]]

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, slot: int) -> ChosenToken: ...
    @overload
    def __getitem__(self, slot: slice) -> Sequence[ChosenToken]: ...
    def __getitem__(self, slot: int | slice) -> ChosenToken | Sequence[ChosenToken]:
        if isinstance(slot, slice):
            return [self[i] for i in range(*slot.indices(len(self)))]
        if not 0 <= slot < len(self):
            raise IndexError(slot)
        return ChosenToken(
            self.texts[slot], self.experts[slot], self.probabilities[slot], self.alternatives(slot)
        )


def alternatives_to(
    shown: int,
    offers: Sequence[int],
    vocabulary: Sequence[str],
    experts: Sequence[str],
    trust: Sequence[float],
) -> tuple[Alternative, ...]:
    """What else was on offer in a slot, most probable first: offers and trust are one of each expert."""
    givers: dict[int, list[int]] = {}
    for j, token in enumerate(offers):
        if token != shown:
            givers.setdefault(token, []).append(j)
    others = [
        Alternative(vocabulary[token], tuple(experts[j] for j in who), sum(trust[j] for j in who))
        for token, who in givers.items()
    ]
    return tuple(sorted(others, key=lambda other: (-other.probability, other.text)))


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one utterance. `memory` is opaque to the host, which gives it back with the feedback."""

    text: str
    tokens: Sequence[ChosenToken]
    log_probability: float
    memory: bytes


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
    """What one feedback came to."""

    gain: float
    expert_gains: Mapping[str, float] = field(default_factory=dict)  # of each alone, where the truth is known


@dataclass(frozen=True, slots=True)
class Statistics:
    """Where a combiner stands. Regret and bound are None where they are not known."""

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
    extra: Mapping[str, Any] = field(default_factory=dict)


class Combiner(Protocol):
    """One learner with all that stands around it: windows, derived experts, gains, bookkeeping."""

    @property
    def experts(self) -> tuple[str, ...]: ...

    def choose(self, observation: Observation, round_number: int) -> Decision: ...

    def learn(self, memory: bytes, feedback: Feedback) -> Lesson: ...

    def explain(self, memory: bytes, slots: range) -> tuple[WeighedSlot, ...]:
        """Why tokens of a round were chosen, for those of the slots that it has. Changes nothing."""
        ...

    def statistics(self) -> Statistics:
        """Computed when asked: regret in hindsight costs a pass over A'."""
        ...

    def to_bytes(self) -> bytes: ...

    def restore(self, data: bytes) -> None: ...

    def digest(self) -> str: ...
