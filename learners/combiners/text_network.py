"""The slots of an utterance, aligned from the reliable engines alone: `text_network`.

The other engines are then aligned to these slots, as a target is. So they cannot change the slots and can still
be compared with the target. Lattices and n-best lists of the reliable engines add posteriors in the slots where
experts differ.
"""

from dataclasses import replace

import numpy as np

from galloon.learners.agreement import without_loops
from galloon.learners.alignment import align, align_target, heard_alternatives, in_order
from galloon.learners.alignment.written import with_forms
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import Unit


def text_network(
    utterance: Utterance, experts: tuple[str, ...], listened_to: frozenset[str], unit: Unit, normalizer: str
) -> Offers:
    """The slots, a column for each of these experts, all that ran, in this order."""
    given = {output.name: output for output in utterance.outputs}
    for name, words in without_loops({name: output.words for name, output in given.items()}).items():
        if len(words) < len(given[name].words):
            given[name] = ExpertOutput(name, words, given[name].confidence)
    chosen = [given[name] for name in experts if name in listened_to]
    network = align(replace(utterance, said=tuple(chosen)), unit, normalizer)
    for name in experts if len(chosen) < len(given) else ():
        if name not in listened_to:
            twins = (j for j, other in enumerate(chosen) if other.text == given[name].text)
            network = _with_onlooker(network, given[name], next(twins, None), unit, normalizer)
    return heard_alternatives(in_order(network, experts), chosen, unit, normalizer)


def _with_onlooker(
    network: Offers, output: ExpertOutput, twin: int | None, unit: Unit, normalizer: str
) -> Offers:
    """Add the column of an unreliable engine without changing the slots.

    It is a copy of the column of an engine with the same text, if there is one. Else its tokens are aligned to the
    slots; those that fit nowhere are left out, and so are confidences.
    """
    if twin is None:
        placed = align_target(network, output.text, unit, normalizer)
        vocabulary, tokens = placed.vocabulary, placed.tokens
        confidences = np.full(network.slot_count, np.nan)
        written = with_forms(network, output.text, placed, unit, named(normalizer))
    else:
        vocabulary, tokens = network.vocabulary, network.tokens[:, twin]
        confidences = network.confidences[:, twin]
        written = network.written.of_engines([*range(len(network.experts)), twin])
    return Offers(
        (*network.experts, output.name),
        vocabulary,
        np.column_stack([network.tokens, tokens]),
        np.column_stack([network.confidences, confidences]),
        written=written,
    )
