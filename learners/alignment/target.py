"""The true text aligned to the slots, like another expert: `align_target`.

Each true token falls into a slot, or between slots where no expert said anything: then no choice of tokens
can produce it, and it is counted as unreachable. Of all alignments one is taken that leaves the fewest errors
to a perfect choice, and of those the one in which true tokens look most like what the experts offer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.costs import costs_across
from galloon.learners.alignment.letters import check_letters
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.alignment.vocabulary import slot_tokens
from galloon.learners.errors import BudgetExceeded
from galloon.learners.kernels.target import place_target, place_words
from galloon.learners.offers import NULL, Offers
from galloon.learners.spelling import Spelling, spelled
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import WORD, Unit


@dataclass(frozen=True, slots=True)
class AlignedTarget:
    """The truth per slot. Tokens that no expert offers are numbered after the network's vocabulary."""

    tokens: NDArray[np.int32]  # one a slot, NULL where nothing was said
    vocabulary: tuple[str, ...]  # the network's, then the tokens that only the truth has
    unreachable: int  # true tokens that fall between slots
    errors: int  # what a perfect choice in every slot would leave
    length: int  # true tokens
    letters: Spelling | None = field(default=None, repr=False, compare=False)  # of the vocabulary, if known

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.vocabulary[token] for token in self.tokens)


def align_target(
    network: Offers,
    target: str | Sequence[str],
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
) -> AlignedTarget:
    """Which true token belongs to each slot. Give the unit and the normaliser that made the slots.

    `target` is a text, to be normalised, or the true tokens as they are.
    """
    if isinstance(target, str):
        rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
        words = rule.tokens(target.split())
        true_tokens = unit.split(words)
    else:
        true_tokens = list(target)
    if len(true_tokens) > settings.slot_limit:
        raise BudgetExceeded("target tokens", len(true_tokens), settings.slot_limit, "cut the utterance")
    ids = dict(zip(network.vocabulary, range(len(network.vocabulary)), strict=True))
    numbers = np.array([ids.setdefault(token, len(ids)) for token in true_tokens], dtype=np.int32)
    vocabulary = network.vocabulary if len(ids) == len(network.vocabulary) else tuple(ids)
    if unit.whole_words:
        check_letters(vocabulary, settings)
        letters = network.spelling if vocabulary is network.vocabulary else spelled(vocabulary)
        tokens, unplaced, errors = place_words(
            slot_tokens(network),
            numbers,
            letters.codes,
            letters.starts,
            letters.alphabet_size,
            settings.gap_cost,
            settings.unlike_bounds,
        )
        return AlignedTarget(tokens, vocabulary, int(unplaced), int(errors), len(true_tokens), letters)
    costs = costs_across(network.vocabulary, tuple(true_tokens), unit, settings)
    places, errors = place_target(slot_tokens(network), numbers, costs, settings.gap_cost)
    tokens = np.full(network.slot_count, NULL, dtype=np.int32)
    placed = places >= 0
    tokens[places[placed]] = numbers[placed]
    return AlignedTarget(tokens, vocabulary, int((~placed).sum()), int(errors), len(true_tokens))
