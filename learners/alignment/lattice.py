"""More than the 1-best: what an expert's lattice or n-best list offers in each slot.

`slot_posteriors` gives the posterior of each token in each slot. Posteriors are the lattice's own, by
forward-backward; the slots only say where each arc belongs: where the best path through it puts it, aligned to
what all experts said. `heard_alternatives` adds them to the offers of the slots where experts differ.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.costs import costs_across
from galloon.learners.alignment.graph import TokenGraph, graph_of
from galloon.learners.alignment.sequences import times_of, tokens_of
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.errors import BudgetExceeded
from galloon.learners.kernels.lattice import place_arcs, posteriors
from galloon.learners.observation import ExpertOutput
from galloon.learners.offers import NULL, Offers, TokenPosteriors
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import WORD, Unit


@dataclass(frozen=True, slots=True)
class SlotPosteriors:
    """The probability that an expert's lattice gives to each token in each slot; what is left is null's."""

    tokens: tuple[str, ...]
    probabilities: NDArray[np.float64]  # slots x tokens


def heard_alternatives(
    network: Offers,
    outputs: Iterable[ExpertOutput],
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
    graphs: Mapping[str, TokenGraph] = MappingProxyType({}),
) -> Offers:
    """The network with what these experts' lattices and n-best lists say where experts differ.

    `graphs` are those of the experts' lattices that somebody has made and scaled already.
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
        found = slot_posteriors(network, output, unit, rule, settings, graphs.get(output.name))
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
    graph: TokenGraph | None = None,
) -> SlotPosteriors:
    """How probable each token is in each slot, by the expert's lattice, or else by its n-best list."""
    rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
    graph = graph or graph_of(output, unit, rule, settings)
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
