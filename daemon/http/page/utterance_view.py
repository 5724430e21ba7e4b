"""The latest utterances of a learner as JSON, newest first: what each slot chose, and what else was on offer.

Every remembered round has its answer (`rounds`); the last few have all their slots and their truth as well
(`recent`). A slot is `{"text", "expert", "probability", "alternatives": [{"text", "experts", "probability"}]}`.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from galloon.daemon.http.page.numbers import number
from galloon.daemon.learner.learner import LearnerHost
from galloon.daemon.learner.recent import KEPT_WHILE_WATCHED, Shown
from galloon.daemon.learner.rounds import Pending, Settled
from galloon.learners.combiners.contract import ChosenToken, Feedback, TrueText, TrueTokens
from galloon.learners.offers import Alternative
from galloon.v1 import combine_pb2 as wire

UTTERANCES = 12
MOST_SLOTS = 400  # of one utterance that a person would look at


async def latest(host: LearnerHost, most: int = UTTERANCES) -> list[dict[str, Any]]:
    """The newest rounds, read in the lane so that no round changes meanwhile."""

    def work() -> list[dict[str, Any]]:
        host.recent.most = KEPT_WHILE_WATCHED  # somebody looks; `Live` lets go again
        rounds: list[Pending | Settled] = [
            *islice(reversed(host.rounds.pending.values()), most),
            *islice(reversed(host.rounds.settled.values()), most),
        ]
        rounds.sort(key=lambda round_: -round_.round_number)
        return [_round_to_json(host, round_, host.recent.get(round_.id)) for round_ in rounds[:most]]

    return await host.lane.run(("latest", 0), work)


def tokens_of(choice: wire.Choice) -> tuple[ChosenToken, ...]:
    """The slots of an answer, with alternatives where the client asked for them."""
    alternatives: dict[int, list[Alternative]] = {}
    for found in choice.alternatives:
        entry = Alternative(found.token, tuple(found.experts), found.probability)
        alternatives.setdefault(found.slot, []).append(entry)
    rows = zip(choice.tokens, choice.experts, choice.probabilities, strict=True)
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


def _round_to_json(host: LearnerHost, round_: Pending | Settled, shown: Shown | None) -> dict[str, Any]:
    choice = wire.CombineResponse.FromString(round_.answer).choice
    slots = tokens_of(choice)[:MOST_SLOTS] if shown is None else shown.choice.first_tokens(MOST_SLOTS)
    state, learned = "pending", wire.Learned()
    if isinstance(round_, Settled):
        state = "learned" if round_.lesson else "expired"
        if round_.lesson:
            learned = wire.CombineResponse.FromString(round_.lesson).learned
    return {
        "id": round_.id,
        "round": round_.round_number,
        "text": choice.text,
        "log_probability": number(choice.log_probability),
        "state": state,
        "gain": number(learned.gain) if state == "learned" else None,
        "truth": None if shown is None else _truth(shown.feedback, host),
        "detailed": shown is not None or bool(choice.alternatives),
        "slots": slots_to_json(slots),
        "more_slots": max(0, len(choice.tokens) - MOST_SLOTS),
    }


def _truth(feedback: Feedback | None, host: LearnerHost) -> str | None:
    match feedback:
        case TrueText(text):
            return text
        case TrueTokens(tokens):
            return host.spec.unit.join(tokens)
        case _:
            return None
