"""The true token of each slot, from feedback that knows the truth: `slot_target`."""

import numpy as np

from galloon.learners.alignment import AlignedTarget, align_target
from galloon.learners.combiners.contract import TrueText, TrueTokens
from galloon.learners.errors import InvalidInput
from galloon.learners.offers import Offers
from galloon.learners.unit import Unit


def slot_target(
    network: Offers, feedback: TrueText | TrueTokens, unit: Unit, normalizer: str
) -> AlignedTarget:
    """A text is aligned to the slots; tokens come one a slot."""
    if isinstance(feedback, TrueText):
        return align_target(network, feedback.text, unit, normalizer)
    if len(feedback.tokens) != network.slot_count:
        raise InvalidInput(
            f"{len(feedback.tokens)} true tokens for {network.slot_count} slots: send one a slot, "
            "empty for null, or send the text"
        )
    ids = {text: token for token, text in enumerate(network.vocabulary)}
    tokens = [ids.setdefault(text, len(ids)) for text in feedback.tokens]
    length = len(feedback.tokens) - feedback.tokens.count("")
    return AlignedTarget(np.array(tokens, dtype=np.int32), tuple(ids), 0, 0, length)
