"""Answers: to the wire and back gives the same values."""

from dataclasses import replace
from math import nan

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.codec.answer import (
    Choice,
    Lesson,
    Opened,
    PassedLimit,
    Problem,
    SlotAlternative,
    answer_from_wire,
    answer_to_bytes,
    repeated,
)
from galloon.codec.explanation import (
    Explanation,
    SlotExplanation,
    explanation_from_wire,
    explanation_to_wire,
)
from galloon.codec.feedback import feedback_from_wire, feedback_to_wire
from galloon.codec.learner import (
    ErrorRate,
    LearnerInfo,
    Snapshot,
    Statistics,
    learner_from_wire,
    learner_to_wire,
    snapshot_from_wire,
    snapshot_to_wire,
    statistics_to_wire,
)
from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.explanation import Reason, WeighedContext, WeighedOffer
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from tests.codec.strategies import doubles, texts

SPEC = CombinerSpec(engines=("a", "b"))
CHOICE = Choice(
    "u1",
    3,
    "the cat",
    ("the", "", "cat"),
    ("a", "b", "vote"),
    (0.5, 0.25, 1.0),
    -0.75,
    12,
    alternatives=(SlotAlternative(2, "hat", ("b",), 0.5),),
)
LESSON = Lesson("u1", 3, 2.5, {"a": 2.0, "b": 1.0}, 13, 17.5)
OPENED = Opened(
    "asr",
    SPEC,
    ("a", "b", "vote"),
    64,
    True,
    7,
    5,
    "run",
    6,
    (("u1", wire.ROUND_STATE_PENDING), ("u2", wire.ROUND_STATE_UNKNOWN), ("u1", wire.ROUND_STATE_PENDING)),
)
PROBLEM = Problem(
    *("u1", wire.REQUEST_KIND_UTTERANCE, 8, wire.REASON_LIMIT, "slots: too many", "utterance.slots"),
    PassedLimit("slots", 4096.0, 5000.0),
)
STATISTICS = Statistics(
    *(9, 8, 1, 0, 7.5, 0.5, None, 12.0, "expected regret", 1, 2, 3, 4, 5, 6, 7, None, 2),
    {"weights": {"a": 0.5}, "names": ["x", "y"], "none": None, "flag": True},
    {"galloon": ErrorRate(1, 10, 2, 40)},
)


def read(data: bytes):
    return answer_from_wire(wire.CombineResponse.FromString(data))


def test_every_answer_of_a_stream_survives_the_wire():
    for answer in (CHOICE, LESSON, OPENED, PROBLEM):
        assert read(answer_to_bytes(answer)) == answer


def test_an_answer_of_a_later_version_is_none():
    assert answer_from_wire(wire.CombineResponse()) is None


def test_a_repeated_answer_says_so_and_is_otherwise_the_same():
    """For both kinds of answer."""
    for answer in (CHOICE, LESSON):
        again = read(repeated(answer_to_bytes(answer)))
        assert again.repeated_answer
        assert replace(again, repeated_answer=False) == answer


def test_explanations_survive_the_wire_in_pages():
    """What is not a finite number is not known; of a token's offers the chosen one comes first."""
    offers = (
        WeighedOffer("cat", ("a", "vote"), 0.75, 1.5, (Reason("long", 1.0), Reason("rare", -0.5))),
        WeighedOffer("hat", ("b",), 0.25),
    )
    slots = tuple(
        SlotExplanation(
            number, "cat", "a", None, offers, {"a": 0.75, "b": 0.25}, (WeighedContext("all", 1.0),)
        )
        for number in range(3)
    )
    whole = Explanation("u1", 3, "pending", "cat cat cat", None, 12, 4, True, slots)
    pages = [
        explanation_to_wire(Explanation("u1", 3, "pending", "cat cat cat", nan, 12, 4, True, part), 3)
        for part in (slots[:2], slots[2:])
    ]
    assert explanation_from_wire(pages) == whole
    assert pages[0].slot_count == 3


def test_learners_survive_the_wire():
    """With statistics and digests, and without."""
    for learner in (
        LearnerInfo("asr", SPEC, ("a", "b")),
        LearnerInfo("asr", SPEC, (), STATISTICS, "d1", "d2"),
    ):
        assert learner_from_wire(learner_to_wire(learner)) == learner
    snapshot = Snapshot(100, "d1")
    assert snapshot_from_wire(snapshot_to_wire(snapshot)) == snapshot


def test_statistics_carry_whatever_an_algorithm_shows():
    """Tuples travel as lists; numpy numbers too."""
    extra = {"names": ("x", "y"), "count": np.int64(3), "weight": np.float64(0.5)}
    shown = statistics_to_wire(Statistics(*([0] * 5), *([None] * 3), "", *([0] * 7), None, 0, extra))
    assert list(shown.extra["names"]) == ["x", "y"]
    assert shown.extra["count"] == 3
    assert shown.extra["weight"] == 0.5


@settings(deadline=None, max_examples=60)
@given(
    st.builds(TrueText, texts)
    | st.builds(TrueTokens, st.lists(texts).map(tuple))
    | st.builds(ShownGains, st.lists(doubles).map(tuple))
    | st.builds(Score, doubles)
)
def test_feedback_survives_the_wire(feedback):
    """All four kinds, to the bit."""
    message = feedback_to_wire(feedback, "id")
    assert feedback_from_wire(message) == feedback
    assert message.id == "id"
