"""Slow and obvious twins of the lattice kernels: every path, every alignment."""

from itertools import combinations
from math import exp


def paths(initial, finals, arcs):
    """All paths as lists of arc numbers; arcs are (source, target, score)."""
    found = []

    def walk(state, path):
        if state in finals:
            found.append(list(path))
        for number, (source, target, _) in enumerate(arcs):
            if source == state:
                walk(target, [*path, number])

    walk(initial, [])
    return found


def posteriors(initial, finals, arcs):
    """The probability of each arc over all paths."""
    weights = [(path, exp(sum(arcs[e][2] for e in path))) for path in paths(initial, finals, arcs)]
    total = sum(weight for _, weight in weights)
    return [sum(w for path, w in weights if e in path) / total for e in range(len(arcs))]


def best_scores(initial, finals, arcs):
    every = [(path, sum(arcs[e][2] for e in path)) for path in paths(initial, finals, arcs)]
    return [max((s for path, s in every if e in path), default=float("-inf")) for e in range(len(arcs))]


def alignments(speaking, slots):
    """All ways to put some of the speaking arcs of a path into slots, in order: dicts from arc to slot."""
    for count in range(min(len(speaking), slots) + 1):
        for chosen in combinations(speaking, count):
            for places in combinations(range(slots), count):
                yield dict(zip(chosen, places, strict=True))


def best_placings(initial, finals, arcs, tokens, fits, skips, alone):
    """For each arc: its best score by slot it may fall into, None being between slots."""
    best = [{} for _ in arcs]
    for path in paths(initial, finals, arcs):
        score = sum(arcs[e][2] for e in path)
        speaking = [e for e in path if tokens[e] >= 0]
        for places in alignments(speaking, len(skips)):
            total = score + sum(fits[tokens[e]][slot] for e, slot in places.items())
            total += sum(skip for slot, skip in enumerate(skips) if slot not in places.values())
            total += alone * (len(speaking) - len(places))
            for e in speaking:
                slot = places.get(e)
                best[e][slot] = max(best[e].get(slot, float("-inf")), total)
    return best


def fewest_edits(initial, finals, arcs, tokens, truth):
    """Of all paths: the edits of the one that is nearest to these true tokens."""

    def edits(one, other):
        if not one or not other:
            return len(one) + len(other)
        kept = edits(one[1:], other[1:]) + (one[0] != other[0])
        return min(kept, edits(one[1:], other) + 1, edits(one, other[1:]) + 1)

    return min(
        edits([tokens[e] for e in path if tokens[e] >= 0], truth) for path in paths(initial, finals, arcs)
    )
