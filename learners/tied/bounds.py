"""What the tied learner promises: its theorems as functions.

A *policy of one context* is (context c, expert j): play j in every slot where c is seen. N contexts have been
met, r experts have priors pi, n slots lie in c. Per slot, gains are in [0, 1].

Full information. Weights W = prod (1 + eta x_t) with x_t = g_t(j) - E g_t, over G rates eta = 1/2, 1/4, ...
The sum Phi of pi_j W / G over contexts, experts and rates begins at N, and does not change in a slot: the
awake part changes by sum pi_j eta W x_t / G, which is proportional to sum_j P(j) x_t(j) = 0, for P(j) is in
proportion to sum over awake contexts and rates of pi_j eta W. So W <= N G / pi_j, and since
ln(1 + x) >= x - x^2 for x >= -1/2, for every rate:  regret <= ln(N G / pi_j) / eta + eta V,
V the sum of x_t^2, at most n. The best rate of the grid is within a factor of two of the best of all.

Partial information. Weights exp(eta S), S the sum over awake slots of -l_t - ln(sum_j P(j) e^{-eta_t l_t(j)}) /
eta_t, l the estimated losses, eta_t falling. In a slot the awake sum of pi_j exp(eta S) is kept; when eta
falls to eta', sum pi exp(eta' S) <= N (sum pi exp(eta S) / N)^(eta'/eta) <= N by Jensen. So S <= ln(N / pi_j)
/ eta, and e^{-x} <= 1 - x + x^2/2 gives  regret <= ln(N / pi_j) / eta_T + sum over awake slots of
(eta_t / 2) sum_j P(j) l_t(j)^2, where the inner sum is in expectation at most the number of different offers.

A policy over all contexts of one level adds up the bounds of its contexts. All this holds while no context
has been given up for lack of room and feedback comes before the next choice; expectations are over draws.
"""

from collections.abc import Sequence
from math import log, sqrt


def bound_full(contexts: int, rates: Sequence[float], prior: float, variation: float) -> float:
    """Regret against expert of this prior in one context, `variation` >= the sum of squared regrets there."""
    entropy = log(max(1, contexts) * len(rates) / prior)
    return min(entropy / rate + rate * variation for rate in rates)


def bound_partial(contexts: int, prior: float, last_rate: float, squares: float) -> float:
    """Expected regret against an expert of this prior in one context.

    squares: the sum over the context's slots of (rate / 2) x the sum over experts of probability x estimated
    loss squared. In the semi-bandit setting at most (rate / 2) x the number of different offers is expected.
    """
    return log(max(1, contexts) / prior) / last_rate + squares


def partial_rate(experts: int, levels: int, slots_before: int) -> float:
    """The rate in the slot after so many in which experts differed: falls as one over the square root."""
    return min(1.0, sqrt(log(max(2, experts) * levels) / (max(2, experts) * (1 + slots_before))))
