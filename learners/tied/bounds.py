"""What the tied learner promises: its theorems as functions.

A *policy of one context* is (context c, expert j): play j in every slot where c is seen. N contexts have been
met; expert j has prior pi_j. In round t experts differ in N_t(c) slots of c; a slot's gains are in [0, 1]. The
regret of the round in c, x_t(c, j), is what j gained in these slots more than the learner expected to.

Full information. A specialist (c, j, eta), G rates eta = 1/2, 1/4, ..., has the weight W = prod (1 + eta x_t)
over rounds in which it is awake. Phi, the sum of pi_j W / G over all of them, begins at N. In a round it changes
by the sum over the awake of pi_j W eta x_t(c, j) / G; taken slot by slot this is sum_i Z_i sum_j P_i(j) (g_i(j)
- E g_i) = 0, for P_i(j) = sum over the awake of slot i of pi_j eta W / (G Z_i). So W <= N G / pi_j for ever. A
rate is asleep in rounds where eta N_t(c) > 1/2, so x eta >= -1/2, ln(1 + y) >= y - y^2, and for every rate that
was never asleep:  regret <= ln(N G / pi_j) / eta + eta V,  V = sum_t x_t^2 <= sum_t N_t(c)^2.

Partial information. A specialist (c, j) has the weight exp(eta S), S = sum_t (x_t - eta_t N_t Q_t), where x_t
uses estimated losses l, Q_t = sum over slots i and experts j of P_i(j) (l_i(j) - E l_i)^2, and N_t counts the
slots of the whole round. As before the linear part of the change of Phi vanishes, and e^y <= 1 + y + y^2 for
y <= 1 (x_t <= N_t, and eta_t <= 1 / N_t) leaves the sum of eta^2 pi W x^2 <= eta^2 N_t sum_i Z_i sum_j P_i(j)
(l_i(j) - E l_i)^2 by Cauchy and Schwarz, which the penalty outweighs. When eta falls to eta', sum pi exp(eta' S)
<= N (sum pi exp(eta S) / N)^(eta'/eta) <= N by Jensen. So S <= ln(N / pi_j) / eta_T, that is
    estimated regret <= ln(N / pi_j) / eta_T + sum over rounds of eta_t N_t Q_t,
the same in expectation for the true regret, with E Q_t at most the number of different offers in the round.

With one score a round (bandit) estimates are not bounded, so y <= 1 may fail, and nothing is promised. A policy
over all contexts of one level adds up the bounds of its contexts. All this holds while no context has been given
up for lack of room and feedback comes before the next choice; expectations are over the draws.
"""

from collections.abc import Sequence
from math import log, sqrt


def bound_full(contexts: int, rates: Sequence[float], prior: float, squares: float, most: int) -> float:
    """Regret against an expert of this prior in one context.

    squares: the sum over rounds of N_t**2; most: the largest N_t. Infinite if all rates were too high for that.
    """
    entropy = log(max(1, contexts) * len(rates) / prior)
    fitting = [entropy / rate + rate * squares for rate in rates if 2 * rate * most <= 1]
    return min(fitting, default=float("inf"))


def bound_partial(contexts: int, prior: float, last_rate: float, penalties: float) -> float:
    """Expected regret against an expert of this prior; penalties: the sum of eta_t N_t Q_t."""
    return log(max(1, contexts) / prior) / last_rate + penalties


def partial_rate(experts: int, levels: int, spread: float) -> float:
    """The rate that balances both parts of the bound, as far as is known; spread: the sum of N_t Q_t so far."""
    return min(1.0, sqrt(log(max(2, experts) * levels) / (1 + spread)))
