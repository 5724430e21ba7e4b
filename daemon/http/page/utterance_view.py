"""The latest utterances of a learner as JSON, newest first: what each slot chose, and what else was on offer.

Every remembered round has its answer; the warm ones have all their slots and their truth as well. A slot is
`{"text", "expert", "probability", "alternatives": [{"text", "experts", "probability"}]}`.
"""

from collections.abc import Iterable
from typing import Any

from galloon.daemon.http.page.numbers import number
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.learner.work_queue import DISK
from galloon.learners.combiners.contract import ChosenToken, Feedback, TrueText, TrueTokens
from galloon.learners.offers import Alternative
from galloon.learners.unit import Unit
from galloon.v1 import combine_pb2 as wire

UTTERANCES = 12
STATES = {Status.LEARNED: "learned", Status.EXPIRED: "expired"}
MOST_SLOTS = 400  # of one utterance that a person would look at


async def latest(learner: Learner, most: int = UTTERANCES) -> list[dict[str, Any]]:
    """The newest rounds, read in the work queue so that no round changes meanwhile."""
    return await learner.look(
        DISK, lambda _: [_round_to_json(round_, learner.spec.unit) for round_ in learner.latest(most)]
    )


def tokens_of(choice: wire.Choice) -> tuple[ChosenToken, ...]:
    """The slots of an answer, with alternatives where the client asked for them."""
    alternatives: dict[int, list[Alternative]] = {}
    for found in choice.alternatives:
        entry = Alternative(found.token, tuple(found.experts), found.probability)
        alternatives.setdefault(found.slot, []).append(entry)
    rows = zip(choice.written or choice.tokens, choice.experts, choice.probabilities, strict=True)
    return tuple(
        ChosenToken(text, expert, probability, tuple(alternatives.get(slot, ())))
        for slot, (text, expert, probability) in enumerate(rows)
    )


def slots_to_json(tokens: Iterable[ChosenToken]) -> list[dict[str, Any]]:
    return [
        {
            "text": token.text,
            "expert": token.expert,
            "probability": number(token.probability, 4),
            "alternatives": [
                {
                    "text": other.text,
                    "experts": list(other.experts),
                    "probability": number(other.probability, 4),
                }
                for other in token.alternatives
            ],
        }
        for token in tokens
    ]


def _round_to_json(round_: Round, unit: Unit) -> dict[str, Any]:
    choice, warm = wire.CombineResponse.FromString(round_.answer).choice, round_.warm
    slots = tokens_of(choice)[:MOST_SLOTS] if warm is None else warm.choice.first_tokens(MOST_SLOTS)
    learned = wire.CombineResponse.FromString(round_.lesson).learned if round_.lesson else None
    return {
        "id": round_.id,
        "round": round_.number,
        "text": choice.text,
        "log_probability": number(choice.log_probability),
        "state": STATES.get(round_.status, "pending"),
        "gain": None if learned is None else number(learned.gain),
        "truth": None if warm is None else _truth(warm.feedback, unit),
        "detailed": warm is not None or bool(choice.alternatives),
        "slots": slots_to_json(slots),
        "more_slots": max(0, len(choice.tokens) - MOST_SLOTS),
    }


def _truth(feedback: Feedback | None, unit: Unit) -> str | None:
    match feedback:
        case TrueText(text):
            return text
        case TrueTokens(tokens):
            return unit.join(tokens)
        case _:
            return None
