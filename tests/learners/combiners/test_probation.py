"""What was taught is shown once it has been right more often than the untaught answer."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.probation import ALONE, DOUBT, MOST, UNTRIED, Probation, untaught_answer
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState
from galloon.learners.observation import Utterance
from tests.reference import probation as reference


def tokens(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_its_slow_twin(seed):
    draw, made, lines = Random(seed), Probation(), []
    for number in range(500):
        late = draw.randrange(6) if seed % 2 else 0
        taught, untaught, truth = (tokens(*(draw.randrange(2) for _ in range(4))) for _ in range(3))
        if draw.random() < 0.1 * seed:
            taught = truth
        lines.append((taught.tolist(), untaught.tolist(), truth.tolist(), max(0, number - late)))
        made.judge(taught, untaught, truth, max(0, number - late))
        assert made.passed == reference.passed(lines, DOUBT, UNTRIED, ALONE, MOST)


def test_a_page_that_is_corrected_as_a_whole_is_one_trial():
    lines, page = Probation(), Probation()
    for number in range(9):
        lines.judge(tokens(1), tokens(2), tokens(1), number)
        page.judge(tokens(1), tokens(2), tokens(1), 0)
    assert lines.passed
    assert not page.passed
    for start in (9, 11):  # two pages more
        page.judge(tokens(1), tokens(2), tokens(1), start)
        page.judge(tokens(1), tokens(2), tokens(1), start)
    assert page.passed
    for _ in range(4):
        page.judge(tokens(2), tokens(1), tokens(1), 13)
    assert not page.passed


def test_many_lessons_without_a_trial_are_believed():
    made = Probation()
    for _ in range(int(UNTRIED)):
        assert not made.passed
        made.judge(tokens(1), tokens(1), tokens(1), 0)
    assert made.passed


def test_lines_corrected_one_at_a_time_need_not_win():
    made = Probation()
    for number in range(int(ALONE) + 2):  # the first tries nothing, and the last is still open
        assert not made.passed
        made.judge(tokens(1), tokens(1), tokens(1), number)
    assert made.passed
    made.judge(tokens(2), tokens(1), tokens(1), int(ALONE) + 2)
    assert not made.passed


def test_of_equals_the_first_word_is_shown_and_nothing_last():
    offers = np.array([[3, 2, 0], [0, 5, 5], [0, 0, 4]], dtype=np.int32)
    chances = np.array([[0.5, 0.5, 0.5], [0.5, 0.4, 0.5], [0.9, 0.9, 0.1]])
    assert untaught_answer(offers, chances).tolist() == [1, 2, 0]


def test_states_come_back_and_damaged_ones_are_refused():
    made, again = Probation(), Probation()
    made.judge(tokens(1, 2), tokens(2, 2), tokens(1, 2), 0)
    again.restore(made.arrays(), 1)
    assert (again.arrays()["probation"] == made.arrays()["probation"]).all()
    for book in (np.full(7, np.nan), np.full(7, -1.0), np.zeros(4)):
        with pytest.raises(DamagedState):
            Probation().restore({"probation": book}, 1)
    older = Probation()
    older.restore(
        {"probation": made.arrays()["probation"][:6]}, 1
    )  # written before trials of one line were counted
    assert (older.arrays()["probation"] == made.arrays()["probation"]).all()
    old = Probation()
    old.restore({}, 7)  # written before there was a probation
    assert old.passed


def test_after_a_page_on_which_one_engine_was_right_the_next_is_answered_as_before():
    """The German first page: an engine that nobody else confirms is right on it, and wrong on the next page."""
    engines = ("eng", "fra", "deu")
    words = [f"{letter}{number}" for letter in "abcdef" for number in range(8)]
    draw = Random(1)

    def page(right: set[str]) -> list[Utterance]:
        lines = []
        for _ in range(20):
            truth = draw.sample(words, 6)
            wrong = [word + "x" if place % 3 == 0 else word for place, word in enumerate(truth)]
            texts = {name: " ".join(truth if name in right else wrong) for name in engines}
            lines.append(replace(Utterance.of_texts("line", texts), target=" ".join(truth)))
        return lines

    made, fresh = build(CombinerSpec(engines)), build(CombinerSpec(engines))
    number = 0
    for lines in (page({"deu"}), page({"eng", "fra"})):
        choices = []
        for line in lines:
            choices.append(made.choose(line, number))
            untaught = fresh.choose(line, number)
            assert choices[-1].text == untaught.text
            for combiner, choice in ((made, choices[-1]), (fresh, untaught)):
                combiner.observe(choice.memory, choice.view)
            number += 1
        for line, choice in zip(lines, choices, strict=True):
            made.learn(choice.memory, TrueText(line.target), choice.view)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_back_changes_nothing(seed):
    """Nor which engines are listened to: an engine that was useless on some pages is the best of the next.

    Until true texts show that an engine is another than it was: then what agreement knows of it is void.
    """
    draw, engines = Random(seed), ("a", "b", "c", "d")
    spec = CombinerSpec(engines=engines, decide="best")
    taught, untaught = build(spec), build(spec)
    words = ["".join(draw.choice("aeiourstln") for _ in range(draw.randrange(3, 8))) for _ in range(200)]
    held = 0
    for page in range(8):
        bad = engines[page // 4 % 2 + draw.randrange(2)]
        lessons = []
        for line in range(15):
            true = draw.choices(words, k=7)
            said = {
                engine: " ".join(
                    draw.choice(words) if draw.random() < (0.9 if engine == bad else 0.15) else word
                    for word in true
                )
                for engine in engines
            }
            utterance = Utterance.of_texts(f"{page}/{line}", said)
            number = 15 * page + line
            choice, other = taught.choose(utterance, number), untaught.choose(utterance, number)
            if not (taught._probation.passed or taught.statistics().extra["changes"]):
                held += 1
                assert choice.text == other.text
            taught.observe(choice.memory, choice.view)
            untaught.observe(other.memory, other.view)
            lessons.append((choice, true))
        for choice, true in lessons:
            taught.learn(choice.memory, TrueText(" ".join(true)), choice.view)
    assert held >= 30
