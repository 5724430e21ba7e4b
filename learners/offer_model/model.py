"""The offer model: `score` an utterance's slots, learn from the target (`learn_target`) or from part of it
(`learn_shown`), `explain` a slot; its state is arrays.

Whatever it does depends on the utterance and on its own state alone, never on what was chosen. Its weights
begin as a plain vote. Nothing is to be tuned: weights learn at several rates side by side, mixed by success.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment import AlignedTarget
from galloon.learners.alignment.vocabulary import slot_tokens
from galloon.learners.bounded_table import BoundedTable
from galloon.learners.kernels.offer_features import Language, Page
from galloon.learners.kernels.offer_model import ABSENT, Weights, read_and_score, take_in
from galloon.learners.offer_model.characters import CLASSES
from galloon.learners.offer_model.confidence import ConfidenceRecord
from galloon.learners.offer_model.explanation import ExplainedSlot, explain_slots
from galloon.learners.offer_model.language import LanguageModel
from galloon.learners.offer_model.letters import Letters, letters_of
from galloon.learners.offer_model.reliability import Reliability
from galloon.learners.offer_model.templates import Names
from galloon.learners.offers import Offers
from galloon.learners.present import MANY, Present
from galloon.learners.spelling import spelled
from galloon.learners.state import check_arrays
from galloon.learners.unit import Unit

# Names of arrays in the state: the share of each learning rate; right and wrong tokens where all agreed.
RATE_SHARES, AGREED_RECORD = "features.rate_shares", "agreement.right_and_wrong"
FEATURES_OF_AN_OFFER = 32  # about how many new ones an offer has: the table grows before learning
_NO_LABELS = np.zeros(0, dtype=np.uint64)
YOUNG = np.float32(0.25)  # sum of squared gradients of a weight that has seen a few lessons
LIKELY = 0.9  # a shown token with at least this probability of being right counts as true


@dataclass(frozen=True, slots=True)
class OfferModelSettings:
    """Sizes of the offer model, and the learning rates that are mixed."""

    rates: tuple[float, ...] = (1 / 64, 1 / 32, 1 / 16, 1 / 8)
    feature_limit: int = 1 << 16  # rows of 36 bytes
    language_limit: int = 1 << 18  # rows of 12 bytes


DEFAULT_SETTINGS = OfferModelSettings()
_NOTHING_HEARD = np.zeros((0, 2), dtype=np.int32)
_NO_GAINS = np.zeros(0)  # unused where the target is known


@dataclass(frozen=True, slots=True)
class ScoredOffers:
    """How probable the different tokens on offer in each slot are, and what was seen of them."""

    probabilities: NDArray[np.float64]  # slots x offers, the best supported token first
    best: NDArray[np.int32]  # the most probable token of each slot
    columns: NDArray[np.int64]  # of the experts that were listened to
    sheets: tuple[NDArray[Any], ...]  # the arrays of `Sheets`
    lessons: int  # before this
    prior: NDArray[np.float64]  # see `OfferModel.score`

    @property
    def offers(self) -> NDArray[np.int32]:
        """The tokens, slots x offers; -1 behind them."""
        return self.sheets[0]

    def probability_of(self, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """The probability of one token in each slot; 0 if nobody offers it."""
        return np.asarray(np.where(self.offers == tokens[:, None], self.probabilities, 0.0).sum(axis=1))


class OfferModel:
    """An online log-linear model over the offers of a slot."""

    def __init__(
        self, experts: tuple[str, ...], unit: Unit, settings: OfferModelSettings = DEFAULT_SETTINGS
    ) -> None:
        self.experts = experts
        self._everybody = Present(np.arange(len(experts)), np.arange(len(experts)), everybody=True)
        self._rows = {name: row for row, name in enumerate(experts)}
        self._rates = np.array(settings.rates)
        columns = len(settings.rates)
        self._features = BoundedTable(
            settings.feature_limit,
            {"squared_gradients": (columns, np.float32), "weights": (columns, np.float32)},
        )
        self._shares = np.full(columns, 1 / columns)
        self._language = LanguageModel(unit, settings.language_limit)
        self._confidence = ConfidenceRecord(len(experts))
        self._reliability = Reliability()
        self._agreed = np.array([1.0, 1.0])  # right and wrong tokens where all agreed, each plus 1
        self._lessons = 0  # counts changes of the state: `ScoredOffers` of another count are stale
        # Who is reliable where all run; None: to be computed.
        self._useful: NDArray[np.int64] | None = None

    def score(
        self, network: Offers, labels: Mapping[str, str], prior: NDArray[np.float64] | None = None
    ) -> ScoredOffers:
        """How probable each offer of each slot is.

        prior: slots x experts, how probable each one's token is by agreement: what is learned begins from there.
        """
        prior = _no_prior(network) if prior is None else prior
        spelling, present = network.spelling, self._present(network.experts)
        columns = self._listened_to(present)
        *sheets, probabilities, best = read_and_score(
            (
                slot_tokens(network),
                network.confidences,
                prior,
                columns,
                present.rows[columns],
                self._seats(present)[columns],
            ),
            (spelling.points, spelling.starts),
            label_numbers(labels),
            _heard(network, present),
            self._confidence.of(present),
            self._language.view,
            CLASSES,
            self._weights,
            self._shares,
        )
        return ScoredOffers(probabilities, best, columns, tuple(sheets), self._lessons, prior)

    def learn_target(
        self,
        network: Offers,
        labels: Mapping[str, str],
        target: AlignedTarget,
        scored: ScoredOffers | None = None,
        prior: NDArray[np.float64] | None = None,
    ) -> None:
        """Take in the true token of every slot. `scored`, if still there, saves looking at the slots again."""
        self._learn(network, labels, target.tokens, target.tokens, _NO_GAINS, target.tokens, scored, prior)
        self._language.read(target.letters or spelled(target.vocabulary), target.tokens)

    def learn_shown(
        self,
        network: Offers,
        labels: Mapping[str, str],
        shown: NDArray[np.int32],
        gains: NDArray[np.float64],
        scored: ScoredOffers | None = None,
        prior: NDArray[np.float64] | None = None,
    ) -> None:
        """Take in how probably each shown token was right: 0 or 1 where it was revealed, between if inferred."""
        truth = np.full(network.slot_count, ABSENT, dtype=np.int32)
        right = gains >= LIKELY
        # A shown token that was surely right is the truth of its slot.
        known = np.where(right, shown, truth)
        self._learn(network, labels, truth, shown, gains, known, scored, prior)
        letters = network.spelling
        borders = np.flatnonzero(np.diff(right.astype(np.int8), prepend=0, append=0))
        for first, last in zip(borders[::2], borders[1::2], strict=True):
            self._language.read(letters, shown[first:last])

    def explain(
        self,
        network: Offers,
        labels: Mapping[str, str],
        slots: Iterable[int],
        most: int,
        prior: NDArray[np.float64] | None = None,
    ) -> tuple[ExplainedSlot, ...]:
        """The strongest features of each offer of these slots, at most so many of an offer."""
        page = self._page(network, labels, letters_of(network.vocabulary), prior)
        language, weights, hashes = (
            Language(*self._language.view),
            Weights(*self._weights),
            label_hashes(labels),
        )
        crowd = len(self.experts) > MANY
        names = Names(self.experts, network.experts if crowd else self.experts, hashes)
        return explain_slots(page, language, weights, self._shares, network, names, slots, most)

    def right_probabilities(self, scored: ScoredOffers, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """How probably one token of each slot is right; where all agree, as often as that was right before."""
        agreed = float(self._agreed[0] / self._agreed.sum())
        alone = (scored.offers[:, 1:] == ABSENT).all(axis=1)
        return np.where(alone, agreed, scored.probability_of(tokens))

    def listened_to(self, experts: tuple[str, ...]) -> frozenset[str]:
        """Those of these experts, all that run, that are not left out."""
        return frozenset(experts[j] for j in self._listened_to(self._present(experts)))

    def begin_anew(self, expert: str) -> None:
        """An expert has changed: its record is void, and all weights may move as fast as young ones again."""
        self._confidence.forget(self._rows[expert])
        squares = self._features.columns["squared_gradients"]
        np.minimum(squares, YOUNG, out=squares)
        self._lessons += 1
        self._useful = None

    @property
    def state_bytes(self) -> int:
        return self._features.state_bytes + self._language.table.state_bytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            RATE_SHARES: self._shares,
            AGREED_RECORD: self._agreed,
            **self._features.arrays("features"),
            **self._language.table.arrays("language"),
            **self._confidence.arrays(),
            **self._reliability.arrays(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        check_arrays(arrays, {RATE_SHARES: self._shares, AGREED_RECORD: self._agreed})
        self._shares, self._agreed = arrays[RATE_SHARES].copy(), arrays[AGREED_RECORD].copy()
        self._features.restore("features", arrays)
        self._language.table.restore("language", arrays)
        self._confidence.restore(arrays)
        self._reliability.restore(arrays, len(self.experts))
        self._lessons += 1
        self._useful = None

    @property
    def _weights(self) -> tuple[NDArray[Any], ...]:
        """The fields of `Weights`, as a plain tuple."""
        table = self._features
        return (
            table.keys,
            table.columns["weights"],
            table.columns["squared_gradients"],
            table.used,
            self._rates,
        )

    def _present(self, experts: tuple[str, ...]) -> Present:
        """The experts of an utterance, as it names them."""
        if experts == self.experts:
            return self._everybody
        rows = np.array([self._rows[name] for name in experts], dtype=np.int64)
        return Present(np.arange(len(experts)), rows, everybody=False)

    def _seats(self, present: Present) -> NDArray[np.int64]:
        """The bit of each in a set of experts: its own, or of many experts its place among those present."""
        return present.columns if len(self.experts) > MANY else present.rows

    def _listened_to(self, present: Present) -> NDArray[np.int64]:
        """The columns of those who are not left out."""
        if present.everybody and self._useful is not None:
            return self._useful
        _, _, right, total = self._confidence.of(present)
        useful = self._reliability.listened_to(present.rows, right, total)
        if present.everybody:
            self._useful = useful
        return useful

    def _page(
        self,
        network: Offers,
        labels: Mapping[str, str],
        letters: Letters,
        prior: NDArray[np.float64] | None = None,
    ) -> Page:
        present = self._present(network.experts)
        columns = self._listened_to(present)
        buckets, trust, reference = self._confidence.survey(network, present, columns)
        return Page(
            np.ascontiguousarray(network.tokens[:, columns]),
            present.rows[columns],
            self._seats(present)[columns],
            np.ascontiguousarray(buckets[:, columns]),
            trust,
            letters.codes,
            letters.starts,
            letters.hashes,
            reference,
            label_numbers(labels),
            *_heard(network, present),
            _no_prior(network) if prior is None else np.ascontiguousarray(prior[:, columns]),
        )

    def _learn(
        self,
        network: Offers,
        labels: Mapping[str, str],
        truth: NDArray[np.int32],
        shown: NDArray[np.int32],
        gains: NDArray[np.float64],
        known: NDArray[np.int32],
        scored: ScoredOffers | None,
        prior: NDArray[np.float64] | None,
    ) -> None:
        if scored is None or scored.lessons != self._lessons:
            scored = self.score(network, labels, prior)
        self._lessons += 1
        self._useful = None
        self._features.make_room(FEATURES_OF_AN_OFFER * scored.offers.size)
        present = self._present(network.experts)
        record, ring = self._confidence.of(present), self._confidence.ring_of(present)
        pairs = take_in(
            (slot_tokens(network), network.confidences, scored.columns),
            scored.sheets,
            self._weights,
            self._shares,
            (truth, shown, gains, known),
            record,
            ring,
            self._agreed,
        )
        self._confidence.put(present, record, ring)
        self._reliability.add(present.rows, pairs)


def _no_prior(network: Offers) -> NDArray[np.float64]:
    return np.empty((0, len(network.experts)))


def _heard(
    network: Offers, present: Present
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Posteriors of lattices in the layout of `Page`; mostly empty."""
    said = network.posteriors
    if not said.slots.size:
        return np.zeros(network.slot_count + 1, dtype=np.int64), _NOTHING_HEARD, said.probabilities
    starts = np.searchsorted(said.slots, np.arange(network.slot_count + 1))
    experts = present.rows.astype(np.int32)[said.experts]
    return starts, np.column_stack([experts, said.tokens]), said.probabilities


def label_hashes(labels: Mapping[str, str]) -> dict[int, str]:
    """A number for each label, as it stands in the features."""
    return {_hash(name, labels[name]): f"{name}={labels[name]}" for name in sorted(labels)}


def label_numbers(labels: Mapping[str, str]) -> NDArray[np.uint64]:
    """The same as the kernels take them."""
    return np.array(list(label_hashes(labels)), dtype=np.uint64) if labels else _NO_LABELS


@lru_cache(maxsize=1 << 12)
def _hash(name: str, value: str) -> int:
    # Below 2**62, so that adding to it stays a positive number.
    data = f"{name}\0{value}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") >> 2
