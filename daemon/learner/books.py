"""Error rates: every expert, the plain vote and the combination against the true texts of feedback.

Counted from the history, some time after a lesson and in another thread, so that every correction is counted,
whenever it came: `count_some` goes on where it stopped; `to_json` and `restore` keep that over a restart. What
was replaced or withdrawn is taken out again. Only a text so long that comparing its letters would hold the
interpreter lock for long is left out. `rates` is replaced as a whole, so that whoever reads it sees all of a
round or nothing of it.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from time import thread_time
from typing import Any

from galloon.codec.feedback import feedback_from_wire
from galloon.codec.utterance import decode_utterance
from galloon.daemon.learner.events import Amended, Applied, from_entry
from galloon.daemon.learner.history import History
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.store.compression import PACKED
from galloon.learners.alignment import majority_vote
from galloon.learners.combiners.contract import Feedback, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.learners.evaluation.error_rate import ErrorCounts, char_errors, word_errors
from galloon.learners.observation import NamedTokens, Utterance
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

COMBINED = "galloon"
VOTE = "vote"  # the baseline to beat, counted whether or not the learner has it as an expert
LONGEST = 65_536  # letters of a text that is normalised for it
MOST_PAIRS = 1 << 26  # of letters that are compared in one call, which holds the interpreter lock: some 10 ms


@dataclass(frozen=True, slots=True)
class Rates:
    """Sums over all counted rounds."""

    words: ErrorCounts = field(default_factory=ErrorCounts)
    chars: ErrorCounts = field(default_factory=ErrorCounts)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of one utterance, and what is true."""

    utterance: Utterance
    offers: Offers
    combined: str
    feedback: Feedback


class Books:
    """The error rates of one learner; `offers_of` reads the offers of a round from its memory."""

    def __init__(self, spec: CombinerSpec, offers_of: Callable[[bytes], Offers]) -> None:
        self._unit, self._offers_of = spec.unit, offers_of
        self._normalize = normalizer(spec.normalizer)
        self._engines, self._derived = spec.engines, spec.derived
        self._counting = threading.Lock()  # one counts at a time
        self.seq = 0  # of the last entry of the history that was looked at
        self.counted = 0  # corrections
        self.rates: Mapping[str, Rates] = {}

    def read_by(self, offers_of: Callable[[bytes], Offers]) -> None:
        """Another combiner reads the memories from now on."""
        self._offers_of = offers_of

    def count_some(self, history: History, seconds: float) -> None:
        """Go on counting for so many seconds of the processor, or to the end of the history."""
        end = thread_time() + seconds
        with self._counting:
            for entry in history.entries(self.seq):
                if thread_time() > end:
                    return
                counts = entry.kind & ~PACKED in (Applied.kind, Amended.kind)
                match from_entry(entry) if counts else None:
                    case Applied(id_, answer) if answer:
                        self._enter(history.find(id_, entry.seq + 1), 1)
                    case Amended(id_):
                        self._enter(history.find(id_, entry.seq), -1)
                        self._enter(history.find(id_, entry.seq + 1), 1)
                self.seq = entry.seq

    def to_json(self) -> dict[str, Any]:
        sums = {name: [*astuple(rate.words), *astuple(rate.chars)] for name, rate in self.rates.items()}
        return {"seq": self.seq, "counted": self.counted, "sums": sums}

    def restore(self, found: Mapping[str, Any]) -> None:
        self.seq, self.counted = found["seq"], found["counted"]
        self.rates = {
            name: Rates(ErrorCounts(*numbers[:4]), ErrorCounts(*numbers[4:]))
            for name, numbers in found["sums"].items()
        }

    def _enter(self, round_: Round | None, sign: int) -> None:
        """Count a round that was taught a true text; a score says nothing about the text."""
        if round_ is None or round_.status is not Status.LEARNED or not round_.utterance or not round_.truth:
            return
        feedback = feedback_from_wire(wire.Feedback.FromString(round_.truth))
        if isinstance(feedback, TrueText | TrueTokens):
            message = utterance_pb2.Utterance.FromString(round_.utterance)
            text = wire.CombineResponse.FromString(round_.answer).choice.text
            try:
                utterance = decode_utterance(message, self._engines, None)
                offers = self._offers_of(round_.memory)
            except LearnerError:
                return  # of a spec before this one
            self.count(Said(utterance, offers, text, feedback), sign)

    def count(self, said: Said, sign: int = 1) -> None:
        """Add the errors of one correction, or take them out again."""
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
                known.words + _times(word_errors(reference, normalized), sign),
                known.chars + _times(char_errors(reference, normalized), sign),
            )
        self.rates = rates
        self.counted += sign

    def _true_text(self, said: Said) -> str:
        match said.feedback:
            case TrueText(text):
                return text
            case TrueTokens(tokens):
                return self._unit.join(tokens)
            case _:
                raise AssertionError("only true texts are entered")

    def _texts(self, said: Said) -> Mapping[str, str]:
        """What each said, in the order in which it is shown: engines, derived experts, the combination."""
        match said.utterance.said:
            case NamedTokens():
                engines, derived = {}, {}  # transitions, not experts
            case Offers() as slots:
                engines = self._columns(slots, slots.experts)
                derived = self._derived_texts(said.offers)
            case tuple() as outputs:
                engines = {output.name: output.text for output in outputs}
                derived = self._derived_texts(said.offers)
        return {**engines, **derived, COMBINED: said.combined}

    def _derived_texts(self, offers: Offers) -> dict[str, str]:
        """What derived experts said, and the vote."""
        derived = self._columns(offers, self._derived)
        if VOTE not in (*self._engines, *self._derived):
            voted = majority_vote(offers.engines()).tokens.tolist()
            derived[VOTE] = self._unit.join(offers.vocabulary[token] for token in voted)
        return derived

    def _columns(self, offers: Offers, experts: tuple[str, ...]) -> dict[str, str]:
        return {name: self._unit.join(offers.of(name)) for name in experts}


def _times(counts: ErrorCounts, sign: int) -> ErrorCounts:
    return counts if sign > 0 else ErrorCounts(*(-number for number in astuple(counts)))
