"""U by its definition, U as a rational kernel, and the sum over A' are the same number, for every gain."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.errors import InvalidInput
from galloon.learners.gains.arbitrary import ArbitraryGain
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.patterns import PatternGain
from galloon.learners.gains.slot_match import SlotMatch
from tests.learners.automata.strategies import edges, ensembles, explicit_automata, listed_paths
from tests.learners.gains.strategies import TOKENS, count_gains, outputs_of, sequences
from tests.reference.rational_kernel import rational_utility

experts = st.one_of(ensembles(), explicit_automata())


def agree(gain, expert, outputs, target):
    """The sum over A', the path gains and the definition, for every path."""
    context = context_automaton(expert, gain.reach)
    gains = gain.edge_gains(context, outputs, target)
    assert gains.shape == (context.transition_count,)
    assert gains.max(initial=0.0) <= gain.edge_bound(len(target)) * (1 + 1e-12)
    bound = gain.path_bound(expert.longest_path, len(target))
    for path in listed_paths(expert):
        image = context.context_path(path)
        utility = gain.utility([outputs[e] for e in path], target)
        assert gains[image].sum() == pytest.approx(utility, rel=1e-12, abs=1e-12)
        assert 0.0 <= utility <= bound * (1 + 1e-12)
        known = {int(e): outputs[e] for e in path}  # all that semi-bandit feedback reveals
        assert (gain.path_gains(context, known, target, image) == gains[image]).all()


@settings(deadline=None, max_examples=250)
@given(count_gains, experts, sequences(8), st.data())
def test_the_sum_over_A_prime_is_the_utility_of_every_path(gain, expert, target, data):
    assume(not isinstance(expert, Ensemble) or gain.reach.shortest <= expert.slots)
    agree(gain, expert, data.draw(outputs_of(expert)), target)


@settings(deadline=None, max_examples=60)
@given(ensembles(), st.data())
def test_slot_match_adds_up_on_the_ensemble_and_written_out(ensemble, data):
    outputs = data.draw(outputs_of(ensemble))
    target = data.draw(st.lists(TOKENS, min_size=ensemble.slots, max_size=ensemble.slots))
    agree(SlotMatch(), ensemble, outputs, target)
    agree(SlotMatch(), ensemble.explicit(), outputs, target)


@settings(deadline=None, max_examples=60)
@given(explicit_automata(), st.data())
def test_slot_match_means_the_place_along_the_path_where_places_are_unique(automaton, data):
    outputs = data.draw(outputs_of(automaton))
    target = data.draw(st.lists(TOKENS, min_size=automaton.longest_path, max_size=automaton.longest_path))
    try:
        _ = automaton.edge_slots
    except InvalidInput:
        context = context_automaton(automaton, SlotMatch().reach)
        with pytest.raises(InvalidInput, match="equal length"):
            SlotMatch().edge_gains(context, outputs, target)
    else:
        agree(SlotMatch(), automaton, outputs, target)


@settings(deadline=None, max_examples=60)
@given(explicit_automata(), count_gains, sequences(6), st.data())
def test_padding_does_not_change_gains(automaton, gain, target, data):
    padded = context_automaton(automaton, gain.reach).padded()
    outputs = data.draw(outputs_of(automaton))
    gains = gain.edge_gains(padded, outputs, target)
    for path in listed_paths(automaton):
        image = padded.context_path(path)
        assert gains[image].sum() == pytest.approx(gain.utility([outputs[e] for e in path], target))
        assert (gain.path_gains(padded, outputs, target, image) == gains[image]).all()


@settings(deadline=None, max_examples=150)
@given(count_gains, sequences(), sequences())
def test_the_definition_is_the_rational_kernel(gain, output, target):
    expected = gain.utility(output, target)
    assert rational_utility(gain, output, target) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=8))
def test_slot_match_is_a_rational_kernel(pairs):
    output, target = zip(*pairs, strict=True)
    assert rational_utility(SlotMatch(), output, target) == pytest.approx(SlotMatch().utility(output, target))


@settings(deadline=None, max_examples=60)
@given(count_gains, ensembles(), sequences(6), st.integers(0, 2), st.data())
def test_an_A_prime_that_remembers_more_than_needed_gives_the_same_sums(gain, ensemble, target, more, data):
    assume(gain.reach.shortest <= ensemble.slots)
    outputs = data.draw(outputs_of(ensemble))
    reach = type(gain.reach)(1, gain.reach.span + more)
    context = context_automaton(ensemble, reach)
    gains = gain.edge_gains(context, outputs, target)
    for path in listed_paths(ensemble):
        image = context.context_path(path)
        assert gains[image].sum() == pytest.approx(gain.utility([outputs[e] for e in path], target))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4), st.integers(0, 3), st.integers(1, 7), st.integers(1, 7))
def test_the_bounds_of_n_grams_are_reached(order, max_gap, slots, length):
    """One token repeated everywhere gains exactly the bounds of a transition and of a path."""
    gain = GappyGain((order,), discount=0.5, max_gap=max_gap)
    assume(slots >= gain.reach.span)
    context = context_automaton(Ensemble(1, slots), gain.reach)
    gains = gain.edge_gains(context, ["a"] * slots, ["a"] * length)
    assert gains.max() == pytest.approx(gain.edge_bound(length))
    assert gains.sum() == pytest.approx(gain.path_bound(slots, length))


def test_the_bound_of_a_pattern_knows_how_closely_it_can_recur():
    gain = PatternGain({("a", "b", "a"): 2.0})
    assert gain.edge_bound(7) == 2.0 * 3  # abababa
    assert gain.edge_bound(2) == 0.0
    assert PatternGain({("a", "b"): 1.0}).edge_bound(7) == 3.0


def test_patterns_of_nulls_alone_weigh_nothing_unless_asked():
    assert NgramGain(2).utility(["", "", "a"], ["", "", "a"]) == 1.0
    assert NgramGain(2, count_nulls=True).utility(["", "", "a"], ["", "", "a"]) == 2.0
    assert PatternGain({("",): 5.0, ("", "a"): 1.0}).utility(["", "a"], ["", "a"]) == 1.0
    assert GappyGain((2,), discount=1.0, max_gap=1).utility(["", "a", ""], ["", "a", ""]) == 2.0


def test_an_A_prime_that_forgets_too_much_is_refused():
    context = context_automaton(Ensemble(2, 4), NgramGain(2).reach)
    with pytest.raises(InvalidInput, match="build A' with the gain's own reach"):
        NgramGain(3).edge_gains(context, ["a"] * 8, ["a"])
    with pytest.raises(InvalidInput, match="build A' with the gain's own reach"):
        NgramGain(1).path_gains(context, ["a"] * 8, ["a"], edges(0, 4, 8))


def test_outputs_and_targets_of_the_wrong_length_are_refused():
    context = context_automaton(Ensemble(2, 3), SlotMatch().reach)
    with pytest.raises(InvalidInput, match="6 transitions and 5 outputs"):
        SlotMatch().edge_gains(context, ["a"] * 5, ["a"] * 3)
    with pytest.raises(InvalidInput, match="2 tokens for 3 slots"):
        SlotMatch().edge_gains(context, ["a"] * 6, ["a"] * 2)
    with pytest.raises(InvalidInput, match="one a slot"):
        SlotMatch().utility(["a", "b"], ["a"])


def test_an_arbitrary_gain_has_no_gains_of_transitions():
    gain = ArbitraryGain(5.0)
    assert gain.path_bound(10, 10) == 5.0
    context = context_automaton(Ensemble(2, 3), gain.reach)
    with pytest.raises(InvalidInput, match="one score for the shown path"):
        gain.edge_gains(context, ["a"] * 6, ["a"])
    with pytest.raises(InvalidInput, match="one score for the shown path"):
        gain.path_gains(context, ["a"] * 6, ["a"], edges(0))
    with pytest.raises(InvalidInput, match="cannot be computed"):
        gain.utility(["a"], ["a"])
    with pytest.raises(InvalidInput, match="is not a rational kernel"):
        rational_utility(gain, ["a"], ["a"])


def test_large_gappy_gains_on_many_tokens_agree_with_the_definition():
    """A target whose trie outgrows its first tables several times over."""
    generator = np.random.default_rng(3)
    target = [str(t) for t in generator.integers(0, 20, 300)]
    output = [str(t) for t in generator.integers(0, 20, 40)]
    gain = GappyGain((2, 4), discount=0.5, max_gap=3)
    context = context_automaton(Ensemble(1, 40), gain.reach)
    assert gain.edge_gains(context, output, target).sum() == pytest.approx(gain.utility(output, target))


def test_transitions_that_stand_for_nothing_gain_nothing():
    automaton = ExplicitAutomaton(3, 0, (1, 2), edges(0, 1), edges(1, 2), ("e1", "e2"))
    context = context_automaton(automaton, NgramGain(1).reach)
    gains = NgramGain(1).edge_gains(context, ["a", "a"], ["a"])
    assert sorted(gains.tolist()) == [0.0, 1.0, 1.0]  # the way to stop after e1 is worth nothing by itself
