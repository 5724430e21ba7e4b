"""Feedback with the id that it is on, for `learn_each`: `Answered`."""

from dataclasses import dataclass

from galloon.learners.combiners.contract import Feedback


@dataclass(frozen=True, slots=True)
class Answered:
    """Feedback on the utterance of this id."""

    id: str
    feedback: Feedback
