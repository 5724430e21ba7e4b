"""Why tokens were chosen: `Explanation` to and from galloon.v1.ExplainUtteranceResponse, in pages of slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from galloon.learners.combiners.explanation import Reason, WeighedContext, WeighedOffer
from galloon.v1 import combine_pb2
from galloon.v1 import learners_pb2 as wire

_STATE = "ROUND_STATE_"


@dataclass(frozen=True, slots=True)
class SlotExplanation:
    """Why the token of a slot was chosen; offers have the chosen one first, contexts the heaviest."""

    slot: int
    token: str
    expert: str  # that it is credited to
    probability: float | None
    offers: tuple[WeighedOffer, ...] = ()
    trust: Mapping[str, float] = field(default_factory=dict)
    contexts: tuple[WeighedContext, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text was chosen. Where it is not `detailed`, only the answer is remembered: slots have no offers."""

    id: str
    round: int
    state: str  # pending, learned or expired
    text: str
    log_probability: float | None
    lessons: int  # that the learner had taken in when it chose
    lessons_since: int  # what is told as it is now has moved by so many
    detailed: bool
    slots: tuple[SlotExplanation, ...]


def explanation_to_wire(explanation: Explanation, slot_count: int) -> wire.ExplainUtteranceResponse:
    """One page: the explanation of some of the utterance's slots."""
    return wire.ExplainUtteranceResponse(
        id=explanation.id,
        round=explanation.round,
        state=combine_pb2.RoundState.Value(_STATE + explanation.state.upper()),
        text=explanation.text,
        slot_count=slot_count,
        log_probability=_known(explanation.log_probability),
        lessons=explanation.lessons,
        lessons_since=explanation.lessons_since,
        detailed=explanation.detailed,
        slots=[_slot_to_wire(slot) for slot in explanation.slots],
    )


def explanation_from_wire(pages: Sequence[wire.ExplainUtteranceResponse]) -> Explanation:
    """Pages of the same utterance, in order; at least one. What it says of the learner is the last page's."""
    last = pages[-1]
    return Explanation(
        last.id,
        last.round,
        combine_pb2.RoundState.Name(last.state).removeprefix(_STATE).lower(),
        last.text,
        last.log_probability if last.HasField("log_probability") else None,
        last.lessons,
        last.lessons_since,
        all(page.detailed for page in pages),
        tuple(_slot_from_wire(slot) for page in pages for slot in page.slots),
    )


def _slot_to_wire(slot: SlotExplanation) -> wire.ExplainedSlot:
    message = wire.ExplainedSlot(
        slot=slot.slot, token=slot.token, expert=slot.expert, probability=_known(slot.probability)
    )
    message.trust.update(slot.trust)
    message.offers.extend(
        wire.ExplainedOffer(
            token=offer.text,
            experts=offer.experts,
            probability=offer.probability,
            score=offer.score,
            reasons=[
                wire.ExplainedReason(phrase=reason.phrase, part=reason.part) for reason in offer.reasons
            ],
        )
        for offer in slot.offers
    )
    message.contexts.extend(
        wire.ExplainedContext(name=context.name, weight=context.weight) for context in slot.contexts
    )
    return message


def _slot_from_wire(message: wire.ExplainedSlot) -> SlotExplanation:
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
    # The chosen one first, the others as they came.
    offers.sort(key=lambda offer: offer.text != message.token)
    return SlotExplanation(
        message.slot,
        message.token,
        message.expert,
        message.probability if message.HasField("probability") else None,
        tuple(offers),
        dict(message.trust),
        tuple(WeighedContext(context.name, context.weight) for context in message.contexts),
    )


def _known(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None
