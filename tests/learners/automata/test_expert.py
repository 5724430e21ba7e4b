"""Expert automata check themselves, count and list their paths, and say what is wrong and where."""

import pytest
from hypothesis import given, settings

from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.errors import BudgetExceeded, InvalidInput
from tests.learners.automata.strategies import edges, ensembles, explicit_automata


def automaton(states=3, initial=0, finals=(2,), sources=(0, 1), targets=(1, 2), names=("a", "b")):
    return ExplicitAutomaton(states, initial, finals, edges(*sources), edges(*targets), names)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"finals": ()}, "is empty"),
        ({"states": 0, "finals": (0,), "sources": (), "targets": (), "names": ()}, "is empty"),
        ({"names": ("a",)}, "differ in length"),
        ({"targets": (1, 3)}, "state 3 does not exist: states are 0 to 2"),
        ({"initial": -1}, "state -1 does not exist"),
        ({"finals": (7,)}, "state 7 does not exist"),
        ({"names": ("a", "")}, r"transition 1 \(state 1 to 2\) has no name"),
        ({"names": ("a", "a")}, r"'a' stands on two transitions \(from states 0 and 1\)"),
        (
            {"targets": (1, 0)},
            "cycle through transition 'b' .state 1 to 0|cycle through transition 'a' .state 0 to 1",
        ),
        (
            {"sources": (0, 1, 2), "targets": (1, 2, 2), "names": ("a", "b", "c")},
            "cycle through transition 'c' .state 2 to 2",
        ),
        ({"states": 4}, "state 3 cannot be reached from the initial state 0"),
        ({"initial": 1}, "state 0 cannot be reached from the initial state 1"),
        (
            {"states": 4, "sources": (0, 1, 1), "targets": (1, 2, 3), "names": ("a", "b", "c")},
            "from state 3; remove",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(change, message):
    with pytest.raises(InvalidInput, match=message):
        automaton(**change)


@pytest.mark.parametrize(("experts", "slots"), [(0, 3), (2, 0), (-1, 1)])
def test_an_ensemble_without_experts_or_slots_is_refused(experts, slots):
    with pytest.raises(InvalidInput, match="at least one expert and one slot"):
        Ensemble(experts, slots)


@settings(deadline=None, max_examples=60)
@given(explicit_automata())
def test_the_path_count_is_the_number_of_listed_paths(expert):
    paths = list(expert.paths())
    assert len(paths) == len(set(paths)) == expert.path_count
    assert max(map(len, paths)) == expert.longest_path
    for path in paths:
        state = expert.initial
        for edge in path:
            assert expert.sources[edge] == state
            state = expert.targets[edge]
        assert expert.is_final(int(state))


@settings(deadline=None, max_examples=30)
@given(ensembles())
def test_an_ensemble_written_out_is_the_same_automaton(ensemble):
    explicit = ensemble.explicit()
    assert explicit.path_count == ensemble.path_count
    assert explicit.longest_path == ensemble.longest_path
    assert explicit.edge_count == ensemble.edge_count
    assert explicit.edge_slots.tolist() == ensemble.edge_slots.tolist()
    assert [ensemble.edge_name(e) for e in range(ensemble.edge_count)] == list(explicit.names)


def test_path_counts_are_exact_beyond_machine_numbers():
    assert Ensemble(3, 100).path_count == Ensemble(3, 100).explicit().path_count == 3**100


def test_listing_too_many_paths_is_refused_beforehand():
    with pytest.raises(BudgetExceeded, match="paths to list"):
        Ensemble(10, 10).paths()


def test_slots_need_ways_of_equal_length():
    skipping = automaton(sources=(0, 1, 0), targets=(1, 2, 2), names=("a", "b", "c"))
    with pytest.raises(InvalidInput, match="state 2 is reached after"):
        _ = skipping.edge_slots
