"""The guarantee of a learner as it was built: which bound of `bounds` speaks of it."""

from galloon.learners.paths import bounds
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.expanded_hedge import ExpandedHedge, log_count
from galloon.learners.paths.path_learner import PathLearner
from galloon.learners.paths.perturbed_leader import PerturbedLeader
from galloon.learners.paths.semi_bandit import SemiBandit


def regret_bound(learner: PathLearner | Exp3Paths, rounds: int) -> float | None:
    """The bound on regret after so many rounds; None where the learner's tuning has no theorem.

    With a known horizon a theorem speaks of that horizon; before it, the bound of the whole horizon holds
    (regret against a path is measured over the rounds played). A rate given by hand has no theorem.
    """
    if learner.rate.fixed > 0:
        return None
    horizon = learner.rate.horizon
    if horizon and rounds > horizon:
        return None
    at = max(horizon, 1) if horizon else rounds
    return learner.rate.price * _bound(learner, at)


def _bound(learner: PathLearner | Exp3Paths, rounds: int) -> float:
    if isinstance(learner, Exp3Paths):
        return bounds.exp3_paths(rounds, log_count(learner.graph.path_count), learner.path_bound)
    context = learner.context
    k, m, log_paths = context.longest_path, context.transition_count, log_count(context.path_count)
    match learner:
        case ComponentHedge():
            return bounds.component_hedge(rounds, k, learner.edge_bound, learner.divergence)
        case ExpandedHedge():
            return bounds.expanded_hedge(rounds, log_paths, learner.path_bound)
        case PerturbedLeader():
            return bounds.perturbed_leader(rounds, k, m, learner.path_bound)
        case SemiBandit():
            return bounds.semi_bandit(
                rounds, k, m, learner.covering.count, log_paths, learner.edge_bound, learner.confidence
            )
        case ComBand():
            return bounds.com_band(rounds, m, log_paths, learner.path_bound)
        case _:
            raise AssertionError(f"no bound is known for {learner.name}")
