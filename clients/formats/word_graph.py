"""From a list of arcs to a checked `Lattice`, and the best path through one.

`build_lattice` refuses arcs to nowhere, cycles, numbers that are not finite, and graphs without a complete
path, each with the line at fault; it leaves out what lies on no complete path and numbers the states in
topological order, so that each arc goes from a smaller state to a larger one. `best_path` gives the 1-best.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from galloon.clients.formats.source import Source
from galloon.learners.observation import ArcScores, Lattice, Word

# A posterior printed as 0 was rounded, not impossible: the arc would not be in the lattice.
SMALLEST_POSTERIOR = 1e-30


@dataclass(frozen=True, slots=True)
class Arcs:
    """The arcs of a graph as columns; `lines` says where in the file each was read."""

    sources: Sequence[int] | NDArray[np.int64]
    targets: Sequence[int] | NDArray[np.int64]
    words: Sequence[str]  # "" where the arc says nothing
    log_scores: Sequence[float] | NDArray[np.float64]
    lines: Sequence[int]
    posteriors: Sequence[float] | NDArray[np.float64] | None = (
        None  # of each arc given the utterance, instead of scores
    )
    parts: ArcScores | None = None  # what the scores were made of


def build_lattice(
    source: Source,
    state_count: int,
    initial: int,
    finals: dict[int, float],
    arcs: Arcs,
    times: NDArray[np.float64] | None = None,
) -> Lattice:
    """Check, trim and sort a graph. `finals` maps each final state to its log score.

    Where posteriors are given, an arc's score becomes the log probability of taking it from its state: the
    forward-backward pass over such scores gives the posteriors back, with the engine's own scaling.
    """
    source.check("lattice_states", state_count)
    source.check("lattice_arcs", len(arcs.words))
    if not finals:
        raise source.error(None, "the lattice has no final state", "mark where it ends")
    begins = np.asarray(arcs.sources, dtype=np.int64)
    ends = np.asarray(arcs.targets, dtype=np.int64)
    scores = np.asarray(arcs.log_scores, dtype=np.float64)
    if scores.size and not np.isfinite(scores).all():
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise source.error(arcs.lines[bad], "the arc's score is not a finite number")
    for name, column in (("starts", begins), ("ends", ends)):
        outside = np.flatnonzero((column < 0) | (column >= state_count))
        if outside.size:
            bad = int(outside[0])
            raise source.error(
                arcs.lines[bad], f"the arc {name} at state {column[bad]}, which does not exist"
            )
    if not np.isfinite(list(finals.values())).all():
        raise source.error(None, "the score of a final state is not a finite number")
    for state in (initial, *finals):
        if not 0 <= state < state_count:
            raise source.error(None, f"state {state} is named initial or final and does not exist")

    rank = _topological_rank(source, state_count, begins, ends, arcs.lines)
    order = np.lexsort((np.arange(len(begins)), rank[ends], rank[begins]))
    begins, ends = rank[begins][order], rank[ends][order]
    start, final_scores = int(rank[initial]), {int(rank[state]): score for state, score in finals.items()}
    useful = _on_complete_paths(state_count, start, list(final_scores), begins, ends)
    if not useful[start]:
        raise source.error(None, "no path leads from the initial state to a final one")
    kept = np.flatnonzero(useful[begins] & useful[ends])
    if len(kept) < len(begins):
        source.note("lattice with arcs on no complete path, which were left out")

    number = np.cumsum(useful) - 1
    chosen = order[kept]
    lattice_sources = number[begins[kept]]
    lattice_targets = number[ends[kept]]
    log_scores = scores[chosen]
    if arcs.posteriors is not None:
        posteriors = np.asarray(arcs.posteriors, dtype=np.float64)
        if not (np.isfinite(posteriors) & (posteriors >= 0)).all():
            bad = int(np.flatnonzero(~(np.isfinite(posteriors) & (posteriors >= 0)))[0])
            raise source.error(arcs.lines[bad], "the arc's posterior is not a probability")
        log_scores = _conditional_logs(posteriors[chosen], lattice_sources)
    words = [arcs.words[index] for index in chosen.tolist()]
    state_times = None
    if times is not None:
        by_rank = np.empty(state_count)
        by_rank[rank] = times
        state_times = by_rank[useful]
    ending = {int(number[state]): score for state, score in final_scores.items() if useful[state]}
    return _with_final_scores(
        Lattice(
            state_count=int(useful.sum()),
            initial=int(number[start]),
            finals=tuple(sorted(ending)),
            sources=lattice_sources.astype(np.int32),
            targets=lattice_targets.astype(np.int32),
            words=tuple(words),
            log_scores=log_scores,
            times=state_times,
            parts=_of_arcs(arcs.parts, chosen),
        ),
        ending,
    )


def best_path(lattice: Lattice) -> tuple[Word, ...]:
    """The words of the path of highest score, with the times of its states where they are known."""
    best = [-np.inf] * lattice.state_count
    arriving = [-1] * lattice.state_count
    best[lattice.initial] = 0.0
    sources, targets = lattice.sources.tolist(), lattice.targets.tolist()
    for arc, (begin, end, score) in enumerate(
        zip(sources, targets, lattice.log_scores.tolist(), strict=True)
    ):
        total = best[begin] + score
        if total > best[end]:
            best[end], arriving[end] = total, arc
    state = max(lattice.finals, key=best.__getitem__)
    words: list[Word] = []
    times = lattice.times
    while arriving[state] >= 0:
        arc = arriving[state]
        if lattice.words[arc]:
            span = (None, None) if times is None else (float(times[sources[arc]]), float(times[state]))
            words.append(Word(lattice.words[arc], None, span[0], span[1]))
        state = sources[arc]
    return tuple(reversed(words))


def _topological_rank(
    source: Source, count: int, begins: NDArray[np.int64], ends: NDArray[np.int64], lines: Sequence[int]
) -> NDArray[np.int64]:
    """The place of each state in a topological order. Most tools write one, forwards or backwards."""
    if (begins < ends).all():
        return np.arange(count)
    if (begins > ends).all():
        return np.arange(count)[::-1].copy()
    by_source = np.argsort(begins, kind="stable")
    first = np.searchsorted(begins[by_source], np.arange(count + 1)).tolist()
    following = ends[by_source].tolist()
    waiting = np.bincount(ends, minlength=count).tolist()
    order = [state for state in range(count) if not waiting[state]]
    for state in order:  # grows while it is walked
        for target in following[first[state] : first[state + 1]]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    if len(order) < count:
        arc = _arc_on_cycle(count, begins, ends, waiting)
        raise source.error(lines[arc], "the arc closes a cycle", "a lattice must be acyclic")
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return rank


def _arc_on_cycle(count: int, begins: NDArray[np.int64], ends: NDArray[np.int64], waiting: list[int]) -> int:
    # Each state still waiting has an arc from another such state: walking back must come round.
    stuck = np.array([bool(number) for number in waiting])
    inside = np.flatnonzero(stuck[begins] & stuck[ends])
    arriving = np.full(count, -1)
    arriving[ends[inside]] = inside
    seen = np.zeros(count, dtype=bool)
    state = int(np.flatnonzero(stuck)[0])
    while not seen[state]:
        seen[state] = True
        state = int(begins[arriving[state]])
    return int(arriving[state])


def _on_complete_paths(
    count: int, start: int, finals: list[int], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which states lie on a path from the start to a final state; arcs are sorted by their first state."""
    arriving, leaving = (np.bincount(side, minlength=count) > 0 for side in (ends, begins))
    arriving[start], leaving[finals] = not arriving[start], True
    if arriving.all() and leaving.all():  # each state follows one that does, and leads to one that does
        return np.ones(count, dtype=np.bool_)
    reached, ending = bytearray(count), bytearray(count)
    reached[start] = 1
    for state in finals:
        ending[state] = 1
    pairs = list(zip(begins.tolist(), ends.tolist(), strict=True))
    for begin, end in pairs:
        if reached[begin]:
            reached[end] = 1
    for begin, end in reversed(pairs):
        if ending[end]:
            ending[begin] = 1
    return (np.frombuffer(reached, dtype=np.uint8) & np.frombuffer(ending, dtype=np.uint8)).astype(bool)


def _conditional_logs(posteriors: NDArray[np.float64], sources: NDArray[np.int64]) -> NDArray[np.float64]:
    kept = np.maximum(posteriors, SMALLEST_POSTERIOR)
    return np.asarray(np.log(kept / np.bincount(sources, weights=kept)[sources]), dtype=np.float64)


def _with_final_scores(lattice: Lattice, ending: dict[int, float]) -> Lattice:
    """Final scores that differ become epsilon arcs to one final state, for `Lattice` has none of its own."""
    if len(set(ending.values())) <= 1:
        return lattice
    states = sorted(ending)
    end = lattice.state_count
    sources = np.concatenate([lattice.sources, np.array(states, dtype=np.int32)])
    order = np.argsort(sources, kind="stable")
    words = (*lattice.words, *("" for _ in states))
    times = lattice.times
    if times is not None:
        times = np.append(times, times[states].max())
    return Lattice(
        state_count=end + 1,
        initial=lattice.initial,
        finals=(end,),
        sources=sources[order],
        targets=np.concatenate([lattice.targets, np.full(len(states), end, dtype=np.int32)])[order],
        words=tuple(words[index] for index in order.tolist()),
        log_scores=np.concatenate([lattice.log_scores, [ending[state] for state in states]])[order],
        times=times,
        parts=_of_arcs(lattice.parts, order, added=len(states)),
    )


def _of_arcs(parts: ArcScores | None, arcs: NDArray[np.int64], added: int = 0) -> ArcScores | None:
    """The scores of these arcs; `added` ones at the end have none."""
    if parts is None:
        return None
    acoustic, language, posterior = (
        None if column is None else np.append(column, np.zeros(added))[arcs]
        for column in (parts.acoustic, parts.language, parts.posterior)
    )
    return replace(parts, acoustic=acoustic, language=language, posterior=posterior)
