"""Answers to the requests of a round, as values of the codec: `lesson_of`, `explanation_of`."""

from collections.abc import Sequence

from galloon.codec.answer import Choice, Lesson, choice_from_wire
from galloon.codec.explanation import Explanation, SlotExplanation
from galloon.learners.combiners import contract
from galloon.learners.combiners.explanation import WeighedSlot
from galloon.learners.errors import DamagedState
from galloon.v1 import combine_pb2 as wire


def lesson_of(
    lesson: contract.Lesson,
    utterance_id: str,
    round_number: int,
    lessons: int,
    total_gain: float,
    amended: bool = False,
) -> Lesson:
    """The answer to feedback."""
    return Lesson(
        utterance_id, round_number, lesson.gain, lesson.expert_gains, lessons, total_gain, amended=amended
    )


def explanation_of(
    answer: bytes,
    state: wire.RoundState.ValueType,
    lessons: int,
    known: Sequence[WeighedSlot] | None,
    asked: range,
) -> tuple[Explanation, int]:
    """Why the slots that were asked for are what they are, and how many slots the utterance has.

    `known` says so of those of them that the utterance has; None where that is not remembered.
    """
    choice = choice_from_wire(wire.CombineResponse.FromString(answer).choice)
    slots = asked[: max(0, len(choice.tokens) - asked.start)]
    lengths = {len(choice.tokens), len(choice.experts), len(choice.probabilities)}
    if len(lengths) > 1 or (known is not None and len(known) != len(slots)):
        raise DamagedState("the memory of this round has other slots than its answer")
    explained = Explanation(
        choice.id,
        choice.round,
        wire.RoundState.Name(state).removeprefix("ROUND_STATE_").lower(),
        choice.text,
        choice.log_probability,
        choice.lessons,
        max(0, lessons - choice.lessons),
        known is not None,
        tuple(_slot(choice, slot, None if known is None else known[slot - slots.start]) for slot in slots),
    )
    return explained, len(choice.tokens)


def _slot(choice: Choice, slot: int, weighed: WeighedSlot | None) -> SlotExplanation:
    shown = (slot, choice.tokens[slot], choice.experts[slot], choice.probabilities[slot])
    if weighed is None:
        return SlotExplanation(*shown)
    return SlotExplanation(*shown, weighed.offers, weighed.trust, weighed.contexts)
