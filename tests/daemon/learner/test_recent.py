"""The last decisions are kept within bounds, and the slots can be read back from a decision."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.learner.offers import offered
from galloon.daemon.learner.recent import KEPT, KEPT_SLOTS, Recent
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import ChosenToken, Decision, Lesson, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import SlotNetwork


def decision(slots: int) -> Decision:
    return Decision("x", (ChosenToken("x", "a", 1.0),) * slots, 0.0, b"")


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


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 4).flatmap(
        lambda experts: st.lists(
            st.lists(st.integers(0, 3), min_size=experts, max_size=experts), min_size=1, max_size=9
        )
    )
)
def test_a_decision_tells_the_slots_that_it_was_made_on(rows):
    """Whatever the experts offered is found again in the decision's tokens and alternatives."""
    names = tuple(f"e{number}" for number in range(len(rows[0])))
    tokens = np.array(rows, dtype=np.int32)
    network = SlotNetwork(names, ("", "x", "y", "z"), tokens, np.full(tokens.shape, np.nan))
    combiner = build(CombinerSpec(experts=names, algorithm="expanded_hedge", window=4))
    found = offered(combiner.choose(network, 0).tokens, names)
    texts = [[found.vocabulary[token] for token in row] for row in found.tokens.tolist()]
    assert texts == [[network.vocabulary[token] for token in row] for row in rows]
