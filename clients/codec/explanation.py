"""Explanations: messages of the wire to the values of `results`. `explanation_from_wire` joins pages of slots."""

from collections.abc import Sequence

from galloon.clients.api.results import Explanation, SlotExplanation
from galloon.learners.combiners.explanation import Reason, WeighedContext, WeighedOffer
from galloon.v1 import combine_pb2
from galloon.v1 import learners_pb2 as wire


def explanation_from_wire(pages: Sequence[wire.ExplainUtteranceResponse]) -> Explanation:
    """Pages of the same utterance, in order; at least one. What it says of the learner is the last page's."""
    last = pages[-1]
    return Explanation(
        last.id,
        last.round,
        combine_pb2.RoundState.Name(last.state).removeprefix("ROUND_STATE_").lower(),
        last.text,
        last.log_probability if last.HasField("log_probability") else None,
        last.lessons,
        last.lessons_since,
        all(page.detailed for page in pages),
        tuple(_slot(slot) for page in pages for slot in page.slots),
    )


def _slot(message: wire.ExplainedSlot) -> SlotExplanation:
    offers = [
        WeighedOffer(
            offer.token,
            tuple(offer.experts),
            offer.probability if offer.HasField("probability") else None,
            offer.score if offer.HasField("score") else None,
            tuple(Reason(reason.phrase, reason.part) for reason in offer.reasons),
        )
        for offer in message.offers
    ]
    offers.sort(
        key=lambda offer: offer.text != message.token
    )  # the chosen one first, the others as they came
    return SlotExplanation(
        message.slot,
        message.token,
        message.expert,
        message.probability if message.HasField("probability") else None,
        tuple(offers),
        dict(message.trust),
        tuple(WeighedContext(context.name, context.weight) for context in message.contexts),
    )
