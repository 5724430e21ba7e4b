"""What the daemon answers, as frozen values: choices, lessons, learners and where they stand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from galloon.learners.combiners.contract import ChosenToken
from galloon.learners.combiners.explanation import WeighedContext, WeighedOffer
from galloon.learners.combiners.spec import CombinerSpec


@dataclass(frozen=True, slots=True)
class SlotAlternative:
    """A token that was on offer in a slot, who offered it, and how probable it was."""

    slot: int
    token: str
    experts: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The combination of one utterance. tokens, experts and probabilities are parallel, one of each slot."""

    id: str
    round: int
    text: str
    tokens: tuple[str, ...]  # empty for null
    experts: tuple[str, ...]  # or transitions, for an explicit automaton
    probabilities: tuple[float, ...]
    log_probability: float
    lessons: int  # that the learner had taken in when it chose
    repeated_answer: bool = False
    alternatives: tuple[SlotAlternative, ...] = ()

    @property
    def slots(self) -> tuple[ChosenToken, ...]:
        """The same token by token."""
        rows = zip(self.tokens, self.experts, self.probabilities, strict=True)
        return tuple(ChosenToken(token, expert, probability) for token, expert, probability in rows)


@dataclass(frozen=True, slots=True)
class Lesson:
    """Feedback that is durable and learned."""

    id: str
    round: int
    gain: float
    expert_gains: Mapping[str, float]  # what each expert alone would have gained, where the truth is known
    lessons: int  # of the learner, this one included
    total_gain: float
    repeated_answer: bool = False


@dataclass(frozen=True, slots=True)
class SlotExplanation:
    """Why the token of a slot was chosen; offers have the chosen one first, contexts the heaviest."""

    slot: int
    token: str
    expert: str  # that it is credited to
    probability: float | None
    offers: tuple[WeighedOffer, ...] = ()
    trust: Mapping[str, float] = field(default_factory=dict)
    contexts: tuple[WeighedContext, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text was chosen. Where it is not `detailed`, only the answer is remembered: slots have no offers."""

    id: str
    round: int
    state: str  # pending, learned or expired
    text: str
    log_probability: float | None
    lessons: int  # that the learner had taken in when it chose
    lessons_since: int  # what is told as it is now has moved by so many
    detailed: bool
    slots: tuple[SlotExplanation, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """What the daemon said when the stream was opened."""

    learner: str
    spec: CombinerSpec
    experts: tuple[str, ...]
    max_in_flight: int
    created: bool
    rounds_started: int
    lessons: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors against true texts, since the daemon started."""

    word_edits: int
    words: int
    char_edits: int
    chars: int

    @property
    def wer(self) -> float | None:
        """Word error rate in percent; None before the first true word."""
        return 100.0 * self.word_edits / self.words if self.words else None

    @property
    def cer(self) -> float | None:
        """Character error rate in percent; None before the first true character."""
        return 100.0 * self.char_edits / self.chars if self.chars else None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Where a learner stands. What is not known is None."""

    rounds_started: int
    lessons: int
    rounds_pending: int
    rounds_expired: int
    gain: float
    regret: float | None
    regret_estimate: float | None
    bound: float | None
    guarantee: str  # what the bound is on, or "none: " and why there is none
    expert_states: int
    expert_transitions: int
    context_states: int
    context_transitions: int
    state_bytes: int
    journal_entries: int
    snapshot_bytes: int
    snapshot_age_s: float | None
    streams: int
    extra: Mapping[str, Any]
    error_rates: Mapping[str, ErrorRate]


@dataclass(frozen=True, slots=True)
class LearnerInfo:
    """One learner. A listing leaves statistics and digests out (None and "")."""

    name: str
    spec: CombinerSpec
    experts: tuple[str, ...]
    statistics: Statistics | None = None
    digest: str = ""
    state_digest: str = ""
    created: bool = False  # by the call that returned this


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that is durable."""

    snapshot_bytes: int
    journal_entries_dropped: int
    digest: str
