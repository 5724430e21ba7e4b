"""What engines say of one utterance.

`Utterance` holds one `ExpertOutput` per engine: words, n-best `Hypothesis` list, or a `Lattice`. The
alignment turns it into `Offers`, the only thing that learners see.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


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
class Hypothesis:
    """One entry of an n-best list, best first; the score is a log score where the engine gives one."""

    words: tuple[Word, ...]
    score: float | None = None


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


@dataclass(frozen=True, slots=True)
class ExpertOutput:
    """Everything one engine said. `words` is its 1-best and is always there, perhaps empty."""

    name: str
    words: tuple[Word, ...]
    confidence: float | None = None  # of the whole line, where the engine gives only that
    nbest: tuple[Hypothesis, ...] = ()
    lattice: Lattice | None = None

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the engines said of one line or sentence; `labels` are what a client knows before choosing."""

    id: str
    outputs: tuple[ExpertOutput, ...]
    target: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_texts(
        cls, utterance_id: str, texts: Mapping[str, str], labels: Mapping[str, str] | None = None
    ) -> "Utterance":
        """An utterance of plain texts by engine name. Spaces separate words."""
        outputs = (
            ExpertOutput(name, tuple(Word(word) for word in text.split())) for name, text in texts.items()
        )
        return cls(utterance_id, tuple(outputs), labels=dict(labels or {}))
