"""Experts computed from the experts: votes and confidences. `derive` adds them to a network by name
(`offers_of_all` returns the tokens of all experts, with one more column at the end).

    vote              is there a token here at all? then which: one expert, one vote
    frequency_vote    the same in one step, null being a token like any other (ROVER by frequency)
    confidence_vote   as `vote`, each expert counting with its confidence
    most_confident    the token of the expert that is surest of itself

An expert's confidence is its own number and comparable with nobody else's; yet on the scale from 0 to 1 that
readers give it, it is a better weight than none. An expert without one counts half, and so does null. As many
for a word as for nothing is a word. Other ties go to the expert that agrees most with the others over the
utterance (`ties="agreement"`, which does not depend on the order), or to the one listed first (`ties="listed"`:
list the best engine first).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.slots import with_expert
from galloon.learners.alignment.vocabulary import slot_tokens
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.votes import agreement, weighted_vote, with_votes
from galloon.learners.offers import Offers

Ties = Literal["listed", "agreement"]
_WEIGHT_UNIT = 1 << 20  # whole-number weights: sums do not depend on their order
_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Offer:
    """What a derived expert offers: a token per slot, and the share of the weight that was for it."""

    tokens: NDArray[np.int32]
    confidences: NDArray[np.float64]


def majority_vote(network: Offers, ties: Ties = "agreement") -> Offer:
    """Occupancy first, then the most frequent token."""
    return _vote(network, np.ones(network.tokens.shape, dtype=np.int64), ties, occupancy_first=True)


def frequency_vote(network: Offers, ties: Ties = "agreement") -> Offer:
    """The most frequent token, null among them."""
    return _vote(network, np.ones(network.tokens.shape, dtype=np.int64), ties, occupancy_first=False)


def confidence_vote(network: Offers, ties: Ties = "agreement") -> Offer:
    """Occupancy first, then the token of the greatest sum of confidences."""
    return _vote(network, _confidence_weights(network), ties, occupancy_first=True)


def most_confident(network: Offers, ties: Ties = "agreement") -> Offer:
    """The token with the one highest confidence."""
    weights = _confidence_weights(network)
    if not network.experts:
        return _vote(network, weights, ties, occupancy_first=False)
    surest = weights == weights.max(axis=1, keepdims=True)
    offer = _vote(network, np.where(surest, weights, 0), ties, occupancy_first=False)
    return Offer(offer.tokens, weights.max(axis=1) / _WEIGHT_UNIT)


VOTES: Mapping[str, Callable[[Offers, Ties], Offer]] = {
    "vote": majority_vote,
    "frequency_vote": frequency_vote,
    "confidence_vote": confidence_vote,
    "most_confident": most_confident,
}


_PLAIN = {"vote": True, "frequency_vote": False}  # votes with equal weights: whether occupancy comes first


def derive(network: Offers, names: Iterable[str], ties: Ties = "agreement") -> Offers:
    """The network with these derived experts added; each is computed from the network as given."""
    result = network
    for name in names:
        offer = _offer(network, name, ties)
        result = with_expert(result, name, offer.tokens, offer.confidences)
    return result


def offers_of_all(network: Offers, derived: tuple[str, ...], last: NDArray[np.int32]) -> NDArray[np.int32]:
    """The tokens of the network's experts, of these derived ones, and of one more: a column each."""
    plain = _plain(derived)
    if plain is not None:
        return np.asarray(with_votes(slot_tokens(network), plain, last))
    columns = [_offer(network, name, "agreement").tokens for name in derived]
    return np.column_stack([network.tokens, *columns, last])


@lru_cache(maxsize=64)
def _plain(derived: tuple[str, ...]) -> NDArray[np.bool_] | None:
    """Whether occupancy comes first in each of these, if all of them are plain votes."""
    known = all(name in _PLAIN for name in derived)
    return np.array([_PLAIN[name] for name in derived], dtype=np.bool_) if known else None


def _offer(network: Offers, name: str, ties: Ties) -> Offer:
    if name not in VOTES:
        raise InvalidInput(f"no derived expert is called {name!r}", advice=f"choose from {', '.join(VOTES)}")
    return VOTES[name](network, ties)


def _vote(network: Offers, weights: NDArray[np.int64], ties: Ties, *, occupancy_first: bool) -> Offer:
    count, tokens = len(network.experts), slot_tokens(network)
    if ties == "listed":
        preference = np.arange(count, 0, -1, dtype=np.int64)
    elif ties == "agreement":
        preference = agreement(tokens)
    else:
        raise InvalidInput(f"ties are broken by 'listed' or 'agreement', not {ties!r}")
    chosen, share = weighted_vote(tokens, weights, preference, occupancy_first)
    return Offer(chosen, share)


def _confidence_weights(network: Offers) -> NDArray[np.int64]:
    """Confidences from 0 to 1 as weights; anything else is not a confidence and counts as unknown."""
    given = network.confidences
    with np.errstate(invalid="ignore"):
        usable = (given >= 0.0) & (given <= 1.0)
    weights: NDArray[np.float64] = np.rint(np.where(usable, given, _UNKNOWN) * _WEIGHT_UNIT)
    return weights.astype(np.int64)
