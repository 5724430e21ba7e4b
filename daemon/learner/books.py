"""Error rates: every expert, the plain vote and the combination against the true texts of feedback.

Counted from the history, some time after a lesson and in another thread, so that every correction is counted,
whenever it came: `count_some` goes on where it stopped; `to_json` and `restore` keep that over a restart. What
was replaced or withdrawn is taken out again. Only a text so long that comparing its letters would hold the
interpreter lock for long is left out. `rates` are the sums and `curve` how they grew; both are replaced as a
whole, so that whoever reads them sees all of a round or nothing of it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from galloon.codec.answer import own_text
from galloon.codec.feedback import feedback_from_wire
from galloon.codec.utterance import decode_utterance, of_engines
from galloon.daemon.learner.error_curve import ErrorCurve, Rates, added
from galloon.daemon.learner.events import Amended, Applied, from_entry
from galloon.daemon.learner.history import History
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.store.compression import PACKED
from galloon.learners.alignment import majority_vote
from galloon.learners.combiners.contract import Feedback, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.learners.evaluation.error_rate import char_errors, word_errors
from galloon.learners.observation import NamedTokens, Utterance
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

COMBINED = "galloon"
VOTE = "vote"  # the baseline to beat, counted whether or not the learner has it as an expert
LONGEST = 65_536  # letters of a text that is normalised for it
MOST_PAIRS = 1 << 26  # of letters that are compared in one call, which holds the interpreter lock: some 10 ms
MOST_CURVES = 64  # engines with a curve: of a crowd of thousands the sums are enough
Texts = Callable[[str], Mapping[str, str]]  # what others made of an utterance, by its id


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of one utterance, and what is true."""

    utterance: Utterance
    offers: Offers | None  # None where another spec made them
    combined: str
    feedback: Feedback
    others: Mapping[str, str] = field(default_factory=dict)  # texts to count beside


class Books:
    """The error rates of one learner; `offers_of` reads the offers of a round from its memory."""

    def __init__(self, spec: CombinerSpec, offers_of: Callable[[bytes], Offers]) -> None:
        self._counting = threading.RLock()  # one counts at a time
        self._follow(spec, offers_of, 0)
        self.seq = 0  # of the last entry of the history that was looked at
        self.counted = 0  # corrections
        self.rates: Mapping[str, Rates] = {}
        self.curve = ErrorCurve()
        self.others: Texts = lambda _: {}

    def go_on(self, spec: CombinerSpec, offers_of: Callable[[bytes], Offers], memories_since: int) -> None:
        """Another combiner reads the memories from now on, those of rounds from this number on."""
        with self._counting:
            self.restore(self.to_json(spec))
            self._follow(spec, offers_of, memories_since)

    def begin_again(self) -> None:
        """Forget what was counted: somebody whose texts are counted beside is another one now."""
        with self._counting:
            self.seq = self.counted = 0
            self.rates, self.curve = {}, ErrorCurve()

    def _follow(self, spec: CombinerSpec, offers_of: Callable[[bytes], Offers], memories_since: int) -> None:
        self._spec, self._offers_of, self._memories_since = spec, offers_of, memories_since
        self._unit, self._normalize = spec.unit, normalizer(spec.normalizer)
        self._engines, self._derived = spec.engines, spec.derived
        self._without_curve = frozenset(spec.engines[MOST_CURVES:])

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

    @contextmanager
    def without(self, history: History, ids: Sequence[str]) -> Iterator[None]:
        """These rounds are not counted any more, unless what is done with this fails; others count later."""
        with self._counting:
            before = self.to_json()
            for id_ in ids:
                self._enter(history.find(id_, self.seq + 1), -1)
            try:
                yield
            except BaseException:
                self.restore(before)
                raise

    def to_json(self, spec: CombinerSpec | None = None) -> dict[str, Any]:
        """The sums; for a learner that goes on by another spec none, if it compares texts otherwise."""
        spec = spec or self._spec
        if (spec.unit, spec.normalizer) != (self._spec.unit, self._spec.normalizer):
            return {"seq": 0, "counted": 0, "sums": {}, "curve": ErrorCurve().to_json()}
        gone = {*self._engines, *self._derived} - {*spec.engines, *spec.derived, VOTE}
        sums = {name: rates.to_json() for name, rates in self.rates.items() if name not in gone}
        return {"seq": self.seq, "counted": self.counted, "sums": sums, "curve": self.curve.to_json()}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from there; what an older version counted without a curve is counted again."""
        if "curve" not in found:
            return
        self.seq, self.counted = found["seq"], found["counted"]
        self.rates = {name: Rates.from_json(numbers) for name, numbers in found["sums"].items()}
        self.curve = ErrorCurve.from_json(found["curve"])

    def _enter(self, round_: Round | None, sign: int) -> None:
        """Count a round that was taught a true text; a score says nothing about the text."""
        if round_ is None or round_.status is not Status.LEARNED or not round_.utterance or not round_.truth:
            return
        feedback = feedback_from_wire(wire.Feedback.FromString(round_.truth))
        if isinstance(feedback, TrueText | TrueTokens):
            message = utterance_pb2.Utterance.FromString(round_.utterance)
            text = own_text(wire.CombineResponse.FromString(round_.answer).choice)
            try:
                utterance = decode_utterance(of_engines(message, self._engines), self._engines, None)
                readable = round_.number >= self._memories_since
                offers = self._offers_of(round_.memory) if readable else None
            except LearnerError:
                return  # of engines that have all left
            self.count(Said(utterance, offers, text, feedback, self.others(round_.id)), sign, round_.seq)

    def count(self, said: Said, sign: int = 1, place: int = 0) -> None:
        """Add the errors of the correction in this place of the journal, or take them out again."""
        truth, texts = self._true_text(said), self._texts(said)
        if max([len(truth), *map(len, texts.values())]) > LONGEST:
            return
        reference = self._normalize(truth)
        normal = {name: self._normalize(text) for name, text in texts.items()}
        if len(reference) * max(map(len, normal.values())) > MOST_PAIRS:
            return
        words = {name: word_errors(reference, text) for name, text in normal.items()}
        chars = {name: char_errors(reference, text) for name, text in normal.items()}
        own = (words[COMBINED].errors, chars[COMBINED].errors, 1)
        counted = {name: Rates(words[name], chars[name], *own) for name in texts}
        drawn = {name: rates for name, rates in counted.items() if name not in self._without_curve}
        if sign > 0:
            self.rates, self.curve = added(self.rates, counted), self.curve.entered(drawn, place)
        else:
            less = {name: -rates for name, rates in counted.items()}
            self.rates, self.curve = added(self.rates, less), self.curve.removed(drawn, place)
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
        return {**engines, **derived, **said.others, COMBINED: said.combined}

    def _derived_texts(self, offers: Offers | None) -> dict[str, str]:
        """What derived experts said, and the vote."""
        if offers is None:
            return {}
        derived = self._columns(offers, self._derived)
        if VOTE not in (*self._engines, *self._derived):
            voted = majority_vote(offers.engines()).tokens.tolist()
            derived[VOTE] = self._unit.join(offers.vocabulary[token] for token in voted)
        return derived

    def _columns(self, offers: Offers, experts: tuple[str, ...]) -> dict[str, str]:
        return {name: self._unit.join(offers.of(name)) for name in experts}
