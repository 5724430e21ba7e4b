"""The paper's game on synthetic experts: `simulate` plays one learner for T rounds and keeps its regret curve.

Regret is the gain of the best fixed path in hindsight minus the learner's gain: expected over its own draw
where its flows are at hand, as the theorems have it, else the drawn path's.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.exp3_paths import NODE_BUDGET
from galloon.learners.paths.game import Game, path_round
from galloon.learners.paths.opponents import OPPONENTS, TRUST_NEEDED, Table
from galloon.learners.paths.protocol import FloatArray
from galloon.learners.paths.regret import LogRegret, log_regret

QUARTERS = 4  # of a game, as a drifting opponent changes
POINTS = 200  # of a curve
TRANSITION_BUDGET = 2_000_000
TRUST_DRAWS = 64  # from which an opponent guesses whom a learner without flows trusts


@dataclass(frozen=True, slots=True)
class Run:
    """One game: the curve, its end, and what the theorem promises."""

    rounds: FloatArray  # where the curve was looked at
    regret: FloatArray
    bound: FloatArray  # at the same rounds; NaN where no theorem speaks
    gain: float
    best_gain: float
    best_of_quarters: float  # what the best path of each quarter of the rounds gains
    log_regret: LogRegret
    guarantee: str  # in words

    @property
    def final_regret(self) -> float:
        return float(self.regret[-1])

    @property
    def tracking_regret(self) -> float:
        """Against a path for each quarter: what a learner that follows a drifting opponent is judged by."""
        return self.best_of_quarters - self.gain

    @property
    def final_bound(self) -> float | None:
        return None if np.isnan(self.bound[-1]) else float(self.bound[-1])


def simulate(
    spec: CombinerSpec, table: Table, opponent: str, progress: Callable[[], None] = lambda: None
) -> Run:
    """Play; `progress` is called after each round."""
    if opponent not in OPPONENTS:
        raise InvalidInput(f"{opponent!r} is not one of {', '.join(OPPONENTS)}", field="opponent")
    if spec.gain.get("kind") == "arbitrary":
        raise InvalidInput(
            "an arbitrary gain is the client's own; simulate with one that counts", field="gain"
        )
    game = Game(spec, Ensemble(table.experts, table.slots), TRANSITION_BUDGET, NODE_BUDGET)
    context = game.context
    assert isinstance(context, EnsembleContext)
    random = np.random.Generator(np.random.Philox(spec.seed))
    looks = np.unique(np.linspace(1, table.rounds, min(POINTS, table.rounds)).astype(int))
    shown = np.zeros(table.rounds)
    deals: list[tuple[list[str], list[str]]] = []
    regret: list[float] = []
    bound: list[float] = []
    quarters = np.zeros((QUARTERS, context.transition_count))
    gained = 0.0
    for number in range(table.rounds):
        trust = _trust(game, context, number) if opponent in TRUST_NEEDED else None
        deal = OPPONENTS[opponent](table, random, number, trust)
        outputs = [str(token) for token in deal.outputs.ravel().tolist()]
        target = [str(token) for token in deal.target.tolist()]
        choice = game.choose(number)
        gains = game.gain.edge_gains(context, outputs, target)
        flows = _flows(game)
        quarters[QUARTERS * number // table.rounds] += gains
        shown[number] = gains[context.context_path(choice.path)].sum()
        gained += float(flows @ gains) if flows is not None else shown[number]
        game.learn_target([path_round(choice.memory, outputs, target)])
        deals.append((outputs, target))
        if len(regret) < looks.size and number + 1 == looks[len(regret)]:
            regret.append(context.best_path(quarters.sum(axis=0))[1] - gained)
            known = game.guarantee().bound
            bound.append(np.nan if known is None else known)
        progress()
    best, best_gain = context.best_path(quarters.sum(axis=0))
    at_best = np.array([game.gain.path_gains(context, o, t, best).sum() for o, t in deals])
    return Run(
        looks.astype(float),
        np.array(regret),
        np.array(bound),
        gained,
        best_gain,
        sum(context.best_path(quarter)[1] for quarter in quarters),
        log_regret(shown, at_best),
        game.guarantee().words,
    )


def _flows(game: Game) -> FloatArray | None:
    """The flows on A' that the next choice is drawn from, where they are at hand."""
    if not game.capabilities.marginals:
        return None
    return game.learner.marginals()


def _trust(game: Game, context: EnsembleContext, number: int) -> FloatArray:
    """The probability of each expert in each slot, or its frequency in a few draws."""
    flows = _flows(game)
    if flows is not None:
        return context.slot_marginals(flows)
    counts = np.zeros((context.expert.slots, context.expert.experts))
    for draw in range(TRUST_DRAWS):
        path = game.learner.choose((number + 1) * 2**32 + draw).path
        counts[np.arange(path.size), path % context.expert.experts] += 1
    return counts
