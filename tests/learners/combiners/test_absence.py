"""Absent is not silent: who did not run offers nothing, is asked nothing, and is neither praised nor blamed."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import ShownGains, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.observation import Utterance

ENGINES = ("ann", "bob", "cy", "dot")
WORDS = [f"word{number}" for number in range(30)]


def line(draw, engines, wrong=0.2):
    """A true text and what these engines make of it."""
    truth = [draw.choice(WORDS) for _ in range(draw.randint(1, 7))]
    said = {
        name: " ".join(word if draw.random() > wrong else word[:-1] + draw.choice("xyz") for word in truth)
        for name in engines
    }
    return " ".join(truth), said


def taught(engines=ENGINES, rounds=40, seed=1, most=None, **spec):
    """A learner that has heard lines of which some engines, drawn for each, are absent."""
    made, draw = build(CombinerSpec(engines, **spec)), random.Random(seed)
    for number in range(rounds):
        present = draw.sample(engines, draw.randint(1, most or len(engines)))
        truth, said = line(draw, present)
        choice = made.choose(Utterance.of_texts(str(number), said), number)
        made.observe(choice.memory, choice.view)
        made.learn(choice.memory, TrueText(truth), choice.view)
    return made


@pytest.mark.parametrize("engines", [ENGINES, tuple(f"w{number}" for number in range(100))])
def test_one_engine_alone_is_answered_with_its_text(engines):
    """Whatever was learned: also of one that was never heard of, and of one that is hardly ever right."""
    made = taught(engines, rounds=20, most=4)
    for name in (engines[0], engines[-1]):
        choice = made.choose(Utterance.of_texts("alone", {name: "only this was said"}), 99)
        assert choice.text == "only this was said"
        assert set(choice.credited) == {name}
        assert choice.offers.experts == (name, *made.derived)


def test_two_absent_engines_do_not_outvote_one_that_speaks():
    said = {"ann": "here it is"}
    absent = build(CombinerSpec(ENGINES[:3])).choose(Utterance.of_texts("1", said), 0)
    silent = build(CombinerSpec(ENGINES[:3])).choose(
        Utterance.of_texts("1", {**said, "bob": "", "cy": ""}), 0
    )
    assert absent.text == "here it is"
    assert silent.offers.experts[:3] == ENGINES[:3]
    assert not silent.offers.tokens[:, 1:3].any()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 999), st.sets(st.sampled_from(ENGINES), min_size=1, max_size=3))
def test_nothing_of_who_is_absent_changes(seed, present):
    """Not by a choice, not by agreement, not by a lesson: scores, rates, records, books."""
    made, draw = taught(rounds=8, seed=seed), random.Random(seed)
    truth, said = line(draw, sorted(present))

    def of_absent():
        away = [place for place, name in enumerate(ENGINES) if name not in present]
        rows = [made._agreement.rows[ENGINES[place]] for place in away]
        tied = {
            int(key): made._tied._table.columns["scores"][row, away].tolist()
            for row, key in enumerate(made._tied._table.keys)
            if key
        }
        by_engine = {name: array[rows].tolist() for name, array in made._agreement._by_engine().items()}
        record = [
            array[away].tolist() for array in made._offer_model._confidence.of(made._offer_model._everybody)
        ]
        books = made._expert_gains[away].tolist(), made._expected_gains[away].tolist()
        pairs = made._agreement._pairs.among(np.array(rows)).tolist()
        return tied, (by_engine, record, books, pairs)

    tied_before, before = of_absent()
    choice = made.choose(Utterance.of_texts("next", said), 8)
    made.observe(choice.memory, choice.view)
    lesson = made.learn(choice.memory, TrueText(truth), choice.view)
    tied_after, after = of_absent()
    assert set(lesson.expert_gains) == {*present, *made.derived}
    assert after == before
    for key, scores in tied_after.items():
        assert scores == tied_before.get(key, [0.0] * len(scores))


@pytest.mark.parametrize("setting", ["full", "semi", "bandit"])
@pytest.mark.parametrize("engines", [ENGINES, tuple(f"w{number}" for number in range(200))])
def test_memories_and_states_say_who_ran(engines, setting):
    """Learning from a memory alone, and going on from a restored state, gives the same bits."""
    draw = random.Random(3)
    live, cold = (build(CombinerSpec(engines, setting=setting, seed=7)) for _ in range(2))
    for number in range(25):
        truth, said = line(draw, draw.sample(engines, draw.randint(1, 4)))
        choice = live.choose(Utterance.of_texts(str(number), said), number)
        assert cold.choose(Utterance.of_texts(str(number), said), number).memory == choice.memory
        feedback = TrueText(truth) if number % 2 or setting == "full" else ShownGains((1.0,) * len(choice))
        for made, view in ((live, choice.view), (cold, None)):
            made.observe(choice.memory, view)
            made.learn(choice.memory, feedback, view)
        assert live.explain(choice.memory, range(2)) == cold.explain(choice.memory, range(2), None)
        if number % 10 == 9:
            state = cold.to_bytes()
            cold = build(CombinerSpec(engines, setting=setting, seed=7))
            cold.restore(state)
        assert live.digest() == cold.digest()


def test_slots_without_an_engine_are_taken_too():
    made = build(CombinerSpec(ENGINES))
    slots = Utterance.of_slots("1", {"cy": ("a", "b"), "ann": ("a", "c")})
    choice = made.choose(slots, 0)
    assert choice.offers.experts == ("ann", "cy", *made.derived)


def test_nobody_present_is_refused():
    with pytest.raises(InvalidInput, match="no engine ran"):
        build(CombinerSpec(ENGINES)).choose(Utterance("1", ()), 0)


def test_regret_counts_the_rounds_in_which_an_expert_was_awake():
    """An engine that runs seldom and is always right then has no regret for the rounds that it slept through."""
    made, draw = build(CombinerSpec(ENGINES, decide="sample")), random.Random(5)
    for number in range(60):
        present = ENGINES if number % 6 == 0 else ENGINES[:3]
        truth, said = line(draw, present, wrong=0.3)
        if "dot" in said:
            said["dot"] = truth
        choice = made.choose(Utterance.of_texts(str(number), said), number)
        made.learn(choice.memory, TrueText(truth), choice.view)
    found = made.statistics()
    assert 0 <= made._expert_gains[3] - made._expected_gains[3] <= found.bound
    assert found.regret <= found.bound


def test_of_many_engines_only_those_that_ran_take_room():
    """A thousand transcribers of whom seven speak: the state is that of the few that have."""
    engines = tuple(f"w{number}" for number in range(1000))
    few, some = (taught(engines[:], rounds=rounds, seed=2, most=7) for rounds in (1, 40))
    heard = len(some._agreement.arrays()["agreement.met"])
    assert len(few._agreement.arrays()["agreement.met"]) <= 7 < heard <= 280
    grown = len(some.to_bytes()) - len(few.to_bytes())
    assert grown < heard * 6_000
    assert len(some._offer_model.arrays()["confidence.right"]) <= heard
