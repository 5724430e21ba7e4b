"""What was on offer: `explain` makes a row of each slot from a choice with alternatives.

A row holds what the daemon sent with the choice: the token, whose it was, how probable it was, and who offered
what instead; `offers_to_json` is for programs. Why, a learner tells when it is asked: see `explanation_view`.
"""

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

from galloon.codec.answer import Choice


@dataclass(frozen=True, slots=True)
class Offer:
    """A token on offer in a slot, by whom, and its probability there (None where the learner cannot tell)."""

    token: str
    experts: tuple[str, ...]
    probability: float | None


@dataclass(frozen=True, slots=True)
class SlotReason:
    """One slot: the chosen offer first, the others after it, most probable first."""

    slot: int
    expert: str  # that the chosen token is credited to
    offers: tuple[Offer, ...]

    @property
    def token(self) -> str:
        return self.offers[0].token

    @property
    def unanimous(self) -> bool:
        return len(self.offers) == 1


def explain(choice: Choice, experts: tuple[str, ...]) -> tuple[SlotReason, ...]:
    """The slots of a choice that was asked for with alternatives; `experts` are those of the stream's opening.

    A learner may have further experts of its own, such as a scorer: they are known by what they offered elsewhere.
    """
    others: dict[int, list[Offer]] = {}
    own = (name for entry in choice.alternatives for name in entry.experts)
    everyone = tuple(dict.fromkeys((*experts, *own)))
    for entry in choice.alternatives:
        offer = Offer(entry.token, entry.experts, _known(entry.probability))
        others.setdefault(entry.slot, []).append(offer)
    reasons = []
    for slot, (token, expert, probability) in enumerate(
        zip(choice.tokens, choice.experts, choice.probabilities, strict=True)
    ):
        instead = others.get(slot, [])
        elsewhere = {name for offer in instead for name in offer.experts}
        agreed = tuple(name for name in everyone if name not in elsewhere) or (expert,)
        reasons.append(SlotReason(slot, expert, (Offer(token, agreed, _known(probability)), *instead)))
    return tuple(reasons)


def choice_line(utterance_id: str, choice: Choice, experts: tuple[str, ...]) -> str:
    """A choice as a line of JSON, under the id that its file has."""
    record = {"id": utterance_id, "text": choice.text, "slots": offers_to_json(choice, experts)}
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def offers_to_json(choice: Choice, experts: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            "slot": reason.slot,
            "token": reason.token,
            "expert": reason.expert,
            "offers": [
                {"token": offer.token, "experts": list(offer.experts), "probability": offer.probability}
                for offer in reason.offers
            ],
        }
        for reason in explain(choice, experts)
    ]


def _known(probability: float) -> float | None:
    return probability if isfinite(probability) else None
