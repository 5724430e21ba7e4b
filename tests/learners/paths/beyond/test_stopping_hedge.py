"""Hedge over all paths of a graph with cycles: equal to a sum over them, and below its bound for each."""

import numpy as np
import pytest

from galloon.learners.automata.att_text import read_graph
from galloon.learners.automata.unrolled import unroll
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.beyond.stopping_hedge import StoppingHedge

GRAPH = read_graph("0 1 a\n1 1 b\n1 2 c\n2 0 d\n2\n")


def paths(longest):
    unrolled = unroll(GRAPH, longest)
    edges = np.array([GRAPH.names.index(name.partition("@")[0]) for name in unrolled.names], dtype=np.int32)
    return [edges[list(path)] for path in unrolled.paths()]


def law(learner, found):
    """Of each path its probability, by its weight alone."""
    weights = []
    for path in found:
        prior, state = 1.0, GRAPH.initial
        for edge in path:
            final = GRAPH.is_final(state)
            prior *= (1 - (0.9 if final else 0)) / len(GRAPH.outgoing[state])
            state = int(GRAPH.targets[edge])
        weights.append(prior * 0.9 * np.exp(-learner.rate * learner.losses[path].sum()))
    return np.array(weights)


def played(rounds, seed=0, stop=0.9):
    learner, random = StoppingHedge(GRAPH, stop), np.random.default_rng(seed)
    lost = 0.0
    for _ in range(rounds):
        lost += learner.learn(random.random(GRAPH.edge_count) * [0.3, 1.0, 0.2, 0.6])
    return learner, lost


@pytest.mark.parametrize("rounds", [0, 1, 20])
def test_the_law_is_that_of_a_sum_over_paths(rounds):
    learner, _ = played(rounds)
    found = paths(32)
    weights = law(learner, found)
    total = weights.sum()
    assert learner.walk.log_total == pytest.approx(np.log(total), abs=1e-5)
    visits = sum(
        weight * np.bincount(path, minlength=GRAPH.edge_count)
        for weight, path in zip(weights, found, strict=True)
    )
    np.testing.assert_allclose(learner.visits(), visits / total, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_regret_to_every_path_is_below_its_bound(seed):
    learner, lost = played(300, seed, stop=0.25)
    for path in paths(9):
        assert lost - learner.losses[path].sum() <= learner.bound(path) + 1e-9


def test_draws_have_the_law():
    learner, _ = played(3, stop=0.5)
    drawn = sum(np.bincount(learner.draw(number), minlength=GRAPH.edge_count) for number in range(4000))
    np.testing.assert_allclose(drawn / 4000, learner.visits(), atol=0.08)


def test_losses_without_end_leave_finite_numbers():
    learner = StoppingHedge(GRAPH)
    for _ in range(50):
        learner.learn(np.array([1e4, 1e5, 1e3, 1e6]))
    assert np.isfinite(learner.walk.onward).all()
    assert learner.walk.onward[[0]] == pytest.approx(1.0)


def test_wrong_input_is_refused():
    learner = StoppingHedge(GRAPH)
    for losses in (np.zeros(3), np.full(4, np.nan), np.full(4, -1.0)):
        with pytest.raises(InvalidInput, match="finite and not negative"):
            learner.learn(losses)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        StoppingHedge(GRAPH, 1.0)
    with pytest.raises(InvalidInput, match="no way on"):
        StoppingHedge(read_graph("0 1 a\n0 2 b\n1\n"))
    with pytest.raises(InvalidInput, match="cannot reach a final one"):
        StoppingHedge(read_graph("0 1 a\n0 2 b\n2 2 c\n1\n"))
