"""Engines join and leave a learner: what was learned of the others stays, to the bit where nothing else can
differ.
"""

import random

import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.carry_over import carry_over
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.observation import Utterance
from tests.learners.combiners.test_absence import ENGINES, line, taught

MORE = (*ENGINES, "eve")


def spec(engines):
    return CombinerSpec(engines)


def test_one_that_joins_has_slept_until_then():
    """While it is absent the learner goes on as before: the same texts, trust and gains."""
    before = taught()
    after = carry_over(before, spec(MORE))
    assert after.experts == MORE
    draw = random.Random(9)
    for number in range(40, 60):
        truth, said = line(draw, ENGINES)
        choices = [made.choose(Utterance.of_texts(str(number), said), number) for made in (before, after)]
        assert choices[0].text == choices[1].text
        assert (choices[0].trust == choices[1].trust).all()
        for made, choice in zip((before, after), choices, strict=True):
            made.observe(choice.memory, choice.view)
            made.learn(choice.memory, TrueText(truth), choice.view)
    truth, said = line(draw, MORE)
    choice = after.choose(Utterance.of_texts("all", said), 60)
    assert "eve" in choice.offers.experts
    assert set(after.learn(choice.memory, TrueText(truth)).expert_gains) == {*MORE, *after.derived}


def test_one_that_leaves_takes_its_weights_with_it_and_may_come_back_without():
    before = taught()
    without = carry_over(before, spec(("ann", "cy", "dot")))
    with pytest.raises(InvalidInput, match="unknown expert 'bob'"):
        without.choose(Utterance.of_texts("1", {"bob": "here", "ann": "there"}), 1)
    back = carry_over(without, spec(("ann", "cy", "dot", "bob")))
    place = back.roster.index("bob")
    assert place == len(ENGINES)
    assert not back._tied._table.columns["scores"][:, [1, place]].any()
    assert back._agreement._runs[back.agreement_rows()["bob"]] == 0
    kept = back._agreement._runs[back.agreement_rows()["cy"]]
    assert kept == before._agreement._runs[before.agreement_rows()["cy"]] > 0


def test_a_round_from_before_is_learned_after():
    before, draw = taught(), random.Random(4)
    truth, said = line(draw, ENGINES)
    choice = before.choose(Utterance.of_texts("late", said), 40)
    after = carry_over(before, spec(("ann", "cy", "dot", "eve")))
    lesson = after.learn(choice.memory, TrueText(truth))
    assert lesson.gain == build_and_learn(choice.memory, before, truth).gain
    assert len(lesson.expert_gains) == len(ENGINES) + len(after.derived)


def build_and_learn(memory, combiner, truth):
    again = build(combiner.spec)
    again.restore(combiner.to_bytes())
    return again.learn(memory, TrueText(truth))


def test_an_engine_that_has_changed_is_remembered_to_have():
    before = taught()
    before._agreement.begin_anew("cy")
    after = carry_over(before, spec(("ann", "cy", "dot", "eve")))
    rows = after.agreement_rows()
    assert {name for name in rows if after._agreement._changed[rows[name]]} == {"cy"}


def test_a_changed_learner_is_written_and_read_as_any():
    made = carry_over(carry_over(taught(), spec(MORE)), spec(("eve", "ann", "dot")))
    again = build(made.spec)
    again.restore(made.to_bytes())
    assert again.digest() == made.digest()
    truth, said = line(random.Random(2), ("ann", "eve"))
    for combiner in (made, again):
        choice = combiner.choose(Utterance.of_texts("next", said), 41)
        combiner.observe(choice.memory)
        combiner.learn(choice.memory, TrueText(truth))
    assert again.digest() == made.digest()


def test_what_cannot_be_carried_over_names_its_field():
    made = taught(rounds=2)
    for changed, field in (
        ({"normalizer": "basic"}, "normalizer"),
        ({"unit": "char"}, "unit"),
        ({"seed": 3}, "seed"),
    ):
        with pytest.raises(InvalidInput, match="rebuild") as refused:
            carry_over(made, CombinerSpec(MORE, **changed))
        assert refused.value.field == field
    with pytest.raises(InvalidInput, match="more than 64 engines"):
        carry_over(made, spec(tuple(f"w{number}" for number in range(100))))
    with pytest.raises(InvalidInput, match="carry nothing over"):
        carry_over(build(CombinerSpec(ENGINES, algorithm="expanded_hedge")), spec(MORE))
