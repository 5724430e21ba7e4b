"""The default combiner: it answers, learns in every setting, explains, and stands still to the bit."""

from dataclasses import replace

import numpy as np
import pytest

from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.target import slot_target
from galloon.learners.combiners.text import SCORER, STATE_VERSION, TextCombiner
from galloon.learners.errors import BoundExceeded, DamagedState, InvalidInput
from galloon.learners.observation import ExpertOutput, Hypothesis, Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.unit import WORD

ENGINES = ("one", "two", "three")
SENTENCE = "the old sailor told us of the white whale".split()


def spoil(word, draw):
    return word[:-1] + draw.choice(list("xqz"))


def utterances(count, seed=0, labels=None):
    """Engine three is right but for one word in ten; the others err together in a third of the words."""
    draw = np.random.default_rng(seed)
    for number in range(count):
        truth = [str(draw.choice(SENTENCE)) for _ in range(6)]
        common = [spoil(word, draw) if draw.random() < 1 / 3 else word for word in truth]
        good = [spoil(word, draw) if draw.random() < 1 / 10 else word for word in truth]
        outputs = tuple(
            ExpertOutput(name, tuple(Word(text, float(draw.random())) for text in texts))
            for name, texts in zip(
                ENGINES, (common, common[:-1] if draw.random() < 0.2 else common, good), strict=True
            )
        )
        yield Utterance(str(number), outputs, " ".join(truth), labels or {})


def said(*texts):
    outputs = zip(ENGINES, texts, strict=True)
    return Utterance("1", tuple(ExpertOutput(n, tuple(map(Word, text.split()))) for n, text in outputs))


def combiner(**fields):
    made = build(CombinerSpec(engines=ENGINES, normalizer="basic", **{"decide": "best", **fields}))
    assert isinstance(made, TextCombiner)
    return made


def errors(made, rounds, feedback_of, skip=0):
    wrong = 0
    for number, utterance in enumerate(utterances(rounds)):
        decision = made.choose(utterance, number)
        if number >= skip:
            shown, truth = decision.text.split(), utterance.target.split()
            wrong += len(truth) - sum(a == b for a, b in zip(shown, truth, strict=False))
        made.observe(decision.memory, decision.view)
        made.learn(decision.memory, feedback_of(utterance, decision))
    return wrong


def truth(utterance, decision):
    return TrueText(utterance.target)


def test_it_begins_as_a_vote_and_learns_to_outvote_a_majority():
    made = combiner()
    first = next(iter(utterances(1)))
    assert made.choose(first, 0).text == first.outputs[0].text
    untaught = errors(combiner(), 100, lambda u, d: TrueText(""))
    assert errors(made, 200, truth, skip=100) < 0.5 * untaught


@pytest.mark.parametrize("setting", ["semi", "bandit"])
@pytest.mark.parametrize("decide", ["best", "sample"])
def test_it_learns_from_part_of_the_truth(setting, decide):
    """The truth given to a learner of partial information reveals no more than its setting."""
    last = errors(combiner(setting=setting, decide=decide), 300, truth, skip=200)
    start = errors(combiner(setting=setting, decide=decide), 100, truth)
    assert last < start


@pytest.mark.parametrize("setting", ["semi", "bandit"])
def test_told_in_parts_it_learns_what_the_truth_would_have_told(setting):
    """The same bits, whether the host compares with the truth or the combiner does."""
    one, other = combiner(setting=setting), combiner(setting=setting)
    for number, utterance in enumerate(utterances(30)):
        decision = one.choose(utterance, number)
        assert other.choose(utterance, number).memory == decision.memory
        lesson = one.learn(decision.memory, TrueText(utterance.target))
        shown = [token.text for token in decision.tokens]
        aligned = slot_target(one._network(utterance)[0], TrueText(utterance.target), WORD, "basic").texts
        gains = tuple(float(a == b) for a, b in zip(shown, aligned, strict=True))
        assert sum(gains) == lesson.gain
        other.learn(decision.memory, ShownGains(gains) if setting == "semi" else Score(sum(gains)))
    one_state, other_state = one._offer_model.arrays(), other._offer_model.arrays()
    assert all(one_state[name].tobytes() == other_state[name].tobytes() for name in one_state)
    assert (
        one._tied.arrays()["contexts.scores"].tobytes() == other._tied.arrays()["contexts.scores"].tobytes()
    )


def test_the_lesson_and_the_books_count_slots():
    made = combiner()
    utterance = Utterance(
        "1", tuple(ExpertOutput(n, (Word("a"), Word(t))) for n, t in zip(ENGINES, "bbc", strict=True))
    )
    decision = made.choose(utterance, 0)
    lesson = made.learn(decision.memory, TrueText("a c"))
    assert lesson.gain == 1.0
    assert lesson.expert_gains == {
        "one": 1.0,
        "two": 1.0,
        "three": 2.0,
        "vote": 1.0,
        "frequency_vote": 1.0,
        SCORER: 1.0,
    }
    figures = made.statistics()
    assert (figures.rounds_learned, figures.gain, figures.regret) == (1, 1.0, 1.0)
    assert figures.bound is None
    assert figures.guarantee.startswith("none: the most probable path is shown; draws would have")
    assert figures.extra["best_expert"] == "three"


def test_an_answer_names_engines_and_alternatives():
    made = combiner()
    utterance = Utterance(
        "1", tuple(ExpertOutput(n, (Word(t),)) for n, t in zip(ENGINES, ("a", "a", "b"), strict=True))
    )
    (token,) = made.choose(utterance, 0).tokens
    assert (token.text, token.expert) == ("a", "one")
    (other,) = token.alternatives
    assert (other.text, other.experts) == ("b", ("three",))
    assert token.probability + other.probability == pytest.approx(1.0)


@pytest.mark.parametrize("unit", ["word", "char"])
def test_a_run_that_was_stopped_goes_on_with_the_same_bits(unit):
    whole, stopped = combiner(unit=unit, labels=("domain",)), combiner(unit=unit, labels=("domain",))
    for number, utterance in enumerate(utterances(40, labels={"domain": "x"})):
        if number == 20:
            fresh = combiner(unit=unit, labels=("domain",))
            fresh.restore(stopped.to_bytes())
            stopped = fresh
        for made in (whole, stopped):
            made.learn(made.choose(utterance, number).memory, TrueText(utterance.target))
    assert whole.digest() == stopped.digest()


@pytest.mark.parametrize("setting", ["", "semi", "bandit"])
@pytest.mark.parametrize("waiting", [1, 3])
def test_a_memory_teaches_the_same_fresh_or_read_again(setting, waiting):
    """Also where other rounds are learned between a choice and its feedback."""
    fresh, forgetful = combiner(setting=setting), combiner(setting=setting)
    for made in (fresh, forgetful):
        pending = []
        for number, utterance in enumerate(utterances(30)):
            pending.append((utterance, made.choose(utterance, number)))
            if len(pending) == waiting:
                for shown, decision in pending:
                    view = decision.view if made is fresh else None
                    made.learn(decision.memory, truth(shown, decision), view)
                pending.clear()
    assert fresh.digest() == forgetful.digest()


def test_who_loops_and_who_leaves_out_blanks_is_learned_alike_from_bytes():
    fresh, forgetful = combiner(), combiner()
    lines = [
        said("storms.But even", "storms. But even", "storms. But even"),
        said("so so so so so", "so it was", "so it was"),
        said("and,so it is it is it is it is it is", "and, so it is", "and, so it is"),
    ]
    for made in (fresh, forgetful):
        for number, utterance in enumerate(lines * 20):
            decision = made.choose(utterance, number)
            made.observe(decision.memory, decision.view if made is fresh else None)
    assert fresh.digest() == forgetful.digest()


def test_an_engine_that_leaves_out_blanks_after_marks_is_held_to_have_written_them():
    made = combiner()
    whole = "he cared not, to consort with any stranger captain"
    line = said(whole.replace(", ", ","), whole, whole)
    for number in range(30):
        decision = made.choose(line, number)
        made.observe(decision.memory, decision.view)
    assert made.choose(line, 30).offers.of("one") == whole.split()


def test_choosing_changes_nothing_and_draws_by_the_round_number():
    made = combiner(decide="sample", seed=4)
    before = made.digest()
    utterance = next(iter(utterances(1, seed=3)))
    texts = [made.choose(utterance, number).text for number in range(50)]
    assert made.digest() == before
    assert texts == [made.choose(utterance, number).text for number in range(50)]
    assert len(set(texts)) > 1


def test_nothing_said_is_an_answer_too():
    made = combiner()
    for outputs in ((ExpertOutput(ENGINES[0], ()),), tuple(ExpertOutput(name, ()) for name in ENGINES)):
        decision = made.choose(Utterance("1", outputs), 0)
        assert (decision.text, len(decision.tokens)) == ("", 0)
        assert made.learn(decision.memory, TrueText("something")).gain == 0.0
        made.learn(decision.memory, TrueText(""))


def test_slots_are_taken_as_they_are():
    made = combiner()
    slots = Offers(
        ("two", "three"), ("", "a", "b"), np.array([[1, 2], [0, 1]], dtype=np.int32), np.full((2, 2), np.nan)
    )
    decision = made.choose(Utterance("1", slots), 0)
    assert len(decision.tokens) == 2
    assert made.learn(decision.memory, TrueTokens(("b", "a"))).expert_gains["three"] == 2.0
    with pytest.raises(InvalidInput, match="3 true tokens for 2 slots"):
        made.learn(decision.memory, TrueTokens(("b", "a", "c")))


def test_feedback_that_does_not_fit_is_refused_and_changes_nothing():
    utterance = next(iter(utterances(1)))
    for setting, feedback, problem, words in (
        ("", ShownGains((1.0,) * 6), InvalidInput, "needs the truth"),
        ("semi", ShownGains((1.0,)), InvalidInput, "send one each"),
        ("semi", ShownGains((2.0,) * 6), BoundExceeded, "between 0 and 1"),
        ("semi", Score(1.0), InvalidInput, "more than a score"),
        ("bandit", Score(100.0), BoundExceeded, "from 0 to 6"),
        ("bandit", Score(float("nan")), BoundExceeded, "from 0 to 6"),
    ):
        made = combiner(setting=setting)
        decision, before = made.choose(utterance, 0), made.digest()
        with pytest.raises(problem, match=words):
            made.learn(decision.memory, feedback)
        assert made.digest() == before


def test_arrays_of_another_shape_or_type_are_refused():
    """Compiled code trusts its arrays, and anybody can forge a state with a good checksum."""
    made = combiner()
    errors(made, 8, truth)
    good = state.unpack(made.to_bytes(), "text_combiner", STATE_VERSION)
    for name, array in good.arrays.items():
        if not array.size:  # of confidences, which these engines do not give
            assert name == "agreement.ring"
            continue
        forgeries = [
            np.concatenate([array, array]),
            array[: len(array) // 2],
            array[None],
            array.astype(np.uint8),
        ]
        for forged in forgeries:
            arrays = {**good.arrays, name: forged}
            with pytest.raises(DamagedState):
                combiner().restore(state.pack("text_combiner", STATE_VERSION, good.meta, arrays))
    combiner().restore(made.to_bytes())


def test_forged_memories_are_refused():
    made = combiner()
    memory = made.choose(next(iter(utterances(1))), 0).memory
    draw = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        forged = bytearray(memory)
        at = int(draw.integers(len(forged)))
        forged[at] ^= int(draw.integers(1, 256))
        try:
            made.learn(bytes(forged), TrueText("the old"))
        except (DamagedState, InvalidInput):
            refused += 1
    assert refused > 0
    with pytest.raises(DamagedState):
        made.learn(memory[: len(memory) // 2], TrueText(""))
    with pytest.raises(DamagedState):
        made.learn(b"", TrueText(""))


def test_every_token_is_explained():
    made = combiner(labels=("domain",))
    errors(made, 20, truth)
    utterance = next(iter(utterances(1, seed=7, labels={"domain": "sea"})))
    decision = made.choose(utterance, 20)
    before = made.digest()
    explained = made.explain(decision.memory, range(4096))
    assert len(explained) == len(decision.tokens) > 2
    for slot, token in zip(explained, decision.tokens, strict=True):
        assert set(slot.trust) == set(made._players)
        assert sum(slot.trust.values()) == pytest.approx(1.0)
        (chosen,) = [offer for offer in slot.offers if offer.text == token.text]
        assert chosen.probability == pytest.approx(token.probability)
        assert sum(offer.probability for offer in slot.offers) == pytest.approx(1.0)
        assert sum(context.weight for context in slot.contexts) == pytest.approx(1.0)
        assert {"everything"} < {context.name for context in slot.contexts}
        assert any("labels #" in context.name for context in slot.contexts)
    contested = [slot for slot in explained if len(slot.offers) > 1]
    assert all(offer.reasons for slot in contested for offer in slot.offers if "scorer" not in offer.experts)
    assert made.explain(decision.memory, range(1, 3)) == explained[1:3]
    assert made.explain(decision.memory, range(99, 120)) == ()
    assert made.explain(decision.memory, range(4096), decision.view) == explained
    assert made.digest() == before


def test_weights_are_shown_by_context():
    made = combiner()
    errors(made, 50, truth)
    table = made.weights(5)
    assert table.rows[0] == "everything"
    assert "one = two | three" in table.rows
    assert table.columns == made._players
    assert table.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert list(table.counts) == sorted(table.counts, reverse=True)


def test_other_gains_are_left_to_other_learners():
    with pytest.raises(InvalidInput, match="slot match"):
        combiner(gain={"kind": "ngram", "order": 2})


@pytest.mark.parametrize("kind", ["copy", "silent", "noise"])
def test_an_unhelpful_engine_moves_no_slots_once_it_is_known(kind):
    names = (*ENGINES, "extra")
    made = build(CombinerSpec(engines=names, normalizer="basic", decide="best"))
    draw = np.random.default_rng(5)
    for number, utterance in enumerate(utterances(120)):
        texts = {
            "copy": [word.text for word in utterance.outputs[2].words],
            "silent": [],
            "noise": ["".join(draw.choice(list("kjvw"), 5)) for _ in range(draw.integers(1, 12))],
        }[kind]
        extra = ExpertOutput("extra", tuple(Word(text) for text in texts))
        more = Utterance(utterance.id, (*utterance.outputs, extra))
        decision = made.choose(more, number)
        made.learn(decision.memory, TrueText(utterance.target))
    assert made._offer_model.listened_to(tuple(ENGINES)) == frozenset(ENGINES)
    assert len(decision.tokens) == len(combiner().choose(utterance, 0).tokens)


def with_nbest(texts, *nbest):
    """Engine one has an n-best list too."""
    utterance = said(*texts)
    listed = tuple(Hypothesis(tuple(map(Word, text.split()))) for text in nbest)
    return replace(utterance, said=(replace(utterance.outputs[0], nbest=listed), *utterance.outputs[1:]))


HEARD = with_nbest(("the cod man", "the cot man", "the cop man"), "the cod man", "the old man")


def test_what_only_an_n_best_list_offers_can_be_chosen():
    """And is said to come from the engine whose list it is."""
    made = combiner()
    for number in range(30):
        decision = made.choose(HEARD, number)
        made.learn(decision.memory, TrueText("the old man"))
    assert decision.text == "the old man"
    assert decision.credited[1] == "one"


def test_a_round_with_alternatives_is_learned_alike_from_its_bytes():
    """What was heard is in the memory: a lesson after a restart is the lesson without one."""
    first, second = combiner(), combiner()
    for number in range(3):
        choice = first.choose(HEARD, number)
        first.learn(choice.memory, TrueText("the old man"), choice.view)
        second.learn(choice.memory, TrueText("the old man"))
        assert first.digest() == second.digest()


def test_forged_alternatives_are_refused():
    made = combiner()
    memory = made.choose(HEARD, 0).memory
    played = made._seen(memory, None).played
    heard = played.network.posteriors
    for forged in (
        replace(heard, slots=heard.slots + 9),
        replace(heard, slots=heard.slots[::-1] * np.arange(len(heard.slots), dtype=np.int32)[::-1]),
        replace(heard, experts=heard.experts - 1),
        replace(heard, tokens=heard.tokens + 99),
        replace(heard, probabilities=heard.probabilities[:-1]),
    ):
        bad = replace(played, network=replace(played.network, posteriors=forged))
        with pytest.raises(DamagedState):
            made.learn(bad.to_bytes(made.experts), TrueText("the old man"))


def test_lessons_may_come_late_and_the_state_is_the_same_to_the_bit():
    """A host observes at once and learns what is durable; its journal is read again in order."""
    live, again = combiner(), combiner()
    rounds = []
    for number, utterance in enumerate(utterances(6)):
        choice = live.choose(utterance, number)
        live.observe(choice.memory, choice.view)
        rounds.append((choice.memory, TrueText(utterance.target)))
        if number == 2:
            then = live.observed()
    for memory, feedback in rounds[:3]:
        live.learn(memory, feedback)
    for memory, feedback in rounds[:3]:
        again.observe(memory)
        again.learn(memory, feedback)
    assert live.to_bytes(then) == again.to_bytes()
    for memory, feedback in rounds[3:]:
        live.learn(memory, feedback)
        again.observe(memory)
        again.learn(memory, feedback)
    assert live.digest() == again.digest()
