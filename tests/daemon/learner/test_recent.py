"""The last choices are kept within bounds."""

import numpy as np

from galloon.daemon.learner.recent import KEPT, KEPT_SLOTS, Recent
from galloon.learners.combiners.contract import Choice, Lesson, TrueText
from galloon.learners.offers import no_offers


def decision(slots: int) -> Choice:
    return Choice("x", no_offers(slots), "x" * slots, "a" * slots, [1.0] * slots, np.empty((0, 0)), 0.0, b"")


def test_only_the_last_few_are_kept():
    recent = Recent()
    for number in range(100):
        recent.chose(str(number), decision(3))
    assert [number for number in range(100) if recent.get(str(number))] == list(range(100 - KEPT, 100))


def test_long_utterances_do_not_add_up():
    recent = Recent()
    for number in range(4):
        recent.chose(str(number), decision(KEPT_SLOTS // 2))
    assert [number for number in range(4) if recent.get(str(number))] == [2, 3]
    recent.chose("huge", decision(KEPT_SLOTS + 1))
    assert recent.get("huge") is None
    recent.chose("small", decision(1))
    assert recent.get("small") is not None


def test_the_truth_joins_its_decision_and_a_forgotten_one_is_no_error():
    recent = Recent()
    recent.chose("u", decision(1))
    recent.learned("u", TrueText("x"), Lesson(1.0))
    recent.learned("forgotten", TrueText("x"), Lesson(1.0))
    shown = recent.get("u")
    assert shown is not None
    assert shown.feedback == TrueText("x")
