"""A unit cuts words into tokens and joins them again; there is one object of each."""

import copy
import json
import pickle

import pytest

from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.unit import CHAR, UNITS, WORD, unit_named


@pytest.mark.parametrize("unit", UNITS.values(), ids=str)
def test_tokens_spell_the_words_that_they_come_from(unit):
    words = ["so", "it", "is"]
    assert unit.join(unit.split(words)) == "so it is"
    assert unit.join(["", *unit.split(words), ""]) == "so it is"
    assert unit.join([]) == "".join(unit.split([])) == ""


def test_words_and_characters():
    assert WORD.split(["so", "it"]) == ["so", "it"]
    assert CHAR.split(["so", "it"]) == ["s", "o", " ", "i", "t"]


@pytest.mark.parametrize("unit", UNITS.values(), ids=str)
def test_there_is_one_object_of_each(unit):
    assert pickle.loads(pickle.dumps(unit)) is unit  # our own bytes
    assert copy.deepcopy(unit) is unit
    assert unit_named(str(unit)) is unit
    with pytest.raises(InvalidInput, match=r"unit: 'line' is not one of 'word', 'char'"):
        unit_named("line")


def test_a_spec_takes_a_unit_or_its_name_and_writes_the_name():
    spec = CombinerSpec(engines=("a",), unit=CHAR)
    assert CombinerSpec(engines=("a",), unit="char") == spec == CombinerSpec.from_json(spec.to_json())
    assert json.loads(spec.to_json())["unit"] == "char"
