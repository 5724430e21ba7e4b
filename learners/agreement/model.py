"""Posteriors of what engines offer, from their agreement: `AgreementModel`.

    weigh(offers)           how probable each engine's token is in each slot; changes nothing
    observe(offers, ...)    take a line in: the only change without a truth, given what was observed
    tell(offers, truth)     take in true tokens, which soon outweigh what agreement says
    estimates()             error rates, copies, what dropping an engine would cost

What is observed depends on lines observed alone, and what is told on what was told alone: so a host may apply the
two kinds of events out of step, take them in again in the order of its journal, and have the same bits.

Engines are kept in the order of their names, so that nothing depends on the order in which they are listed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.agreement.copies import heard, originals
from galloon.learners.agreement.estimates import Estimate, error_rates
from galloon.learners.bounded_table import BoundedTable
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.agreement import (
    AGREED,
    CLASSES,
    DISPUTED,
    EVENTS,
    FOLDED_CODES,
    effective_rates,
    take_in,
    tell,
    weigh,
)
from galloon.learners.kernels.quantiles import BUCKETS, RING
from galloon.learners.offers import Offers
from galloon.learners.state import check_arrays
from galloon.learners.unit import WORD, Unit

# Before anything is seen: right, substituted, missed; silent, inserted. Ten slots of it.
FIRST_RATES = np.array([8.0, 1.0, 1.0, 8.0, 2.0])
# An engine that is named as trusted begins as if true texts had found it nearly always right.
TRUSTED_RATES = np.array([1998.0, 1.0, 1.0, 999.0, 1.0])
FIRST_NULL = np.array([40.0, 160.0])  # slots with nothing, and with a word
CLASS_WEIGHT = 20.0  # candidates of each class
AGREED_SHARES = (0.4, 0.6, 0.75, 0.85)  # of agreed words, right where they are disputed: a mild start
LETTER_ORDER = 4
OFTEN = 64  # lines
TOLD_NAMES = ("agreement.told", "agreement.told_null")
WORD_LIMIT, LETTER_LIMIT = 1 << 16, 1 << 17  # rows of 12 bytes each


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was made of one line: `posteriors` of each engine's token, slots x engines as they were given."""

    posteriors: NDArray[np.float64]
    best: NDArray[np.int32]  # the most probable token of each slot
    line: tuple[NDArray[Any], ...]  # the arrays of `kernels.agreement.Line`
    observed: int  # lines before this; -1 if true texts were looked at, which what is observed must not do


class AgreementModel:
    """Rates, confidences, words and letters, learned from what engines agree in."""

    def __init__(self, experts: tuple[str, ...], unit: Unit, trusted: str = "") -> None:
        if trusted and trusted not in experts:
            raise InvalidInput(f"trusted: no engine is called {trusted!r}; choose from {', '.join(experts)}")
        self.experts = experts
        self._order = np.array(sorted(range(len(experts)), key=lambda j: experts[j]), dtype=np.int64)
        self._trusted = np.array([experts[j] == trusted for j in self._order])
        self._letter_order = LETTER_ORDER if unit is WORD else 0
        count = len(experts)
        self._rates = np.tile(FIRST_RATES, (count, 1))
        self._named = np.where(self._trusted[:, None], TRUSTED_RATES, 0.0)
        self._told = np.zeros((count, EVENTS))
        self._null, self._told_null = FIRST_NULL.copy(), np.zeros(2)
        self._confidences = np.zeros((count, BUCKETS, 2))
        self._classes = _first_classes()
        self._lexicon = BoundedTable(WORD_LIMIT, {"seen": (2, np.float32)})
        self._spelling = BoundedTable(LETTER_LIMIT, {"counts": (2, np.uint32)})
        self._ring = np.zeros((count, RING))
        self._seen = np.zeros(count, dtype=np.int64)
        self._borders = np.full((count, BUCKETS - 1), np.inf)
        self._written = np.zeros((count, FOLDED_CODES), dtype=np.bool_)
        self._words = np.zeros((count, 2))
        self._pairs = np.zeros((4, count, count))
        self._moments = np.zeros((count, 5))
        self._costs = np.zeros(count)
        self._heard = np.ones(count, dtype=np.bool_)
        self._listened_to = self._heard  # the same where true texts are looked at
        self._first = np.arange(count)  # of which each is a copy, or itself
        self._lines = np.zeros(1, dtype=np.int64)

    @property
    def heard(self) -> frozenset[str]:
        """The engines that count: neither copies nor noise."""
        return frozenset(self.experts[j] for j in self._order[self._listened_to])

    def weigh(self, offers: Offers) -> Weighed:
        """How probable each engine's token is in each slot."""
        told = bool(self._told_null.any())
        line = self._weighed(offers, self._named + self._told, self._told_null, self._listened_to)
        tokens = self._in_order(offers.tokens)
        _, candidates, counts, _, posteriors, *_ = line
        found = np.zeros(tokens.shape)
        for c in range(candidates.shape[1]):
            valid = (c < counts)[:, None] & (tokens == candidates[:, c : c + 1])
            found += np.where(valid, posteriors[:, c : c + 1], 0.0)
        best = candidates[np.arange(len(tokens)), posteriors.argmax(axis=1)] if tokens.size else tokens[:, 0]
        given = np.empty_like(found)
        given[:, self._order] = found
        return Weighed(given, best, line, -1 if told else int(self._lines[0]))

    def observe(self, offers: Offers, weighed: Weighed | None = None) -> None:
        """Take a line in. `weighed` saves weighing it again, if it can be used."""
        if weighed is not None and weighed.observed == self._lines[0]:
            line = weighed.line
        else:
            line = self._weighed(offers, self._named, np.zeros(2), self._heard)
        letters, tokens = offers.spelling, self._in_order(offers.tokens)
        self._lexicon.make_room(tokens.size)
        self._spelling.make_room(2 * LETTER_ORDER * (letters.codes.size + len(offers.vocabulary)))
        used = np.array([self._lexicon.used[0], self._spelling.used[0]])
        take_in(
            self._book(self._named, np.zeros(2), self._heard),
            self._ring,
            used,
            tokens,
            self._in_order(offers.confidences),
            letters.points,
            letters.starts,
            line,
            self._pairs,
            self._moments,
            self._costs,
        )
        self._lexicon.used[0], self._spelling.used[0] = used
        self._lines += 1
        # Who copies whom is a question of many lines; it need not be asked after each.
        if self._lines[0] < OFTEN or self._lines[0] % OFTEN == 0:
            self._first = originals(self._pairs, self._words[:, 0])
        self._heard = self._counted(self._named)
        self._listened_to = self._counted(self._named + self._told)

    def tell(self, offers: Offers, truth: NDArray[np.int32]) -> None:
        """Take in the true token of each slot, as a number of the vocabulary or beyond it; -1 where unknown."""
        tell(self._told, self._told_null, self._in_order(offers.tokens), truth)
        self._listened_to = self._counted(self._named + self._told)

    def estimates(self) -> tuple[Estimate, ...]:
        """One of each engine, in the order in which they were listed."""
        rates, halves = error_rates(self._moments)
        words = np.maximum(self._moments[:, 1], 1.0)
        first = self._first
        names = [self.experts[j] for j in self._order]
        found = {
            name: Estimate(
                name,
                float(rates[j]),
                max(0.0, float(rates[j] - halves[j])),
                float(rates[j] + halves[j]),
                float(100 * self._costs[j] / words[j]),
                names[first[j]] if first[j] != j else "",
            )
            for j, name in enumerate(names)
        }
        return tuple(found[name] for name in self.experts)

    @property
    def state_bytes(self) -> int:
        fixed = sum(array.nbytes for array in self._fixed().values())
        return fixed + self._ring.nbytes + self._lexicon.state_bytes + self._spelling.state_bytes

    def observed(self) -> dict[str, NDArray[Any]]:
        """What comes of lines alone."""
        return {name: array for name, array in self.arrays().items() if name not in TOLD_NAMES}

    def arrays(self) -> dict[str, NDArray[Any]]:
        held = min(RING, int(self._seen.max(initial=0)))
        return {
            **self._fixed(),
            "agreement.ring": self._ring[:, :held],
            "agreement.borders": self._borders,
            **self._lexicon.arrays("agreement.lexicon"),
            **self._spelling.arrays("agreement.spelling"),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        fixed = self._fixed()
        check_arrays(arrays, fixed)
        ring, borders = arrays.get("agreement.ring"), arrays.get("agreement.borders")
        seen = arrays["agreement.seen"]
        sound = (
            ring is not None
            and borders is not None
            and seen.min(initial=0) >= 0
            and ring.shape == (len(seen), min(RING, int(seen.max(initial=0))))
            and borders.shape == self._borders.shape
            and ring.dtype == borders.dtype == np.float64
            and bool(np.isfinite(ring).all())
            and not np.isnan(borders).any()
            and bool(((arrays["agreement.first"] >= 0) & (arrays["agreement.first"] < len(seen))).all())
            and all(bool((arrays[f"agreement.{name}"] > 0).all()) for name in ("rates", "null", "classes"))
            and all(bool((arrays[f"agreement.{name}"] >= 0).all()) for name in ("told", "told_null"))
        )
        if not sound:
            raise DamagedState("what this state learned from agreement contradicts itself")
        for name in fixed:
            setattr(self, "_" + name.removeprefix("agreement."), arrays[name].copy())
        self._ring = np.zeros_like(self._ring)
        assert ring is not None
        assert borders is not None
        self._ring[:, : ring.shape[1]] = ring
        self._borders = borders.copy()
        self._listened_to = self._counted(self._named + self._told)
        self._lexicon.restore("agreement.lexicon", arrays)
        self._spelling.restore("agreement.spelling", arrays)

    def _fixed(self) -> dict[str, NDArray[Any]]:
        """Everything of a fixed size, by the name of its attribute."""
        names = ("rates", "told", "null", "told_null", "confidences", "classes", "seen", "written", "words")
        more = ("pairs", "moments", "costs", "heard", "first", "lines")
        return {f"agreement.{name}": getattr(self, f"_{name}") for name in (*names, *more)}

    def _in_order(self, array: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(array[:, self._order])

    def _counted(self, told: NDArray[np.float64]) -> NDArray[np.bool_]:
        counted = heard(self._first, effective_rates(self._rates, told))
        return np.asarray(counted | self._trusted)

    def _weighed(
        self,
        offers: Offers,
        told: NDArray[np.float64],
        told_null: NDArray[np.float64],
        heard: NDArray[np.bool_],
    ) -> tuple[NDArray[Any], ...]:
        letters, tokens = offers.spelling, self._in_order(offers.tokens)
        confidences = self._in_order(offers.confidences)
        found: tuple[NDArray[Any], ...] = weigh(
            self._book(told, told_null, heard), tokens, confidences, letters.points, letters.starts
        )
        return found

    def _book(
        self, told: NDArray[np.float64], told_null: NDArray[np.float64], heard: NDArray[np.bool_]
    ) -> tuple[Any, ...]:
        """The fields of `kernels.agreement.Book`, as a plain tuple."""
        return (
            self._rates,
            told,
            self._null,
            told_null,
            self._confidences,
            self._classes,
            self._lexicon.keys,
            self._lexicon.columns["seen"],
            self._spelling.keys,
            self._spelling.columns["counts"],
            self._letter_order,
            self._seen,
            self._borders,
            self._written,
            self._words,
            heard,
        )


def _first_classes() -> NDArray[np.float64]:
    """Right and wrong candidates of each class before any is seen: agreed and well spelled words are likelier."""
    shares = np.empty(CLASSES)
    for number in range(CLASSES):
        kind = number // 3
        if kind < DISPUTED:
            shares[number] = 0.5 - 0.05 * kind
        elif kind < AGREED:
            shares[number] = 0.3 - 0.03 * (kind - DISPUTED)
        else:
            shares[number] = AGREED_SHARES[(kind - AGREED) // 3]
    return CLASS_WEIGHT * np.column_stack([shares, 1.0 - shares])
