"""A network's tokens: in the order of their texts (`renumbered`), as kernels take them (`slot_tokens`)."""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.offers import NULL, Offers
from galloon.learners.written import AS_TOKENS, WrittenForms

_INT32 = np.dtype(np.int32)


def renumbered(
    experts: tuple[str, ...],
    vocabulary: tuple[str, ...],
    tokens: NDArray[np.int32],
    confidences: NDArray[np.float64],
    written: WrittenForms = AS_TOKENS,
) -> Offers:
    """The offers over a vocabulary of the offered tokens alone, in the order of their texts, null first."""
    used = sorted({vocabulary[token] for token in set(tokens.ravel().tolist()) if token != NULL})
    ordered = ("", *used)
    places = dict(zip(ordered, range(len(ordered)), strict=True))
    numbers = np.array([places.get(text, NULL) for text in vocabulary], dtype=np.int32)
    return Offers(experts, ordered, numbers[tokens], confidences, written=written)


def slot_tokens(network: Offers) -> NDArray[np.int32]:
    """The network's tokens in the type and layout that the kernels were compiled for."""
    tokens = network.tokens
    # Called several times in a round; a copy is nearly never needed.
    return (
        tokens if tokens.dtype == _INT32 and tokens.flags.carray else np.require(tokens, np.int32, ["C", "W"])
    )
