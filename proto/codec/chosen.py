"""The answer to an utterance, of what a combiner chose: `choice_of`."""

from galloon.codec.answer import Choice, SlotAlternative
from galloon.learners.combiners import contract


def choice_of(
    chosen: contract.Choice, utterance_id: str, round_number: int, lessons: int, alternatives: bool
) -> Choice:
    """The answer to an utterance; `alternatives` says whether the client asked for them."""
    return Choice(
        utterance_id,
        round_number,
        chosen.text,
        chosen.shown,
        chosen.credited,
        chosen.probabilities,
        chosen.log_probability,
        lessons,
        alternatives=_alternatives(chosen) if alternatives else (),
        written=chosen.written or (),
    )


def _alternatives(chosen: contract.Choice) -> tuple[SlotAlternative, ...]:
    return tuple(
        SlotAlternative(slot, alternative.text, alternative.experts, alternative.probability)
        for slot in range(len(chosen))
        for alternative in chosen.alternatives(slot)
    )
