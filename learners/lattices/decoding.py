"""A lattice becomes the words of least risk, at each of several scales: `decode`.

The expected number of errors is what counts, so the words are those with the least expected edit distance to all
paths, not those of the most probable path. What the engine said itself stays as it is wherever it is confirmed:
its words keep their form, their confidence and their place. A lattice that is too large to decode says the
engine's own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from galloon.learners.alignment.graph import SILENT, TokenGraph, graph_of
from galloon.learners.alignment.sequences import tokens_of
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.kernels.lattice import nearest_path
from galloon.learners.kernels.minimum_bayes_risk import least_risk
from galloon.learners.lattices.scales import GRIDS, START, Scale, grid_of, scaled_scores
from galloon.learners.observation import ExpertOutput, Word
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import Unit

WHOLE = AlignmentSettings(least_arc_posterior=0.0)


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a lattice says at each scale of its grid, the same tokens once: `texts[numbers[k]]` at scale k."""

    grid: int
    texts: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]

    def at(self, scale: int) -> tuple[str, ...]:
        return self.texts[self.numbers[scale]]


def decode(
    output: ExpertOutput, unit: Unit, rule: Normalizer, settings: AlignmentSettings = DEFAULT_SETTINGS
) -> tuple[TokenGraph, Decoded]:
    """The engine's lattice as a graph of tokens, and its words of least risk at each scale."""
    graph = graph_of(output, unit, rule, settings)
    grid = grid_of(graph.parts)
    said = tokens_of(output.words, unit, rule).tokens
    ids = {token: number for number, token in enumerate(graph.vocabulary)}
    found = np.array([ids[token] for token in said if token in ids], dtype=np.int32)
    texts: dict[tuple[str, ...], int] = {}
    numbers = []
    left = settings.risk_cells
    for scale in GRIDS[grid]:
        tokens = said
        if scale is not None and left > 0:
            found, distance, left = _least_risk(graph, _scaled(graph, scale), found, left)
            if not np.isfinite(distance):
                left = 0
        if scale is not None and left > 0:
            tokens = tuple(graph.vocabulary[number] for number in found.tolist())
            if not unit.whole_words and tokens and tokens[-1] == unit.blank:
                tokens = tokens[:-1]  # each word of the graph ends with one
        numbers.append(texts.setdefault(tokens, len(texts)))
    return graph, Decoded(grid, tuple(texts), tuple(numbers))


def heard_at(graph: TokenGraph, grid: int, scale: int) -> TokenGraph:
    """The graph with its scores at a scale; at that of the start where the engine's own words are preferred."""
    return replace(graph, scores=_scaled(graph, GRIDS[grid][scale] or GRIDS[grid][START]))


def _scaled(graph: TokenGraph, scale: Scale | None) -> NDArray[np.float64]:
    return scaled_scores(scale, graph.scores, graph.parts, graph.ends_word)


def nearest_words(
    output: ExpertOutput, truth: Sequence[str], unit: Unit, rule: Normalizer
) -> tuple[str, ...]:
    """What the whole lattice has that is nearest to these true tokens: nobody finds it without knowing them."""
    graph = graph_of(output, unit, rule, WHOLE)
    if graph.state_count * (len(truth) + 1) > WHOLE.lattice_steps:
        return tokens_of(output.words, unit, rule).tokens  # too large to look through
    ids = {token: number for number, token in enumerate(graph.vocabulary)}
    wanted = np.array([ids.get(token, len(ids)) for token in truth], dtype=np.int32)
    arcs = (graph.state_count, graph.initial, graph.finals, graph.sources, graph.targets)
    path = nearest_path(*arcs, graph.tokens, wanted)[::-1]
    said = graph.tokens[path]
    return tuple(graph.vocabulary[number] for number in said[said != SILENT].tolist())


def reworded(
    output: ExpertOutput, tokens: Sequence[str], graph: TokenGraph, unit: Unit, rule: Normalizer
) -> ExpertOutput:
    """The output with these tokens for its words."""
    if tuple(tokens) == tokens_of(output.words, unit, rule).tokens:
        return output
    whole = list(tokens) if unit.whole_words else unit.join(tokens).split(unit.blank)
    wanted = [word for word in whole if word]
    said = [" ".join(rule.split_word(word.text)) for word in output.words]
    words: list[Word] = []
    for step in Levenshtein.opcodes(said, wanted):
        own = output.words[step.src_start : step.src_end]
        forms = [graph.forms.get(text, text) for text in wanted[step.dest_start : step.dest_end]]
        if step.tag == "equal":
            words += own
        elif step.tag == "replace":
            words += [
                replace(word, text=form, confidence=None) for word, form in zip(own, forms, strict=True)
            ]
        elif step.tag == "insert":
            words += [Word(form) for form in forms]
    return replace(output, words=tuple(words))


def _least_risk(
    graph: TokenGraph, scores: NDArray[np.float64], hypothesis: NDArray[np.int32], budget: int
) -> tuple[NDArray[np.int32], float, int]:
    tokens, distance, left = least_risk(
        graph.state_count,
        graph.initial,
        graph.finals,
        graph.sources,
        graph.targets,
        scores,
        graph.tokens,
        len(graph.vocabulary),
        hypothesis,
        budget,
    )
    return np.asarray(tokens), float(distance), int(left)
