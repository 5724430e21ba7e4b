"""The two constructions of A' agree, and where they were made to differ, that is noticed with an example."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from galloon.learners.automata.agreement import BothWays, build_both, find_difference, rules_of, written_by
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.literal import literal_context
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.gains.arbitrary import ArbitraryGain
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.slot_match import SlotMatch
from tests.learners.automata.strategies import explicit_automata
from tests.learners.automata.test_paper_examples import EXAMPLE

GAINS = [NgramGain(2), NgramGain(3), GappyGain((2,), max_gap=1), GappyGain((2, 3), max_gap=2), SlotMatch()]


@pytest.mark.parametrize("gain", GAINS, ids=lambda gain: type(gain).__name__)
@pytest.mark.parametrize(
    "expert", [Ensemble(2, 4), Ensemble(2, 4).explicit(), Ensemble(1, 5), Ensemble(3, 3)]
)
def test_ensembles(expert, gain):
    both = build_both(expert, gain)
    assert both.agree
    assert both.difference is None


@given(explicit_automata(), st.sampled_from(GAINS))
def test_any_automaton(expert, gain):
    assert build_both(expert, gain).agree


def test_the_papers_example_in_both_sizes():
    both = build_both(EXAMPLE, NgramGain(2))
    assert both.agree
    assert (both.literal.transition_count, both.direct.transition_count) == (3, 3)


def test_another_context_is_noticed_with_an_example():
    """The direct A' of trigrams is not the literal one of bigrams."""
    expert = Ensemble(2, 3)
    literal = literal_context(expert, rules_of(NgramGain(2)))
    other = context_automaton(expert, NgramGain(3).reach)
    wrong = written_by(other, literal.transducer)
    both = BothWays(literal, other, wrong, find_difference(literal, wrong))
    assert not both.agree
    assert both.difference is not None
    assert all(symbol.startswith("#h") for symbol in both.difference)


def test_what_counts_no_patterns_has_no_rules():
    with pytest.raises(InvalidInput, match="no rewrite rules"):
        rules_of(ArbitraryGain(1.0))


def test_size_is_refused_by_arithmetic():
    with pytest.raises(BudgetExceeded):
        build_both(Ensemble(9, 50), NgramGain(6))
