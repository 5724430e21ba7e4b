"""What engines say of one utterance: `Utterance`.

Mostly one `ExpertOutput` per engine: words, n-best `Hypothesis` list, or a `Lattice`. The alignment turns them
into `Offers`, the only thing that learners see. A client may also send slots that it has aligned itself
(`Utterance.of_slots`), or, for an explicit automaton, a token for each transition (`Utterance.of_named_tokens`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from galloon.learners.offers import Offers, offers_of_texts


@dataclass(frozen=True, slots=True)
class Word:
    """One token of an engine. Confidence is the engine's own number and comparable with nobody else's."""

    text: str
    confidence: float | None = None
    start: float | None = None  # seconds for speech, pixels for images
    end: float | None = None
    top: float | None = None  # pixels, for images alone
    bottom: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine may have read, a word or a character, and the probability that it gives to it."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One entry of an n-best list, best first; the score is a log score where the engine gives one."""

    words: tuple[Word, ...]
    score: float | None = None


# Recognisers that write posteriors have a twentieth of the acoustic score in them (pocketsphinx: `ascale`).
POSTERIORS_ACOUSTIC_SCALE = 0.05
LEAST_SCALE, MOST_SCALE = 1e-6, 1e6


def _sound(scale: float) -> float:
    """A scale that one can divide by; a file may say anything."""
    return scale if LEAST_SCALE <= scale <= MOST_SCALE else 1.0


@dataclass(frozen=True, slots=True)
class ArcScores:
    """What a lattice's `log_scores` were made of, an entry an arc; None where the file has no such score.

    All are natural logarithms as the engine wrote them, before any scale. The scales are the file's own.
    """

    acoustic: NDArray[np.float64] | None = None
    language: NDArray[np.float64] | None = None  # of the language model, or of the whole graph (Kaldi)
    posterior: NDArray[np.float64] | None = None
    acoustic_scale: float = 1.0
    language_scale: float = 1.0
    word_penalty: float = 0.0  # added for each arc that says a word

    @property
    def scales_used(self) -> tuple[float, float]:
        """How much of the acoustic and of the language score is in the lattice's `log_scores`."""
        if self.posterior is not None:
            return POSTERIORS_ACOUSTIC_SCALE, 1.0
        return _sound(self.acoustic_scale), _sound(self.language_scale)


@dataclass(frozen=True, slots=True)
class Lattice:
    """An acyclic word graph. Words sit on arcs; an empty word is an epsilon. Scores are natural logs."""

    state_count: int
    initial: int
    finals: tuple[int, ...]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    words: tuple[str, ...]
    log_scores: NDArray[np.float64]  # acoustic plus scaled language-model score of each arc
    times: NDArray[np.float64] | None = None  # of each state
    # What the scores were made of, where a file says; acoustic scores and the scales in use travel to the daemon.
    parts: ArcScores | None = None


@dataclass(frozen=True, slots=True)
class ExpertOutput:
    """Everything one engine said. `words` is its 1-best and is always there, perhaps empty."""

    name: str
    words: tuple[Word, ...]
    confidence: float | None = None  # of the whole line, where the engine gives only that
    nbest: tuple[Hypothesis, ...] = ()
    lattice: Lattice | None = None
    # Of each word, what else the engine thought of, and of each of its characters what it chose from: parallel to
    # `words`, or empty. They stay with their reader: what of them the learner hears is the lattice.
    alternatives: tuple[tuple[Reading, ...], ...] = ()
    characters: tuple[tuple[tuple[Reading, ...], ...], ...] = ()

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class NamedTokens:
    """For an explicit automaton: the token that each transition outputs this round, by its name."""

    tokens: Mapping[str, str]


Said = tuple[ExpertOutput, ...] | Offers | NamedTokens


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the engines said of one line or sentence; `labels` are what a client knows before choosing.

    An engine that is not among the outputs is absent: it did not run. One with no words ran and said nothing.
    """

    id: str
    said: Said
    target: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[ExpertOutput, ...]:
        """The engines' own outputs; none where the client sent slots or named tokens."""
        return self.said if isinstance(self.said, tuple) else ()

    @classmethod
    def of_texts(
        cls, utterance_id: str, texts: Mapping[str, str], labels: Mapping[str, str] | None = None
    ) -> "Utterance":
        """An utterance of plain texts by engine name. Spaces separate words."""
        outputs = (
            ExpertOutput(name, tuple(Word(word) for word in text.split())) for name, text in texts.items()
        )
        return cls(utterance_id, tuple(outputs), labels=dict(labels or {}))

    @classmethod
    def of_slots(
        cls,
        utterance_id: str,
        offers: Mapping[str, Sequence[str]],
        confidences: Mapping[str, Sequence[float]] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> "Utterance":
        """Slots aligned by the client: each engine offers one token, the empty one for null, in each of them.

        Confidences are NaN where an engine gave none.
        """
        return cls(utterance_id, offers_of_texts(offers, confidences or {}), labels=dict(labels or {}))

    @classmethod
    def of_named_tokens(
        cls, utterance_id: str, tokens: Mapping[str, str], labels: Mapping[str, str] | None = None
    ) -> "Utterance":
        """A token for each transition of an explicit automaton, by its name."""
        return cls(utterance_id, NamedTokens(tokens), labels=dict(labels or {}))
