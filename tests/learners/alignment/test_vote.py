"""Derived experts: what each vote promises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment import (
    VOTES,
    align,
    confidence_vote,
    derive,
    frequency_vote,
    majority_vote,
    most_confident,
)
from galloon.learners.combiners.spec import DERIVED_NAMES as NAMES
from galloon.learners.errors import InvalidInput
from galloon.learners.offers import Offers
from tests.learners.alignment.outputs import utterance, utterances


def network(rows, confidences=None):
    tokens = np.array(rows, dtype=np.int32)
    given_confidences = np.full(tokens.shape, np.nan) if confidences is None else np.array(confidences)
    names = tuple(f"e{j}" for j in range(tokens.shape[1]))
    return Offers(names, ("", "a", "b", "c", "d"), tokens, given_confidences)


def test_occupancy_is_decided_before_the_token():
    """Three different tokens outvote two nulls, and only then the token is chosen."""
    slots = network([[0, 0, 1, 2, 3], [0, 0, 0, 1, 1], [0, 2, 2, 1, 1]])
    assert majority_vote(slots).tokens.tolist() == [2, 0, 1]
    assert frequency_vote(slots).tokens.tolist() == [0, 0, 1]


def test_a_confident_minority_can_win():
    slots = network([[1, 2, 2], [1, 1, 0]], [[0.9, 0.3, 0.2], [0.1, 0.1, np.nan]])
    assert majority_vote(slots).tokens.tolist() == [2, 1]
    assert confidence_vote(slots).tokens.tolist() == [1, 0]
    assert most_confident(slots).tokens.tolist() == [1, 0]
    np.testing.assert_allclose(most_confident(slots).confidences, [0.9, 0.5], atol=1e-6)


def test_numbers_that_are_no_confidences_count_as_unknown():
    """A log score or a percentage must not outweigh every other expert."""
    odd = network([[1, 2, 2]], [[87.0, 0.5, 0.5]])
    assert confidence_vote(odd).tokens.tolist() == [2]
    assert confidence_vote(network([[1, 2, 2]])).tokens.tolist() == [2]


def test_ties_go_to_the_expert_listed_first_or_to_the_one_that_agrees_most():
    slots = network([[3, 2, 1], [1, 4, 4], [1, 2, 2]])
    assert majority_vote(slots, "listed").tokens.tolist() == [3, 4, 2]
    # The second and the third expert agree with each other twice: of those the smaller text.
    assert majority_vote(slots, "agreement").tokens.tolist() == [1, 4, 2]


@given(heard=utterances(), shuffle=st.randoms(use_true_random=False), name=st.sampled_from(sorted(VOTES)))
@settings(deadline=None, max_examples=100)
def test_by_agreement_no_vote_depends_on_the_order(heard, shuffle, name):
    shuffled = list(heard.outputs)
    shuffle.shuffle(shuffled)
    one = VOTES[name](align(heard), "agreement")
    other = VOTES[name](align(replace(heard, said=tuple(shuffled))), "agreement")
    np.testing.assert_array_equal(one.tokens, other.tokens)
    np.testing.assert_array_equal(one.confidences, other.confidences)


@given(heard=utterances(), name=st.sampled_from(sorted(VOTES)))
@settings(deadline=None, max_examples=80)
def test_a_vote_chooses_among_the_offers_and_unanimity_wins(heard, name):
    slots = align(heard)
    offer = VOTES[name](slots, "listed")
    assert (slots.tokens == offer.tokens[:, None]).any(axis=1).all()
    unanimous = (slots.tokens == slots.tokens[:, :1]).all(axis=1)
    np.testing.assert_array_equal(offer.tokens[unanimous], slots.tokens[unanimous, 0])
    assert ((offer.confidences >= 0) & (offer.confidences <= 1)).all()


def test_derived_experts_join_the_network_by_name():
    slots = align(utterance("a b", "a c", "a c"))
    more = derive(slots, ["vote", "most_confident"])
    assert more.experts == ("e0", "e1", "e2", "vote", "most_confident")
    assert [more.vocabulary[t] for t in more.tokens[:, 3]] == ["a", "c"]
    with pytest.raises(InvalidInput, match="frequency_vote"):
        derive(slots, ["wisdom"])
    with pytest.raises(InvalidInput, match="agreement"):
        majority_vote(slots, "first")


def test_no_experts_offer_nothing():
    for name in VOTES:
        assert derive(align(utterance()), [name]).tokens.shape == (0, 1)


def test_a_spec_knows_every_derived_expert():
    """The list in the spec is written out, because clients read specs without the alignment."""
    assert tuple(VOTES) == NAMES
