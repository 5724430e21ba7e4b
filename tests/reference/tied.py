"""The tied learner's rules with plain dictionaries: the twin of `kernels.tied`."""

import math
from collections import defaultdict


def contexts(row, before, labels):
    """The contexts of a slot, coarse to fine, as tuples; `before` is that of the nulls in the slot before."""
    names = {}
    pattern = tuple(names.setdefault(token, len(names)) for token in row)
    nulls = (pattern, names.get(0))
    found = ["everything", ("agreement", pattern), ("nulls", nulls), ("previous", nulls, before)]
    if labels:
        found.append(("labels", nulls, tuple(labels)))
    return found, nulls


def regrets(slots, probabilities, gains):
    """What each expert gained more than expected in each context of the round."""
    found = defaultdict(lambda: [0.0] * len(gains[0]))
    for awake, p, g in zip(slots, probabilities, gains, strict=True):
        expected = sum(a * b for a, b in zip(p, g, strict=True))
        for context in awake:
            for j, gain in enumerate(g):
                found[context][j] += gain - expected
    return found


def counts(slots, rows):
    """How many slots of the round lie in each context, among those where experts differ."""
    found = defaultdict(int)
    for awake, row in zip(slots, rows, strict=True):
        for context in awake:
            found[context] += len(set(row)) > 1
    return found


class FullTwin:
    """Products of 1 + rate x regret."""

    def __init__(self, rates, priors):
        self.rates, self.priors = rates, priors
        self.logs = defaultdict(float)

    def fitting(self, count):
        return [rate for rate in self.rates if rate == min(self.rates) or 2 * rate * count <= 1]

    def trust(self, awake, count):
        mass = [
            prior
            * sum(
                rate * math.exp(self.logs[context, j, rate])
                for context in awake
                for rate in self.fitting(count[context])
            )
            for j, prior in enumerate(self.priors)
        ]
        return [m / sum(mass) for m in mass]

    def learn(self, slots, count, probabilities, gains):
        for context, by_expert in regrets(slots, probabilities, gains).items():
            for j, regret in enumerate(by_expert):
                for rate in self.fitting(count[context]):
                    self.logs[context, j, rate] += math.log1p(max(rate * regret, -0.5))

    def total(self, contexts_met):
        """The sum of all weights; a specialist never met still has its first."""
        met = {context for context, _, _ in self.logs} | set(contexts_met)
        return sum(
            prior * math.exp(self.logs[context, j, rate])
            for context in met
            for j, prior in enumerate(self.priors)
            for rate in self.rates
        ) / len(self.rates)


class PartialTwin:
    """Scores: estimated regrets less a penalty."""

    def __init__(self, priors):
        self.priors = priors
        self.scores = defaultdict(float)

    def trust(self, awake, rate):
        mass = [
            prior * sum(math.exp(rate * self.scores[context, j]) for context in awake)
            for j, prior in enumerate(self.priors)
        ]
        return [m / sum(mass) for m in mass]

    def learn(self, slots, rate, probabilities, losses, disputed):
        gains = [[-loss for loss in row] for row in losses]
        variance = 0.0
        for p, g in zip(probabilities, gains, strict=True):
            expected = sum(a * b for a, b in zip(p, g, strict=True))
            variance += sum(a * (b - expected) ** 2 for a, b in zip(p, g, strict=True))
        for context, by_expert in regrets(slots, probabilities, gains).items():
            for j, regret in enumerate(by_expert):
                self.scores[context, j] += regret - rate * disputed * variance
