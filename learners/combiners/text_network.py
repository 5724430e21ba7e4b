"""The slots of an utterance, aligned from the reliable engines alone: `text_network`.

The other engines are then aligned to these slots, as a target is. So they cannot change the slots and can still
be compared with the target. Lattices and n-best lists of the reliable engines add posteriors in the slots where
experts differ.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from galloon.learners.agreement import without_loops
from galloon.learners.alignment import align, align_target, heard_alternatives, in_order
from galloon.learners.alignment.glued_marks import cut_after_marks, glued_marks
from galloon.learners.alignment.graph import TokenGraph
from galloon.learners.alignment.written import with_forms
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import Unit


def text_network(
    utterance: Utterance,
    experts: tuple[str, ...],
    listened_to: frozenset[str],
    unit: Unit,
    normalizer: str,
    gluing: frozenset[str] = frozenset(),
    graphs: Mapping[str, TokenGraph] = MappingProxyType({}),
) -> Offers:
    """The slots, a column for each of these experts, all that ran, in this order.

    gluing: the engines whose words are cut after marks. graphs: of the engines' lattices, as scaled.
    """
    given = {output.name: output for output in utterance.outputs}
    glued = glued_marks(utterance.outputs) if unit.whole_words else {}
    for name in gluing & glued.keys():
        given[name] = cut_after_marks(given[name])
    looped = []
    for name, words in without_loops({name: output.words for name, output in given.items()}).items():
        if len(words) < len(given[name].words):
            given[name] = ExpertOutput(name, words, given[name].confidence)
            looped.append(name)
    chosen = [given[name] for name in experts if name in listened_to]
    network = align(replace(utterance, said=tuple(chosen)), unit, normalizer)
    for name in experts if len(chosen) < len(given) else ():
        if name not in listened_to:
            twins = (j for j, other in enumerate(chosen) if other.text == given[name].text)
            network = _with_onlooker(network, given[name], next(twins, None), unit, normalizer)
    network = heard_alternatives(in_order(network, experts), chosen, unit, normalizer, graphs=graphs)
    if not glued and not looped:
        return network
    return replace(
        network,
        glued=tuple([glued.get(name, 0) for name in experts]),
        looped=tuple([int(name in looped) for name in experts]),
    )


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
