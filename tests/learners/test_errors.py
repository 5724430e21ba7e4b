"""An error says which field is wrong, what the problem is, and what to do; the host adds where the field is."""

import pickle

import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import BoundExceeded, InvalidInput
from galloon.learners.gains.spec import gain_from_spec


def test_an_error_prints_field_problem_and_advice():
    assert str(InvalidInput("too long", "text", "cut it")) == "text: too long; cut it"
    assert str(InvalidInput("too long")) == "too long"


def test_a_field_is_put_under_its_parent():
    error = InvalidInput("too long", "gain.kind", "cut it").under("spec")
    assert (error.field, error.problem, error.advice) == ("spec.gain.kind", "too long", "cut it")
    assert InvalidInput("too long").under("spec").field == "spec"
    assert type(BoundExceeded("high").under("feedback")) is BoundExceeded


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(InvalidInput("too long", "text", "cut it")))  # our own bytes
    assert str(error) == "text: too long; cut it"


@pytest.mark.parametrize(
    ("gain", "field"),
    [
        ({"kind": "none"}, "gain.kind"),
        ({"kind": "ngram"}, "gain"),
        ({"kind": "ngram", "order": "2"}, "gain.order"),
        ({"kind": "ngram", "order": 0}, "gain.order"),
        ({"kind": "patterns", "patterns": [{"tokens": ["a"]}, {"tokens": 1}]}, "gain.patterns[1].tokens"),
        ({"kind": "gappy", "lengths": [2], "patterns": []}, "gain"),
    ],
)
def test_a_wrong_gain_names_its_field(gain, field):
    with pytest.raises(InvalidInput) as caught:
        gain_from_spec(gain)
    assert caught.value.field == field


def test_a_wrong_automaton_names_its_field():
    with pytest.raises(InvalidInput, match=r"automaton: line 1: ") as caught:
        build(CombinerSpec(algorithm="component_hedge", automaton="0 1 a b c d\n1\n"))
    assert caught.value.field == "automaton"
