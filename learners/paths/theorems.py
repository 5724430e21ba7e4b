"""What the theorems promise of a game before a round is played: `promised`, a row for each closed form of
`bounds`.

They hold for a known horizon, drawn paths and feedback at once. What is printed of a play as it was is each
learner's own (`promise`), and mostly far smaller.
"""

from dataclasses import dataclass

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.paths import bounds
from galloon.learners.paths.centre_flow import even_flow
from galloon.learners.paths.covering import cover
from galloon.learners.paths.expanded_hedge import log_count

CONFIDENCE = 0.05


@dataclass(frozen=True, slots=True)
class Promised:
    """One theorem with its number."""

    learner: str
    theorem: str
    bound: float


def promised(
    context: ContextAutomaton, rounds: int, edge_bound: float, path_bound: float
) -> tuple[Promised, ...]:
    """Every closed form for this A'; those on ensembles with patterns of one length only where they speak."""
    k, m, log_paths = context.longest_path, context.transition_count, log_count(context.path_count)
    divergence = context.best_path(-np.log(even_flow(context)))[1]
    covering = cover(context).count
    found = [
        ("CDCH", "equation 7", bounds.component_hedge(rounds, k, edge_bound, divergence)),
        ("CDCH", "theorem 3", bounds.component_hedge_paper(rounds, k, m, edge_bound)),
        ("Expanded Hedge", "weighted majority", bounds.expanded_hedge(rounds, log_paths, path_bound)),
        ("Perturbed leader", "exponential noise", bounds.perturbed_leader(rounds, k, m, path_bound)),
        (
            "CDSB",
            "theorem 4",
            bounds.semi_bandit(rounds, k, m, covering, log_paths, edge_bound, CONFIDENCE),
        ),
        ("CDCB", "as played", bounds.com_band(rounds, m, log_paths, path_bound)),
        ("EXP3-AG", "theorem 12", bounds.exp3_paths(rounds, log_paths, path_bound)),
        ("any", "theorem 13, from below", bounds.exp3_lower_bound(rounds, log_paths, path_bound)),
    ]
    if isinstance(context, EnsembleContext) and context.reach.shortest == context.reach.span:
        order = context.reach.span
        sizes = (rounds, context.expert.experts, context.expert.slots, order)
        eigenvalue = float(context.expert.experts) ** -order
        found += [
            ("CDCH", "theorem 7", bounds.component_hedge_ensemble(*sizes, edge_bound)),
            ("CDSB", "corollary 8", bounds.semi_bandit_ensemble(*sizes, edge_bound, CONFIDENCE)),
            ("CDCB", "theorem 5", bounds.com_band_paper(rounds, k, m, log_paths, path_bound, eigenvalue)),
            ("CDCB", "corollary 9", bounds.com_band_ensemble(*sizes, path_bound)),
        ]
    return tuple(Promised(*row) for row in sorted(found, key=lambda row: row[:2]))
