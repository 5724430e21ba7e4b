"""What a round remembers, and what it takes to learn it, has a budget by arithmetic before any of it is made."""

import tracemalloc

import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.errors import BudgetExceeded
from galloon.learners.observation import Utterance
from galloon.learners.paths import game
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.catalogue import NAMES

ENGINES = tuple(f"engine-{number}" for number in range(24))
PATHS = [name for name in ALGORITHMS if name != "tied"]


def slots(count: int) -> Utterance:
    return Utterance.of_slots("long", {name: [f"w{slot}" for slot in range(count)] for name in ENGINES})


@pytest.mark.parametrize("name", NAMES)
def test_no_memory_is_larger_than_was_said(name):
    """For every learner, drawn or best."""
    learner = make_learner(name, Ensemble(3, 4), Reach(2, 2), Making(1.0, 3.0))
    for choice in (*(learner.choose(number) for number in range(5)), learner.choose_best()):
        memory = choice.memory
        assert 4 * memory.edges.size + 8 * memory.numbers.size <= learner.memory_bytes()


@pytest.mark.parametrize("name", PATHS)
def test_an_utterance_over_the_budget_is_refused_before_memory_is_spent(name):
    """Three-grams of 24 engines have 13,824 ends of a window of three: 4,096 slots would take 150 MB and more."""
    made = build(CombinerSpec(ENGINES, name, {"kind": "ngram", "order": 3}, window=3), 2_000_000)
    utterance = slots(4096)
    made.choose(slots(30), 0)
    tracemalloc.start()
    with pytest.raises(BudgetExceeded, match="allowed; cut the utterance"):
        made.choose(utterance, 1)
    spent = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spent < 8_000_000


def test_what_every_transition_is_divided_by_counts(monkeypatch):
    """The semi-bandit learner remembers the flow of every transition in every window."""
    monkeypatch.setattr(game, "ROUND_BYTES", 100_000)
    spec = CombinerSpec(ENGINES, "semi_bandit", {"kind": "ngram", "order": 2}, window=4)
    made = build(spec, 2_000_000)
    made.choose(slots(4), 0)
    with pytest.raises(BudgetExceeded, match="bytes that a round remembers"):
        made.choose(slots(40), 1)
