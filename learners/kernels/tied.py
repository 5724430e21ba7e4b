"""Specialists over contexts: which contexts a slot lies in, how far each expert is trusted there, learning.

A specialist belongs to a context and an expert, and is awake where its context is. In a round its regret is
what its expert gained, over all slots of the context, more than the learner expected to gain in them. Its score
is the sum of its regrets, less what is taken from all who were awake in a round: just so much that the sum of
their weights prior x exp(rate x score) stays as it was. In a slot an expert is played in proportion to the
weights of its specialists that are awake there, with one rate for all that never rises. `learners.tied.bounds`
draws the conclusions. An expert that is absent sleeps: it has no column in the round, and its scores stay.

Letters: `ids` int64, the number of the expert of each column: engines first, in rising order, then derived ones.
A table of contexts (see `kernels.bounded_table`): keys uint32; `visits` float64 rows x 1; `scores` and `sums`
(what each expert lost there, by the estimates) float64 rows x experts; `names` int64 rows x 2, level and
pattern. `priors` float64, of each expert; `used` int64[1].
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FOUND, FREE, claim, find, key_of, mix, power_above

# Contexts from coarse to fine; LABELS is left out where there are none.
EVERYTHING, AGREEMENT, NULLS, PREVIOUS, LABELS = range(5)
LEVELS = 5
ASLEEP = 0  # the key of no context
NAMED, NAME_BITS = 14, 4
AWAY = 15  # in a pattern, of an engine that is absent
_CONTEXT, _ABSENT = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xE7037ED1A0B428DB)


class Contexts(NamedTuple):
    """The table of weights."""

    keys: Any
    visits: Any
    scores: Any
    sums: Any
    names: Any
    used: Any
    priors: Any


class Seen(NamedTuple):
    """The contexts of the slots of a round."""

    keys: Any  # uint32 slots x LEVELS, 0 where there is none
    firsts: Any  # bool slots x LEVELS: the context is met here for the first time in the round
    patterns: Any  # int64 slots: for people, see `slot_contexts`


@njit(cache=True, nogil=True)
def slot_contexts(tokens, ids, engines, labels):
    """The contexts of each slot at each level.

    The agreement of a slot is who says the same as whom among the `engines` (the other experts are computed from
    them), and who is absent. A pattern holds the number of the offer of each of the first NAMED engines, NAME_BITS
    each from the low end, and above them that of the null offer plus one.
    """
    slots = tokens.shape[0]
    keys = np.zeros((slots, LEVELS), dtype=np.uint32)
    firsts = np.zeros((slots, LEVELS), dtype=np.bool_)
    patterns = np.zeros(slots, dtype=np.int64)
    present = 0
    while present < ids.shape[0] and ids[present] < engines:
        present += 1
    away = np.int64(0)
    for engine in range(min(engines, NAMED)):
        away |= np.int64(AWAY) << (NAME_BITS * engine)
    for j in range(present):
        if ids[j] < NAMED:
            away &= ~(np.int64(AWAY) << (NAME_BITS * ids[j]))
    names = np.zeros(present, dtype=np.int64)
    before = np.uint64(0)
    for i in range(slots):
        agreement = mix(_CONTEXT, np.uint64(AGREEMENT))
        count = 0
        null_name = -1
        patterns[i] = away
        engine = 0
        for j in range(present):
            while engine < ids[j]:
                agreement = mix(agreement, _ABSENT)
                engine += 1
            engine += 1
            name = -1
            for k in range(j):
                if tokens[i, k] == tokens[i, j]:
                    name = names[k]
                    break
            if name < 0:
                name = count
                count += 1
            names[j] = name
            if tokens[i, j] == 0:
                null_name = name
            agreement = mix(agreement, np.uint64(name))
            if ids[j] < NAMED:
                patterns[i] |= np.int64(min(name, NAMED)) << (NAME_BITS * ids[j])
        patterns[i] |= np.int64(min(null_name + 1, NAMED)) << (NAME_BITS * NAMED)
        nulls = mix(mix(agreement, np.uint64(NULLS)), np.uint64(null_name + 1))
        previous = mix(mix(nulls, np.uint64(PREVIOUS)), before)
        keys[i, EVERYTHING] = key_of(mix(_CONTEXT, np.uint64(EVERYTHING)))
        keys[i, AGREEMENT] = key_of(agreement)
        keys[i, NULLS] = key_of(nulls)
        keys[i, PREVIOUS] = key_of(previous)
        if labels.shape[0] > 0:
            known = mix(nulls, np.uint64(LABELS))
            for label in labels:
                known = mix(known, label)
            keys[i, LABELS] = key_of(known)
        before = nulls
    for level in range(LEVELS):
        met = np.full(power_above(2 * slots), -1, dtype=np.int64)
        for i in range(slots):
            if keys[i, level] != ASLEEP:
                firsts[i, level] = _meet(met, keys[:, level], i) == i
    return Seen(keys, firsts, patterns)


@njit(cache=True, nogil=True)
def _meet(met, numbers, i):
    """The first i for which this number was met. met: int64, -1 where nothing was."""
    place = np.int64(numbers[i]) & (met.shape[0] - 1)
    while met[place] >= 0 and numbers[met[place]] != numbers[i]:
        place = (place + 1) & (met.shape[0] - 1)
    if met[place] < 0:
        met[place] = i
    return met[place]


@njit(cache=True, nogil=True)
def trust(table, ids, seen, rate):
    """The probability of each present expert in each slot, and the masses of the specialists.

    masses: float64 slots x levels x columns, each context's where it is met first in the round, and 0 where it
    is met again; they sum to 1.
    """
    slots, levels = seen.keys.shape
    experts = ids.shape[0]
    probabilities = np.zeros((slots, experts))
    masses = np.zeros((slots, levels, experts))
    rows = np.empty(levels, dtype=np.int64)
    # One reference point for the whole round, so that masses of different slots can be compared.
    highest = 0.0  # a context not met before has scores 0
    for i in range(slots):
        for level in range(levels):
            key = seen.keys[i, level]
            row = find(table.keys, np.uint64(key)) if key != ASLEEP else -1
            if row >= 0:
                for j in ids:
                    highest = max(highest, table.scores[row, j])
    everything = 0.0
    for i in range(slots):
        local = -np.inf  # and one of the slot's own, for its probabilities
        for level in range(levels):
            key = seen.keys[i, level]
            rows[level] = find(table.keys, np.uint64(key)) if key != ASLEEP else -1
            if key != ASLEEP:
                for j in ids:
                    local = max(local, table.scores[rows[level], j] if rows[level] >= 0 else 0.0)
        total = 0.0
        for j in range(experts):
            for level in range(levels):
                if seen.keys[i, level] == ASLEEP:
                    continue
                score = table.scores[rows[level], ids[j]] if rows[level] >= 0 else 0.0
                probabilities[i, j] += table.priors[ids[j]] * np.exp(rate * (score - local))
                if seen.firsts[i, level]:
                    masses[i, level, j] = table.priors[ids[j]] * np.exp(rate * (score - highest))
                    everything += masses[i, level, j]
            total += probabilities[i, j]
        for j in range(experts):
            probabilities[i, j] /= total
    if slots > 0:
        masses /= everything
    return probabilities, masses


@njit(cache=True, nogil=True)
def _visit(table, seen):
    """The row of every context of the round, made if need be; -1 where there is none, or no room was left."""
    slots, levels = seen.keys.shape
    rows = np.full((slots, levels), -1, dtype=np.int64)
    for i in range(slots):
        for level in range(levels):
            key = np.uint64(seen.keys[i, level])
            if key == np.uint64(ASLEEP):
                continue
            row, came = claim(table.keys, table.visits, key)
            if came == FREE:
                table.used[0] += 1
            if came == EVICTED:
                table.visits[row, 0] = 0.0
                table.scores[row, :] = 0.0
                table.sums[row, :] = 0.0
            if came != FOUND:
                table.names[row, 0] = level
                table.names[row, 1] = seen.patterns[i]
            table.visits[row, 0] += 1.0
            rows[i, level] = row
    for i in range(slots):
        for level in range(levels):
            if rows[i, level] >= 0 and table.keys[rows[i, level]] != seen.keys[i, level]:
                rows[i, level] = -1  # its row went to another context of this very round
    return rows


@njit(cache=True, nogil=True)
def _regrets(table, ids, rows, probabilities, losses):
    """The contexts of the round, each once: its row, where it was met first, and the regret of every expert."""
    slots, levels = rows.shape
    experts = losses.shape[1]
    all_rows = rows.reshape(slots * levels)
    met = np.full(power_above(2 * slots * levels), -1, dtype=np.int64)
    place_of = np.empty(slots * levels, dtype=np.int64)  # of a row, where it was met first
    different = np.empty(slots * levels, dtype=np.int64)
    firsts = np.empty(slots * levels, dtype=np.int64)
    regrets = np.zeros((slots * levels, experts))
    count = 0
    for i in range(slots):
        expected = 0.0
        for j in range(experts):
            expected += probabilities[i, j] * losses[i, j]
        for level in range(levels):
            row = rows[i, level]
            if row < 0:
                continue
            here = i * levels + level
            first = _meet(met, all_rows, here)
            if first == here:
                place_of[here] = count
                different[count] = row
                firsts[count] = here
                count += 1
            for j in range(experts):
                table.sums[row, ids[j]] += losses[i, j]
                regrets[place_of[first], j] += expected - losses[i, j]
    return different[:count], firsts[:count], regrets[:count]


@njit(cache=True, nogil=True)
def learn(table, ids, seen, rate, probabilities, masses, losses):
    """Take in the losses, known or estimated, slots x columns; the rest is as the round was played with.

    Returns what was taken from all who were awake.
    """
    experts = ids.shape[0]
    levels = seen.keys.shape[1]
    different, firsts, regrets = _regrets(table, ids, _visit(table, seen), probabilities, losses)
    highest = 0.0
    for place in range(different.shape[0]):
        for j in range(experts):
            highest = max(highest, rate * regrets[place, j])
    kept, total = 0.0, 0.0
    for place in range(different.shape[0]):
        mass = masses[firsts[place] // levels, firsts[place] % levels]
        for j in range(experts):
            total += mass[j]
            kept += mass[j] * np.exp(rate * regrets[place, j] - highest)
    if total <= 0.0:
        return 0.0
    taken = (highest + np.log(kept / total)) / rate
    for place in range(different.shape[0]):
        for j in range(experts):
            table.scores[different[place], ids[j]] += regrets[place, j] - taken
    return taken


@njit(cache=True, nogil=True)
def pick(tokens, probabilities, draws, best):
    """The expert of each slot, and the probability of the token that it offers, by whomever.

    best: the most probable token, and of those who offer it the most trusted; else as the draws say.
    """
    slots, experts = tokens.shape
    shown = np.zeros(slots, dtype=np.int32)
    chances = np.zeros(slots)
    for i in range(slots):
        if best:
            highest = -1.0
            for j in range(experts):
                mass = 0.0
                for k in range(experts):
                    if tokens[i, k] == tokens[i, j]:
                        mass += probabilities[i, k]
                # The same token has the same sum, added in the same order: equal is equal.
                if mass > highest or (mass == highest and probabilities[i, j] > probabilities[i, shown[i]]):
                    highest = mass
                    shown[i] = j
        else:
            left = draws[i]
            for j in range(experts):
                if probabilities[i, j] > 0.0:
                    shown[i] = j
                    left -= probabilities[i, j]
                    if left < 0.0:
                        break
        for k in range(experts):
            if tokens[i, k] == tokens[i, shown[i]]:
                chances[i] += probabilities[i, k]
    return shown, chances


@njit(cache=True, nogil=True)
def play(table, rate, tokens, ids, engines, labels, draws, best, played):
    """One round at once: `trust` and `pick`.

    table: as a plain tuple, which is handed over faster. played: room for probabilities, masses (float32), shown
    experts and chances: giving arrays back costs more than giving them in.
    """
    contexts = Contexts(table[0], table[1], table[2], table[3], table[4], table[5], table[6])
    probabilities, masses = trust(contexts, ids, slot_contexts(tokens, ids, engines, labels), rate)
    shown, chances = pick(tokens, probabilities, draws, best)
    played[0][:] = probabilities
    played[1][:] = masses
    played[2][:] = shown
    played[3][:] = chances


@njit(cache=True, nogil=True)
def teach(table, rate, tokens, ids, engines, labels, probabilities, masses, losses):
    """One lesson at once; table as in `play`. Returns what `learn` does, and in how many slots experts differ."""
    contexts = Contexts(table[0], table[1], table[2], table[3], table[4], table[5], table[6])
    slots, experts = losses.shape
    lost = np.empty((slots, experts))
    disputed = 0
    for i in range(slots):
        # A constant of a slot says nothing of anybody; where all offer the same there is nothing else.
        least = losses[i].min()
        differ = False
        for j in range(experts):
            lost[i, j] = losses[i, j] - least
            differ |= tokens[i, j] != tokens[i, 0]
        disputed += differ
    seen = slot_contexts(tokens, ids, engines, labels)
    return learn(contexts, ids, seen, rate, probabilities, masses, lost), disputed


@njit(cache=True, nogil=True)
def are_gains(numbers):
    """Whether all of them lie between 0 and 1."""
    for number in numbers.flat:
        if not 0.0 <= number <= 1.0:
            return False
    return True


def warm_up() -> None:
    tokens = np.array([[1, 2], [1, 0]], dtype=np.int32)
    ids = np.arange(2)
    seen = slot_contexts(tokens, ids, 2, np.zeros(1, dtype=np.uint64))
    table = Contexts(
        np.zeros(64, np.uint32),
        np.zeros((64, 1)),
        np.zeros((64, 2)),
        np.zeros((64, 2)),
        np.zeros((64, 2), np.int64),
        np.zeros(1, np.int64),
        np.array([0.5, 0.5]),
    )
    probabilities, masses = trust(table, ids, seen, 0.5)
    pick(tokens, probabilities, np.zeros(2), True)
    learn(table, ids, seen, 0.5, probabilities, masses.astype(np.float32), np.zeros((2, 2)))
    labels = np.zeros(1, dtype=np.uint64)
    light = np.zeros((2, LEVELS, 2), np.float32)
    room = (probabilities, light, np.zeros(2, np.int32), np.zeros(2))
    play(tuple(table), 0.5, tokens, ids, 2, labels, np.zeros(2), True, room)
    teach(tuple(table), 0.5, tokens, ids, 2, labels, probabilities, light, np.zeros((2, 2)))
    are_gains(np.zeros((2, 2)))
    are_gains(np.zeros(2))
