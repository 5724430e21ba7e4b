"""Why a text was chosen, slot by slot: what a combiner says when it is asked to `explain` a round.

A `WeighedSlot` holds the offers of a slot with the reasons for each, the trust in each expert, and the contexts
that the trust comes from. What the offer model says of a token is an `ExplainedOffer`; `weighed_offers` groups
experts that offer the same token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

REASONS = 8  # of an offer, for people


@dataclass(frozen=True, slots=True)
class Reason:
    """One feature, and what it adds to the offer's score (natural logarithm of odds)."""

    phrase: str
    part: float


@dataclass(frozen=True, slots=True)
class ExplainedOffer:
    """A token, who offers it, its score, and its reasons, the strongest first."""

    text: str
    experts: tuple[str, ...]
    score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class WeighedOffer:
    """A token on offer, by whom, how probable it was, and what an offer model says for and against it."""

    text: str
    experts: tuple[str, ...]
    probability: float | None  # None where the learner has no cheap way to tell
    score: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class WeighedContext:
    """A context of the slot, and its share of the weight there; the shares of a slot sum to 1."""

    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class WeighedSlot:
    """One slot: offers, the most probable first; the probability of each expert; contexts, the heaviest first."""

    offers: tuple[WeighedOffer, ...]
    trust: Mapping[str, float] = field(default_factory=dict)  # empty where it is not known
    contexts: tuple[WeighedContext, ...] = ()


def weighed_offers(
    experts: Sequence[str],
    texts: Sequence[str],
    trust: Sequence[float],
    scored: Sequence[ExplainedOffer] = (),
) -> tuple[WeighedOffer, ...]:
    """Experts, the text that each offers, and how far each is trusted; `scored` is what the offer model says."""
    givers: dict[str, list[int]] = {}
    for j, text in enumerate(texts):
        givers.setdefault(text, []).append(j)
    words = {offer.text: offer for offer in scored}
    offers = []
    for text, who in givers.items():
        probability = sum(trust[j] for j in who)
        word = words.get(text)
        offers.append(
            WeighedOffer(
                text,
                tuple(experts[j] for j in who),
                probability if isfinite(probability) else None,
                None if word is None else word.score,
                () if word is None else word.reasons,
            )
        )
    return tuple(sorted(offers, key=lambda offer: (-(offer.probability or 0.0), offer.text)))
