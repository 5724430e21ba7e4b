"""Posteriors of what engines offer, from their agreement: `AgreementModel`.

    weigh(offers)           how probable each engine's token is in each slot; changes nothing
    observe(offers, ...)    take a line in: the only change without a truth, given what was observed
    tell(offers, truth)     take in true tokens, which soon outweigh what agreement says
    estimates()             error rates, copies, what dropping an engine would cost

What is observed depends on lines observed alone, and what is told on what was told alone: so a host may apply the
two kinds of events out of step, take them in again in the order of its journal, and have the same bits.

Engines are kept in the order of their names, so that nothing depends on the order in which they are listed. Those
that are absent in a line have no column there: nothing of theirs is looked at or changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.agreement.copies import heard, is_noise, loops, originals
from galloon.learners.agreement.estimates import Estimate, error_rates
from galloon.learners.bounded_table import BoundedTable
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.agreement import (
    AGREED,
    CLASSES,
    DISPUTED,
    EVENTS,
    FOLDED_CODES,
    RIGHT,
    SILENT,
    effective_rates,
    take_in,
    tell,
    weigh,
)
from galloon.learners.kernels.quantiles import BUCKETS, RING
from galloon.learners.offers import NO_POSTERIORS, Offers
from galloon.learners.pair_counts import PairCounts
from galloon.learners.present import MANY, Present, kept_rows
from galloon.learners.state import check_arrays
from galloon.learners.unit import WORD, Unit

# Before anything is seen: right, substituted, missed; silent, inserted. Ten slots of it.
FIRST_RATES = np.array([8.0, 1.0, 1.0, 8.0, 2.0])
# An engine that is named as trusted begins as if true texts had always found it right: no agreement of others
# outweighs it, and errors that are told do.
TRUSTED_RATES = np.array([2000.0, 1e-6, 1e-6, 1000.0, 1e-6])
FIRST_NULL = np.array([40.0, 160.0])  # slots with nothing, and with a word
CLASS_WEIGHT = 20.0  # candidates of each class
AGREED_SHARES = (0.4, 0.6, 0.75, 0.85)  # of agreed words, right where they are disputed: a mild start
LETTER_ORDER = 4
OFTEN = 64  # lines
TOLD_NAMES = ("agreement.told", "agreement.told_null", "agreement.changed")
WORD_LIMIT, LETTER_LIMIT = 1 << 16, 1 << 17  # rows of 12 bytes each
PAIR_COLUMNS = 4  # see `kernels.agreement.compare`
# Who leaves out blanks: after marks in so many of its words, and so many times as often as the best of all.
RECENTLY_ENOUGH, FEWEST_GLUED, GLUED, GLUED_TIMES = 100.0, 5.0, 0.01, 5.0


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was made of one line: `posteriors` of each engine's token, slots x engines as they were given."""

    posteriors: NDArray[np.float64]
    best: NDArray[np.int32]  # the most probable token of each slot
    line: tuple[NDArray[Any], ...]  # the arrays of `kernels.agreement.Line`
    observed: int  # lines before this; -1 if true texts had a say, which in what is observed they must not


class AgreementModel:
    """Rates, confidences, words and letters, learned from what engines agree in."""

    def __init__(self, experts: tuple[str, ...], unit: Unit, trusted: str = "") -> None:
        if trusted and trusted not in experts:
            raise InvalidInput(f"trusted: no engine is called {trusted!r}; choose from {', '.join(experts)}")
        self.experts = experts
        count = len(experts)
        order = np.array(sorted(range(count), key=lambda j: experts[j]), dtype=np.int64)
        self._everybody = Present(order, np.arange(count), everybody=True)
        self._names = tuple(experts[j] for j in order)
        self.rows = {name: row for row, name in enumerate(self._names)}
        self._trusted = np.array([name == trusted for name in self._names])
        self._letter_order = LETTER_ORDER if unit is WORD else 0
        self._named = np.where(self._trusted[:, None], TRUSTED_RATES, 0.0)
        self._null, self._told_null = FIRST_NULL.copy(), np.zeros(2)
        self._classes = _first_classes()
        self._lexicon = BoundedTable(WORD_LIMIT, {"seen": (2, np.float32)})
        self._spelling = BoundedTable(LETTER_LIMIT, {"counts": (2, np.uint32)})
        self._pairs = PairCounts("agreement.pairs", PAIR_COLUMNS)
        self._lines = np.zeros(1, dtype=np.int64)
        self._begin(count)

    def _begin(self, count: int) -> None:
        """A row for each engine, of whom nothing is known. Memory for zeros is taken when they are written to."""
        self._rates = np.tile(FIRST_RATES, (count, 1))
        self._told = np.zeros((count, EVENTS))
        self._changed = np.zeros(count, dtype=np.bool_)  # see `begin_anew`
        self._confidences = np.zeros((count, BUCKETS, 2))
        self._ring = np.zeros((count, RING))
        self._seen = np.zeros(count, dtype=np.int64)
        self._borders = np.full((count, BUCKETS - 1), np.inf)
        self._written = np.zeros((count, FOLDED_CODES), dtype=np.bool_)
        self._words = np.zeros((count, 2))
        self._recent = np.zeros((count, 5))
        self._moments = np.zeros((count, 5))
        self._costs = np.zeros(count)
        self._first = np.arange(count)  # of which each is a copy, or itself
        self._runs = np.zeros(count, dtype=np.int64)  # lines in which each engine ran
        self._forget_who_counts()

    def heard(self, experts: tuple[str, ...], *, with_told: bool = True) -> frozenset[str]:
        """Those of these engines, all that ran, that count: neither copies nor noise."""
        present = self._present(experts)
        counted = self._counted(present, with_told=with_told, with_changes=True)
        return frozenset(experts[j] for j in present.columns[counted])

    def gluing(self, experts: tuple[str, ...]) -> frozenset[str]:
        """Those of these engines that leave out blanks after marks where others write them."""
        words, marks = self._recent[:, 0], self._recent[:, 2]
        if not marks.any():
            return frozenset()
        known = words >= RECENTLY_ENOUGH
        share = marks / np.maximum(words, 1.0)
        least = share[known].min(initial=np.inf)
        glues = known & (marks >= FEWEST_GLUED) & (share >= max(GLUED, GLUED_TIMES * least))
        return frozenset([name for name in experts if glues[self.rows[name]]])

    def by_trust(self, experts: tuple[str, ...]) -> list[str]:
        """These engines, the one that is most often right first; equals by their names."""
        present = self._present(experts)
        rates = effective_rates(present.of(self._rates), present.of(self._named) + present.of(self._told))
        right = rates[:, RIGHT] / rates[:, :SILENT].sum(axis=1)
        return [experts[present.columns[j]] for j in np.argsort(-right, kind="stable")]

    def weigh(self, offers: Offers, *, with_told: bool = True) -> Weighed:
        """How probable each engine's token is in each slot: by true texts too, or by agreement alone."""
        told = with_told and bool(self._told_null.any())
        present = self._present(offers.experts)
        changed = bool(self._changed[present.rows].any())
        line = self._weighed(offers, present, with_told=told, with_changes=changed)
        tokens = present.in_order(offers.tokens)
        _, candidates, counts, _, posteriors, *_ = line
        found = np.zeros(tokens.shape)
        for c in range(candidates.shape[1]):
            valid = (c < counts)[:, None] & (tokens == candidates[:, c : c + 1])
            found += np.where(valid, posteriors[:, c : c + 1], 0.0)
        best = candidates[np.arange(len(tokens)), posteriors.argmax(axis=1)] if tokens.size else tokens[:, 0]
        given = np.empty_like(found)
        given[:, present.columns] = found
        return Weighed(given, best, line, -1 if told or changed else int(self._lines[0]))

    def observe(self, offers: Offers, weighed: Weighed | None = None) -> None:
        """Take a line in. `weighed` saves weighing it again, if it can be used."""
        present = self._present(offers.experts)
        if weighed is not None and weighed.observed == self._lines[0]:
            line = weighed.line
        else:
            line = self._weighed(offers, present, with_told=False, with_changes=False)
        letters, tokens = offers.spelling, present.in_order(offers.tokens)
        self._lexicon.make_room(tokens.size)
        self._spelling.make_room(2 * LETTER_ORDER * (letters.codes.size + len(offers.vocabulary)))
        used = np.array([self._lexicon.used[0], self._spelling.used[0]])
        counted = np.zeros((PAIR_COLUMNS, tokens.shape[1], tokens.shape[1]))
        by_engine = {name: present.of(getattr(self, name)) for name in _CHANGED}
        take_in(
            self._book(present, by_engine, with_told=False, with_changes=False),
            by_engine["_ring"],
            used,
            tokens,
            present.in_order(offers.confidences),
            letters.points,
            letters.starts,
            line,
            counted,
            by_engine["_moments"],
            by_engine["_costs"],
        )
        if offers.glued:
            by_engine["_recent"][:, 2] += np.array(offers.glued)[present.columns]
        if offers.looped:
            by_engine["_recent"][:, 4] += np.array(offers.looped)[present.columns]
        for name, changed in by_engine.items():
            present.put(getattr(self, name), changed)
        self._lexicon.used[0], self._spelling.used[0] = used
        self._pairs.add(self._everybody.columns[present.rows], counted)
        self._runs[present.rows] += 1
        self._lines += 1
        # Who copies whom is a question of many lines; where all run it need not be asked after each.
        if not present.everybody or self._lines[0] < OFTEN or self._lines[0] % OFTEN == 0:
            self._compare(present)
        self._forget_who_counts()

    def tell(self, offers: Offers, truth: NDArray[np.int32]) -> None:
        """Take in the true token of each slot, as a number of the vocabulary or beyond it; -1 where unknown."""
        present = self._present(offers.experts)
        told = present.of(self._told)
        tell(told, self._told_null, present.in_order(offers.tokens), truth)
        present.put(self._told, told)
        self._forget_who_counts()

    def begin_anew(self, expert: str) -> None:
        """An engine has changed: what true texts said of it is void, and from now on they alone say how it does.

        Agreement remembers the engine that it was, and believes the others by it; and what is observed must not
        depend on what is told, so it cannot be made to forget.
        """
        self._told[self.rows[expert]] = 0.0
        self._changed[self.rows[expert]] = True
        self._forget_who_counts()

    def estimates(self) -> tuple[Estimate, ...]:
        """One of each engine, in the order in which they were listed."""
        rates, halves = error_rates(self._moments)
        words = np.maximum(self._moments[:, 1], 1.0)
        first = self._first
        names = self._names
        found = {
            name: Estimate(
                name,
                float(rates[j]),
                max(0.0, float(rates[j] - halves[j])),
                float(rates[j] + halves[j]),
                float(100 * self._costs[j] / words[j]),
                names[first[j]] if first[j] != j else "",
                int(self._runs[j]),
            )
            for j, name in enumerate(names)
        }
        return tuple(found[name] for name in self.experts)

    @property
    def state_bytes(self) -> int:
        rows = (*self._by_engine().values(), self._ring, self._borders)
        met = self._met()
        by_engine = int(met.sum()) * sum(array.nbytes for array in rows) // max(1, len(met))
        return by_engine + self._lexicon.state_bytes + self._spelling.state_bytes + self._pairs.state_bytes

    def observed(self) -> dict[str, NDArray[Any]]:
        """What comes of lines alone."""
        return {name: array for name, array in self.arrays().items() if name not in TOLD_NAMES}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Of more engines than `MANY` only the rows of those that have run, with their names."""
        held = min(RING, int(self._seen.max(initial=0)))
        met = self._met()
        kept = {name: array if met.all() else array[met] for name, array in self._by_engine().items()}
        if not self._changed.any():
            del kept["agreement.changed"]
        if not met.all():
            kept["agreement.met"] = np.flatnonzero(met)
        return {
            **self._shared(),
            **kept,
            "agreement.ring": self._ring[met, :held],
            "agreement.borders": self._borders[met],
            **self._pairs.arrays(),
            **self._lexicon.arrays("agreement.lexicon"),
            **self._spelling.arrays("agreement.spelling"),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        met = kept_rows(arrays, "agreement.met", len(self.experts))
        absent = {"agreement.changed": np.zeros_like(self._changed[met])}  # where no engine has changed
        absent["agreement.recent"] = np.zeros_like(self._recent[met])  # of older versions
        arrays = {**absent, **arrays}
        fixed = {**self._shared(), **{name: array[met] for name, array in self._by_engine().items()}}
        check_arrays(arrays, fixed)
        ring, borders = arrays.get("agreement.ring"), arrays.get("agreement.borders")
        seen = arrays["agreement.seen"]
        sound = (
            ring is not None
            and borders is not None
            and seen.min(initial=0) >= 0
            and ring.shape == (len(seen), min(RING, int(seen.max(initial=0))))
            and borders.shape == self._borders[met].shape
            and ring.dtype == borders.dtype == np.float64
            and bool(np.isfinite(ring).all())
            and not np.isnan(borders).any()
            and bool(
                ((arrays["agreement.first"] >= 0) & (arrays["agreement.first"] < len(self._first))).all()
            )
            and arrays["agreement.runs"].min(initial=0) >= 0
            and all(bool((arrays[f"agreement.{name}"] > 0).all()) for name in ("rates", "null", "classes"))
            and all(
                bool((arrays[f"agreement.{name}"] >= 0).all()) for name in ("told", "told_null", "recent")
            )
        )
        if not sound:
            raise DamagedState("what this state learned from agreement contradicts itself")
        for name in self._shared():
            setattr(self, "_" + name.removeprefix("agreement."), arrays[name].copy())
        self._begin(len(self.experts))
        for name, array in self._by_engine().items():
            array[met] = arrays[name]
        assert ring is not None
        assert borders is not None
        self._ring[met, : ring.shape[1]] = ring
        self._borders[met] = borders
        self._pairs.restore(arrays)
        self._lexicon.restore("agreement.lexicon", arrays)
        self._spelling.restore("agreement.spelling", arrays)

    def _shared(self) -> dict[str, NDArray[Any]]:
        """What is not of one engine, by the name of its attribute."""
        names = ("null", "told_null", "classes", "lines")
        return {f"agreement.{name}": getattr(self, f"_{name}") for name in names}

    def _by_engine(self) -> dict[str, NDArray[Any]]:
        """A row of each engine, by the name of its attribute; ring and borders are kept apart."""
        names = (
            "rates",
            "told",
            "changed",
            "confidences",
            "seen",
            "written",
            "words",
            "recent",
            "moments",
            "costs",
            "first",
            "runs",
        )
        return {f"agreement.{name}": getattr(self, f"_{name}") for name in names}

    def _met(self) -> NDArray[np.bool_]:
        """Whose rows are worth keeping: everybody's, or of many engines those that have run."""
        return np.asarray((self._runs > 0) | self._told.any(axis=1) | (len(self.experts) <= MANY))

    def _present(self, experts: tuple[str, ...]) -> Present:
        """The engines of a line, as it names them."""
        if experts == self.experts:
            return self._everybody
        columns = sorted(range(len(experts)), key=experts.__getitem__)
        rows = [self.rows[experts[j]] for j in columns]
        return Present(np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64), everybody=False)

    def _compare(self, present: Present) -> None:
        """Ask again who copies whom among these; a copy of somebody absent stays one."""
        rows = present.rows
        listed = self._everybody.columns[rows]  # of pairs: places do not move when engines join
        noise = is_noise(effective_rates(self._rates[rows], self._named[rows]))
        found = rows[originals(self._pairs.among(listed), self._words[rows, 0], noise)]
        before = self._first[rows]
        alone = (found == rows) & (before != rows) & ~np.isin(before, rows)
        self._first[rows] = np.where(alone, before, found)
        if ((before == rows) & (found != rows)).any():
            self._begin_again(rows[~noise])

    def _begin_again(self, rows: NDArray[np.int64]) -> None:
        """What copies seemed to confirm is forgotten when they are found: they agreed with themselves."""
        self._rates[rows] = FIRST_RATES
        self._null, self._classes = FIRST_NULL.copy(), _first_classes()
        for counts in (self._confidences, self._moments, self._costs):
            counts[rows] = 0.0

    def _forget_who_counts(self) -> None:
        """Who counts where all run is asked several times a line: it is kept until something is learned."""
        self._counting: dict[tuple[bool, bool], NDArray[np.bool_]] = {}

    def _rates_of(self, present: Present, *, with_changes: bool) -> NDArray[np.float64]:
        """By agreement; of those who have changed, if changes have a say, by what true texts said since."""
        rates = present.of(self._rates)
        if with_changes:
            changed = present.of(self._changed)
            rates = np.where(changed[:, None], FIRST_RATES + present.of(self._told), rates)
        return rates

    def _counted(self, present: Present, *, with_told: bool, with_changes: bool) -> NDArray[np.bool_]:
        """Who of those present counts."""
        asked = with_told and bool(self._told_null.any()), with_changes
        if present.everybody and asked in self._counting:
            return self._counting[asked]
        first, rows = present.of(self._first), present.rows
        original = first == rows
        if not (present.everybody or original.all()):
            original |= ~np.isin(first, rows)
        told = present.of(self._named)
        told = told + present.of(self._told) if asked[0] else told
        noise = is_noise(effective_rates(self._rates_of(present, with_changes=with_changes), told))
        counted = heard(original, noise | loops(present.of(self._recent))) | present.of(self._trusted)
        if present.everybody:
            self._counting[asked] = counted
        return np.asarray(counted)

    def _weighed(
        self, offers: Offers, present: Present, *, with_told: bool, with_changes: bool
    ) -> tuple[NDArray[Any], ...]:
        letters, tokens = offers.spelling, present.in_order(offers.tokens)
        confidences = present.in_order(offers.confidences)
        by_engine = {name: present.of(getattr(self, name)) for name in _LOOKED_AT}
        if with_changes:
            by_engine["_rates"] = self._rates_of(present, with_changes=True)
            changed = present.of(self._changed)[:, None, None]
            by_engine["_confidences"] = np.where(changed, 0.0, by_engine["_confidences"])
        found: tuple[NDArray[Any], ...] = weigh(
            self._book(present, by_engine, with_told=with_told, with_changes=with_changes),
            tokens,
            confidences,
            letters.points,
            letters.starts,
            _heard(offers, present),
        )
        return found

    def _book(
        self,
        present: Present,
        by_engine: Mapping[str, NDArray[Any]],
        *,
        with_told: bool,
        with_changes: bool,
    ) -> tuple[Any, ...]:
        """The fields of `kernels.agreement.Book`, as a plain tuple."""
        named = present.of(self._named)
        return (
            by_engine["_rates"],
            named + present.of(self._told) if with_told else named,
            self._null,
            self._told_null if with_told else np.zeros(2),
            by_engine["_confidences"],
            self._classes,
            self._lexicon.keys,
            self._lexicon.columns["seen"],
            self._spelling.keys,
            self._spelling.columns["counts"],
            self._letter_order,
            by_engine["_seen"],
            by_engine["_borders"],
            by_engine["_written"],
            by_engine["_words"],
            by_engine["_recent"],
            self._counted(present, with_told=with_told, with_changes=with_changes),
        )


_NOTHING_MORE = (
    NO_POSTERIORS.slots,
    NO_POSTERIORS.experts,
    NO_POSTERIORS.tokens,
    NO_POSTERIORS.probabilities,
)


def _heard(offers: Offers, present: Present) -> tuple[NDArray[Any], ...]:
    """What engines offer beside their tokens, by their places in the order of names."""
    heard = offers.posteriors
    if not heard.slots.size:  # most lines
        return _NOTHING_MORE
    places = np.argsort(present.columns).astype(np.int32)
    return heard.slots, places[heard.experts], heard.tokens, heard.probabilities


# The arrays by engine that weighing looks at, and those that taking a line in changes.
_LOOKED_AT = ("_rates", "_confidences", "_seen", "_borders", "_written", "_words", "_recent")
_CHANGED = (*_LOOKED_AT, "_ring", "_moments", "_costs")


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
