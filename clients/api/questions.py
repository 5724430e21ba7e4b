"""What a client can ask a choice for: a `Question` is one utterance with an id of its own.

`Utterance` (of the learners) holds what engines said, and the daemon aligns it. `AlignedUtterance` holds slots
that the client has aligned itself; `NamedUtterance` holds a token for each transition of an explicit automaton.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from galloon.learners.combiners.contract import Feedback
from galloon.learners.observation import Utterance
from galloon.learners.offers import Offers


@dataclass(frozen=True, slots=True)
class AlignedUtterance:
    """Slots: each expert offers one token, or the empty string for nothing, in each of the same slots."""

    id: str
    offers: Mapping[str, Sequence[str]]
    confidences: Mapping[str, Sequence[float]] = field(default_factory=dict)  # NaN where there is none
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_network(
        cls, utterance_id: str, network: Offers, labels: Mapping[str, str] | None = None
    ) -> "AlignedUtterance":
        """The slots that the library's alignment made."""
        words = network.vocabulary
        columns = {name: network.tokens[:, j].tolist() for j, name in enumerate(network.experts)}
        return cls(
            utterance_id,
            {name: tuple(words[token] for token in column) for name, column in columns.items()},
            {name: tuple(network.confidences[:, j].tolist()) for j, name in enumerate(network.experts)},
            dict(labels or {}),
        )


@dataclass(frozen=True, slots=True)
class NamedUtterance:
    """For a learner with an explicit automaton: what each transition outputs, by its name."""

    id: str
    tokens: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)


Question = Utterance | AlignedUtterance | NamedUtterance


@dataclass(frozen=True, slots=True)
class Answered:
    """Feedback on the utterance of this id."""

    id: str
    feedback: Feedback
