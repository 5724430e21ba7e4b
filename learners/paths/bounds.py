"""The theorems on regret as functions, with the errata of docs/algorithms.md applied.

Arguments are named as the paper's letters are read: rounds T, path_length K, transitions M, log_paths ln N,
edge_bound B (the most one transition of A' can gain), path_bound U (the most one path can: at most K B).
All bounds are on expected regret against the best fixed path unless the name says otherwise.

Functions of rounds are the theorems, for a known horizon and feedback at once; not to know the horizon costs the
factor `tuning.Rate.price`. Functions of a pace, `..._played`, hold of a play as it was: whatever its rates, and
however late its feedback, where lateness does not depend on what was drawn (docs/algorithms.md has the proofs).
"""

import math

from galloon.learners.paths.pace import Pace
from galloon.learners.paths.protocol import FloatArray


def expanded_hedge_played(pace: Pace, log_paths: float, path_bound: float) -> float:
    """Hedge: ln N times the climb of 1 / eta, and U^2 / 8 (1 + 2 d) times eta for a round that waited d."""
    return log_paths * pace.climb + path_bound**2 / 8 * (pace.rates + 2 * pace.waiting_rates)


def component_hedge_played(pace: Pace, path_length: int, edge_bound: float, divergence: float) -> float:
    """CDCH: D times the climb of 1 / eta, and K B^2 / 8 (1 + 2 d) times eta for a round that waited d.

    Relative entropy is 1/K-strongly convex in the sum of |w| on flows whose transitions sum to K (Pinsker), and
    gains may be centred, since all paths are equally long: a quarter of the theorem's second part.
    """
    roughness = path_length * edge_bound**2 / 8
    return divergence * pace.climb + roughness * (pace.rates + 2 * pace.waiting_rates)


def mirror_played(pace: Pace, transitions: int, edge_bound: float, divergence: float) -> float:
    """Mirror descent on estimated losses: D times the climb of 1 / eta, and M B^2 / 2 times eta; no lateness."""
    return divergence * pace.climb + transitions * edge_bound**2 / 2 * pace.rates


def perturbed_leader_played(pace: Pace, complexity: float, path_bound: float) -> float:
    """The perturbed leader: its noise times all moves of 1 / eta, and U^2 (1 + d) times eta."""
    return complexity * pace.swings + path_bound**2 * (pace.rates + pace.waiting_rates)


def com_band_played(pace: Pace, transitions: int, log_paths: float, path_bound: float) -> float:
    """CDCB: ln N times the climb of 1 / eta, and 2 U^2 M times eta; feedback before the next choice."""
    return log_paths * pace.climb + 2 * path_bound**2 * transitions * pace.rates


def exp3_played(pace: Pace, log_paths: float, path_bound: float) -> float:
    """EXP3-AG: ln N times the climb of 1 / eta, and U^2 (N / 2) times eta, or U^2 (N + d) where any round waited.

    Never more than U T, what losing everything comes to.
    """
    worst = path_bound * pace.rounds
    if log_paths > 300:
        return worst
    paths = math.exp(log_paths)
    share = 1.0 if pace.waited else 0.5
    spread = path_bound**2 * (share * paths * pace.rates + pace.waiting_rates)
    return min(worst, log_paths * pace.climb + spread)


def exp3_implicit_played(pace: Pace, log_paths: float, path_bound: float, confidence: float) -> float:
    """EXP3-AG with implicit exploration: (2 ln N + c) times the climb of 1 / eta, U^2 N times eta, and U c.

    c = ln(2 / delta): of the drawn paths, with probability 1 - delta. Feedback before the next choice. Never
    more than U T.
    """
    worst = path_bound * pace.rounds
    if log_paths > 300:
        return worst
    luck = math.log(2 / confidence)
    spread = path_bound**2 * math.exp(log_paths) * pace.rates
    return min(worst, (2 * log_paths + luck) * pace.climb + spread + path_bound * luck)


def barrier_played(
    rounds: int,
    path_bound: float,
    first_weight: float,
    grown: FloatArray,
    log_centre: FloatArray,
    costs: FloatArray,
) -> float:
    """The learners with a barrier: U + sum over transitions of w_1 ln T + (w - w_1) ln(T / f*) + costs measured.

    The comparator is 1 / T of the centre f* away from the best path. Feedback before the next choice. Never more
    than U T.
    """
    worst = path_bound * rounds
    if not rounds:
        return worst
    log_rounds = math.log(rounds)
    weights = first_weight * log_rounds * grown.size + float(grown @ (log_rounds - log_centre))
    return min(worst, path_bound + weights + float(costs.sum()))


def fixed_share(
    rounds: int, changes: float, path_length: int, log_ways: float, slowness: float, gaps: float
) -> float:
    """Fixed share against a sequence of paths with so many changes: (1 + changes) (W + K ln(T + 1)) + K ln(T + 1)
    times 1 / eta at the end, and the gaps: W the largest sum of ln of ways on along a path.
    """
    log_rounds = path_length * math.log(rounds + 1)
    return ((1 + changes) * (log_ways + log_rounds) + log_rounds) * slowness + gaps


def component_hedge(rounds: int, path_length: int, edge_bound: float, divergence: float) -> float:
    """CDCH, equation (7) of the paper: B sqrt(2 T K D), D the divergence of the best path from the start.

    The paper adds B D, which pays for tuning by the unknown loss of the best path; with T known, local norms
    give D / eta + eta T K B^2 / 2 and nothing more, since losses B - g are never negative.
    """
    return edge_bound * math.sqrt(2 * rounds * path_length * divergence)


def component_hedge_paper(rounds: int, path_length: int, transitions: int, edge_bound: float) -> float:
    """CDCH on any automaton, theorem 3: sqrt(2 T B^2 K^2 ln(K M)) + B K ln(K M)."""
    log_size = math.log(path_length * transitions)
    return (
        math.sqrt(2 * rounds * edge_bound**2 * path_length**2 * log_size)
        + edge_bound * path_length * log_size
    )


def component_hedge_ensemble(rounds: int, experts: int, slots: int, order: int, edge_bound: float) -> float:
    """CDCH on an ensemble with n-gram gains, theorem 7, with its second term."""
    length, log_start = slots - order + 1, order * math.log(experts)
    return math.sqrt(2 * rounds * edge_bound**2 * length**2 * log_start) + edge_bound * length * log_start


def expanded_hedge(rounds: int, log_paths: float, path_bound: float) -> float:
    """Hedge over all paths: U sqrt(T ln N / 2)."""
    return path_bound * math.sqrt(rounds * log_paths / 2)


def perturbed_leader(rounds: int, path_length: int, transitions: int, path_bound: float) -> float:
    """The perturbed leader with exponential noise: 2 U sqrt(T K (1 + ln(M / K))).

    Moving the noise of the chosen path's transitions by eta * loss turns the leader before a round into the
    leader after it, at the price of a factor e**(eta * loss) in density; the leader after each round regrets
    no more than the largest noise of a path, K (1 + ln(M / K)) / eta in the mean (after Kalai and Vempala 2005).
    """
    return 2 * path_bound * math.sqrt(rounds * path_length * (1 + math.log(transitions / path_length)))


def semi_bandit(
    rounds: int,
    path_length: int,
    transitions: int,
    covering_paths: int,
    log_paths: float,
    edge_bound: float,
    confidence: float,
) -> float:
    """CDSB, theorem 4, with probability 1 - confidence, from `semi_bandit_least_rounds` on (erratum 9)."""
    return (
        2
        * edge_bound
        * math.sqrt(rounds * path_length)
        * (
            math.sqrt(4 * path_length * covering_paths * log_paths)
            + math.sqrt(transitions * math.log(transitions / confidence))
        )
    )


def semi_bandit_least_rounds(
    path_length: int, transitions: int, covering_paths: int, log_paths: float, confidence: float
) -> float:
    """The horizon from which theorem 4 holds: max(K / M ln(M / delta), 4 |C| ln N)."""
    return max(path_length / transitions * math.log(transitions / confidence), 4 * covering_paths * log_paths)


def semi_bandit_ensemble(
    rounds: int, experts: int, slots: int, order: int, edge_bound: float, confidence: float
) -> float:
    """CDSB on an ensemble, corollary 8."""
    length, context = slots - order + 1, experts**order
    return semi_bandit(
        rounds, length, context * length, context, slots * math.log(experts), edge_bound, confidence
    )


def com_band(rounds: int, transitions: int, log_paths: float, path_bound: float) -> float:
    """CDCB as played here: 2 U sqrt(2 T M ln N), on any automaton.

    Erratum 5: the bound must be on a *path's* gain. The walk with the mixture's flows has
    E_p[v C^+ v] <= M / (1 - gamma), whatever the smallest eigenvalue, so ln N / eta + 2 eta U^2 M T.
    """
    return 2 * path_bound * math.sqrt(2 * rounds * transitions * log_paths)


def com_band_paper(
    rounds: int,
    path_length: int,
    transitions: int,
    log_paths: float,
    path_bound: float,
    smallest_eigenvalue: float,
) -> float:
    """CDCB, theorem 5 with erratum 5. On an ensemble lambda is r^-n exactly and the bracket is 3."""
    bracket = 2 * path_length / (transitions * smallest_eigenvalue) + 1
    return 2 * path_bound * math.sqrt(bracket * rounds * transitions * log_paths)


def com_band_ensemble(rounds: int, experts: int, slots: int, order: int, path_bound: float) -> float:
    """CDCB on an ensemble, corollary 9, simplified: 2 U sqrt(3 T M l ln r)."""
    transitions = experts**order * (slots - order + 1)
    return com_band_paper(
        rounds, slots - order + 1, transitions, slots * math.log(experts), path_bound, experts**-order
    )


def exp3_paths(rounds: int, log_paths: float, path_bound: float) -> float:
    """EXP3-AG in its loss form, theorem 12: U sqrt(2 T N ln N), but never more than U T."""
    worst = path_bound * rounds
    if log_paths > 300 or worst == 0:
        return worst
    return min(worst, path_bound * math.sqrt(2 * rounds * math.exp(log_paths) * log_paths))


def exp3_lower_bound(rounds: int, log_paths: float, path_bound: float) -> float:
    """No algorithm does better for arbitrary gains, theorem 13: U min(sqrt(T N), T) / 20."""
    paths = math.exp(min(log_paths, 300))
    return path_bound * min(math.sqrt(rounds * paths), rounds) / 20
