"""The examples of the paper, by their facts."""

import numpy as np
import pytest

from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.automata.literal import literal_context
from galloon.learners.automata.rewriting import ContextSymbol, RewriteRules, rewrite_transducer
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.occurrences import discounted_counts
from tests.learners.automata.strategies import edges

# e1 and e2 leave the initial state; e1 is followed by e3 or e4, e2 by e5; all end in the final state.
EXAMPLE = ExplicitAutomaton(
    4, 0, (3,), edges(0, 0, 1, 1, 2), edges(1, 2, 3, 3, 3), ("e1", "e2", "e3", "e4", "e5")
)


def test_figure_A_has_one_initial_state_unique_names_and_accepting_paths():
    assert EXAMPLE.path_count == 3
    assert {tuple(EXAMPLE.edge_name(e) for e in path) for path in EXAMPLE.paths()} == {
        ("e1", "e3"),
        ("e1", "e4"),
        ("e2", "e5"),
    }


def test_figure_T_A_inserts_e1e3_when_both_are_found_consecutively_and_nothing_otherwise():
    transducer = rewrite_transducer(EXAMPLE, RewriteRules((2,)), complete=True)

    def written(*names):
        path = [EXAMPLE.names.index(name) for name in names]
        return [transducer.symbol_name(symbol) for symbol in transducer.context_symbols(path)]

    assert written("e1", "e3") == ["#e1e3"]
    assert written("e1") == written("e3", "e1") == written("e1", "e5") == written() == []
    assert written("e2", "e1", "e3", "e2", "e5") == ["#e1e3", "#e2e5"]


def test_figure_A_prime_has_a_transition_for_each_bigram_of_transitions():
    literal = literal_context(EXAMPLE, RewriteRules((2,)))
    names = {literal.transducer.symbol_name(s) for path in literal.paths() for s in path}
    assert names == {"#e1e3", "#e1e4", "#e2e5"}
    direct = context_automaton(EXAMPLE, NgramGain(2).reach)
    assert direct.transition_count == literal.transition_count == 3


def test_figure_out_A_prime_with_the_target_aba():
    """Theta(aba) = [0, 1, 1, 0] for aa, ab, ba, bb, and these are the gains of the transitions."""
    ensemble = Ensemble(2, 2)
    context = context_automaton(ensemble, NgramGain(2).reach)
    outputs = ["a", "b", "a", "b"]  # in each slot the first expert says a, the second b
    gains = NgramGain(2).edge_gains(context, outputs, list("aba"))
    by_bigram = {
        "".join(outputs[e] for e in context.window(edge)): gains[edge]
        for edge in range(context.transition_count)
    }
    assert [by_bigram[p] for p in ("aa", "ab", "ba", "bb")] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("discount", [0.0, 0.3, 1.0])
def test_gappy_occurrences_of_aab_in_babbaabaa(discount):
    counts = discounted_counts("babbaabaa", [3], discount, max_gap=6)
    assert counts["a", "a", "b"] == pytest.approx(1 + 2 * discount**3)
    gain = GappyGain(patterns={("a", "a", "b"): 1.0}, discount=discount, max_gap=6)
    context = context_automaton(Ensemble(1, 9), gain.reach)
    assert gain.edge_gains(context, list("babbaabaa"), list("aab")).sum() == pytest.approx(
        1 + 2 * discount**3
    )


def test_five_transitions_are_rewritten_to_ten_gappy_trigrams():
    literal = literal_context(Ensemble(1, 5), RewriteRules((3,), 2))
    symbols = literal.context_symbols(range(5))
    assert len(symbols) == 10
    expected = {
        *(ContextSymbol(e, 0) for e in [(0, 1, 2), (1, 2, 3), (2, 3, 4)]),
        *(ContextSymbol(e, 1) for e in [(0, 1, 3), (0, 2, 3), (1, 2, 4), (1, 3, 4)]),
        *(ContextSymbol(e, 2) for e in [(0, 1, 4), (0, 3, 4), (0, 2, 4)]),
    }
    assert set(symbols) == expected
    # The direct A' has one transition for each token from the third on, erratum 7.
    assert context_automaton(Ensemble(1, 5), GappyGain((3,), max_gap=2).reach).longest_path == 3


def test_the_4_gram_gain_of_he_would_like_to_eat_cake_is_not_additive_on_A_but_on_A_prime():
    first = "He would like to have tea".split()
    second = "She would love to drink chai".split()
    target = "He would like to eat cake".split()
    outputs = [token for pair in zip(first, second, strict=True) for token in pair]
    gain = NgramGain(4)

    def utility(*experts):
        return gain.utility([outputs[2 * slot + expert] for slot, expert in enumerate(experts)], target)

    plain, she, love, both = (0,) * 6, (1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0), (1, 0, 1, 0, 0, 0)
    assert utility(*plain) == 1.0
    assert utility(*she) == utility(*love) == utility(*both) == 0.0
    assert utility(*plain) + utility(*both) != utility(*she) + utility(
        *love
    )  # an additive gain would be equal
    context = context_automaton(Ensemble(2, 6), gain.reach)
    gains = gain.edge_gains(context, outputs, target)
    for experts in (plain, she, love, both):
        path = edges(*(2 * slot + expert for slot, expert in enumerate(experts)))
        assert gains[context.context_path(path)].sum() == utility(*experts)
    positive = {tuple(outputs[e] for e in context.window(int(edge))) for edge in np.flatnonzero(gains)}
    assert positive == {("He", "would", "like", "to")}
