"""How much the slots hold: the errors that the best token per slot, in hindsight, would leave.

`oracle_errors` for one utterance; counts add up like any others. `expert_errors` counts slot by slot what
each expert gets wrong against the aligned truth, which is what a slot-match learner sees.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.target import AlignedTarget
from galloon.learners.evaluation.error_rate import ErrorCounts
from galloon.learners.offers import NULL, Offers


def oracle_errors(network: Offers, target: AlignedTarget) -> ErrorCounts:
    """The errors of the best choice in every slot: no way through the slots is closer to the truth."""
    truth = target.tokens[:, None]
    missed = ~(network.tokens == truth).any(axis=1)
    filled = target.tokens != NULL
    # A true token that nobody offers is best replaced by any other token, if one is there; else it is lost.
    something = (network.tokens != NULL).any(axis=1)
    substitutions = int((missed & filled & something).sum())
    deletions = int((missed & filled & ~something).sum()) + target.unreachable
    insertions = int((missed & ~filled).sum())
    return ErrorCounts(substitutions, deletions, insertions, target.length)


def expert_errors(network: Offers, target: AlignedTarget) -> NDArray[np.int64]:
    """For each expert the slots where its offer is not the truth, and the tokens that fell between slots."""
    wrong = (network.tokens != target.tokens[:, None]).sum(axis=0)
    return np.asarray(wrong + target.unreachable, dtype=np.int64)
