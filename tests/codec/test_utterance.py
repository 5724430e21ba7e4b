"""Utterances: to the wire and back gives the same values; fingerprints name content."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.codec.errors import InvalidMessage
from galloon.codec.utterance import (
    canonical_bytes,
    decode_utterance,
    fingerprint,
    utterance_to_wire,
)
from galloon.daemon.limits import Limits
from galloon.learners.observation import NamedTokens, Utterance
from galloon.v1 import utterance_pb2
from tests.codec.strategies import networks, same, texts, utterances, words

LIMITS = Limits()


@settings(deadline=None, max_examples=60)
@given(networks())
def test_slots_survive_the_wire(network):
    """Also when the offers come in another order than the experts."""
    message = utterance_to_wire(Utterance("id", network))
    assert same(decode_utterance(message, network.experts, LIMITS).said, network)
    message.slots.offers.sort(key=lambda offer: offer.engine)
    assert same(decode_utterance(message, network.experts, LIMITS).said, network)


@settings(deadline=None, max_examples=60)
@given(utterances())
def test_engines_outputs_survive_the_wire(utterance):
    """Words, n-best lists, lattices, labels; a number that was not given is not given after."""
    experts = tuple(output.name for output in utterance.outputs)
    assert same(decode_utterance(utterance_to_wire(utterance), experts, LIMITS), utterance)


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(words, texts, max_size=5))
def test_tokens_by_name_survive_the_wire(tokens):
    """In whatever order."""
    message = utterance_to_wire(Utterance.of_named_tokens("id", tokens))
    assert decode_utterance(message, (), LIMITS) == Utterance("id", NamedTokens(tokens))


def test_fingerprints_follow_content_not_order():
    """The same labels in another order are the same utterance; another token is another one."""
    labels = {f"l{number}": str(number) for number in range(10)}
    one = utterance_pb2.Utterance(id="x", labels=labels)
    two = utterance_pb2.Utterance(id="x", labels=dict(reversed(labels.items())))
    other = utterance_pb2.Utterance(id="x", labels={**labels, "l0": "1"})
    assert canonical_bytes(one) == canonical_bytes(two)
    assert fingerprint(canonical_bytes(one)) != fingerprint(canonical_bytes(other))


@given(networks())
def test_tokens_are_numbered_in_the_order_in_which_they_are_met(network):
    """Expert by expert: the order is part of what a replay repeats."""
    message = utterance_to_wire(Utterance("id", network))
    read = decode_utterance(message, network.experts, LIMITS).said
    numbers: dict[str, int] = {"": 0}
    for column, offer in enumerate(message.slots.offers):
        met = [numbers.setdefault(token, len(numbers)) for token in offer.tokens]
        assert read.tokens[:, column].tolist() == met
    assert read.vocabulary == tuple(numbers)


@pytest.mark.parametrize("lengths", [(2, 1), (1, 2), (0, 1), (1, 0), (0, 0)])
def test_offers_of_other_lengths_are_refused(lengths):
    offers = [
        utterance_pb2.SlotOffers(engine=name, tokens=["x"] * length)
        for name, length in zip("ab", lengths, strict=True)
    ]
    message = utterance_pb2.Utterance(id="id", slots=utterance_pb2.Slots(offers=offers))
    with pytest.raises(InvalidMessage, match=r"offers\[\d\].tokens"):
        decode_utterance(message, ("a", "b"), LIMITS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"acoustic_scores": [1.0]}, "acoustic_scores: 1 for 2 arcs; send one for each, or none"),
        ({"acoustic_scores": [1.0, float("nan")]}, "acoustic_scores: must be finite"),
        ({"acoustic_scores": [1.0, 1.0], "acoustic_scale": -1.0}, "acoustic_scale: -1.0; give 0 or a number"),
        (
            {"acoustic_scores": [1.0, 1.0], "language_scale": float("inf")},
            "language_scale: inf; give 0 or a number",
        ),
    ],
)
def test_acoustic_scores_that_are_none_are_refused(changes, words):
    lattice = utterance_pb2.Lattice(
        state_count=2,
        finals=[1],
        sources=[0, 0],
        targets=[1, 1],
        words=["a", "b"],
        log_scores=[0, 0],
        **changes,
    )
    outputs = utterance_pb2.EngineOutputs(engines=[utterance_pb2.EngineOutput(engine="a", lattice=lattice)])
    with pytest.raises(InvalidMessage, match=re.escape(words)):
        decode_utterance(utterance_pb2.Utterance(id="x", outputs=outputs), ("a",), LIMITS)
