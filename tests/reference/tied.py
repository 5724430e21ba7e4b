"""The tied learner's rules with plain dictionaries: the twin of `kernels.tied`. None is the token of the
absent.
"""

import math
from collections import defaultdict


def contexts(row, before, labels):
    """The contexts of a slot, coarse to fine, as tuples; `before` is that of the nulls in the slot before."""
    names = {}
    pattern = tuple(None if token is None else names.setdefault(token, len(names)) for token in row)
    nulls = (pattern, names.get(0))
    found = ["everything", ("agreement", pattern), ("nulls", nulls), ("previous", nulls, before)]
    if labels:
        found.append(("labels", nulls, tuple(labels)))
    return found, nulls


def regrets(slots, experts, probabilities, gains):
    """What each of these experts gained more than expected in each context of the round."""
    found = defaultdict(lambda: dict.fromkeys(experts, 0.0))
    for awake, p, g in zip(slots, probabilities, gains, strict=True):
        expected = sum(a * b for a, b in zip(p, g, strict=True))
        for context in awake:
            for j, gain in zip(experts, g, strict=True):
                found[context][j] += gain - expected
    return found


class Twin:
    """Scores: regrets, less what keeps the sum of the awake weights as it was."""

    def __init__(self, priors):
        self.priors = priors
        self.scores = defaultdict(float)

    def weight(self, context, j, rate):
        return self.priors[j] * math.exp(rate * self.scores[context, j])

    def trust(self, awake, experts, rate):
        """Of these experts, who are present."""
        mass = [sum(self.weight(context, j, rate) for context in awake) for j in experts]
        return [m / sum(mass) for m in mass]

    def total(self, contexts_met, experts, rate):
        """The sum of all weights of these experts."""
        return sum(self.weight(context, j, rate) for context in contexts_met for j in experts)

    def learn(self, slots, experts, rate, probabilities, losses):
        """Returns what was taken from all who were awake."""
        by_context = regrets(slots, experts, probabilities, [[-loss for loss in row] for row in losses])
        before = self.total(by_context, experts, rate)
        for context, by_expert in by_context.items():
            for j, regret in by_expert.items():
                self.scores[context, j] += regret
        taken = math.log(self.total(by_context, experts, rate) / before) / rate
        for context in by_context:
            for j in experts:
                self.scores[context, j] -= taken
        return taken
