"""Why the offer model prefers an offer: each feature's part in the score, in words. `explain_slots`."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.combiners.explanation import ExplainedOffer, Reason
from galloon.learners.kernels.bounded_table import find
from galloon.learners.kernels.offer_features import (
    VOTE_WEIGHT,
    VOTES,
    Language,
    Page,
    Sheet,
    all_offers,
    describe_tokens,
    feature_key,
    new_sheet,
    offer_room,
    slot_features,
)
from galloon.learners.kernels.offer_model import Weights
from galloon.learners.offer_model.characters import CLASSES
from galloon.learners.offer_model.templates import Names, describe
from galloon.learners.offers import Offers


@dataclass(frozen=True, slots=True)
class ExplainedSlot:
    """Every offer of a slot, the best first."""

    slot: int
    offers: tuple[ExplainedOffer, ...]


def explain_slots(
    page: Page,
    language: Language,
    table: Weights,
    shares: NDArray[np.float64],
    network: Offers,
    names: Names,
    slots: Iterable[int],
    most: int,
) -> tuple[ExplainedSlot, ...]:
    """The strongest features of the offers of some slots, so many of an offer at most.

    Weights are the average over the rates, by their shares.
    """
    room = offer_room(page)
    offers, support = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    traits, spelled = describe_tokens(page, language, CLASSES)
    explained = []
    for slot in slots:
        count = all_offers(page, slot, offers, support)
        if count == 1:  # all agree: there is nothing to decide
            agreed = _supporters(network, slot, int(offers[0]))
            explained.append(
                ExplainedSlot(slot, (ExplainedOffer(network.vocabulary[offers[0]], agreed, 0.0, ()),))
            )
            continue
        sheet = new_sheet(page)
        slot_features(page, language, CLASSES, traits, spelled, slot, offers, support, count, sheet)
        found = [
            _explain_offer(sheet, table, shares, network, names, slot, int(offers[o]), o, most)
            for o in range(count)
        ]
        explained.append(ExplainedSlot(slot, tuple(sorted(found, key=lambda offer: -offer.score))))
    return tuple(explained)


def _explain_offer(
    sheet: Sheet,
    table: Weights,
    shares: NDArray[np.float64],
    network: Offers,
    names: Names,
    slot: int,
    token: int,
    which: int,
    most: int,
) -> ExplainedOffer:
    found = []
    for n in range(int(sheet.ends[which]), int(sheet.ends[which + 1])):
        template, a, b = sheet.features[n].tolist()
        if template == VOTES:
            weight = VOTE_WEIGHT
        else:
            row = find(table.keys, np.uint64(feature_key(template, a, b)))
            weight = float(table.weights[row] @ shares) if row >= 0 else 0.0
        found.append((weight * float(sheet.values[n]), template, a, b))
    # Only the strongest are put into words: an offer has more than a hundred features.
    found.sort(key=lambda feature: -abs(feature[0]))
    return ExplainedOffer(
        network.vocabulary[token],
        _supporters(network, slot, token),
        sum(part for part, *_ in found),
        tuple(Reason(describe(template, a, b, names), part) for part, template, a, b in found[:most]),
    )


def _supporters(network: Offers, slot: int, token: int) -> tuple[str, ...]:
    return tuple(network.experts[j] for j in np.flatnonzero(network.tokens[slot] == token))
