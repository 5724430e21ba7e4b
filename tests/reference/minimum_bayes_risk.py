"""Slow and obvious twins of minimum Bayes risk: every path, every text, every edit distance.

`expected_distance` and `least_risk` are exact, by enumeration. `recursion` is Xu and others' recursion as it
stands in the paper, with dictionaries: it takes the minimum of expectations, so it is never below the exact one.
"""

from functools import cache
from itertools import product
from math import exp

from tests.reference.lattice import paths


def texts(initial, finals, arcs, tokens):
    """The probability of each text; arcs are (source, target, score), tokens -1 where an arc says nothing."""
    found = {}
    for path in paths(initial, finals, arcs):
        text = tuple(tokens[e] for e in path if tokens[e] >= 0)
        found[text] = found.get(text, 0.0) + exp(sum(arcs[e][2] for e in path))
    total = sum(found.values())
    return {text: weight / total for text, weight in found.items()}


@cache
def distance(one, other):
    """Levenshtein's, by its definition."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        distance(one[1:], other[1:]) + (one[0] != other[0]),
        distance(one[1:], other) + 1,
        distance(one, other[1:]) + 1,
    )


def expected_distance(hypothesis, chances):
    return sum(chance * distance(tuple(hypothesis), text) for text, chance in chances.items())


def least_risk(chances, vocabulary_size):
    """The least expected distance that any text has; none that is longer than the longest path can have it."""
    longest = max(map(len, chances))
    every = (text for length in range(longest + 1) for text in product(range(vocabulary_size), repeat=length))
    return min(expected_distance(text, chances) for text in every)


def recursion(initial, finals, arcs, tokens, positions):
    """The expected distance of the paper, of positions that hold tokens or -1 for nothing."""
    weight = {}  # of all ways to a state

    def leading(state):
        if state not in weight:
            weight[state] = (1.0 if state == initial else 0.0) + sum(
                leading(source) * exp(score) for source, target, score in arcs if target == state
            )
        return weight[state]

    def missing(position):
        return 0.0 if position == -1 else 1.0

    @cache
    def at_state(state, i):
        if state == initial:
            return sum(missing(position) for position in positions[:i])
        return sum(
            leading(source) * exp(score) / leading(state) * behind_arc(number, i)
            for number, (source, target, score) in enumerate(arcs)
            if target == state and leading(source)
        )

    @cache
    def behind_arc(number, i):
        source, token = arcs[number][0], tokens[number]
        if token < 0:
            return at_state(source, i)
        ways = [at_state(source, i) + 1.0]
        if i:
            ways.append(at_state(source, i - 1) + (token != positions[i - 1]))
            ways.append(behind_arc(number, i - 1) + missing(positions[i - 1]))
        return min(ways)

    total = sum(leading(final) for final in finals)
    return sum(leading(final) / total * at_state(final, len(positions)) for final in finals)
