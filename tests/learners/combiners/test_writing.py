"""What was written stays as written: normalisers decide what counts as equal and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Choice, Combiner, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import NAMES, normalizer
from galloon.learners.unit import CHAR, WORD, Unit

ENGINES = ("a", "b", "c")
WORDS = (
    *("Mr.", "mister", "«Hello»", '"hello"', "“Hello”", "ﬁgs", "figs", "FIGS", "don't", "do", "not", "DON'T"),
    *(
        "twenty",
        "five",
        "25",
        "Twenty-five",
        "um",
        "[noise]",
        "(unclosed",
        "closed)",
        "İstanbul",
        "½",
        "—",
        "-",
    ),
    *("wehad", "We", "HAD", "e\u0301", "é", "´", "a.b", "!"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def combiner(rule: str = "basic", unit: Unit = WORD, algorithm: str = "tied") -> Combiner:
    return build(CombinerSpec(engines=ENGINES, normalizer=rule, unit=unit, algorithm=algorithm))


def chosen(made: Combiner, *texts: str, number: int = 0) -> Choice:
    return made.choose(Utterance.of_texts("u", dict(zip(ENGINES, texts, strict=True))), number)


@pytest.mark.parametrize("unit", [WORD, CHAR], ids=str)
@pytest.mark.parametrize("rule", NAMES)
def test_a_text_on_which_engines_agree_is_not_touched(rule: str, unit: Unit) -> None:
    text = "Mr. O'Neil wrote «Deﬁne» — don’t PAY £1,000 (yet) at Łódź…"
    assert chosen(combiner(rule, unit), text, text, text).text == text


@pytest.mark.parametrize("algorithm", ["tied", "component_hedge"])
def test_engines_vote_on_how_a_token_is_written(algorithm: str) -> None:
    choice = chosen(combiner(algorithm=algorithm), "The «end»", "the «end»", 'The "END"')
    assert choice.text == "The «end»"
    assert list(choice.shown) == ["the", '"end"']


@settings(max_examples=150, deadline=None)
@given(rule=st.sampled_from(NAMES), unit=st.sampled_from([WORD, CHAR]), texts=st.tuples(TEXTS, TEXTS, TEXTS))
def test_the_written_text_reads_as_the_chosen_tokens(
    rule: str, unit: Unit, texts: tuple[str, str, str]
) -> None:
    """So error rates under the normaliser are those of the tokens."""
    choice = chosen(combiner(rule, unit), *texts)
    read = normalizer(rule)
    assert read(choice.text) == read(unit.join(choice.shown))


@settings(max_examples=100, deadline=None)
@given(rule=st.sampled_from(NAMES), texts=st.tuples(TEXTS, TEXTS, TEXTS))
def test_every_form_is_somebodys(rule: str, texts: tuple[str, str, str]) -> None:
    choice = chosen(combiner(rule), *texts)
    said = [f" {' '.join(text.split())} " for text in texts]
    for form, token in zip(choice.written or choice.shown, choice.shown, strict=True):
        assert form in ("", token) or any(form in text for text in said)


def test_who_writes_rightly_is_learned_and_kept() -> None:
    made = combiner()
    said = ("the House of ﬁre", "the house of fire", "the house of fire")
    assert chosen(made, *said).text == "the house of fire"
    for number in range(6):
        choice = chosen(made, *said, number=number)
        made.learn(choice.memory, TrueText("the House of ﬁre"))
    assert chosen(made, *said, number=9).text == "the House of ﬁre"
    again = combiner()
    again.restore(made.to_bytes())
    assert chosen(again, *said, number=9).text == "the House of ﬁre"
    assert again.digest() == made.digest()


def test_what_is_learned_is_the_same_with_and_without_the_view() -> None:
    fast, slow = combiner(), combiner()
    said = ("The don't", "the Don't", "THE don't")
    for number in range(3):
        one, other = chosen(fast, *said, number=number), chosen(slow, *said, number=number)
        fast.learn(one.memory, TrueText("The Don't"), one.view)
        slow.learn(other.memory, TrueText("The Don't"))
    assert fast.digest() == slow.digest()


def test_teaching_marks_leaves_the_choice_of_tokens_alone() -> None:
    """Truths that differ in marks alone teach the same about tokens."""
    one, other = combiner(), combiner()
    said = ("The «house»", "the house", "the 'horse'")
    for number in range(4):
        first, second = chosen(one, *said, number=number), chosen(other, *said, number=number)
        assert first.shown == second.shown
        assert first.probabilities == second.probabilities
        one.learn(first.memory, TrueText("The «HOUSE»"))
        other.learn(second.memory, TrueText('the "house"'))


def test_records_of_another_learner_are_refused() -> None:
    from galloon.learners.combiners.writing import Writing

    for counts in ([[[0, 0]]], "x", [[[0, -1]] * 3] * 3, [[[0, 0.5]] * 3] * 3, 7):
        with pytest.raises(DamagedState):
            Writing("abc", WORD, "basic").restore(counts)
