"""Learning from agreement: the kernel is its slow twin, and what the model promises."""

import random
from dataclasses import replace

import numpy as np
import pytest

from galloon.learners.agreement import AgreementModel, without_loops
from galloon.learners.agreement.model import FIRST_NULL, FIRST_RATES
from galloon.learners.alignment import align
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels.agreement import (
    FEW_WORDS,
    Book,
    Line,
    _never_writes,
    decide_borders,
    take_part,
    tiny_book,
)
from galloon.learners.observation import Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.spelling import spelled
from galloon.learners.unit import WORD
from tests.reference import agreement_model as slow

ENGINES = ("a", "b", "c", "d")


def offers(slots: list[list[str]], engines: tuple[str, ...] = ENGINES) -> Offers:
    vocabulary = ("", *sorted({token for slot in slots for token in slot if token}))
    numbers = {text: number for number, text in enumerate(vocabulary)}
    tokens = np.array([[numbers[token] for token in slot] for slot in slots], dtype=np.int32)
    tokens = tokens.reshape(-1, len(engines))
    return Offers(engines, vocabulary, tokens, np.full(tokens.shape, np.nan))


def lines(count: int, seed: int = 1, worst: float = 0.5) -> list[Offers]:
    """Lines of a small language, read by engines of which the last errs most."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(40)]
    found = []
    for _ in range(count):
        slots = []
        for _ in range(draw.randint(1, 9)):
            truth = draw.choice(words)
            errors = (0.05, 0.1, 0.15, worst)
            said = [
                draw.choice((truth[:-1] + draw.choice("xyz"), "", draw.choice(words)))
                if draw.random() < e
                else truth
                for e in errors
            ]
            slots.append(said)
        found.append(offers(slots))
    return found


def played(order: tuple[str, ...], shown: list[Offers]) -> tuple[AgreementModel, list[list[str]]]:
    model, texts = AgreementModel(order, WORD), []
    for line in shown:
        columns = [line.experts.index(name) for name in order]
        here = replace(
            line, experts=order, tokens=line.tokens[:, columns], confidences=line.confidences[:, columns]
        )
        weighed = model.weigh(here)
        texts.append([line.vocabulary[token] for token in weighed.best.tolist()])
        model.observe(here, weighed)
    return model, texts


def test_the_kernel_weighs_a_line_as_its_slow_twin_does() -> None:
    for line in lines(60):
        model = AgreementModel(ENGINES, WORD)
        present = take_part(line.tokens, np.ones(4, dtype=np.bool_))
        slots = [
            {name: line.vocabulary[line.tokens[i, j]] for j, name in enumerate(ENGINES) if present[i, j]}
            for i in range(line.slot_count)
        ]
        weighed = model.weigh(line)
        ratios, log_ratios = {}, np.log(model._classes / model._classes.sum(axis=0))
        for number, text in enumerate(line.vocabulary):
            kind = weighed.line[5][number]
            if kind >= 0:
                ratios[text] = float(log_ratios[kind, 0] - log_ratios[kind, 1])
        rates = dict.fromkeys(ENGINES, FIRST_RATES.tolist())
        null = (float(FIRST_NULL[0]), float(FIRST_NULL[1]))
        expected = slow.posteriors(slots, rates, null, ratios, [{}] * len(slots))
        for i, chances in enumerate(expected):
            for j in range(4):
                wanted = chances.get(line.vocabulary[line.tokens[i, j]], 0.0)
                assert weighed.posteriors[i, j] == pytest.approx(wanted, abs=1e-9)
        model.observe(line, weighed)
        counted = slow.events(slots, expected, rates)
        assert model._rates == pytest.approx(np.array([counted[name] for name in ENGINES]), abs=1e-9)


def test_an_engine_that_errs_is_believed_less_and_the_others_are_told_apart() -> None:
    model, _ = played(ENGINES, lines(400))
    rates = [estimate.error_rate for estimate in model.estimates()]
    assert rates == sorted(rates)
    for rate, true in zip(rates, (5, 10, 15, 50), strict=True):
        assert rate == pytest.approx(true, abs=3)
    assert all(e.low <= e.error_rate <= e.high for e in model.estimates())


def test_answers_do_not_depend_on_the_order_in_which_engines_are_listed() -> None:
    shown = lines(150)
    _, texts = played(ENGINES, shown)
    for order in (("d", "c", "b", "a"), ("b", "d", "a", "c")):
        assert played(order, shown)[1] == texts


def test_a_state_written_and_read_goes_on_to_the_same_bits() -> None:
    shown = lines(80)
    model, _ = played(ENGINES, shown[:50])
    other = AgreementModel(ENGINES, WORD)
    other.restore(model.arrays())
    for line in shown[50:]:
        assert (model.weigh(line).posteriors == other.weigh(line).posteriors).all()
        model.observe(line)
        other.observe(line)
    one, two = model.arrays(), other.arrays()
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_who_has_changed_is_judged_by_true_texts_and_what_is_observed_hears_nothing_of_it() -> None:
    model, _ = played(ENGINES, lines(200))
    untold = AgreementModel(ENGINES, WORD)
    untold.restore(model.arrays())
    bad, good = ENGINES[0], ENGINES[3]  # who have exchanged their names since
    for name in (bad, good):
        model.begin_anew(name)
    assert model.arrays()["agreement.changed"].tolist() == [True, False, False, True]
    disputed = offers([["word1", "word2", "", "word3"]])
    for _ in range(40):
        model.tell(disputed, np.array([disputed.vocabulary.index("word3")], dtype=np.int32))
    said = model.weigh(disputed, with_told=False).posteriors[0]
    assert said.argmax() == 3
    assert untold.weigh(disputed, with_told=False).posteriors[0].argmax() != 3
    again = AgreementModel(ENGINES, WORD)
    again.restore(model.arrays())
    for line in [disputed, *lines(20, seed=5)]:
        weighed = model.weigh(line, with_told=False)
        assert (again.weigh(line, with_told=False).posteriors == weighed.posteriors).all()
        model.observe(line, weighed)
        again.observe(line)
        untold.observe(line)
    one, two = model.observed(), untold.observed()
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name], equal_nan=True) for name in one)


def test_a_damaged_state_is_refused() -> None:
    model, _ = played(ENGINES, lines(5))
    arrays = model.arrays()
    for name, wrong in (
        ("agreement.rates", -model._rates),
        ("agreement.ring", np.full((4, 3), np.nan)),
        ("agreement.null", np.zeros(2)),
    ):
        with pytest.raises(DamagedState):
            AgreementModel(ENGINES, WORD).restore({**arrays, name: wrong})


def test_weighing_a_line_again_saves_nothing_but_time() -> None:
    one, two = AgreementModel(ENGINES, WORD), AgreementModel(ENGINES, WORD)
    for line in lines(40):
        one.observe(line, one.weigh(line))
        two.observe(line)
    assert all(np.array_equal(array, two.arrays()[name]) for name, array in one.arrays().items())


def test_copies_of_an_engine_count_once() -> None:
    engines = (*ENGINES, "d2", "d3", "d4", "d5")
    model = AgreementModel(engines, WORD)
    for line in lines(150):
        copied = np.column_stack([line.tokens, *[line.tokens[:, 3]] * 4])
        model.observe(Offers(engines, line.vocabulary, copied, np.full(copied.shape, np.nan)))
    assert model.heard(engines) == frozenset(ENGINES)
    assert {e.repeats for e in model.estimates() if e.expert not in ENGINES} == {"d"}


def test_an_engine_of_noise_is_left_out() -> None:
    engines, draw = (*ENGINES, "noise"), random.Random(2)
    model = AgreementModel(engines, WORD)
    for line in lines(150):
        noise = [draw.randrange(len(line.vocabulary) - 1) + 1 for _ in range(line.slot_count)]
        vocabulary = (*line.vocabulary, *(f"z{i}{draw.random()}" for i in range(len(noise))))
        column = np.arange(len(line.vocabulary), len(vocabulary), dtype=np.int32)
        tokens = np.column_stack([line.tokens, column])
        model.observe(Offers(engines, vocabulary, tokens, np.full(tokens.shape, np.nan)))
    assert "noise" not in model.heard(model.experts)


def test_true_texts_outweigh_a_majority_that_errs_together() -> None:
    model = AgreementModel(ENGINES, WORD)
    # They err together, and are no copies of each other.
    wrong = offers([["yes", "no", "no", "no"]] * 6 + [["one", "two", "six", "ten"]])
    for _ in range(50):
        model.observe(wrong)
    assert wrong.vocabulary[model.weigh(wrong).best[0]] == "no"
    truth = np.array([wrong.vocabulary.index(word) for word in ["yes"] * 6 + ["one"]], dtype=np.int32)
    for _ in range(50):
        model.tell(wrong, truth)
    assert wrong.vocabulary[model.weigh(wrong).best[0]] == "yes"


def test_a_trusted_engine_is_believed_from_the_first_line() -> None:
    line = offers([["mere", "more"], ["true", "false"], ["best", "rest"]], ENGINES[:2])
    for name, words in (("a", ["mere", "true", "best"]), ("b", ["more", "false", "rest"])):
        weighed = AgreementModel(ENGINES[:2], WORD, trusted=name).weigh(line)
        assert [line.vocabulary[token] for token in weighed.best.tolist()] == words
    with pytest.raises(InvalidInput, match="trusted"):
        AgreementModel(ENGINES, WORD, trusted="nobody")


def test_an_engine_cannot_vote_against_letters_that_it_never_writes() -> None:
    model = AgreementModel(ENGINES[:3], WORD)
    accented = [["süß", "süß", "sus"], ["über", "über", "uber"], ["Haus", "Haus", "Haus"]]
    for _ in range(150):
        model.observe(offers(accented, ENGINES[:3]))
    # Nobody has seen the word; two without accents would outvote the one that has them.
    shown = offers([["schön", "schon", "schon"]], ENGINES[:3])
    alone = model.weigh(shown).posteriors[0, 0]
    plain = offers([["schan", "schon", "schon"]], ENGINES[:3])
    assert alone > model.weigh(plain).posteriors[0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_letters_that_an_engine_never_writes_are_its_slow_twins(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        word = "".join(draw.choice("abüß") for _ in range(draw.randint(1, 6)))
        said = "".join(
            draw.choice(("a", "b", "ab", "ba", "ü")) if c in "üß" else c for c in word
        ) + draw.choice(("", "", "a"))
        book = Book(*tiny_book())._replace(words=np.full((2, 2), FEW_WORDS))
        book.written[0, ord("ü")] = True
        letters = spelled(("", said, word) if said != word else ("", said))
        found = _never_writes(book, 0, letters.points, letters.starts, 1, len(letters.starts) - 2)
        assert found == slow.cannot_write(said, word, "ü")


def test_an_engine_that_leaves_out_blanks_after_marks_is_known_and_forgiven_when_it_stops() -> None:
    model = AgreementModel(ENGINES[:2], WORD)
    spoken = offers([[word, word] for word in "he cared not to consort".split()], ENGINES[:2])
    for _ in range(30):
        model.observe(replace(spoken, glued=(1, 0), looped=(0, 0)))
    assert model.gluing(ENGINES[:2]) == {"a"}
    other = AgreementModel(ENGINES[:2], WORD)
    other.restore(model.arrays())
    assert other.gluing(ENGINES[:2]) == {"a"}
    for _ in range(400):
        model.observe(spoken)
    assert not model.gluing(ENGINES[:2])
    for _ in range(30):  # where all do it is how people write here
        other.observe(replace(spoken, glued=(1, 1), looped=(0, 0)))
    assert not other.gluing(ENGINES[:2])


def test_a_state_from_before_recent_words_were_counted_opens() -> None:
    model, _ = played(ENGINES, lines(5))
    older = {name: array for name, array in model.arrays().items() if name != "agreement.recent"}
    AgreementModel(ENGINES, WORD).restore(older)


def test_word_borders_are_decided_as_their_slow_twin_does() -> None:
    draw = random.Random(3)
    said = [
        ["in", "convenience"],
        ["inconvenience", ""],
        ["", "inconvenience"],
        ["on", "convenience"],
        ["in", ""],
    ]
    for _ in range(60):
        columns = [draw.choice(said) for _ in range(4)]
        line = offers([["so", "so", "so", ""], *(list(row) for row in zip(*columns, strict=True))])
        tokens, counts = line.tokens, np.array([len(set(row)) for row in line.tokens.tolist()])
        candidates, found = np.zeros((3, 4), dtype=np.int32), np.zeros((3, 4))
        for i, row in enumerate(tokens.tolist()):
            candidates[i, : counts[i]] = sorted(set(row))
            found[i, : counts[i]] = [draw.random() for _ in range(counts[i])]
            found[i] /= found[i].sum()
        before = [
            {line.vocabulary[candidates[i, c]]: found[i, c] for c in range(counts[i])} for i in range(3)
        ]
        none = np.zeros(0)
        seen = Line(np.ones((3, 4), np.bool_), candidates, counts, none, found, none, none, none)
        letters = line.spelling
        decide_borders(tokens, letters.points, letters.starts, seen)
        slots = [{name: line.vocabulary[tokens[i, j]] for j, name in enumerate(ENGINES)} for i in range(3)]
        for i, chances in enumerate(slow.decided_borders(slots, before)):
            for c in range(counts[i]):
                assert found[i, c] == pytest.approx(chances[line.vocabulary[candidates[i, c]]])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_split_word_is_never_half_joined_from_the_first_line_on(order: tuple[int, int]) -> None:
    for split, whole in (("in convenience", "inconvenience"), ("alas !", "alas!")):
        texts = [f"what an {split} it is", f"what an {whole} it is"]
        line = align(Utterance.of_texts("1", {name: texts[order[j]] for j, name in enumerate(("a", "b"))}))
        best = AgreementModel(("a", "b"), WORD).weigh(line).best
        assert " ".join(line.vocabulary[token] for token in best.tolist() if token) in texts
        texts = [texts[0], texts[1], texts[1]]
        line = align(Utterance.of_texts("1", dict(zip(("a", "b", "c"), texts, strict=True))))
        best = AgreementModel(("a", "b", "c"), WORD).weigh(line).best
        assert " ".join(line.vocabulary[token] for token in best.tolist() if token) == texts[1]


def test_an_engine_that_loops_again_and_again_is_not_heard_until_it_stops() -> None:
    model = AgreementModel(ENGINES, WORD)
    for number, plain in enumerate(lines(60)):
        looped = (0, 0, 0, 1) if number < 10 else ()
        model.observe(replace(plain, glued=(0,) * len(looped), looped=looped))
        assert ("d" in model.heard(ENGINES)) == (not 4 <= number < 39)


def test_a_cut_off_end_is_no_vote_for_silence() -> None:
    tokens = align(
        Utterance.of_texts("u", {"a": "one two three four five", "b": "one two three four five", "c": "one"})
    )
    present = take_part(tokens.tokens, np.ones(3, dtype=np.bool_))
    assert present[:, :2].all()
    assert present[0, 2]
    assert not present[1:, 2].any()


def test_one_word_against_one_silence_is_decided_by_rates_and_two_equal_words_win() -> None:
    model = AgreementModel(ENGINES, WORD)
    line = offers([["yes", "yes", "", ""], ["same", "same", "same", "same"]])
    assert line.vocabulary[model.weigh(line).best[0]] == "yes"


def said(**texts: str) -> dict[str, tuple[Word, ...]]:
    return {name: tuple(Word(word) for word in text.split()) for name, text in texts.items()}


LOOP, OTHERS = "there she blows " * 3, {"b": "there she goes", "c": "where she blows"}


@pytest.mark.parametrize(
    ("spoken", "heard"),
    [
        ({"a": LOOP, **OTHERS}, {"a": "", **OTHERS}),  # two others are there to be listened to
        ({"a": "so " + LOOP, "b": "so"}, {"a": "so there she blows", "b": "so"}),
        ({"a": LOOP, "b": LOOP, "c": "there"}, {"a": LOOP, "b": LOOP, "c": "there"}),  # people may say so
        ({"a": "no " * 5, "b": "no " * 4, "c": "no"}, {"a": "", "b": "no " * 4, "c": "no"}),
        ({"a": "in a line in a line", **OTHERS}, {"a": "", **OTHERS}),  # and nothing else
        ({"a": "that that is", **OTHERS}, {"a": "that that is", **OTHERS}),
        ({"a": "", "b": ""}, {"a": "", "b": ""}),
    ],
)
def test_an_engine_that_loops_is_not_listened_to(spoken: dict[str, str], heard: dict[str, str]) -> None:
    assert without_loops(said(**spoken)) == said(**heard)


def test_nothing_to_weigh_is_no_error() -> None:
    model = AgreementModel(ENGINES, WORD)
    empty = offers([])
    assert model.weigh(empty).posteriors.shape == (0, 4)
    model.observe(empty)
    silent = offers([["", "", "", ""]])
    model.observe(silent)
    assert model.weigh(silent).best.tolist() == [0]
