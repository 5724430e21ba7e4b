"""The truth aligned to the slots: the best that the slots can give, and where each true token belongs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment import AlignmentSettings, align, align_target
from galloon.learners.alignment.costs import costs_across
from galloon.learners.evaluation.error_rate import count_errors
from galloon.learners.kernels.target import place_target
from galloon.learners.unit import CHAR, WORD
from tests.learners.alignment.outputs import VOCABULARY, utterance, utterances
from tests.reference.agreement import expert_errors, oracle_errors
from tests.reference.alignment import least_errors


@given(
    heard=utterances(most_experts=3, most_words=5), other=st.lists(st.sampled_from(VOCABULARY), max_size=5)
)
@settings(deadline=None, max_examples=100)
def test_no_way_through_the_slots_is_closer_to_the_truth(heard, other):
    """Against every path, for the truth behind the outputs and for an unrelated one."""
    network = align(heard)
    slots = [[network.vocabulary[t] or None for t in row] for row in network.tokens]
    for truth in (heard.target.split(), other):
        aligned = align_target(network, truth)
        assert aligned.errors == least_errors(slots, truth)
        assert oracle_errors(network, aligned).errors == aligned.errors
        assert oracle_errors(network, aligned).reference_length == len(truth)


@given(heard=utterances(), unit=st.sampled_from([WORD, CHAR]))
@settings(deadline=None, max_examples=100)
def test_the_truth_is_spelled_by_its_slots_but_for_the_unreachable(heard, unit):
    network = align(heard, unit)
    aligned = align_target(network, heard.target, unit)
    spelled = unit.join(aligned.texts)
    assert len(aligned.tokens) == network.slot_count
    assert aligned.vocabulary[: len(network.vocabulary)] == network.vocabulary
    lost = aligned.length - (aligned.tokens != 0).sum()
    assert aligned.unreachable == lost
    if not lost:
        assert spelled == heard.target


@given(heard=utterances())
@settings(deadline=None, max_examples=100)
def test_slot_errors_are_never_fewer_than_edits(heard):
    """What a slot-match learner counts bounds the word errors of each expert from above."""
    network = align(heard, WORD, "basic", AlignmentSettings(glued_words=0))
    counted = expert_errors(network, align_target(network, heard.target))
    for j, output in enumerate(heard.outputs):
        assert counted[j] >= count_errors(heard.target.split(), output.text.split()).errors


@given(
    heard=utterances(most_experts=3, most_words=5), other=st.lists(st.sampled_from(VOCABULARY), max_size=5)
)
@settings(deadline=None, max_examples=100)
def test_words_that_need_no_comparison_get_the_place_that_comparing_would_give_them(heard, other):
    network = align(heard)
    for truth in (heard.target.split(), other):
        aligned = align_target(network, truth)
        numbers = np.array([aligned.vocabulary.index(token) for token in truth], dtype=np.int32)
        costs = costs_across(network.vocabulary, tuple(truth), WORD, AlignmentSettings())
        places, errors = place_target(network.tokens, numbers, costs, AlignmentSettings().gap_cost)
        expected = np.zeros(network.slot_count, dtype=np.int32)
        expected[places[places >= 0]] = numbers[places >= 0]
        assert aligned.tokens.tolist() == expected.tolist()
        assert (aligned.errors, aligned.unreachable) == (errors, (places < 0).sum())


def test_a_truth_that_was_said_is_found_in_its_slots():
    network = align(utterance("call me", "call the me ishmael", "me ishmael"))
    aligned = align_target(network, "Call me, Ishmael".replace(",", ""))
    assert aligned.texts == ("call", "", "me", "ishmael")
    assert (aligned.unreachable, aligned.errors) == (0, 0)


def test_what_nobody_heard_is_unreachable():
    aligned = align_target(align(utterance("a whale", "a whale")), "a great white whale")
    assert aligned.texts == ("a", "whale")
    assert (aligned.unreachable, aligned.errors, aligned.length) == (2, 2, 4)


def test_an_unknown_true_token_faces_what_looks_like_it():
    """It has a number of its own, which no expert can match."""
    network = align(utterance("the whole sank", "the whole sank"))
    aligned = align_target(network, "the whale sank")
    assert aligned.texts == ("the", "whale", "sank")
    assert aligned.tokens[1] == len(network.vocabulary)
    counts = oracle_errors(network, aligned)
    assert (counts.substitutions, counts.deletions, counts.insertions) == (1, 0, 0)


def test_no_slots_and_no_truth():
    empty = align(utterance())
    assert align_target(empty, "").errors == 0
    assert align_target(empty, "a b").unreachable == 2
    nothing_true = align_target(align(utterance("a", "")), "")
    assert (nothing_true.errors, nothing_true.tokens.tolist()) == (0, [0])
