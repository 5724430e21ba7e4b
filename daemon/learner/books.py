"""Online error rates: every expert, the plain vote and the combination against the true texts of feedback.

A sample, not state: `watch` keeps what was said while there is room, `score` queues it once the truth is
known, and `count_some` does the counting later, off the path of the utterance. What does not fit is left out.
What waits for its truth is spelled out meanwhile: texts are smaller than arrays, and hold no page for themselves.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from galloon.learners.alignment import majority_vote
from galloon.learners.combiners.contract import (
    Choice,
    Feedback,
    NamedTokens,
    Observation,
    TrueText,
    TrueTokens,
)
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import ErrorCounts, char_errors, word_errors
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer

COMBINED = "galloon"
VOTE = "vote"  # the baseline to beat, counted whether or not the learner has it as an expert
WATCHED = 64  # rounds whose texts are kept until their feedback comes
QUEUED = 256  # rounds that wait to be counted; the oldest give way


@dataclass(slots=True)
class Rates:
    """Sums over all counted rounds."""

    words: ErrorCounts
    chars: ErrorCounts


@dataclass(slots=True, eq=False)
class Said:
    """What each said of one utterance: as it came, then by name in words."""

    source: tuple[Observation, Choice] | None
    texts: Mapping[str, str] = field(default_factory=dict)


class Scoreboard:
    """The error rates of one learner, since the daemon started."""

    def __init__(self, spec: CombinerSpec) -> None:
        self._unit = spec.unit
        self._normalize = normalizer(spec.normalizer)
        self._engines, self._derived = spec.experts, spec.derived
        self._watched: dict[str, Said] = {}
        self._fresh: deque[Said] = deque(maxlen=WATCHED)  # not spelled out, or not known to be
        self._queue: deque[tuple[Said, TrueText | TrueTokens]] = deque(maxlen=QUEUED)
        self.rates: dict[str, Rates] = {}

    def watch(self, utterance_id: str, observation: Observation, choice: Choice) -> None:
        if len(self._watched) >= WATCHED:
            del self._watched[next(iter(self._watched))]
        self._watched[utterance_id] = said = Said((observation, choice))
        self._fresh.append(said)

    def score(self, utterance_id: str, feedback: Feedback) -> None:
        watched = self._watched.pop(utterance_id, None)
        if watched is None:
            return
        if isinstance(feedback, TrueText | TrueTokens):  # a score says nothing about the text
            self._queue.append((watched, feedback))

    @property
    def waiting(self) -> int:
        """Rounds that wait to be counted or spelled out."""
        return len(self._queue) + len(self._fresh)

    def count_some(self, most: int) -> int:
        """Count at most so many of the queued rounds, then spell others out; returns how many there were."""
        done = 0
        while self._queue and done < most:
            said, truth = self._queue.popleft()
            text = truth.text if isinstance(truth, TrueText) else self._unit.join(truth.tokens)
            reference = self._normalize(text)
            for name, text in self._texts(said).items():
                normalized = self._normalize(text)
                known = self.rates.setdefault(name, Rates(ErrorCounts(), ErrorCounts()))
                known.words += word_errors(reference, normalized)
                known.chars += char_errors(reference, normalized)
            done += 1
        while self._fresh and done < most:
            self._texts(self._fresh.popleft())
            done += 1
        return done

    def _texts(self, said: Said) -> Mapping[str, str]:
        if said.source is not None:
            said.texts, said.source = self._spelled_out(*said.source), None
        return said.texts

    def _spelled_out(self, observation: Observation, choice: Choice) -> Mapping[str, str]:
        """What each said, in the order in which it is shown: engines, derived experts, the combination."""
        match observation:
            case NamedTokens():
                engines, derived = {}, {}  # transitions, not experts
            case Offers():
                engines = self._columns(observation, observation.experts)
                derived = self._derived_texts(choice.offers)
            case _:
                engines = {output.name: output.text for output in observation.outputs}
                derived = self._derived_texts(choice.offers)
        return {**engines, **derived, COMBINED: choice.text}

    def _derived_texts(self, offers: Offers) -> dict[str, str]:
        """What derived experts said, and the vote."""
        derived = self._columns(offers, self._derived)
        if VOTE not in (*self._engines, *self._derived):
            voted = majority_vote(offers.engines()).tokens.tolist()
            derived[VOTE] = self._unit.join(offers.vocabulary[token] for token in voted)
        return derived

    def _columns(self, offers: Offers, experts: tuple[str, ...]) -> dict[str, str]:
        return {name: self._unit.join(offers.of(name)) for name in experts}
