"""The log-linear model of plain dictionaries: the twin of `kernels.scorer`, given features by the other twin."""

import math
from collections import defaultdict

import numpy as np

from galloon.learners.kernels.offer_features import VOTES
from galloon.learners.kernels.offer_model import SHARE_GIVEN_BACK, VOTE_WEIGHT


class Model:
    """AdaGrad at several rates, mixed by Bayes; numbers rounded to single precision where the kernel does."""

    def __init__(self, rates):
        self.rates = rates
        self.weights = [defaultdict(np.float32) for _ in rates]
        self.squares = [defaultdict(np.float32) for _ in rates]
        self.shares = [1 / len(rates)] * len(rates)

    def chances(self, offers, k):
        scores = []
        for features in offers:
            score = 0.0
            for template, a, b, value in features:
                weight = VOTE_WEIGHT if template == VOTES else float(self.weights[k][template, a, b])
                score += weight * value
            scores.append(score)
        powers = [math.exp(score - max(scores)) for score in scores]
        return [power / sum(powers) for power in powers]

    def probabilities(self, offers):
        columns = [self.chances(offers, k) for k in range(len(self.rates))]
        return [
            sum(share * column[o] for share, column in zip(self.shares, columns, strict=True))
            for o in range(len(offers))
        ]

    def learn(self, offers, which, right):
        """The offer `which` was right with this probability."""
        for k in range(len(self.rates)):
            chances = self.chances(offers, k)
            self.shares[k] *= chances[which] ** right * (1 - chances[which]) ** (1 - right)
            slopes = defaultdict(float)
            for o, features in enumerate(offers):
                wanted = right if o == which else (1 - right) * chances[o] / (1 - chances[which])
                for template, a, b, value in features:
                    if template != VOTES:
                        slopes[template, a, b] += (chances[o] - wanted) * value
            for key, slope in slopes.items():
                self.squares[k][key] = np.float32(self.squares[k][key] + slope * slope)
                step = self.rates[k] * slope / math.sqrt(float(self.squares[k][key]) + 1.0)
                self.weights[k][key] = np.float32(self.weights[k][key] - step)
        total, even = sum(self.shares), 1 / len(self.shares)
        self.shares = [
            (1 - SHARE_GIVEN_BACK) * share / total + SHARE_GIVEN_BACK * even for share in self.shares
        ]
