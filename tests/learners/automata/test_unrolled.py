"""Automata with cycles: unrolled, they have exactly the paths up to a length."""

from itertools import product

import numpy as np
import pytest

from galloon.learners.automata.att_text import read_graph
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.automata.unrolled import unroll
from galloon.learners.errors import BudgetExceeded, InvalidInput

LOOPS = "0 1 a\n1 0 b\n1 1 c\n1 2 d\n2 1 e\n1\n2\n"


def walks(graph, longest):
    """Every sequence of transitions up to a length that leads from the initial to a final state."""
    found = set()
    for length in range(longest + 1):
        for edges in product(range(graph.edge_count), repeat=length):
            state = graph.initial
            for edge in edges:
                if graph.sources[edge] != state:
                    break
                state = int(graph.targets[edge])
            else:
                if graph.is_final(state):
                    found.add(tuple(f"{graph.names[edge]}@{step}" for step, edge in enumerate(edges, 1)))
    return found


@pytest.mark.parametrize("longest", range(1, 7))
def test_the_paths_are_those_up_to_the_length_each_once(longest):
    graph = read_graph(LOOPS)
    unrolled = unroll(graph, longest)
    paths = [tuple(unrolled.names[edge] for edge in path) for path in unrolled.paths()]
    assert len(set(paths)) == len(paths)
    assert set(paths) == walks(graph, longest)


def test_an_acyclic_automaton_is_unrolled_to_its_own_paths():
    graph = read_graph("0 1 a\n0 2 b\n1 2 c\n2\n")
    unrolled = unroll(graph, 9)
    assert {tuple(unrolled.names[edge] for edge in path) for path in unrolled.paths()} == walks(graph, 9)


def test_what_cannot_be_is_refused_in_words():
    with pytest.raises(InvalidInput, match="no path of at most 1 transitions reaches a final state; allow 2"):
        unroll(read_graph("0 1 a\n1 2 b\n2 0 c\n2\n"), 1)
    with pytest.raises(InvalidInput, match="at least 1 is needed"):
        unroll(read_graph(LOOPS), 0)


def test_a_length_that_makes_it_too_large_is_refused_before_it_is_made():
    loops = "".join(f"0 0 x{i}\n" for i in range(100)) + "0\n"
    with pytest.raises(BudgetExceeded, match="transitions of the automaton"):
        unroll(read_graph(loops), 10**6, AutomatonLimits(arcs=1000))


def test_states_that_lead_nowhere_are_left_out():
    unrolled = unroll(read_graph("0 1 a\n0 2 b\n2 2 c\n1\n"), 3)
    assert unrolled.names == ("a@1",)
    assert np.array_equal(unrolled.finals, [1])
