"""From what many experts said to slots, in each of which every expert offers one token or null.

    align(utterance, unit, normalizer)              slots from the 1-best outputs of any number of experts
    align_target(network, target, unit, normalizer)  the true token of each slot
    heard_alternatives(network, outputs)            what lattices say of the slots where experts differ
    slot_posteriors(network, output)                how probable tokens are by an expert's lattice
    derive(network, names)                          adds vote, frequency_vote, confidence_vote, most_confident
    with_expert(network, name, tokens)              adds any other expert
    in_order(network, experts)                      its columns in the order of these experts

Everything is a pure function, and the slots do not depend on the order of the experts.
"""

from galloon.learners.alignment.lattice import (
    SlotPosteriors,
    heard_alternatives,
    slot_posteriors,
)
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.alignment.slots import align, in_order, with_expert
from galloon.learners.alignment.target import AlignedTarget, align_target
from galloon.learners.alignment.vote import (
    VOTES,
    Offer,
    confidence_vote,
    derive,
    frequency_vote,
    majority_vote,
    most_confident,
    offers_of_all,
)

__all__ = [
    "DEFAULT_SETTINGS",
    "VOTES",
    "AlignedTarget",
    "AlignmentSettings",
    "Offer",
    "SlotPosteriors",
    "align",
    "align_target",
    "confidence_vote",
    "derive",
    "frequency_vote",
    "heard_alternatives",
    "in_order",
    "majority_vote",
    "most_confident",
    "offers_of_all",
    "slot_posteriors",
    "with_expert",
]
