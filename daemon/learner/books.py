"""Online error rates: every expert, the plain vote and the combination against the true texts of feedback.

A sample, not state. `enter` queues a round that has just learned, if the daemon still has what was said; it is
called in the learner's work queue. `count_some` does the counting later, in another thread. What does not fit is
left out, and so is a text so long that comparing its letters would hold the interpreter lock for long. `rates` is
replaced as a whole, so that whoever reads it sees all of a round or nothing of it.
"""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from galloon.daemon.learner.round import Round, Warm
from galloon.learners.alignment import majority_vote
from galloon.learners.combiners.contract import TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import ErrorCounts, char_errors, word_errors
from galloon.learners.observation import NamedTokens
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer

COMBINED = "galloon"
VOTE = "vote"  # the baseline to beat, counted whether or not the learner has it as an expert
LONGEST = 65_536  # letters of a text that is normalised for it
MOST_PAIRS = 1 << 26  # of letters that are compared in one call, which holds the interpreter lock: some 10 ms
QUEUED = 256  # rounds that wait to be counted; the oldest give way


@dataclass(frozen=True, slots=True)
class Rates:
    """Sums over all counted rounds."""

    words: ErrorCounts = field(default_factory=ErrorCounts)
    chars: ErrorCounts = field(default_factory=ErrorCounts)


class Books:
    """The error rates of one learner, since the daemon started."""

    def __init__(self, spec: CombinerSpec) -> None:
        self._unit = spec.unit
        self._normalize = normalizer(spec.normalizer)
        self._engines, self._derived = spec.engines, spec.derived
        self._queue: deque[Warm] = deque(maxlen=QUEUED)
        self._counting = threading.Lock()  # one counts at a time
        self.rates: Mapping[str, Rates] = {}

    def enter(self, round_: Round) -> None:
        """Queue a round that has learned from a true text; a score says nothing about the text."""
        if round_.warm is not None and isinstance(round_.warm.feedback, TrueText | TrueTokens):
            self._queue.append(round_.warm)

    @property
    def waiting(self) -> int:
        """Rounds that wait to be counted."""
        return len(self._queue)

    def count_some(self, most: int) -> int:
        """Count at most so many of the queued rounds; returns how many there were."""
        done = 0
        with self._counting:
            while self._queue and done < most:
                self._count(self._queue.popleft())
                done += 1
        return done

    def _count(self, said: Warm) -> None:
        truth, texts = self._true_text(said), self._texts(said)
        if max([len(truth), *map(len, texts.values())]) > LONGEST:
            return
        rates, reference = dict(self.rates), self._normalize(truth)
        normal = {name: self._normalize(text) for name, text in texts.items()}
        if len(reference) * max(map(len, normal.values())) > MOST_PAIRS:
            return
        for name, normalized in normal.items():
            known = rates.get(name, Rates())
            rates[name] = Rates(
                known.words + word_errors(reference, normalized),
                known.chars + char_errors(reference, normalized),
            )
        self.rates = rates

    def _true_text(self, said: Warm) -> str:
        match said.feedback:
            case TrueText(text):
                return text
            case TrueTokens(tokens):
                return self._unit.join(tokens)
            case _:
                raise AssertionError("only true texts are entered")

    def _texts(self, said: Warm) -> Mapping[str, str]:
        """What each said, in the order in which it is shown: engines, derived experts, the combination."""
        utterance, choice = said.utterance, said.choice
        match utterance.said:
            case NamedTokens():
                engines, derived = {}, {}  # transitions, not experts
            case Offers() as slots:
                engines = self._columns(slots, slots.experts)
                derived = self._derived_texts(choice.offers)
            case tuple() as outputs:
                engines = {output.name: output.text for output in outputs}
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
