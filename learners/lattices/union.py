"""What minimum Bayes risk makes of all lattices together, without learning anything: `union_words`, a baseline.

Each engine's lattice at the scales of the start, or its words where it has none, is one branch, as probable as the
others unless weights are given; the words of least risk of the whole are found from each branch in turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.graph import SILENT, TokenGraph, graph_of
from galloon.learners.alignment.sequences import tokens_of
from galloon.learners.alignment.settings import DEFAULT_SETTINGS
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.minimum_bayes_risk import arrival_chances, least_risk
from galloon.learners.lattices.decoding import heard_at
from galloon.learners.lattices.scales import START, grid_of
from galloon.learners.observation import ExpertOutput
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import Unit


@dataclass(slots=True)
class _Union:
    """Arcs of all branches over one vocabulary; state 0 is before all of them."""

    sources: list[NDArray[np.int32]]
    targets: list[NDArray[np.int32]]
    scores: list[NDArray[np.float64]]
    tokens: list[NDArray[np.int32]]
    finals: list[int]
    numbers: dict[str, int]
    state_count: int = 1

    def enter(self, log_weight: float) -> int:
        """The first state of a new branch."""
        first = self.state_count
        for column, value in (
            (self.sources, np.zeros(1, np.int32)),
            (self.targets, np.full(1, first, np.int32)),
            (self.tokens, np.full(1, SILENT, np.int32)),
        ):
            column.append(value)
        self.scores.append(np.array([log_weight]))
        return first

    def add_graph(self, graph: TokenGraph, log_weight: float) -> None:
        _, forward = arrival_chances(
            graph.state_count, graph.initial, graph.sources, graph.targets, graph.scores
        )
        whole = float(np.logaddexp.reduce(forward[graph.finals]))
        first = self.enter(log_weight - whole)
        # The branch begins where its own initial state stands; that one and the first change places.
        place = np.arange(graph.state_count) + first
        place[graph.initial], place[0] = place[0], place[graph.initial]
        ids = np.array([self.number(token) for token in graph.vocabulary] + [SILENT], dtype=np.int32)
        self.sources.append(place[graph.sources].astype(np.int32))
        self.targets.append(place[graph.targets].astype(np.int32))
        self.scores.append(graph.scores)
        self.tokens.append(ids[graph.tokens])
        self.finals += place[graph.finals].tolist()
        self.state_count += graph.state_count

    def add_words(self, said: Sequence[str], log_weight: float) -> None:
        first = self.enter(log_weight)
        steps = np.arange(len(said), dtype=np.int32) + first
        self.sources.append(steps)
        self.targets.append(steps + 1)
        self.scores.append(np.zeros(len(said)))
        self.tokens.append(np.array([self.number(token) for token in said], dtype=np.int32))
        self.finals.append(first + len(said))
        self.state_count += len(said) + 1

    def number(self, token: str) -> int:
        return self.numbers.setdefault(token, len(self.numbers))


def union_words(
    outputs: Sequence[ExpertOutput],
    unit: Unit,
    rule: Normalizer,
    weights: Mapping[str, float] | None = None,
) -> tuple[str, ...]:
    """The tokens of least risk of the union of these outputs."""
    if not outputs:
        raise InvalidInput("no engine ran", advice="send an engine that ran and said nothing with no words")
    union = _Union([], [], [], [], [], {})
    starts = []
    for output in outputs:
        weight = float(np.log((weights or {}).get(output.name, 1.0)))
        said = tokens_of(output.words, unit, rule).tokens
        starts.append(said)
        if output.lattice is None:
            # Each word of a graph of characters ends with a blank, so does this one.
            union.add_words((*said, unit.blank) if said and not unit.whole_words else said, weight)
        else:
            graph = graph_of(output, unit, rule, DEFAULT_SETTINGS)
            union.add_graph(heard_at(graph, grid_of(graph.parts), START), weight)
    arcs = (
        union.state_count,
        0,
        np.array(union.finals, dtype=np.int64),
        *(np.concatenate(column) for column in (union.sources, union.targets, union.scores, union.tokens)),
    )
    texts = list(union.numbers)
    best, least = None, np.inf
    for said in starts:
        known = np.array([union.numbers[token] for token in said if token in union.numbers], dtype=np.int32)
        found, distance, _ = least_risk(*arcs, len(texts), known, DEFAULT_SETTINGS.risk_cells)
        if distance < least - 1e-9:
            best, least = found, distance
    if best is None:  # too large to decode: what the first engine said
        return starts[0]
    tokens = tuple(texts[number] for number in best.tolist())
    return tokens[:-1] if tokens and not unit.whole_words and tokens[-1] == unit.blank else tokens
