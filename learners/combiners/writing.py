"""What is shown of a chosen token: as one of its engines wrote it. `Writing` votes, and learns whose vote counts.

A normaliser makes tokens equal that engines write in different ways: capitals, marks, ligatures, numbers. Once a
token is chosen, its engines vote on how it is written, each by its record where the others differed from it in the
same kind of way. Before anything is known all count the same. Nothing of this touches the choice of tokens, so
error rates under the normaliser are those of the tokens.
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import distance

from galloon.learners.alignment import AlignedTarget
from galloon.learners.alignment.written import forms_in_slots
from galloon.learners.combiners.contract import TrueText
from galloon.learners.errors import DamagedState
from galloon.learners.offers import NULL, Offers
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import Unit
from galloon.learners.written import CONTINUED

CAPITALS, MARKS, SPELLING = range(3)  # in what the forms of one token differ
RIGHT, WRONG = 4.0, 1.0  # what every engine is given at first
MENDED = 8  # slots of an answer that are shown as tokens before all are
MOST_COUNTED = 2**53


class Writing:
    """The record of each engine: how often it wrote a token rightly and wrongly, where others wrote otherwise."""

    def __init__(self, engines: Sequence[str], unit: Unit, normalizer_name: str) -> None:
        self._unit, self._rule = unit, normalizer(normalizer_name)
        self._places = {name: place for place, name in enumerate(engines)}
        self._counts = [[[0, 0] for _ in engines] for _ in range(3)]

    def write(self, offers: Offers, shown: NDArray[np.int32]) -> list[str] | None:
        """The form shown in each slot, empty for null and for what an earlier slot's form says already.

        Of forms with equal votes the first in the alphabet is taken: nothing depends on the order of the engines.
        None where every token is shown as it is.
        """
        if not offers.written:
            return None
        plain: set[int] = set()
        tokens = [offers.vocabulary[token] for token in shown.tolist()]
        forms = self._voted(offers, shown, plain)
        if self._rule.rewrite is None and self._unit.whole_words:
            return forms  # word by word: what forms say together is what they say alone
        wanted = self._read(tokens)
        slots = [slot for slot, token in enumerate(tokens) if token]
        for _ in range(MENDED):
            said = self._read(forms)
            if said == wanted:
                return forms
            # Forms of different engines side by side can mean something else ("twenty" and "five").
            place = next(
                (k for k, pair in enumerate(zip(said, wanted, strict=False)) if pair[0] != pair[1]), 0
            )
            nearest = sorted(
                set(slots) - plain, key=lambda slot: abs(slot - slots[min(place, len(slots) - 1)])
            )
            plain.update(nearest[:2])
            forms = self._voted(offers, shown, plain)
        return None

    def learn(self, offers: Offers, truth: AlignedTarget, feedback: object) -> None:
        """Take in how the tokens are written in the true text."""
        if not offers.written or not isinstance(feedback, TrueText):
            return
        forms = forms_in_slots(feedback.text, truth.tokens, truth.vocabulary, self._unit, self._rule)
        for slot in np.flatnonzero(offers.written.numbers.any(axis=1)).tolist():
            true_form = forms[slot]
            if not true_form:
                continue
            said = self._forms(offers, slot, int(truth.tokens[slot]))
            texts = set(said.values())
            if len(texts) > 1 and true_form in texts:
                kind = _difference(texts)
                for engine, text in said.items():
                    self._counts[kind][self._places[offers.experts[engine]]][text != true_form] += 1

    def to_json(self) -> list[list[list[int]]]:
        return self._counts

    def restore(self, counts: object) -> None:
        """None, of a state that was written before there were records, is that of a beginner."""
        if counts is None:
            self._counts = [[[0, 0] for _ in engines] for engines in self._counts]
            return
        shape = [[len(engines), *[2] * len(engines)] for engines in self._counts]
        try:
            found = [[list(map(_counted, pair)) for pair in kind] for kind in counts]  # type: ignore[attr-defined]
            sound = [[len(kind), *map(len, kind)] for kind in found] == shape
        except TypeError:
            sound = False
        if not sound:
            raise DamagedState("the records of how engines write are of another learner")
        self._counts = found

    def _voted(self, offers: Offers, shown: NDArray[np.int32], plain: set[int]) -> list[str]:
        spans = bool((offers.written.numbers == CONTINUED).any())
        # Most tokens are written as they are by everybody: nobody need be asked.
        written: NDArray[np.bool_] = np.logical_or(spans, (offers.written.numbers != 0).any(axis=1))
        forms = [""] * len(shown)
        slot = 0
        while slot < len(shown):
            token, end = int(shown[slot]), slot + 1
            if token != NULL:
                forms[slot] = offers.vocabulary[token]
                said = self._forms(offers, slot, token) if written[slot] and slot not in plain else {}
                ends = {engine: self._end(offers, shown, slot, engine) if spans else end for engine in said}
                said = {engine: text for engine, text in said.items() if ends[engine] > slot}
                if said:
                    giver = self._elected(offers.experts, said)
                    forms[slot], end = said[giver], ends[giver]
            slot = end
        return forms

    def _forms(self, offers: Offers, slot: int, token: int) -> dict[int, str]:
        """How the engines that offer this token write it; not of those that write it with the one before."""
        texts, numbers = offers.written.texts, offers.written.numbers[slot].tolist()
        return {
            engine: texts[number] if number else offers.vocabulary[token]
            for engine, (number, offered) in enumerate(
                zip(numbers, offers.tokens[slot, : len(numbers)].tolist(), strict=True)
            )
            if offered == token and number != CONTINUED
        }

    def _end(self, offers: Offers, shown: NDArray[np.int32], slot: int, engine: int) -> int:
        """Where the engine's form that begins here ends; the slot itself unless all that it says is shown."""
        end = slot + 1
        for later in range(slot + 1, len(shown)):
            continued = offers.written.numbers[later, engine] == CONTINUED
            if offers.tokens[later, engine] != NULL and not continued:
                break
            end = later + 1 if continued else end
        alike = (offers.tokens[slot:end, engine] == shown[slot:end]).all()
        return end if alike else slot

    def _elected(self, experts: Sequence[str], said: dict[int, str]) -> int:
        """An engine whose form has the most votes; of equal ones, that which is most like all the others."""
        texts = set(said.values())
        if len(texts) == 1:
            return min(said)
        record = self._counts[_difference(texts)]
        votes = dict.fromkeys(sorted(texts), 0.0)
        for engine, text in said.items():
            right, wrong = record[self._places[experts[engine]]]
            votes[text] += log((right + RIGHT) / (wrong + WRONG))
        most = max(votes.values())
        best = [text for text, vote in votes.items() if vote >= most]
        text = min(best, key=lambda form: sum(distance(form, other) for other in said.values()))
        return min(engine for engine, own in said.items() if own == text)

    def _read(self, texts: Sequence[str]) -> list[str]:
        return self._unit.split(self._rule.tokens(self._unit.join(texts).split()))


def _difference(texts: set[str]) -> int:
    if len({text.casefold() for text in texts}) == 1:
        return CAPITALS
    letters = {"".join(filter(str.isalnum, text)).casefold() for text in texts}
    return MARKS if len(letters) == 1 else SPELLING


def _counted(value: object) -> int:
    if type(value) is not int or not 0 <= value < MOST_COUNTED:
        raise TypeError
    return value
