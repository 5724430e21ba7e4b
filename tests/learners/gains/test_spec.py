"""A gain travels as JSON values, and what is wrong with them is said by field."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.gains.arbitrary import ArbitraryGain
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.patterns import PatternGain
from galloon.learners.gains.slot_match import SlotMatch
from galloon.learners.gains.spec import gain_from_spec
from tests.learners.gains.strategies import count_gains


@settings(deadline=None, max_examples=60)
@given(st.one_of(count_gains, st.builds(SlotMatch), st.builds(ArbitraryGain, st.floats(0.1, 100))))
def test_a_gain_survives_the_way_through_json(gain):
    assert gain_from_spec(json.loads(json.dumps(gain.spec(), allow_nan=False))) == gain


def test_what_is_left_out_has_a_default():
    assert gain_from_spec({"kind": "ngram", "order": 4}) == NgramGain(4)
    assert gain_from_spec({"kind": "patterns", "patterns": [{"tokens": ["a"]}]}) == PatternGain({("a",): 1.0})
    assert gain_from_spec({"kind": "gappy", "lengths": [3, 2]}) == GappyGain((2, 3))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "gain.kind: None is not one of"),
        ({"kind": "bleu"}, "gain.kind: 'bleu' is not one of 'slot_match', 'ngram'"),
        ({"kind": ["ngram"]}, "gain.kind"),
        ({"kind": "ngram"}, "needs an order"),
        ({"kind": "ngram", "order": 2.5}, "gain.order: 2.5 is not a whole number"),
        ({"kind": "ngram", "order": True}, "gain.order: True is not a whole number"),
        ({"kind": "ngram", "order": 0}, "gain.order: 0 is not at least 1"),
        ({"kind": "ngram", "order": 2, "gap": 1}, "gain.gap: a gain of kind 'ngram' has no such field"),
        ({"kind": "ngram", "order": 2, "count_nulls": 1}, "gain.count_nulls: 1 is neither true nor false"),
        ({"kind": "slot_match", "order": 2}, "gain.order: .* it has none"),
        ({"kind": "patterns"}, "needs patterns"),
        ({"kind": "patterns", "patterns": []}, "at least one pattern is needed"),
        ({"kind": "patterns", "patterns": "ab"}, "gain.patterns: must be a list of objects"),
        ({"kind": "patterns", "patterns": [{"tokens": []}]}, "the empty pattern"),
        (
            {"kind": "patterns", "patterns": [{"tokens": [1]}]},
            r"gain.patterns\[0\].tokens: must be a list of strings",
        ),
        ({"kind": "patterns", "patterns": [{"weight": 1}]}, r"gain.patterns\[0\]: must be an object"),
        (
            {"kind": "patterns", "patterns": [{"tokens": ["a"]}] * 2},
            r"gain.patterns\[1\]: .* was given before",
        ),
        ({"kind": "patterns", "patterns": [{"tokens": ["a"], "weight": -1}]}, "the weight -1.0 of 'a'"),
        ({"kind": "patterns", "patterns": [{"tokens": ["a"], "weight": float("nan")}]}, "the weight nan"),
        ({"kind": "patterns", "patterns": [{"tokens": ["a"], "weight": float("inf")}]}, "the weight inf"),
        ({"kind": "regex"}, "needs an expression"),
        ({"kind": "regex", "expression": 5}, "gain.expression: 5 is not a string"),
        ({"kind": "regex", "expression": "a*"}, "gain.expression: .* has no end"),
        ({"kind": "gappy"}, "either lengths .* or patterns"),
        ({"kind": "gappy", "lengths": [2], "patterns": [{"tokens": ["a"]}]}, "either lengths .* or patterns"),
        ({"kind": "gappy", "lengths": 2}, "gain.lengths: 2 is not a list"),
        ({"kind": "gappy", "lengths": ["2"]}, r"gain.lengths\[0\]: '2' is not a whole number"),
        ({"kind": "gappy", "lengths": [2], "discount": 1.5}, "gain.discount: 1.5 is not between 0 and 1"),
        ({"kind": "gappy", "lengths": [2], "discount": "x"}, "gain.discount: 'x' is not a number"),
        ({"kind": "gappy", "lengths": [2], "max_gap": -1}, "gain.max_gap: -1 is negative"),
        ({"kind": "arbitrary", "bound": 0}, "gain.bound: 0.0 is not a positive number"),
    ],
)
def test_the_field_that_is_wrong_is_named(spec, message):
    with pytest.raises(InvalidInput, match=message):
        gain_from_spec(spec)


def test_gains_that_would_cost_too_much_are_refused():
    with pytest.raises(BudgetExceeded, match="gap placements"):
        gain_from_spec({"kind": "gappy", "lengths": [8], "max_gap": 10**9})
    with pytest.raises(BudgetExceeded, match="tokens of all patterns"):
        PatternGain({("a",) * 1_000_001: 1.0})
