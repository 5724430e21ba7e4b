"""What engines say of one utterance, and the slots that the alignment makes of it.

`Utterance` holds one `ExpertOutput` per engine: words, n-best `Hypothesis` list, or a `Lattice`. The
alignment turns it into a `SlotNetwork`, the only thing that learners see. The *null* token (nothing is
said here) is the symbol 0 of every vocabulary and the empty string.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

NULL = 0


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
        """What each engine wrote, by its name, and nothing else known: words are what spaces divide."""
        outputs = (
            ExpertOutput(name, tuple(Word(word) for word in text.split())) for name, text in texts.items()
        )
        return cls(utterance_id, tuple(outputs), labels=dict(labels or {}))


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What lattices and n-best lists say of slots: a row for each token that an expert's gives a probability.

    Sorted by slot, then by expert. In a slot that an expert has rows for, null has one too; what has none there
    has no probability worth naming.
    """

    slots: NDArray[np.int32]
    experts: NDArray[np.int32]  # numbers of the network's experts
    tokens: NDArray[np.int32]  # of its vocabulary
    posteriors: NDArray[np.float64]


_NOWHERE = np.zeros(0, dtype=np.int32)
NOTHING_HEARD = Alternatives(_NOWHERE, _NOWHERE, _NOWHERE, np.zeros(0))


@dataclass(frozen=True, slots=True)
class SlotNetwork:
    """The aligned outputs: in each slot each expert offers one token or null.

    `tokens[i, j]` indexes `vocabulary`; `confidences[i, j]` is NaN where expert j gave none in slot i.
    """

    experts: tuple[str, ...]
    vocabulary: tuple[str, ...]  # vocabulary[NULL] == ""
    tokens: NDArray[np.int32]  # slots x experts
    confidences: NDArray[np.float64]  # slots x experts
    labels: Mapping[str, str] = field(default_factory=dict)  # as of an utterance
    alternatives: Alternatives = NOTHING_HEARD

    @property
    def slot_count(self) -> int:
        return len(self.tokens)
