"""The direct A': the paths of A, one to one, with push, flows, sampling and best path as by enumeration."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.errors import BudgetExceeded, InvalidInput
from tests.learners.automata.strategies import (
    edges,
    ensembles,
    explicit_automata,
    listed_paths,
    log_weights,
    reaches,
)
from tests.reference.path_law import can_reach, distance_from, path_law

SEEDS = st.integers(0, 2**32)
experts = st.one_of(ensembles(), explicit_automata())


def built(expert, reach):
    if isinstance(expert, Ensemble):
        assume(reach.shortest <= expert.slots)
    return context_automaton(expert, reach)


@settings(deadline=None, max_examples=120)
@given(experts, reaches())
def test_paths_of_A_and_of_A_prime_are_one_to_one(expert, reach):
    context = built(expert, reach)
    paths = listed_paths(expert)
    images = [context.context_path(path) for path in paths]
    assert len({tuple(image.tolist()) for image in images}) == len(paths) == context.path_count
    for path, image in zip(paths, images, strict=True):
        assert context.expert_path(image).tolist() == path.tolist()
        assert len(image) <= context.longest_path
        assert int(context.emitted(image).sum()) == len(path)
    sources, targets = context.source_targets()
    assert {tuple(i.tolist()) for i in images} == set(
        path_law(sources, targets, np.zeros(len(sources))).paths
    )


@settings(deadline=None, max_examples=60)
@given(experts, reaches())
def test_windows_are_the_last_transitions_of_the_path(expert, reach):
    context = built(expert, reach)
    for path in listed_paths(expert):
        seen = 0
        image = context.context_path(path)
        for edge, emitted in zip(image.tolist(), context.emitted(image).tolist(), strict=True):
            seen += emitted
            window = context.window(edge)
            if emitted:
                assert window == tuple(path.tolist()[max(0, seen - context.reach.span) : seen])
            else:
                assert window == ()


@settings(deadline=None, max_examples=80)
@given(experts, reaches(), SEEDS)
def test_push_gives_the_flows_and_the_total_of_the_enumerated_law(expert, reach, seed):
    context = built(expert, reach)
    weights = log_weights(seed, context.transition_count)
    law = path_law(*context.source_targets(), weights)
    pushed = context.push(weights)
    assert pushed.log_total == pytest.approx(law.log_total, abs=1e-11)
    np.testing.assert_allclose(pushed.flows, law.flows, rtol=1e-10, atol=1e-14)
    through = context.state_flows(pushed.flows)
    assert through[0] == 1.0
    assert through[-1] == pytest.approx(1.0)


@settings(deadline=None, max_examples=40)
@given(experts, reaches(), SEEDS, st.sampled_from([1e2, 1e4, 1e6]))
def test_push_survives_weights_that_lie_many_orders_of_magnitude_apart(expert, reach, seed, scale):
    context = built(expert, reach)
    weights = log_weights(seed, context.transition_count, scale)
    pushed = context.push(weights)
    law = path_law(*context.source_targets(), weights)
    assert np.isfinite(pushed.flows).all()
    assert pushed.log_total == pytest.approx(law.log_total, rel=1e-13)
    np.testing.assert_allclose(pushed.flows, law.flows, rtol=1e-6 * max(1, scale / 1e4), atol=1e-12)


def test_push_on_3_to_the_40_paths_stays_finite_and_exact():
    """The total of uniform weights is the number of paths, far beyond enumeration."""
    context = context_automaton(Ensemble(3, 40), Reach(3, 3))
    pushed = context.push(np.zeros(context.transition_count))
    assert pushed.log_total == pytest.approx(40 * np.log(3), rel=1e-14)
    np.testing.assert_allclose(pushed.flows, 1 / 27, rtol=1e-13)


@settings(deadline=None, max_examples=60)
@given(experts, reaches(), SEEDS)
def test_best_path_is_the_best_of_all(expert, reach, seed):
    context = built(expert, reach)
    values = log_weights(seed, context.transition_count)
    path, value = context.best_path(values)
    law = path_law(*context.source_targets(), values)
    assert tuple(path.tolist()) in law.paths
    assert value == pytest.approx(law.sums.max())
    assert values[path].sum() == pytest.approx(value)


@settings(deadline=None, max_examples=40)
@given(experts, reaches(), SEEDS)
def test_the_walk_takes_the_path_whose_share_of_the_unit_interval_each_number_hits(expert, reach, seed):
    """The twin of sample: at each state the first transition whose cumulated flow exceeds the number."""
    context = built(expert, reach)
    flows = context.push(log_weights(seed, context.transition_count)).flows
    uniforms = np.random.default_rng(seed).random(context.longest_path)
    sources, targets = context.source_targets()
    state, expected = 0, []
    while state != context.state_count - 1:
        leaving = np.flatnonzero(sources == state)
        shares = np.cumsum(flows[leaving])
        chosen = leaving[np.searchsorted(shares, uniforms[len(expected)] * shares[-1], side="right")]
        expected.append(int(chosen))
        state = int(targets[chosen])
    assert context.sample(flows, uniforms).tolist() == expected


def test_sampling_frequencies_agree_with_the_law():
    context = context_automaton(Ensemble(2, 3), Reach(2, 2))
    weights = log_weights(5, context.transition_count, 1.0)
    law = path_law(*context.source_targets(), weights)
    flows = context.push(weights).flows
    generator = np.random.default_rng(1)
    seen = dict.fromkeys(law.paths, 0)
    draws = 20_000
    for _ in range(draws):
        seen[tuple(context.sample(flows, generator.random(context.longest_path)).tolist())] += 1
    for path, probability in zip(law.paths, law.probabilities, strict=True):
        deviation = np.sqrt(probability * (1 - probability) / draws)
        assert abs(seen[path] / draws - probability) < 5 * deviation


def test_sampling_takes_the_last_possible_transition_when_rounding_leaves_a_rest():
    context = context_automaton(Ensemble(3, 1), Reach(1, 1))
    assert context.sample(np.array([0.5, 0.5, 0.0]), np.array([1.0])).tolist() == [1]
    graph = context_automaton(Ensemble(3, 1).explicit(), Reach(1, 1))
    assert graph.sample(np.array([0.5, 0.5, 0.0]), np.array([1.0])).tolist() == [1]


@settings(deadline=None, max_examples=60)
@given(ensembles(), reaches())
def test_index_arithmetic_and_the_written_out_automaton_have_the_same_size(ensemble, reach):
    assume(reach.shortest <= ensemble.slots)
    implicit, written = context_automaton(ensemble, reach), context_automaton(ensemble.explicit(), reach)
    assert implicit.transition_count == written.transition_count
    assert implicit.state_count == written.state_count


@pytest.mark.parametrize(
    ("r", "n", "l"), [(2, 2, 6), (3, 3, 20), (4, 4, 40), (6, 4, 60), (1, 3, 5), (2, 3, 3)]
)
def test_the_sizes_of_the_ensemble_are_those_of_the_closed_form(r, n, l):
    """M = r^n (l - n + 1), Q = 2 + r^(n-1) (l - n): the paper's Q is wrong (erratum 1)."""
    context = context_automaton(Ensemble(r, l), Reach(n, n))
    assert context.transition_count == r**n * (l - n + 1)
    assert context.state_count == 2 + r ** (n - 1) * (l - n)
    assert context.longest_path == l - n + 1


@settings(deadline=None, max_examples=80)
@given(explicit_automata(), reaches())
def test_padding_makes_paths_equally_long_and_changes_nothing_else(automaton, reach):
    context = context_automaton(automaton, reach)
    padded = context.padded()
    assert padded.equal_lengths
    assert padded.longest_path == context.longest_path
    assert padded.path_count == context.path_count
    for path in listed_paths(automaton):
        image = padded.context_path(path)
        assert len(image) == padded.longest_path
        assert padded.expert_path(image).tolist() == path.tolist()
        windows = [padded.window(e) for e in image.tolist()]
        original = [context.window(e) for e in context.context_path(path).tolist()]
        assert [w for w in windows if w] == [w for w in original if w]
    assert padded.transition_count <= context.transition_count + max(0, context.longest_path - 2) * max(
        0, context.state_count - 2
    ) + max(0, context.longest_path - 1)


@settings(deadline=None, max_examples=80)
@given(explicit_automata(), reaches(), SEEDS, st.data())
def test_an_incremental_push_has_the_bits_of_a_full_one_and_visits_only_what_it_must(
    automaton, reach, seed, data
):
    context = context_automaton(automaton, reach)
    weights = log_weights(seed, context.transition_count)
    distances = context.distances(weights)
    changed = data.draw(st.lists(st.integers(0, context.transition_count - 1), max_size=4, unique=True))
    weights[changed] += 0.5
    visited = context.redistances(weights, edges(*changed), distances)
    assert (distances == context.distances(weights)).all()
    sources, targets = context.source_targets()
    assert visited <= len(can_reach(sources, targets, changed))
    assert context.redistances(weights, edges(*changed), distances) <= len({int(sources[e]) for e in changed})


@settings(deadline=None, max_examples=40)
@given(explicit_automata(), reaches(), SEEDS)
def test_distances_are_the_log_sums_over_all_ways_to_the_sink(automaton, reach, seed):
    context = context_automaton(automaton, reach)
    weights = log_weights(seed, context.transition_count)
    sources, targets = context.source_targets()
    expected = [distance_from(sources, targets, weights, s) for s in range(context.state_count)]
    np.testing.assert_allclose(context.distances(weights), expected, rtol=1e-12, atol=1e-12)


def test_a_weight_of_minus_infinity_closes_a_transition():
    context = context_automaton(Ensemble(2, 2).explicit(), Reach(1, 1))
    pushed = context.push(np.array([0.0, -np.inf, 0.0, 0.0]))
    assert pushed.flows.tolist() == [1.0, 0.0, 0.5, 0.5]


@settings(deadline=None, max_examples=60)
@given(ensembles(), reaches())
def test_newest_is_the_last_transition_of_each_window(ensemble, reach):
    assume(reach.shortest <= ensemble.slots)
    context = context_automaton(ensemble, reach)
    assert context.newest().tolist() == [context.window(e)[-1] for e in range(context.transition_count)]


def test_too_large_an_A_prime_is_refused_before_it_is_built():
    with pytest.raises(BudgetExceeded, match="transitions of A'"):
        context_automaton(Ensemble(64, 4096), Reach(6, 6))
    with pytest.raises(BudgetExceeded, match="transitions of A'"):
        context_automaton(Ensemble(64, 400).explicit(), Reach(6, 6))


def test_patterns_that_never_fit_are_refused():
    with pytest.raises(InvalidInput, match="never fit into 3 slots"):
        context_automaton(Ensemble(2, 3), Reach(4, 4))
    with pytest.raises(InvalidInput, match="1 <= shortest <= span"):
        Reach(3, 2)


@pytest.mark.parametrize("path", [[], [0, 1], [0, 3, 4], [0, 2, 9], [0, 2, 4, 5]])
@pytest.mark.parametrize("explicit", [False, True])
def test_what_is_no_path_of_A_is_refused(path, explicit):
    ensemble = Ensemble(2, 3)
    context = context_automaton(ensemble.explicit() if explicit else ensemble, Reach(2, 2))
    if path == [0, 3, 4]:  # one of each slot: this one is a path
        assert context.expert_path(context.context_path(edges(*path))).tolist() == path
        return
    with pytest.raises(InvalidInput, match=r"not a path|not an accepting path"):
        context.context_path(edges(*path))


def test_an_accepting_path_without_transitions_is_a_path_of_A_prime_too():
    automaton = ExplicitAutomaton(2, 0, (0, 1), edges(0), edges(1), ("e1",))
    context = context_automaton(automaton, Reach(2, 2))
    assert context.path_count == 2
    assert context.expert_path(context.context_path(edges())).tolist() == []


def test_very_long_paths_need_no_recursion():
    long = Ensemble(1, 1300).explicit()
    assert len(next(long.paths())) == 1300
    context = context_automaton(long, Reach(1200, 1200))
    assert context.longest_path == 101


def test_no_more_is_remembered_than_a_path_has():
    context = context_automaton(Ensemble(2, 3).explicit(), Reach(10**9, 10**9))
    assert context.path_count == 8
    assert context.reach == Reach(4, 4)
