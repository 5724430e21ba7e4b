"""Slow and obvious twins of the alignment kernels."""

from functools import cache
from itertools import product
from statistics import median_low


def edit_distance(a, b):
    """By the recursion itself."""

    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        same = a[i - 1] == b[j - 1]
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (not same))

    return distance(len(a), len(b))


def token_cost(a, b, gap, lowest, highest):
    if a == b:
        return 0
    if not a or not b:
        return gap
    longest = max(len(a), len(b))
    return lowest + ((highest - lowest) * edit_distance(a, b) * 2 + longest) // (2 * longest)


def column_cost(column, weights, cost):
    """Sum of pairs of one slot; None is null."""
    return sum(
        weights[i] * weights[j] * cost(column[i], column[j])
        for i in range(len(column))
        for j in range(i)
        if not (column[i] is None and column[j] is None)
    )


def least_cost(sequences, weights, cost):
    """The least sum of pairs over all alignments, by trying every first column."""

    @cache
    def best(places):
        if all(place == len(sequence) for place, sequence in zip(places, sequences, strict=True)):
            return 0
        found = []
        for step in product((0, 1), repeat=len(sequences)):
            after = tuple(p + s for p, s in zip(places, step, strict=True))
            if not any(step) or any(p > len(q) for p, q in zip(after, sequences, strict=True)):
                continue
            column = [q[p] if s else None for q, p, s in zip(sequences, places, step, strict=True)]
            found.append(column_cost(column, weights, cost) + best(after))
        return min(found)

    return best((0,) * len(sequences))


def fullest_alignment(sequences, weights, cost):
    """Of the alignments of least cost the one whose last columns are fullest, by the later sequences first."""

    @cache
    def best(places):
        if not any(places):
            return 0, ()
        found = []
        for step in range(1, 1 << len(places)):
            inside = [step >> i & 1 for i in range(len(places))]
            before = tuple(p - s for p, s in zip(places, inside, strict=True))
            if min(before) >= 0:
                column = [q[p] if s else None for q, p, s in zip(sequences, before, inside, strict=True)]
                slot = tuple(p if s else -1 for p, s in zip(before, inside, strict=True))
                spent, slots = best(before)
                found.append((spent + column_cost(column, weights, cost), -step, (*slots, slot)))
        least = min(found)
        return least[0], least[2]

    return [list(slot) for slot in best(tuple(map(len, sequences)))[1]]


def common_times(sequences, times, fit):
    """Times of the different sequences on the clock of the longest; None where unknown, or for all of them.

    `times` are those of each sequence, or None; `fit` gives slope, offset and whether they fit.
    """
    timed = [(tuple(s), t) for s, t in zip(sequences, times, strict=True) if t is not None and len(s)]
    if len({s for s, _ in timed}) < 2:
        return None
    timed.sort(key=lambda pair: (-len(pair[0]), pair[0], pair[1].tobytes()))
    reference, reference_times = timed[0]
    found = {reference: reference_times}
    for sequence, mine in timed[1:]:
        if sequence not in found:
            slope, offset, fits = fit(sequence, mine, reference, reference_times)
            if fits:
                found[sequence] = mine * (slope, slope) + (offset, 0.0)
    return [found.get(s) for s in sorted(set(map(tuple, sequences)))] if len(found) > 1 else None


def least_errors(slots, target):
    """The errors of the way through the slots that is closest to the target; None is null."""
    paths = product(*(set(slot) for slot in slots))
    return min(edit_distance(tuple(t for t in path if t is not None), tuple(target)) for path in paths)


def vote(slot, weights, preference, occupancy_first):
    """The winner of one slot, as `learners.kernels.votes.weighted_vote` should see it."""

    def rank(members):
        return sum(weights[j] for j in members), max(preference[j] for j in members)

    by_token = {t: [j for j, other in enumerate(slot) if other == t] for t in set(slot)}
    if occupancy_first and 0 in by_token and len(by_token) > 1:
        empty = by_token.pop(0)
        filled = [j for j in range(len(slot)) if j not in empty]
        if rank(empty)[0] > rank(filled)[0]:
            return 0
    return max(by_token, key=lambda t: (*rank(by_token[t]), -t))


def most_frequent_other(slot, expert):
    """The most frequent token of the other experts, null aside; of equals the first by text."""
    others = [token for j, token in enumerate(slot) if j != expert and token]
    return min(set(others), key=lambda token: (-others.count(token), token), default="")


def glued_windows(slots, expert, here, likeness):
    """Every run of slots around `here` over which the expert's token may be cut, with its unlikeness."""
    token = slots[here][expert]
    others = [most_frequent_other(slot, expert) for slot in slots]
    found = []
    for a in range(here + 1):
        for b in range(here + 1, len(slots) + 1):
            empty = all(not slots[i][expert] for i in range(a, b) if i != here)
            if b - a > 1 and empty and all(others[a:b]):
                joined = "".join(others[a:b])
                unlikeness = edit_distance(token, joined) / max(len(token), len(joined))
                if unlikeness <= 1 - likeness:
                    found.append((unlikeness, (a, b)))
    return found


def clock_error(anchors, slope, offset):
    """The middle of the distances between mapped midpoints and the reference's, in reference half lengths."""
    return median_low(sorted(abs(slope * x + offset - y) / half for x, y, half in anchors))
