"""Specialists over contexts: which contexts a slot lies in, how far each expert is trusted there, learning.

Full information (`trust`, `learn_gains`): a specialist is (context, expert, rate), awake where its context
is. Its weight is the product over the slots it was awake in of 1 + rate x regret, the regret being what its
expert gained there more than the learner expected to gain. An expert is played in proportion to the sum over
its awake specialists of prior x rate x weight. Then the sum of all weights never grows.

Partial information (`trust_estimates`, `learn_estimates`): a specialist is (context, expert) with a score; an
expert is played in proportion to prior x exp(rate x score), with one rate for all that falls with time. A
score falls by the estimated loss and rises by what keeps the sum of the awake weights as it was.
`learners.tied.bounds` draws the conclusions.

Letters: a table of contexts (see `kernels.bounded_table`): keys uint32; `visits` float64 rows x 1; `logs`
float64 rows x (experts x rates), the logarithm of each weight (or the score, with one column an expert);
`sums` float64 rows x experts, what each expert gained there (or lost, by the estimates); `names` int64
rows x 2, level and pattern. `rates` float64; `priors` float64, of each expert; `used` int64[1].
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


@njit(cache=True, nogil=True)
def slot_contexts(tokens, engines, labels):
    """The key of the context of each slot at each level, uint32 slots x LEVELS; 0 where there is none.

    The agreement of a slot is who says the same as whom among the first `engines` columns (the others are
    computed from them). Beside the keys, for people, int64 slots: the number of the offer of each of the
    first NAMED engines, NAME_BITS each from the low end, and above them that of the null offer plus one.
    """
    slots = tokens.shape[0]
    keys = np.zeros((slots, LEVELS), dtype=np.uint32)
    patterns = np.zeros(slots, dtype=np.int64)
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
    return keys, patterns


@njit(cache=True, nogil=True)
def _trust_slot(table, keys, probabilities):
    """The probability of each expert in a slot with these contexts."""
    experts, rates = table.priors.shape[0], table.rates.shape[0]
    highest = 0.0  # a context not met before has weights 1
    rows = np.empty(keys.shape[0], dtype=np.int64)
    for level in range(keys.shape[0]):
        rows[level] = find(table.keys, np.uint64(keys[level])) if keys[level] != ASLEEP else -1
        if rows[level] >= 0:
            for s in range(experts * rates):
                highest = max(highest, table.logs[rows[level], s])
    total = 0.0
    for j in range(experts):
        probabilities[j] = 0.0
        for level in range(keys.shape[0]):
            if keys[level] == ASLEEP:
                continue
            for k in range(rates):
                log = table.logs[rows[level], j * rates + k] if rows[level] >= 0 else 0.0
                probabilities[j] += table.rates[k] * np.exp(log - highest)
        probabilities[j] *= table.priors[j]
        total += probabilities[j]
    for j in range(experts):
        probabilities[j] /= total


@njit(cache=True, nogil=True)
def trust(table, keys):
    """The probability of each expert in each slot."""
    probabilities = np.empty((keys.shape[0], table.priors.shape[0]))
    for i in range(keys.shape[0]):
        _trust_slot(table, keys[i], probabilities[i])
    return probabilities


@njit(cache=True, nogil=True)
def _visit(table, key, level, pattern):
    """The row of a context that is met again, or for the first time."""
    row, came = claim(table.keys, table.visits, np.uint64(key))
    if came == FREE:
        table.used[0] += 1
    if came == EVICTED:
        table.visits[row, 0] = 0.0
        table.logs[row, :] = 0.0
        table.sums[row, :] = 0.0
    if came != FOUND:
        table.names[row, 0] = level
        table.names[row, 1] = pattern
    table.visits[row, 0] += 1.0
    return row


@njit(cache=True, nogil=True)
def learn_gains(table, keys, patterns, probabilities, gains):
    """Full information: the gain of every expert in every slot, float64 slots x experts, from 0 to 1.

    probabilities: those that the slots were played with.
    """
    experts, rates = table.priors.shape[0], table.rates.shape[0]
    for i in range(keys.shape[0]):
        expected = 0.0
        for j in range(experts):
            expected += probabilities[i, j] * gains[i, j]
        for level in range(keys.shape[1]):
            if keys[i, level] == ASLEEP:
                continue
            row = _visit(table, keys[i, level], level, patterns[i])
            for j in range(experts):
                table.sums[row, j] += gains[i, j]
                regret = gains[i, j] - expected
                if regret != 0.0:
                    for k in range(rates):
                        table.logs[row, j * rates + k] += np.log1p(table.rates[k] * regret)


@njit(cache=True, nogil=True)
def trust_estimates(table, keys, rate):
    """The probability of each expert in each slot, by estimated scores."""
    experts = table.priors.shape[0]
    probabilities = np.empty((keys.shape[0], experts))
    rows = np.empty(keys.shape[1], dtype=np.int64)
    for i in range(keys.shape[0]):
        highest = 0.0  # a context not met before has scores 0
        for level in range(keys.shape[1]):
            rows[level] = find(table.keys, np.uint64(keys[i, level])) if keys[i, level] != ASLEEP else -1
            if rows[level] >= 0:
                for j in range(experts):
                    highest = max(highest, table.logs[rows[level], j])
        total = 0.0
        for j in range(experts):
            probabilities[i, j] = 0.0
            for level in range(keys.shape[1]):
                if keys[i, level] != ASLEEP:
                    score = table.logs[rows[level], j] if rows[level] >= 0 else 0.0
                    probabilities[i, j] += np.exp(rate * (score - highest))
            probabilities[i, j] *= table.priors[j]
            total += probabilities[i, j]
        for j in range(experts):
            probabilities[i, j] /= total
    return probabilities


@njit(cache=True, nogil=True)
def learn_estimates(table, keys, patterns, rate, probabilities, losses):
    """Partial information: estimated losses from 0 on, slots x experts; rate and probabilities as played."""
    experts = table.priors.shape[0]
    for i in range(keys.shape[0]):
        kept = 0.0
        for j in range(experts):
            kept += probabilities[i, j] * np.exp(-rate * losses[i, j])
        lift = -np.log(kept) / rate
        for level in range(keys.shape[1]):
            if keys[i, level] == ASLEEP:
                continue
            row = _visit(table, keys[i, level], level, patterns[i])
            for j in range(experts):
                table.sums[row, j] -= losses[i, j]
                table.logs[row, j] += lift - losses[i, j]


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
    keys, patterns = slot_contexts(tokens, 2, np.zeros(1, dtype=np.uint64))
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
    learn_gains(table, keys, patterns, trust(table, keys), np.zeros((2, 2)))
    pick(tokens, trust(table, keys), np.zeros(2), True)
    learn_estimates(table, keys, patterns, 0.5, trust_estimates(table, keys, 0.5), np.zeros((2, 2)))
