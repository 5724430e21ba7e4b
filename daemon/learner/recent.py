"""The last few decisions of a learner, slot by slot, and the truth where it came: for people to look at.

Not state: nothing here is journaled, and nothing reads it back but the page and explanations. `Recent` keeps
references to what the combiner made anyway, a few of them, more while somebody looks; `chose` and `learned` are
called in the lane.
"""

from dataclasses import dataclass

from galloon.learners.combiners.contract import Choice, Feedback, Lesson

KEPT = 6  # decisions of every learner, whether or not anybody looks
KEPT_WHILE_WATCHED = 24
KEPT_SLOTS = 2048  # of one learner altogether, so that a thousand learners of long utterances stay affordable


@dataclass(slots=True)
class Shown:
    """One decision, and what became of it."""

    choice: Choice
    feedback: Feedback | None = None
    lesson: Lesson | None = None


class Recent:
    """Decisions by utterance, oldest first."""

    def __init__(self) -> None:
        self.most = KEPT
        self._shown: dict[str, Shown] = {}
        self._slots = 0

    def chose(self, utterance_id: str, choice: Choice) -> None:
        self._shown[utterance_id] = Shown(choice)
        self._slots += len(choice)
        while len(self._shown) > self.most or self._slots > KEPT_SLOTS:
            oldest = self._shown.pop(next(iter(self._shown)))
            self._slots -= len(oldest.choice)

    def learned(self, utterance_id: str, feedback: Feedback, lesson: Lesson) -> None:
        shown = self._shown.get(utterance_id)
        if shown is not None:
            shown.feedback, shown.lesson = feedback, lesson

    def get(self, utterance_id: str) -> Shown | None:
        return self._shown.get(utterance_id)
