"""Lattices by other means: the next best tokens of each expert as experts of their own.

`with_alternatives` adds them; `support` says how probable every expert's token is by one lattice.
"""

import numpy as np

from galloon.learners.alignment import DEFAULT_SETTINGS, slot_posteriors
from galloon.learners.alignment.vocabulary import renumbered
from galloon.learners.errors import InvalidInput
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import WORD


def with_alternatives(
    network,
    utterance,
    count=3,
    unit=WORD,
    normalizer="basic",
    settings=DEFAULT_SETTINGS,
):
    """The network with up to `count` tokens in each slot from every expert that has a lattice or n-best list.

    The first stays the expert's own column, so `name#2` to `name#count` are added. In a slot without so many
    alternatives they repeat the expert's own token, with its posterior.
    """
    if count < 1:
        raise InvalidInput(f"an expert offers at least 1 token in a slot, not {count}")
    rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
    ids = {text: i for i, text in enumerate(network.vocabulary)}
    experts, columns, sureness = list(network.experts), [network.tokens], [network.confidences]
    for output in utterance.outputs:
        if output.name not in network.experts:
            raise InvalidInput(
                f"expert {output.name!r} is not in the network", advice="align the same utterance first"
            )
        if count == 1 or not (output.lattice or output.nbest):
            continue
        found = slot_posteriors(network, output, unit, rule, settings)
        own = network.tokens[:, network.experts.index(output.name)]
        texts = [network.vocabulary[token] for token in own]
        chosen, probabilities = _next_best(found, texts, count - 1, settings.least_posterior)
        for rank in range(count - 1):
            experts.append(f"{output.name}#{rank + 2}")
            columns.append(
                np.array([[ids.setdefault(text, len(ids))] for text in chosen[rank]], dtype=np.int32).reshape(
                    -1, 1
                )
            )
            sureness.append(probabilities[:, rank : rank + 1])
    return renumbered(
        tuple(experts), tuple(ids), np.concatenate(columns, axis=1), np.concatenate(sureness, axis=1)
    )


def support(network, found):
    """Slots x experts: how probable each expert's token is by this lattice; null has what the tokens leave."""
    columns = {text: i for i, text in enumerate(found.tokens)}
    null = np.maximum(0.0, 1.0 - found.probabilities.sum(axis=1, keepdims=True))
    table = np.concatenate([found.probabilities, null, np.zeros_like(null)], axis=1)
    unknown = len(found.tokens) + 1
    places = [columns.get(text, unknown) if text else len(found.tokens) for text in network.vocabulary]
    return np.take_along_axis(table, np.array(places)[network.tokens], axis=1)


def _next_best(found, own, count, least):
    """The most probable tokens of each slot beside the expert's own, rank by rank, with their posteriors."""
    chosen = [list(own) for _ in range(count)]
    probabilities = np.zeros((len(own), count))
    for slot, token in enumerate(own):
        row = found.probabilities[slot]
        offers = {found.tokens[i]: float(row[i]) for i in np.flatnonzero(row >= least)}
        offers[""] = max(0.0, 1.0 - float(row.sum()))
        probabilities[slot, :] = offers.pop(token, 0.0)
        ranked = sorted(offers.items(), key=lambda offer: (-offer[1], offer[0]))
        for rank, (text, probability) in enumerate(ranked[:count]):
            if probability >= least:
                chosen[rank][slot], probabilities[slot, rank] = text, probability
    return chosen, probabilities
