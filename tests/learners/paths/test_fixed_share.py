"""Fixed share: regret against sequences of paths, within the bound for every number of changes."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.fixed_share import FixedShare
from galloon.learners.paths.opponents import Table
from galloon.learners.paths.protocol import FullFeedback
from galloon.learners.paths.simulation import simulate

CONTEXT = context_automaton(Ensemble(2, 4), Reach(2, 2))


def played(rounds, gains_of, **options):
    """The learner, what it gained in expectation, and the gains of every round."""
    learner = FixedShare(CONTEXT, 1.0, **options)
    gained, dealt = 0.0, []
    for number in range(rounds):
        flows = learner.marginals()
        gains = gains_of(number, flows)
        gained += float(flows @ gains)
        dealt.append(gains)
        learner.learn(learner.choose(number).memory, FullFeedback(gains))
    return learner, gained, np.array(dealt)


def best_with(dealt, changes):
    """The best sequence of paths with so many changes, over all places where it may change."""
    paths = [CONTEXT.context_path(np.array(p, dtype=np.int32)) for p in CONTEXT.expert.paths()]
    values = np.array([[gains[path].sum() for path in paths] for gains in dealt])
    best = np.full((changes + 1, len(paths)), -np.inf)
    best[0] = 0.0
    for row in values:
        for used in range(changes, 0, -1):
            best[used] = np.maximum(best[used], best[used - 1].max())
        best += row
    return best.max()


def drifting(number, flows):
    """A planted path that moves every 100 rounds, seen through noise."""
    rng = np.random.default_rng(number)
    experts = np.random.default_rng(number // 100).integers(0, 2, 4)
    chances = np.full(flows.size, 0.4)
    chances[CONTEXT.context_path((np.arange(4) * 2 + experts).astype(np.int32))] = 0.8
    return (rng.random(flows.size) < chances).astype(float)


def adversarial(number, flows):
    del number
    return (flows < np.median(flows) + 1e-12).astype(float)


@pytest.mark.parametrize("options", [{}, {"changes": 0.0}, {"learning_rate": 0.3}, {"horizon": 400}])
@pytest.mark.parametrize("gains_of", [drifting, adversarial])
def test_regret_against_every_sequence_is_below_its_bound(gains_of, options):
    learner, gained, dealt = played(400, gains_of, **options)
    for changes in (0, 1, 3, 10):
        assert best_with(dealt, changes) - gained <= learner.bound(changes) + 1e-9
    assert learner.promise().bound == learner.bound(learner.changes)
    assert f"at most {learner.changes:g} changes" in learner.promise().words


def test_a_drifting_opponent_is_followed():
    """Where Expanded Hedge stays near the one best path, and far from the four."""
    runs = {
        name: simulate(
            CombinerSpec(
                engines=("a", "b"), algorithm=name, gain={"kind": "ngram", "order": 2}, window=4, seed=1
            ),
            Table(2, 4, 2000),
            "drifting",
        )
        for name in ("expanded_hedge", "fixed_share")
    }
    assert runs["fixed_share"].tracking_regret < 0.2 * runs["expanded_hedge"].tracking_regret
    assert runs["fixed_share"].tracking_regret < runs["fixed_share"].final_bound
    assert runs["fixed_share"].final_regret < 0


def test_late_feedback_has_no_bound_and_senseless_counts_are_refused():
    learner = FixedShare(CONTEXT, 1.0)
    for memory in [learner.choose(number).memory for number in (0, 1)]:
        learner.learn(memory, FullFeedback(np.ones(CONTEXT.transition_count)))
    assert learner.promise().words.startswith("none: no bound is known")
    with pytest.raises(InvalidInput, match="changes -1"):
        FixedShare(CONTEXT, 1.0, changes=-1)
