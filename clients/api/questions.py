"""What a client can ask a choice for: a `Question` is one utterance with an id of its own.

`Utterance` (of the learners) holds what engines said, and the daemon aligns it. `AlignedUtterance` holds slots
that the client has aligned itself; `NamedUtterance` holds a token for each transition of an explicit automaton.
"""

from dataclasses import dataclass

from galloon.codec.utterance import AlignedUtterance, NamedUtterance, Question
from galloon.learners.combiners.contract import Feedback

__all__ = ["AlignedUtterance", "Answered", "NamedUtterance", "Question"]


@dataclass(frozen=True, slots=True)
class Answered:
    """Feedback on the utterance of this id."""

    id: str
    feedback: Feedback
