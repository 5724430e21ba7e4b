"""EXP3-AG's tree: the paper's composed automaton, touched along one path a round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners import state
from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.errors import BudgetExceeded, DamagedState
from galloon.learners.kernels import trie
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.protocol import BanditFeedback
from tests.learners.automata.strategies import ensembles, explicit_automata
from tests.learners.paths import checks
from tests.learners.paths.subjects import Subject, play
from tests.learners.paths.test_every_learner import TANGLE
from tests.reference.exp3_literal import LiteralExp3

EXPERTS = st.one_of(ensembles(), explicit_automata())


@pytest.mark.parametrize("expert", [Ensemble(3, 4), Ensemble(2, 5), TANGLE], ids=["3x4", "2x5", "tangle"])
def test_it_is_the_composition_of_the_paper(expert):
    """Through OpenFst: compose with the update automaton, push, and read the path's weight."""
    learner, literal = Exp3Paths(expert, 1.0, learning_rate=0.3), LiteralExp3(expert)
    rng = np.random.default_rng(0)
    for number in range(20):
        choice = learner.choose(number)
        assert choice.log_probability == pytest.approx(literal.log_probability(choice.path), abs=1e-6)
        gain = rng.random()
        learner.learn(choice.memory, BanditFeedback(gain))
        literal.learn(choice.path, -0.3 * (1 - gain) * np.exp(-choice.log_probability))
    for path in expert.paths():
        ours = learner.log_probability(np.array(path, dtype=np.int32))
        assert ours == pytest.approx(literal.log_probability(path), abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(EXPERTS, st.sampled_from([0.0, 0.01, 1.0, 50.0]), st.integers(0, 2**32))
def test_the_tree_is_what_a_rebuild_makes_of_it_to_the_bit(expert, rate, seed):
    """After every round, epochs of a self-tuning rate (0) included."""
    learner = Exp3Paths(expert, 1.0, learning_rate=rate, seed=seed)
    rng = np.random.default_rng(seed)
    for number in range(40):
        play(learner, 1, rng, number)
        assert learner.learning_rate == learner.rate.at(learner.rounds_learned)
        value = learner._value.copy()
        learner._rebuild()
        np.testing.assert_array_equal(learner._value, value)


@settings(deadline=None, max_examples=20)
@given(EXPERTS, st.integers(0, 2**32))
def test_the_law_is_the_definition_through_the_epochs_of_a_falling_rate(expert, seed):
    checks.check_updates_are_the_definition(Subject("exp3_paths", expert, Reach(1, 1)), rounds=20, seed=seed)


def test_a_self_tuning_rate_falls_when_the_rounds_double():
    learner = Exp3Paths(Ensemble(2, 3), 1.0)
    rates = []
    rng = np.random.default_rng(0)
    for number in range(32):
        rates.append(learner.learning_rate)
        play(learner, 1, rng, number)
    assert [i for i in range(1, 32) if rates[i] != rates[i - 1]] == [1, 3, 7, 15, 31]
    assert rates[31] == pytest.approx(rates[0] / np.sqrt(32))


@settings(deadline=None, max_examples=20)
@given(EXPERTS, st.integers(0, 2**32))
def test_losses_learned_one_by_one_or_as_a_sum_give_one_law(expert, seed):
    """A tree built from scratch out of the sums has other nodes in another order, and the same law."""
    learner = Exp3Paths(expert, 1.0, learning_rate=0.7, seed=seed)
    play(learner, 30, np.random.default_rng(seed))
    scratch = Exp3Paths(expert, 1.0, learning_rate=0.7, seed=seed)
    paths = [learner.graph.context_path(np.array(path, dtype=np.int32)) for path in expert.paths()]
    for edges in reversed(paths):
        loss = loss_of(learner, edges)
        if loss > 0:
            scratch._make_room(edges.size + 2)
            add_loss(scratch, edges, loss)
    for edges in paths:
        assert scratch._log_probability(edges) == pytest.approx(
            learner._log_probability(edges), rel=1e-12, abs=1e-12
        )


def loss_of(learner, edges):
    tree = learner._value, learner._data, learner._children, learner._tails
    return trie.loss_of(edges, *tree, learner.graph.first, learner.graph.sources)


def add_loss(learner, edges, loss):
    first, target, eta, log_ways = learner._ways
    graph = first, learner.graph.sources, target
    trie.add_loss(edges, loss, *learner._tree, learner._tails, *graph, eta, log_ways, learner._used)


def test_a_round_touches_one_path_of_the_tree():
    learner = Exp3Paths(Ensemble(3, 12), 1.0, learning_rate=1e-4)
    rng = np.random.default_rng(0)
    play(learner, 300, rng)
    for number in range(300, 340):
        before, nodes = learner._value.copy(), learner._used[0]
        play(learner, 1, rng, number)
        assert learner._used[0] - nodes <= 12 + 2
        assert (learner._value[:nodes] != before[:nodes]).sum() <= 12 + 1


def test_a_round_takes_less_than_300_bytes():
    learner = Exp3Paths(Ensemble(3, 20), 1.0, horizon=2000)
    play(learner, 2000, np.random.default_rng(0))
    assert learner.size().state_bytes <= 300 * 2000
    assert len(learner.to_bytes()) <= 300 * 2000 + 1000


def test_more_nodes_than_the_budget_are_refused_before_anything_changes():
    learner = Exp3Paths(Ensemble(2, 10), 1.0, node_budget=60)
    rng = np.random.default_rng(0)
    with pytest.raises(BudgetExceeded, match=r"nodes of EXP3-AG's tree: .* needed, 60 allowed") as caught:
        play(learner, 100, rng)
    assert caught.value.allowed == 60
    before = learner.digest()
    with pytest.raises(BudgetExceeded):
        play(learner, 1, rng, 100)
    assert learner.digest() == before
    assert learner.choose(0).path.size == 10  # it still chooses


def test_a_state_with_too_many_ways_out_is_refused():
    ways = 65_536
    wide = ExplicitAutomaton(
        2,
        0,
        (1,),
        np.zeros(ways, dtype=np.int32),
        np.ones(ways, dtype=np.int32),
        tuple(f"e{i}" for i in range(ways)),
    )
    with pytest.raises(BudgetExceeded, match="transitions that leave a state"):
        Exp3Paths(wide, 1.0)


# Trees from anybody.


def repacked(learner, **changed):
    found = state.unpack(learner.to_bytes(), learner.name, 1)
    return state.pack(learner.name, 1, found.meta, {**found.arrays, **changed})


@pytest.mark.parametrize(
    ("name", "place", "value", "why"),
    [
        ("state", 0, 1, "no root"),
        ("data", 0, -1, "no root"),
        ("state", 3, 99, "do not exist"),
        ("state", 3, -1, "do not exist"),
        ("data", 0, 10**12, "share its children out"),
        ("data", 0, 2**63 - 1, "share its children out"),
        ("data", 0, 2, "share its children out"),
        ("data", -1, -(2**63), "beyond its tails"),
        ("children", 0, 10**6, "no parent"),
        ("children", 0, -3, "no parent"),
        ("children", 0, 0, "no parent"),
        ("tails", -1, 60_000, "leaves the automaton"),
        ("value", 1, np.nan, "not finite"),
    ],
)
def test_a_forged_tree_is_refused(name, place, value, why):
    learner = Exp3Paths(Ensemble(2, 6), 1.0)
    play(learner, 20, np.random.default_rng(0))
    before = learner.digest()
    array = state.unpack(learner.to_bytes(), learner.name, 1).arrays[name]
    array[place] = value
    with pytest.raises(DamagedState, match=why):
        learner.restore(repacked(learner, **{name: array}))
    assert learner.digest() == before


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_whatever_tree_is_let_in_can_be_walked(data):
    """Any number of any array, replaced: refused, or every walk still ends as a path of the automaton."""
    learner = Exp3Paths(TANGLE, 1.0, learning_rate=0.5)
    play(learner, 12, np.random.default_rng(1))
    arrays = dict(state.unpack(learner.to_bytes(), learner.name, 1).arrays)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(["value", "data", "state", "children", "tails"]))
        array = arrays[name]
        place = data.draw(st.integers(0, array.size - 1))
        if name == "value":
            array[place] = data.draw(st.floats(-50, 50))
        else:
            array[place] = data.draw(st.integers(0 if name == "tails" else -20, 20))
    try:
        learner.restore(repacked(learner, **arrays))
    except DamagedState:
        return
    accepting = set(TANGLE.paths())
    for number in range(20):
        assert tuple(learner.choose(number).path.tolist()) in accepting
    assert tuple(learner.choose_best().path.tolist()) in accepting
    learner.marginals()
    play(learner, 5, np.random.default_rng(0))
