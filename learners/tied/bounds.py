"""What the tied learner promises: its theorem as functions.

A *policy of one context* is (context c, expert j): play j in every slot where c is seen. N contexts have been
met; expert j has prior pi_j. The regret of a round in c, x_t(c, j), is what j gained in the slots of c more than
the learner expected to gain in them; where gains are not all revealed, they are estimated.

Theorem. The specialist (c, j) has the weight exp(eta_t S), S = sum_t (x_t - d_t), where d_t is the same for all
who are awake in the round and keeps the sum of their pi exp(eta_t S) as it was. So the sum over all specialists
stays at most N, where it began: in a round by the choice of d_t, and when eta falls to eta' because
sum pi exp(eta' S) <= N (sum pi exp(eta S) / N)^(eta'/eta) <= N by Jensen. Hence S <= ln(N / pi_j) / eta_T, that is
    regret <= ln(N / pi_j) / eta_T + sum_t d_t.
With full information this holds for every sequence of gains; with estimates in expectation over the draws.

How large is d_t? With the weights at choice as masses mu of the awake, exp(eta d_t) = sum mu exp(eta x_t). In
slot i expert j is played in proportion to the weights awake there, so sum mu x_t = sum_i Z_i sum_j P_i(j) (E l_i -
l_i(j)) = 0, Z_i the mass awake in slot i: the linear part vanishes, and d_t is at most eta / 2 times the mean
of x_t^2, up to higher powers (at most eta / 8 if x_t spans 1, by Hoeffding). For one slot, losses estimated from
what was shown, its expectation is at most eta / 2 times the number of different offers. It is measured, and the
rate follows it: eta = sqrt(ln(...) / sum of d_t / eta_t), which balances both parts; where experts are easily
told apart d_t stays small and the rate high. With one score a round (bandit) d_t is far larger.

An expert that is absent sleeps in all contexts, like one whose context is not seen: its specialists keep their
scores, and its regret is of the rounds in which it was awake. One that joins later has slept until then. With
priors that sum to more than 1 (engines that joined), N is N times their sum.

A policy over all contexts of one level adds up the bounds of its contexts. All this holds while no context has
been given up for lack of room, feedback comes before the next choice, and shown experts are drawn.
"""

from math import log, sqrt


def regret_bound(contexts: int, prior: float, last_rate: float, taken: float) -> float:
    """Regret against an expert with this part of all priors in one of so many contexts; taken: the sum of d_t."""
    return log(max(1, contexts) / prior) / last_rate + taken


def falling_rate(experts: int, levels: int, spread: float) -> float:
    """The rate that balances both parts of the bound so far; spread: the sum of d_t / eta_t."""
    return min(1.0, sqrt(log(max(2, experts) * levels) / (1 + spread)))
