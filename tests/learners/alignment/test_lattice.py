"""Lattices and n-best lists: their tokens in slots, with the probability that the engine gives them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment import (
    AlignmentSettings,
    align,
    align_target,
    heard_alternatives,
    slot_posteriors,
)
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.observation import ExpertOutput, Hypothesis, Lattice, Utterance, Word
from galloon.learners.unit import CHAR
from tests.reference.more_experts import support, with_alternatives


def words(text):
    return tuple(Word(word) for word in text.split())


def lattice(states, finals, *arcs, times=None):
    sources, targets, texts, probabilities = zip(*arcs, strict=True)
    return Lattice(
        states,
        0,
        finals,
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        texts,
        np.log(probabilities),
        None if times is None else np.array(times),
    )


# "call me" or "called", "fall be"; the middle silent arc is an epsilon.
GRAPH = lattice(
    5,
    (4,),
    (0, 1, "Call", 0.6),
    (0, 1, "fall", 0.1),
    (0, 3, "called", 0.3),
    (1, 2, "", 1.0),
    (2, 3, "me", 0.75),
    (2, 3, "be", 0.25),
    (3, 4, "ishmael", 1.0),
)


def heard(graph=GRAPH, nbest=()):
    first = ExpertOutput("a", words("call me ishmael"), nbest=nbest, lattice=graph)
    return Utterance("u", (first, ExpertOutput("b", words("fall me ishmael"))))


def test_posteriors_fall_into_the_slots_of_like_words():
    utterance = heard()
    found = slot_posteriors(align(utterance), utterance.outputs[0])
    rows = [dict(zip(found.tokens, row, strict=True)) for row in found.probabilities]
    assert rows[0] == pytest.approx({"call": 0.6, "fall": 0.1, "called": 0.3, "me": 0, "be": 0, "ishmael": 0})
    assert rows[1] == pytest.approx(
        {"me": 0.525, "be": 0.175, "call": 0, "fall": 0, "called": 0, "ishmael": 0}
    )
    assert rows[2]["ishmael"] == pytest.approx(1.0)


def test_alternatives_are_experts_of_their_own_best_first():
    utterance = heard()
    network = with_alternatives(align(utterance), utterance, 3)
    assert network.experts == ("a", "b", "a#2", "a#3")
    texts = [[network.vocabulary[t] for t in row] for row in network.tokens]
    assert texts == [
        ["call", "fall", "called", "fall"],
        # Null is an alternative too: "called" leaves the second slot empty.
        ["me", "me", "", "be"],
        # Nothing else is offered: the expert's own token, which is certain.
        ["ishmael", "ishmael", "ishmael", "ishmael"],
    ]
    np.testing.assert_allclose(network.confidences[:, 2:], [[0.3, 0.1], [0.3, 0.175], [1.0, 1.0]])
    assert network.vocabulary == ("", *sorted(network.vocabulary[1:]))


def test_support_says_how_probable_every_experts_token_is():
    utterance = heard()
    network = align(utterance)
    found = support(network, slot_posteriors(network, utterance.outputs[0]))
    np.testing.assert_allclose(found, [[0.6, 0.1], [0.525, 0.525], [1.0, 1.0]])


def test_an_n_best_list_counts_by_score_or_else_by_rank():
    scored = (
        Hypothesis(words("call me ishmael"), np.log(0.75)),
        Hypothesis(words("call be ishmael"), np.log(0.25)),
    )
    by_score = heard(None, scored)
    network = with_alternatives(align(by_score), by_score, 2)
    assert network.vocabulary[network.tokens[1, 2]] == "be"
    np.testing.assert_allclose(network.confidences[1, 2], 0.25)
    equal = tuple(replace(hypothesis, score=0.0) for hypothesis in scored)
    by_rank = heard(None, equal)
    np.testing.assert_allclose(with_alternatives(align(by_rank), by_rank, 2).confidences[1, 2], 1 / 3)


def test_times_of_the_lattice_find_the_slot():
    """Of two slots that fit alike, the one at that time: here the engine's own words tell the slots' times."""
    own = (Word("ox", None, 0.0, 1.0), Word("ox", None, 1.0, 2.0))
    for start, slot in ((0.0, 0), (1.0, 1)):
        graph = lattice(2, (1,), (0, 1, "oak", 1.0), times=[start, start + 1.0])
        utterance = Utterance("u", (ExpertOutput("a", own, lattice=graph),))
        found = slot_posteriors(align(utterance), utterance.outputs[0])
        assert found.probabilities[:, 0].tolist() == [1.0 - slot, float(slot)]


def test_characters_of_a_lattice_have_slots_too():
    graph = lattice(3, (2,), (0, 1, "so", 1.0), (1, 2, "be", 0.75), (1, 2, "he", 0.25))
    utterance = Utterance("u", (ExpertOutput("a", words("so be"), lattice=graph),))
    network = with_alternatives(align(utterance, CHAR), utterance, 2, CHAR)
    assert "".join(network.vocabulary[t] for t in network.tokens[:, 1]) == "so he"
    np.testing.assert_allclose(network.confidences[:, 1], [1, 1, 1, 0.25, 1])


@given(order=st.permutations(range(7)), count=st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_the_order_of_arcs_does_not_matter(order, count):
    shuffled = lattice(5, (4,), *[_arc(i) for i in order])
    one, other = heard(), heard(shuffled)
    first, second = (with_alternatives(align(u), u, count) for u in (one, other))
    assert first.experts == second.experts
    np.testing.assert_array_equal(first.tokens, second.tokens)
    np.testing.assert_allclose(first.confidences, second.confidences)


def _arc(i):
    return GRAPH.sources[i], GRAPH.targets[i], GRAPH.words[i], np.exp(GRAPH.log_scores[i])


def test_alternatives_can_only_bring_the_truth_closer():
    utterance = heard()
    network = align(utterance)
    for truth in ("called ishmael", "fall be ishmael", "call he ishmael"):
        errors = [align_target(with_alternatives(network, utterance, k), truth).errors for k in (1, 2, 3)]
        assert errors == sorted(errors, reverse=True)
    assert align_target(with_alternatives(network, utterance, 3), "called ishmael").errors == 0


def test_improbable_paths_and_offers_are_left_out():
    utterance = heard()
    network = align(utterance)
    narrow = with_alternatives(network, utterance, 3, settings=AlignmentSettings(least_arc_posterior=0.6))
    np.testing.assert_array_equal(narrow.tokens[:, 0], narrow.tokens[:, 2])
    rare = with_alternatives(network, utterance, 3, settings=AlignmentSettings(least_posterior=0.2))
    assert [rare.vocabulary[t] for t in rare.tokens[0]] == ["call", "fall", "called", "call"]


def test_what_is_no_lattice_is_refused_by_name():
    good = align(heard())

    def offered(graph, **limits):
        return slot_posteriors(good, heard(graph).outputs[0], settings=AlignmentSettings(**limits))

    with pytest.raises(InvalidInput, match=r"'a' has a cycle"):
        offered(lattice(3, (2,), (0, 1, "x", 1.0), (1, 0, "y", 1.0), (1, 2, "z", 1.0)))
    with pytest.raises(InvalidInput, match="no path"):
        offered(lattice(3, (2,), (0, 1, "x", 1.0)))
    with pytest.raises(InvalidInput, match="do not exist"):
        offered(lattice(2, (1,), (0, 7, "x", 1.0)))
    with pytest.raises(InvalidInput, match="finite"):
        offered(replace(GRAPH, log_scores=np.full(7, np.nan)))
    with pytest.raises(BudgetExceeded, match="lattice_arcs: 7 needed, 6 allowed"):
        offered(GRAPH, lattice_arcs=6)
    with pytest.raises(BudgetExceeded, match="lattice_steps"):
        offered(GRAPH, lattice_steps=10)
    with pytest.raises(InvalidInput, match="at least 1"):
        with_alternatives(good, heard(), 0)
    with pytest.raises(InvalidInput, match="not in the network"):
        with_alternatives(good, Utterance("u", (ExpertOutput("z", ()),)), 2)


def test_alternatives_are_heard_where_experts_differ():
    """Every token on offer there with its probability, null, and the lattice's own best others."""
    utterance = heard()
    network = heard_alternatives(align(utterance), utterance.outputs)
    said = network.posteriors
    rows = {
        network.vocabulary[token]: posterior
        for token, posterior in zip(said.tokens, said.probabilities, strict=True)
    }
    assert set(said.slots.tolist()) == {0}  # "call" against "fall"; the others agree
    assert set(said.experts.tolist()) == {0}
    assert rows == pytest.approx({"": 0.0, "call": 0.6, "fall": 0.1, "called": 0.3}, abs=1e-9)


def test_nothing_is_heard_of_experts_without_alternatives():
    utterance = heard(graph=None)
    network = align(utterance)
    assert heard_alternatives(network, utterance.outputs) is network


def test_no_more_alternatives_are_heard_than_allowed():
    utterance = heard()
    network = heard_alternatives(
        align(utterance), utterance.outputs, settings=AlignmentSettings(alternatives=0)
    )
    assert "called" not in network.vocabulary
