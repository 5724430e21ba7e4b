"""Whether what true texts have taught may be shown: `Probation`; and rounds in which it is not: `held_back`.

A learner that has read one page in German believes an engine that is no good on the next one, in English. So what
was taught stands beside the untaught answer and is shown once it has been right more often, in lines that were
chosen before their own true texts were known. Where the two differ, each slot in which only one of them is right
counts for it.

Lines that were chosen before any of their true texts was taken in, as those of a page that is corrected as a
whole, are one trial, for they have much in common: it counts (wins - losses) / sqrt(wins + losses), and a won one
for 1 at most, or 1/2 if it has several lines. Lessons of lines that were chosen before anything had been taught
(a file that is corrected at once) try nothing; many of them are believed all the same. Where lines are corrected
one at a time, each is chosen with the lessons of those just before it, and a learner that fails is seen to fail at
once: after some of them it is enough not to have lost.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.combiners.text_round import TextRound
from galloon.learners.errors import DamagedState
from galloon.learners.kernels.tied import pick
from galloon.learners.state import check_arrays

DOUBT = 1.5  # what trials must come to
UNTRIED = 400.0  # lessons that tried nothing, after which no doubt is left
ALONE = 20.0  # trials of one line each, after which none is left either
MOST = 8.0  # that trials count for, for or against: a change is believed after so many others
ONE_LINE, SEVERAL_LINES = 1.0, 0.5  # what a won trial counts for at most
CLOSED, WINS, LOSSES, LESSONS, OPENED, NOTHING_TRIED, TRIED_ALONE = range(7)
OLDER_BOOK = 6  # columns of versions that did not count trials of one line
STATE = "probation"
_NO_DRAWS = np.zeros(0)


class Probation:
    """The trials so far: closed ones summed up, wins and losses of the open one, lessons in all, by the beginning
    of the open one, and those that tried nothing; closed trials of one line.
    """

    def __init__(self) -> None:
        self._book = np.zeros(7)

    @property
    def passed(self) -> bool:
        """Whether the taught answer is shown."""
        untried, alone = float(self._book[NOTHING_TRIED]), float(self._book[TRIED_ALONE])
        return self._evidence() >= DOUBT * max(0.0, 1.0 - untried / UNTRIED - alone / ALONE)

    @property
    def begun(self) -> bool:
        """Whether anything has been taught."""
        return bool(self._book[LESSONS] > 0)

    def judge(
        self,
        taught: NDArray[np.int32],
        untaught: NDArray[np.int32],
        truth: NDArray[np.int32],
        lessons_at_choice: int,
    ) -> None:
        """Take in a line: the token of both answers in each slot, the true one, and when it was chosen."""
        if lessons_at_choice > self._book[OPENED]:
            self._book[TRIED_ALONE] += 0.0 < self._book[OPENED] == self._book[LESSONS] - 1.0
            self._book[CLOSED] = self._evidence()
            self._book[[WINS, LOSSES]] = 0.0
            self._book[OPENED] = self._book[LESSONS]
        differ = taught != untaught
        self._book[WINS] += np.count_nonzero(differ & (taught == truth))
        self._book[LOSSES] += np.count_nonzero(differ & (untaught == truth))
        self._book[LESSONS] += 1.0
        self._book[NOTHING_TRIED] += lessons_at_choice <= 0

    def _evidence(self) -> float:
        closed, wins, losses, lessons, opened, *_ = self._book.tolist()
        won = (wins - losses) / sqrt(max(1.0, wins + losses))
        found = closed + min(won, ONE_LINE if lessons - opened <= 1.0 else SEVERAL_LINES)
        return float(min(max(found, -MOST), MOST))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As older versions wrote it, until there is something that they did not count."""
        return {STATE: self._book if self._book[TRIED_ALONE] else self._book[:OLDER_BOOK]}

    def restore(self, arrays: Mapping[str, NDArray[Any]], lessons: int) -> None:
        """A state of an older version has shown what it was taught all along."""
        if STATE not in arrays:
            self._book[:] = 0.0
            self._book[[CLOSED, LESSONS, OPENED]] = MOST if lessons else 0.0, lessons, lessons
            return
        book = np.zeros_like(self._book)
        kept = book if arrays[STATE].size > OLDER_BOOK else book[:OLDER_BOOK]
        check_arrays(arrays, {STATE: kept})
        kept[:] = arrays[STATE]
        if not (np.isfinite(book).all() and abs(book[CLOSED]) <= MOST and (book[WINS:] >= 0.0).all()):
            raise DamagedState("the trials of this state contradict themselves")
        self._book = book


def untaught_answer(tokens: NDArray[np.int32], posteriors: NDArray[np.float64]) -> NDArray[np.int64]:
    """The engine with the most probable token by agreement in each slot; of equals the first word, null last.

    tokens and posteriors: slots x engines. Equal words stand in the order of the vocabulary, so that the order
    in which engines are listed does not matter.
    """
    likely = posteriors >= posteriors.max(axis=1, keepdims=True, initial=0.0)
    last = tokens.max(initial=0) + 1
    order = np.where(tokens == 0, last, tokens)
    return np.asarray(np.where(likely, order, last + 1).argmin(axis=1))


def taught_tokens(played: TextRound) -> NDArray[np.int32]:
    """The most trusted token of each slot."""
    shown, _ = pick(played.tokens, played.played.probabilities, _NO_DRAWS, best=True)
    return _of_columns(played.tokens, shown)


def untaught_tokens(played: TextRound) -> NDArray[np.int32]:
    """The most probable token of each slot by agreement."""
    tokens = played.network.tokens
    return _of_columns(tokens, untaught_answer(tokens, played.prior))


def held_back(played: TextRound) -> TextRound:
    """The round with the untaught answer shown where what was taught says otherwise."""
    untaught = untaught_answer(played.network.tokens, played.prior)
    differ = _of_columns(played.network.tokens, untaught) != played.shown
    shown = np.where(differ, untaught, played.played.shown).astype(np.int32)
    return replace(played, played=replace(played.played, shown=shown))


def trust_shown(played: TextRound) -> NDArray[np.float64]:
    """How far experts are trusted; where the most trusted token is held back, half goes to the one shown."""
    trust, apart = played.played.probabilities, played.shown != taught_tokens(played)
    if apart.any():
        slots = np.flatnonzero(apart)
        trust = trust.copy()
        trust[slots] /= 2.0
        trust[slots, played.played.shown[slots]] += 0.5
    return trust


def _of_columns(tokens: NDArray[np.int32], columns: NDArray[Any]) -> NDArray[np.int32]:
    """The token of one column in each slot."""
    return np.asarray(tokens[np.arange(len(tokens)), columns])
