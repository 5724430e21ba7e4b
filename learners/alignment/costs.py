"""What it costs to put two tokens into one slot: `character_costs` of one vocabulary, `costs_across` two.

Words by the likeness of their characters; characters are equal or not, and a blank shares no slot with a letter.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.kernels.token_distance import cross_costs
from galloon.learners.offers import NULL
from galloon.learners.spelling import spelled
from galloon.learners.unit import Unit


def character_costs(
    vocabulary: tuple[str, ...], unit: Unit, settings: AlignmentSettings
) -> NDArray[np.int32]:
    """The cost of every pair of characters; the first is null."""
    costs = _of_characters(vocabulary, vocabulary, unit, settings)
    costs[:, NULL] = settings.gap_cost
    np.fill_diagonal(costs, 0)
    return costs


def costs_across(
    vocabulary: tuple[str, ...], others: tuple[str, ...], unit: Unit, settings: AlignmentSettings
) -> NDArray[np.int32]:
    """The cost of each token of a vocabulary, the first being null, against each of the others."""
    if not unit.whole_words:
        costs = _of_characters(vocabulary, others, unit, settings)
        rows = {token: i for i, token in enumerate(vocabulary)}
        for j, token in enumerate(others):
            if token in rows:
                costs[rows[token], j] = 0
        return costs
    letters = spelled((*vocabulary, *others))
    return np.asarray(
        cross_costs(
            letters.codes,
            letters.starts,
            letters.alphabet_size,
            settings.gap_cost,
            settings.unlike_bounds,
            len(vocabulary),
        )
    )


def _of_characters(
    rows: tuple[str, ...], columns: tuple[str, ...], unit: Unit, settings: AlignmentSettings
) -> NDArray[np.int32]:
    """Costs of different characters; the caller sets those of equal ones to 0."""
    costs = np.full((len(rows), len(columns)), settings.unlike_cost, dtype=np.int32)
    costs[[i for i, token in enumerate(rows) if token == unit.blank], :] = settings.blank_cost
    costs[:, [j for j, token in enumerate(columns) if token == unit.blank]] = settings.blank_cost
    costs[NULL, :] = settings.gap_cost
    return costs
