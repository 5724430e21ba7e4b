"""More than the 1-best: what an expert's lattice or n-best list offers in each slot.

`with_alternatives` adds, for each expert that has one, its next best tokens as experts of their own (`name#2`,
`name#3`, ...), with their posterior as confidence. Posteriors are the lattice's own, by forward-backward; the
slots only say where each arc belongs: where the best path through it puts it, aligned to what all experts
said. `slot_posteriors` gives the posteriors themselves, `support` what they say of every expert's token;
`heard_alternatives` puts into a network what they say of the slots where experts differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.costs import costs_across
from galloon.learners.alignment.graph import TokenGraph, graph_of
from galloon.learners.alignment.sequences import times_of, tokens_of
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.alignment.vocabulary import renumbered
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.kernels.lattice import place_arcs, posteriors
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.offers import NULL, Offers, TokenPosteriors
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import WORD, Unit


@dataclass(frozen=True, slots=True)
class SlotPosteriors:
    """The probability that an expert's lattice gives to each token in each slot; what is left is null's."""

    tokens: tuple[str, ...]
    probabilities: NDArray[np.float64]  # slots x tokens


def with_alternatives(
    network: Offers,
    utterance: Utterance,
    count: int = 3,
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
) -> Offers:
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


def heard_alternatives(
    network: Offers,
    outputs: Iterable[ExpertOutput],
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
) -> Offers:
    """The network with what these experts' lattices and n-best lists say where experts differ.

    Of each: the probability of every token on offer there, of null, and of its own best `alternatives` others.
    Nothing changes without any.
    """
    said = [output for output in outputs if output.lattice or output.nbest]
    if not said:
        return network
    disputed = np.flatnonzero((network.tokens != network.tokens[:, :1]).any(axis=1))
    if not disputed.size:
        return network
    rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
    ids = {text: i for i, text in enumerate(network.vocabulary)}
    rows: list[tuple[int, int, int, float]] = []
    for output in said:
        expert = network.experts.index(output.name)
        found = slot_posteriors(network, output, unit, rule, settings)
        chances = found.probabilities[disputed]
        left = np.maximum(0.0, 1.0 - chances.sum(axis=1))
        rows += [(int(slot), expert, NULL, float(left[place])) for place, slot in enumerate(disputed)]
        for place, column in np.argwhere(_worth_hearing(network, disputed, found, settings)).tolist():
            token = ids.setdefault(found.tokens[column], len(ids))
            rows.append((int(disputed[place]), expert, token, float(chances[place, column])))
    rows.sort()
    slots, experts, tokens = np.array([row[:3] for row in rows], dtype=np.int32).T.copy()
    heard = TokenPosteriors(slots, experts, tokens, np.array([row[3] for row in rows]))
    return replace(network, vocabulary=tuple(ids), posteriors=heard)


def slot_posteriors(
    network: Offers,
    output: ExpertOutput,
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
) -> SlotPosteriors:
    """How probable each token is in each slot, by the expert's lattice, or else by its n-best list."""
    rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
    graph = graph_of(output, unit, rule, settings)
    slots = network.slot_count
    steps = float(graph.sources.size + graph.state_count) * (slots + 1)
    if steps > settings.lattice_steps:
        raise BudgetExceeded("lattice_steps", steps, settings.lattice_steps, "prune the lattice")
    pairs = float(len(graph.vocabulary)) * len(network.vocabulary)
    if pairs > settings.lattice_pairs:
        raise BudgetExceeded("lattice_pairs", pairs, settings.lattice_pairs, "prune the lattice")
    arcs = (graph.state_count, graph.initial, graph.finals, graph.sources, graph.targets, graph.scores)
    fits, skips, alone = _scores(network, graph, unit, settings)
    known = graph.times is not None
    places = place_arcs(
        *arcs,
        graph.tokens,
        fits,
        skips,
        alone,
        graph.times if known else np.full((graph.sources.size, 2), np.nan),
        _slot_times(network, output, unit, rule) if known else np.full((slots, 2), np.nan),
        -settings.lattice_trust * settings.time_cost / settings.unlike_cost,
    )
    probabilities = np.zeros((slots, len(graph.vocabulary)))
    placed = places >= 0
    np.add.at(probabilities, (places[placed], graph.tokens[placed]), posteriors(*arcs)[placed])
    return SlotPosteriors(graph.vocabulary, np.minimum(probabilities, 1.0))


def support(network: Offers, found: SlotPosteriors) -> NDArray[np.float64]:
    """Slots x experts: how probable each expert's token is by this lattice; null has what the tokens leave."""
    columns = {text: i for i, text in enumerate(found.tokens)}
    null = np.maximum(0.0, 1.0 - found.probabilities.sum(axis=1, keepdims=True))
    table = np.concatenate([found.probabilities, null, np.zeros_like(null)], axis=1)
    unknown = len(found.tokens) + 1
    places = [columns.get(text, unknown) if text else len(found.tokens) for text in network.vocabulary]
    return np.take_along_axis(table, np.array(places)[network.tokens], axis=1)


def _scores(
    network: Offers, graph: TokenGraph, unit: Unit, settings: AlignmentSettings
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """What it scores to put a token into a slot, to leave a slot empty, to put a token between slots.

    The mean cost against what the experts say there, on the scale of the lattice's log scores.
    """
    scale = -settings.lattice_trust / settings.unlike_cost
    costs = costs_across(network.vocabulary, graph.vocabulary, unit, settings)
    experts = max(1, len(network.experts))
    fits = np.zeros((len(graph.vocabulary), network.slot_count))
    for j in range(len(network.experts)):
        fits += costs[network.tokens[:, j]].T
    skips = settings.gap_cost * (network.tokens != NULL).sum(axis=1) / experts
    return scale * fits / experts, scale * skips, scale * settings.gap_cost


def _slot_times(network: Offers, output: ExpertOutput, unit: Unit, rule: Normalizer) -> NDArray[np.float64]:
    """Start and end of the expert's own token in each slot: the one clock that is surely the lattice's."""
    result = np.full((network.slot_count, 2), np.nan)
    if unit.whole_words:
        filled = network.tokens[:, network.experts.index(output.name)] != NULL
        sequence = tokens_of(output.words, unit, rule)
        times = times_of(output, sequence)
        # A token that was cut into several slots has no time of its own in each.
        if times is not None and len(times) == filled.sum():
            result[filled, 0] = times[:, 0] - times[:, 1]
            result[filled, 1] = times[:, 0] + times[:, 1]
    return result


def _next_best(
    found: SlotPosteriors, own: list[str], count: int, least: float
) -> tuple[list[list[str]], NDArray[np.float64]]:
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


def _worth_hearing(
    network: Offers, slots: NDArray[np.int64], found: SlotPosteriors, settings: AlignmentSettings
) -> NDArray[np.bool_]:
    """Slots x tokens of the lattice: what somebody offers there, and the most probable of the rest."""
    ids = {text: i for i, text in enumerate(network.vocabulary)}
    unknown = len(ids)
    numbers = np.array([ids.get(text, unknown) for text in found.tokens], dtype=np.int64)
    offered = np.zeros((len(slots), unknown + 1), dtype=np.bool_)
    np.put_along_axis(offered, network.tokens[slots].astype(np.int64), True, axis=1)
    chances, known = found.probabilities[slots], offered[:, numbers]
    rest = np.where(known, 0.0, chances)
    best = np.argsort(-rest, axis=1, kind="stable")[:, : settings.alternatives]
    wanted = known & (chances > 0)
    probable = np.take_along_axis(rest, best, axis=1) >= settings.least_posterior
    np.put_along_axis(wanted, best, probable | np.take_along_axis(wanted, best, axis=1), axis=1)
    return wanted
