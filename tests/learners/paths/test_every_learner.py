"""Every learner passes the shared suite, on every sort of automaton, with known, unknown and fixed rates."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from tests.learners.paths import checks
from tests.learners.paths.subjects import CASES, KINDS, Subject

TANGLE = ExplicitAutomaton(  # parallel transitions, unequal lengths, a final state with ways onward
    5,
    0,
    (2, 4),
    np.array([0, 0, 0, 1, 2, 2, 3, 1], dtype=np.int32),
    np.array([1, 1, 2, 2, 3, 4, 4, 4], dtype=np.int32),
    tuple("abcdefgh"),
)
AUTOMATA = {
    "2x4 reach 1": (Ensemble(2, 4), Reach(1, 1)),
    "2x4 reach 2": (Ensemble(2, 4), Reach(2, 2)),
    "2x5 reach 3": (Ensemble(2, 5), Reach(3, 3)),
    "3x3 reach 1 to 3": (Ensemble(3, 3), Reach(1, 3)),
    "2x4 reach 2 to 3": (Ensemble(2, 4), Reach(2, 3)),
    "1x3 reach 2": (Ensemble(1, 3), Reach(2, 2)),
    "tangle reach 1": (TANGLE, Reach(1, 1)),
    "tangle reach 2": (TANGLE, Reach(2, 2)),
    "tangle reach 1 to 3": (TANGLE, Reach(1, 3)),
    "2x4 written out, reach 2": (Ensemble(2, 4).explicit(), Reach(2, 2)),
}
RATES = {"known horizon": (("horizon", 50),), "self-tuning": (), "fixed": (("learning_rate", 1.5),)}


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("automaton", AUTOMATA)
@pytest.mark.parametrize("kind", KINDS)
def test_shared_suite(kind, automaton, check):
    expert, reach = AUTOMATA[automaton]
    rates = list(RATES.values())
    check(Subject(kind, expert, reach, rates[list(AUTOMATA).index(automaton) % len(rates)]))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", KINDS)
def test_updates_are_the_definition_on_random_automata(kind, rate):
    """Dozens of automata for each learner and each sort of rate, hundreds for all."""

    @settings(deadline=None, max_examples=20, derandomize=True, database=None)
    @given(CASES, st.integers(0, 2**32))
    def holds(case, seed):
        expert, reach = case
        assume(2 <= expert.path_count <= 100)
        checks.check_updates_are_the_definition(Subject(kind, expert, reach, RATES[rate]), seed=seed)

    holds()
