"""A lattice or an n-best list as a graph of normalised tokens, checked, sorted and pruned: `graph_of`.

Words become tokens of the unit: a word that normalises to several is a chain, one that normalises to nothing is
an arc that says nothing. N-best lists become a graph with one branch each, weighted by their scores if they have
any, else by rank: the second counts half, the third a third.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.kernels.lattice import best_scores, posteriors, sorted_arcs
from galloon.learners.lattices.scales import GRIDS, START, grid_of, scaled_scores
from galloon.learners.observation import ArcScores, ExpertOutput, Hypothesis, Lattice
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import Unit

SILENT = -1
_EQUAL = 1e-9  # scores of the same path, summed in another order


@dataclass(frozen=True, slots=True)
class TokenGraph:
    """Arcs in topological order; `tokens[e]` indexes `vocabulary`, or is SILENT."""

    state_count: int
    initial: int
    finals: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    scores: NDArray[np.float64]
    tokens: NDArray[np.int32]
    vocabulary: tuple[str, ...]
    times: NDArray[np.float64] | None  # start and end of each arc
    parts: (
        ArcScores | None
    )  # the acoustic scores of the arcs and the scales in use, where the lattice tells them
    ends_word: NDArray[np.bool_]  # whether a word of the lattice ends with this arc
    forms: Mapping[str, str]  # how the lattice writes words, by their tokens


def graph_of(
    output: ExpertOutput, unit: Unit, normalizer: Normalizer, settings: AlignmentSettings
) -> TokenGraph:
    """What the expert offers beside its 1-best; its lattice, if it has both."""
    lattice = output.lattice or _from_hypotheses(output)
    _check(lattice, output.name, settings)
    begins, ends = (np.require(states, np.int32, ["C", "W"]) for states in (lattice.sources, lattice.targets))
    order, acyclic = sorted_arcs(lattice.state_count, begins, ends)
    if not acyclic:
        raise InvalidInput(f"the lattice of expert {output.name!r} has a cycle; a word graph must not")
    finals = np.array(lattice.finals, dtype=np.int64)
    graph = (lattice.state_count, lattice.initial, finals, begins[order], ends[order])
    scores = _start_scores(lattice)[order]
    through = best_scores(*graph, scores)
    if not through.size or not through.max() > -np.inf:
        raise InvalidInput(
            f"the lattice of expert {output.name!r} has no path from its initial to a final state"
        )
    # The best path stays whole, however flat the lattice is.
    worth = posteriors(*graph, scores) >= settings.least_arc_posterior
    kept = order[worth | (through >= through.max() - _EQUAL)]
    return _spell(lattice, kept, finals, unit, normalizer)


def _start_scores(lattice: Lattice) -> NDArray[np.float64]:
    """The scores by which arcs are kept or left out: those before anything is learned of the engine."""
    start = GRIDS[grid_of(lattice.parts)][START]
    spoken = np.array([bool(word) for word in lattice.words])
    return scaled_scores(start, lattice.log_scores, lattice.parts, spoken)


def _spell(
    lattice: Lattice, kept: NDArray[np.int64], finals: NDArray[np.int64], unit: Unit, normalizer: Normalizer
) -> TokenGraph:
    """The kept arcs, each replaced by the chain of its tokens. The order stays topological."""
    words: dict[str, int] = {}
    word_of_arc = np.array([words.setdefault(lattice.words[arc], len(words)) for arc in kept.tolist()])
    numbers: dict[str, int] = {}
    spelled = [
        [numbers.setdefault(token, len(numbers)) for token in _tokens(word, unit, normalizer)] or [SILENT]
        for word in words
    ]
    lengths = np.array([len(chain) for chain in spelled])
    all_tokens = np.array([token for chain in spelled for token in chain], dtype=np.int32)
    links = lengths[word_of_arc]
    arc = np.repeat(np.arange(kept.size), links)  # of each link of a chain
    link = np.arange(arc.size) - _starts(links)[arc]
    first, last = link == 0, link + 1 == links[arc]
    between = lattice.state_count - 1 + np.cumsum(~last)  # the state behind a link that is not the last
    starts, ends = lattice.sources[kept][arc], lattice.targets[kept][arc]
    tokens = all_tokens[_starts(lengths)[word_of_arc][arc] + link]
    parts = lattice.parts
    if parts is not None and parts.acoustic is not None:
        parts = replace(parts, acoustic=np.where(first, parts.acoustic[kept][arc], 0.0))
    return TokenGraph(
        lattice.state_count + int(np.count_nonzero(~last)),
        lattice.initial,
        finals,
        np.where(first, starts, between - ~last).astype(np.int32),
        np.where(last, ends, between).astype(np.int32),
        np.where(first, lattice.log_scores[kept][arc], 0.0).astype(np.float64),
        tokens,
        tuple(numbers),
        None if lattice.times is None else lattice.times[np.stack([starts, ends], axis=1)].astype(np.float64),
        parts,
        last & (tokens != SILENT),
        {" ".join(normalizer.split_word(word)): word for word in reversed(words)},
    )


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of these pieces begins, laid end to end."""
    return np.cumsum(lengths) - lengths


def _tokens(word: str, unit: Unit, normalizer: Normalizer) -> tuple[str, ...]:
    parts = normalizer.split_word(word)
    if unit.whole_words or not parts:
        return parts
    # Each word ends with a blank; the last blank falls between slots.
    return (*unit.split(parts), unit.blank)


def _from_hypotheses(output: ExpertOutput) -> Lattice:
    weights = _hypothesis_scores(output.nbest)
    sources: list[int] = []
    targets: list[int] = []
    words: list[str] = []
    scores: list[float] = []
    state_count = 2
    for hypothesis, weight in zip(output.nbest, weights, strict=True):
        texts = [word.text for word in hypothesis.words] or [""]
        for i, text in enumerate(texts):
            last = i + 1 == len(texts)
            sources.append(0 if i == 0 else state_count - 1)
            targets.append(1 if last else state_count)
            state_count += not last
            words.append(text)
            scores.append(weight if i == 0 else 0.0)
    return Lattice(
        state_count,
        0,
        (1,),
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        tuple(words),
        np.array(scores, dtype=np.float64),
    )


def _hypothesis_scores(hypotheses: Sequence[Hypothesis]) -> list[float]:
    """Log weights. Scores that are all the same, as some engines write them, say nothing: then by rank."""
    scores = [h.score for h in hypotheses]
    known = [score for score in scores if score is not None and np.isfinite(score)]
    if len(known) == len(scores) and len(set(known)) > 1:
        return known
    return [-float(np.log(rank)) for rank in range(1, len(hypotheses) + 1)]


def _check(lattice: Lattice, name: str, settings: AlignmentSettings) -> None:
    arcs = len(lattice.words)
    if arcs > settings.lattice_arcs:
        raise BudgetExceeded("lattice_arcs", arcs, settings.lattice_arcs, "prune the lattice")
    states = (lattice.initial, *lattice.finals)
    ends = np.concatenate([lattice.sources, lattice.targets, np.array(states)])
    same_length = lattice.sources.shape == lattice.targets.shape == lattice.log_scores.shape == (arcs,)
    if not same_length or ends.min() < 0 or ends.max() >= lattice.state_count:
        raise InvalidInput(
            f"the lattice of expert {name!r} names states that do not exist, or its arcs' columns differ"
        )
    acoustic = lattice.parts.acoustic if lattice.parts is not None else None
    if acoustic is not None and (acoustic.shape != (arcs,) or not np.isfinite(acoustic).all()):
        raise InvalidInput(
            f"the lattice of expert {name!r} needs a finite acoustic score of each arc, or none"
        )
    if not np.isfinite(lattice.log_scores).all():
        raise InvalidInput(f"the lattice of expert {name!r} has a score that is not a finite number")
