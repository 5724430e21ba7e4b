"""The literal A' (OpenFst) and the direct one accept the same paths with the same gains."""

import pytest
import pywrapfst
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.literal import literal_context
from galloon.learners.automata.rewriting import ContextSymbol, RewriteRules, arcs_needed, rewrite_transducer
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.gains.occurrences import discounted_counts
from tests.learners.automata.strategies import ensembles, explicit_automata, listed_paths
from tests.learners.gains.strategies import count_gains, outputs_of, sequences

experts = st.one_of(ensembles(), explicit_automata())
rule_sets = st.builds(
    RewriteRules,
    st.lists(st.integers(1, 3), min_size=1, max_size=2, unique=True).map(tuple),
    st.integers(0, 2),
)


@settings(deadline=None, max_examples=120)
@given(count_gains, experts, sequences(7), st.data())
def test_both_constructions_give_every_path_the_gain_of_the_definition(gain, expert, target, data):
    """The additivity theorems: the symbols that a path is rewritten to carry its gain."""
    assume(not isinstance(expert, Ensemble) or gain.reach.shortest <= expert.slots)
    outputs = data.draw(outputs_of(expert))
    literal = literal_context(expert, RewriteRules(gain.lengths, gain.max_gap))
    direct = context_automaton(expert, gain.reach)
    gains = gain.edge_gains(direct, outputs, target)
    counts = discounted_counts(target, gain.lengths, gain.discount, gain.max_gap)
    for path in listed_paths(expert):
        total = 0.0
        for symbol in literal.context_symbols(path):
            pattern = tuple(outputs[e] for e in symbol.edges)
            total += gain.discount**symbol.gap * gain.weight(pattern) * counts[pattern]
        assert total == pytest.approx(gain.utility([outputs[e] for e in path], target))
        assert total == pytest.approx(gains[direct.context_path(path)].sum())


@settings(deadline=None, max_examples=80)
@given(experts, rule_sets)
def test_the_literal_A_prime_accepts_what_T_A_writes_and_nothing_else(expert, rules):
    literal = literal_context(expert, rules)
    paths = listed_paths(expert)
    written = [literal.context_symbols(path) for path in paths]
    accepted = list(literal.paths())
    assert len(accepted) == len(set(accepted))
    assert set(accepted) == set(written)
    # Paths are rewritten differently, but for those too short for any symbol, which the paper makes one.
    short = sum(len(symbols) == 0 for symbols in written)
    assert len(accepted) == len(paths) - max(0, short - 1)
    machine = literal.machine
    assert machine.properties(pywrapfst.I_DETERMINISTIC, True) == pywrapfst.I_DETERMINISTIC
    assert machine.properties(pywrapfst.NO_EPSILONS, True) == pywrapfst.NO_EPSILONS


@settings(deadline=None, max_examples=60)
@given(experts, rule_sets)
def test_the_symbols_written_together_are_those_of_one_direct_transition(expert, rules):
    """One direct transition stands for all occurrences that end at the last transition of its window."""
    span = max(n + (rules.max_gap if n > 1 else 0) for n in rules.lengths)
    reach = Reach(min(rules.lengths), span)
    assume(not isinstance(expert, Ensemble) or reach.shortest <= expert.slots)
    direct = context_automaton(expert, reach)
    transducer = rewrite_transducer(expert.explicit(), rules)
    for path in listed_paths(expert):
        together = [
            symbol
            for edge in direct.context_path(path).tolist()
            if len(direct.window(edge)) >= reach.shortest
            for symbol in rules.written(direct.window(edge))
        ]
        assert tuple(together) == transducer.context_symbols(path)


@pytest.mark.parametrize(("r", "n", "l"), [(2, 2, 6), (3, 3, 12), (2, 4, 9), (4, 2, 5), (1, 3, 7)])
def test_n_gram_sizes_are_those_of_the_closed_form_and_of_the_direct_A_prime(r, n, l):
    literal = literal_context(Ensemble(r, l), RewriteRules((n,)))
    direct = context_automaton(Ensemble(r, l), Reach(n, n))
    assert literal.transition_count == direct.transition_count == r**n * (l - n + 1)
    assert literal.state_count == direct.state_count == 2 + r ** (n - 1) * (l - n)


@pytest.mark.parametrize(
    ("r", "n", "k", "l", "literal", "compact"), [(2, 2, 1, 8, 96, 48), (2, 3, 2, 8, 784, 128)]
)
def test_gappy_sizes_show_what_the_direct_A_prime_saves(r, n, k, l, literal, compact):
    """The direct one remembers as much but carries sums; its head is kept, which costs a few transitions more."""
    assert literal_context(Ensemble(r, l), RewriteRules((n,), k)).transition_count == literal
    head = sum(r**i for i in range(n, n + k))
    assert context_automaton(Ensemble(r, l), Reach(n, n + k)).transition_count == compact + head


@settings(deadline=None, max_examples=60)
@given(experts, rule_sets, st.booleans())
def test_the_size_of_T_A_is_known_beforehand(expert, rules, complete):
    explicit = expert.explicit()
    transducer = rewrite_transducer(explicit, rules, complete=complete)
    machine = transducer.machine
    arcs = sum(machine.num_arcs(state) for state in machine.states())
    assert arcs <= arcs_needed(explicit, rules, complete=complete)
    assert len(transducer.memories) <= machine.num_states()


def test_too_large_a_transducer_is_refused_by_arithmetic():
    with pytest.raises(BudgetExceeded, match="arcs of T_A"):
        literal_context(Ensemble(20, 100), RewriteRules((5,)))
    with pytest.raises(BudgetExceeded, match="arcs of T_A"):
        literal_context(Ensemble(1, 100), RewriteRules((40,), 40))


def test_what_is_no_path_is_refused():
    literal = literal_context(Ensemble(2, 3), RewriteRules((2,)))
    with pytest.raises(InvalidInput, match="transition 1 at step 2 does not continue"):
        literal.context_symbols([0, 1])
    with pytest.raises(InvalidInput, match="not an accepting path"):
        literal.context_symbols([0, 2])
    assert not literal.accepts([ContextSymbol((0, 5), 0)])


@pytest.mark.parametrize(("lengths", "gap"), [((), 0), ((0,), 0), ((2,), -1)])
def test_rules_without_a_pattern_are_refused(lengths, gap):
    with pytest.raises(InvalidInput, match="pattern lengths from 1 on"):
        RewriteRules(lengths, gap)
