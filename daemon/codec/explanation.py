"""Why tokens were chosen, for the wire: `explanation_to_wire` puts together what is known of a round."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from galloon.learners.combiners.explanation import WeighedSlot
from galloon.learners.errors import DamagedState
from galloon.v1 import combine_pb2, learners_pb2


@dataclass(frozen=True, slots=True)
class Explained:
    """What is remembered of a round, and why some of its slots are what they are, where that is known."""

    answer: bytes
    state: combine_pb2.RoundState.ValueType
    lessons: int  # taken in up to now
    slots: tuple[WeighedSlot, ...] | None


def explanation_to_wire(explained: Explained, asked: range) -> learners_pb2.ExplainUtteranceResponse:
    """`asked` are the slots that were asked for; those that the utterance does not have are left out."""
    choice = combine_pb2.CombineResponse.FromString(explained.answer).choice
    slots = asked[: max(0, len(choice.tokens) - asked.start)]
    known = explained.slots
    lengths = {len(choice.tokens), len(choice.experts), len(choice.probabilities)}
    if len(lengths) > 1 or (known is not None and len(known) != len(slots)):
        raise DamagedState("the memory of this round has other slots than its answer")
    return learners_pb2.ExplainUtteranceResponse(
        id=choice.id,
        round=choice.round,
        state=explained.state,
        text=choice.text,
        slot_count=len(choice.tokens),
        log_probability=_known(choice.log_probability),
        lessons=choice.lessons,
        lessons_since=max(0, explained.lessons - choice.lessons),
        detailed=known is not None,
        slots=[_slot(choice, slot, known, slots.start) for slot in slots],
    )


def _slot(
    choice: combine_pb2.Choice, slot: int, known: Sequence[WeighedSlot] | None, first: int
) -> learners_pb2.ExplainedSlot:
    shown = learners_pb2.ExplainedSlot(
        slot=slot,
        token=choice.tokens[slot],
        expert=choice.experts[slot],
        probability=_known(choice.probabilities[slot]),
    )
    if known is None:
        return shown
    weighed = known[slot - first]
    shown.trust.update(weighed.trust)
    shown.offers.extend(
        learners_pb2.ExplainedOffer(
            token=offer.text,
            experts=offer.experts,
            probability=offer.probability,
            score=offer.score,
            reasons=[
                learners_pb2.ExplainedReason(phrase=reason.phrase, part=reason.part)
                for reason in offer.reasons
            ],
        )
        for offer in weighed.offers
    )
    shown.contexts.extend(
        learners_pb2.ExplainedContext(name=context.name, weight=context.weight)
        for context in weighed.contexts
    )
    return shown


def _known(number: float) -> float | None:
    return number if isfinite(number) else None
