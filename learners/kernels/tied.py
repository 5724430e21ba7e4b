"""Specialists over contexts: which contexts a slot lies in, how far each expert is trusted there, learning.

A specialist belongs to a context and an expert, and is awake where its context is. In a round its regret x is
what its expert gained, over all slots of the context, more than the learner expected to gain in them.

Full information (`trust`, `learn_gains`): a specialist has a rate too, and is awake only where rate x (slots of
its context in the round) is at most 1/2. Its weight is the product over rounds of 1 + rate x regret. An expert
is played in proportion to the sum over its awake specialists of prior x rate x weight. Then the sum of all
weights never changes.

Partial information (`trust_estimates`, `learn_estimates`): a specialist has a score, the sum of its estimated
regrets less a penalty that is the same for all who are awake; an expert is played in proportion to
prior x exp(rate x score), with one rate for all that never rises. Then the sum of all weights never grows.
`learners.tied.bounds` draws the conclusions.

Letters: a table of contexts (see `kernels.bounded_table`): keys uint32; `visits` float64 rows x 1; `logs`
float64 rows x (experts x rates), the logarithm of each weight (or the score, with one column an expert);
`sums` float64 rows x experts, what each expert gained there (or lost, by the estimates); `names` int64
rows x 2, level and pattern. `rates` float64, falling; `priors` float64, of each expert; `used` int64[1].
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FOUND, FREE, claim, find, key_of, mix

# Contexts from coarse to fine; LABELS is left out where there are none.
EVERYTHING, AGREEMENT, NULLS, PREVIOUS, LABELS = range(5)
LEVELS = 5
ASLEEP = 0  # the key of no context
NAMED, NAME_BITS = 14, 4
_CONTEXT = np.uint64(0xD6E8FEB86659FD93)


class Contexts(NamedTuple):
    """The table of weights."""

    keys: Any
    visits: Any
    logs: Any
    sums: Any
    names: Any
    used: Any
    rates: Any
    priors: Any


class Seen(NamedTuple):
    """The contexts of the slots of a round."""

    keys: Any  # uint32 slots x LEVELS, 0 where there is none
    counts: Any  # int64 slots x LEVELS: slots of this round in the same context, where experts differ
    patterns: Any  # int64 slots: for people, see `slot_contexts`


@njit(cache=True, nogil=True)
def slot_contexts(tokens, engines, labels):
    """The contexts of each slot at each level.

    The agreement of a slot is who says the same as whom among the first `engines` columns (the others are
    computed from them). A pattern holds the number of the offer of each of the first NAMED engines, NAME_BITS
    each from the low end, and above them that of the null offer plus one.
    """
    slots = tokens.shape[0]
    keys = np.zeros((slots, LEVELS), dtype=np.uint32)
    counts = np.zeros((slots, LEVELS), dtype=np.int64)
    patterns = np.zeros(slots, dtype=np.int64)
    differ = np.zeros(slots, dtype=np.int64)
    names = np.zeros(engines, dtype=np.int64)
    before = np.uint64(0)
    for i in range(slots):
        agreement = mix(_CONTEXT, np.uint64(AGREEMENT))
        count = 0
        null_name = -1
        for j in range(engines):
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
            if j < NAMED:
                patterns[i] |= np.int64(min(name, NAMED)) << (NAME_BITS * j)
        patterns[i] |= np.int64(min(null_name + 1, NAMED)) << (NAME_BITS * NAMED)
        differ[i] = 1 if count > 1 else 0
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
        order = np.argsort(keys[:, level])
        first = 0
        while first < slots:
            last, total = first, 0
            while last < slots and keys[order[last], level] == keys[order[first], level]:
                total += differ[order[last]]
                last += 1
            for place in range(first, last):
                counts[order[place], level] = total
            first = last
    return Seen(keys, counts, patterns)


@njit(cache=True, nogil=True, inline="always")
def _is_awake(rates, k, count):
    """Whether rate k is low enough for so many slots at once. The lowest always is, so that somebody is awake."""
    return k == rates.shape[0] - 1 or 2.0 * rates[k] * count <= 1.0


@njit(cache=True, nogil=True)
def trust(table, seen):
    """Full information: the probability of each expert in each slot."""
    slots, levels = seen.keys.shape
    experts, rates = table.priors.shape[0], table.rates.shape[0]
    probabilities = np.zeros((slots, experts))
    rows = np.empty(levels, dtype=np.int64)
    for i in range(slots):
        highest = 0.0  # a context not met before has weights 1
        for level in range(levels):
            key = seen.keys[i, level]
            rows[level] = find(table.keys, np.uint64(key)) if key != ASLEEP else -1
            if rows[level] >= 0:
                for s in range(experts * rates):
                    highest = max(highest, table.logs[rows[level], s])
        total = 0.0
        for j in range(experts):
            mass = 0.0
            for level in range(levels):
                if seen.keys[i, level] == ASLEEP:
                    continue
                for k in range(rates):
                    if _is_awake(table.rates, k, seen.counts[i, level]):
                        log = table.logs[rows[level], j * rates + k] if rows[level] >= 0 else 0.0
                        mass += table.rates[k] * np.exp(log - highest)
            probabilities[i, j] = table.priors[j] * mass
            total += probabilities[i, j]
        for j in range(experts):
            probabilities[i, j] /= total
    return probabilities


@njit(cache=True, nogil=True)
def trust_estimates(table, seen, rate):
    """Partial information: the probability of each expert in each slot."""
    slots, levels = seen.keys.shape
    experts = table.priors.shape[0]
    probabilities = np.zeros((slots, experts))
    rows = np.empty(levels, dtype=np.int64)
    for i in range(slots):
        highest = 0.0  # a context not met before has scores 0
        for level in range(levels):
            key = seen.keys[i, level]
            rows[level] = find(table.keys, np.uint64(key)) if key != ASLEEP else -1
            if rows[level] >= 0:
                for j in range(experts):
                    highest = max(highest, table.logs[rows[level], j])
        total = 0.0
        for j in range(experts):
            mass = 0.0
            for level in range(levels):
                if seen.keys[i, level] != ASLEEP:
                    score = table.logs[rows[level], j] if rows[level] >= 0 else 0.0
                    mass += np.exp(rate * (score - highest))
            probabilities[i, j] = table.priors[j] * mass
            total += probabilities[i, j]
        for j in range(experts):
            probabilities[i, j] /= total
    return probabilities


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
                table.logs[row, :] = 0.0
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
def _regrets(table, rows, probabilities, gains):
    """The regret of every expert in every context of the round, and the contexts' rows, each once."""
    slots, levels = rows.shape
    experts = gains.shape[1]
    place_of = np.full(table.keys.shape[0], -1, dtype=np.int64)
    different = np.empty(slots * levels, dtype=np.int64)
    sizes = np.zeros(slots * levels, dtype=np.int64)  # which slot and level to ask for the count
    regrets = np.zeros((slots * levels, experts))
    count = 0
    for i in range(slots):
        expected = 0.0
        for j in range(experts):
            expected += probabilities[i, j] * gains[i, j]
        for level in range(levels):
            row = rows[i, level]
            if row < 0:
                continue
            if place_of[row] < 0:
                place_of[row] = count
                different[count] = row
                sizes[count] = i * levels + level
                count += 1
            for j in range(experts):
                table.sums[row, j] += gains[i, j]
                regrets[place_of[row], j] += gains[i, j] - expected
    return different[:count], sizes[:count], regrets[:count]


@njit(cache=True, nogil=True)
def learn_gains(table, seen, probabilities, gains):
    """Full information: the gain of every expert in every slot, float64 slots x experts, from 0 to 1.

    probabilities: those that the round was played with.
    """
    experts, rates = table.priors.shape[0], table.rates.shape[0]
    levels = seen.keys.shape[1]
    different, sizes, regrets = _regrets(table, _visit(table, seen), probabilities, gains)
    for place in range(different.shape[0]):
        count = seen.counts[sizes[place] // levels, sizes[place] % levels]
        for j in range(experts):
            if regrets[place, j] == 0.0:
                continue
            for k in range(rates):
                if _is_awake(table.rates, k, count):
                    change = max(table.rates[k] * regrets[place, j], -0.5)
                    table.logs[different[place], j * rates + k] += np.log1p(change)


@njit(cache=True, nogil=True)
def learn_estimates(table, seen, probabilities, losses, penalty):
    """Partial information: estimated losses, slots x experts, and the penalty of all who were awake."""
    experts = table.priors.shape[0]
    different, _, regrets = _regrets(table, _visit(table, seen), probabilities, -losses)
    for place in range(different.shape[0]):
        for j in range(experts):
            table.logs[different[place], j] += regrets[place, j] - penalty


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


def warm_up() -> None:
    tokens = np.array([[1, 2], [1, 0]], dtype=np.int32)
    seen = slot_contexts(tokens, 2, np.zeros(1, dtype=np.uint64))
    table = Contexts(
        np.zeros(64, np.uint32),
        np.zeros((64, 1)),
        np.zeros((64, 4)),
        np.zeros((64, 2)),
        np.zeros((64, 2), np.int64),
        np.zeros(1, np.int64),
        np.array([0.5, 0.25]),
        np.array([0.5, 0.5]),
    )
    probabilities = trust(table, seen)
    pick(tokens, probabilities, np.zeros(2), True)
    learn_gains(table, seen, probabilities, np.zeros((2, 2)))
    learn_estimates(table, seen, trust_estimates(table, seen, 0.5), np.zeros((2, 2)), 0.0)
