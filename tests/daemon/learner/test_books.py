"""Error rates on their own: counted from texts, whether the truth comes at once or after they were spelled out."""

import gc
import weakref

import numpy as np
import pytest

from galloon.daemon.learner.books import WATCHED, Scoreboard
from galloon.learners.combiners.contract import Choice, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.offers import Offers

SPEC = CombinerSpec(experts=("a", "b"))


def said():
    """Two engines on two slots: a says "one two", b says "one too"; the combination is that of a."""
    tokens = np.array([[1, 1], [2, 3]], dtype=np.int32)
    network = Offers(("a", "b"), ("", "one", "two", "too"), tokens, np.full((2, 2), np.nan))
    return network, Choice(
        "one two", network, ("one", "two"), ("a", "a"), (1.0, 1.0), np.ones((1, 2)), 0.0, b""
    )


@pytest.mark.parametrize("spelled_first", [False, True])
def test_rates_do_not_depend_on_when_the_truth_comes(spelled_first):
    board = Scoreboard(SPEC)
    board.watch("u", *said())
    if spelled_first:
        assert board.count_some(9) == 1
    board.score("u", TrueText("one two"))
    board.count_some(9)
    assert {name: rates.words.errors for name, rates in board.rates.items()} == {
        "a": 0,
        "b": 1,
        "vote": 0,
        "galloon": 0,
    }
    assert board.waiting == 0


def test_what_waits_for_its_truth_lets_go_of_its_arrays():
    board, (network, choice) = Scoreboard(SPEC), said()
    gone = weakref.ref(network.tokens)
    board.watch("u", network, choice)
    del network, choice
    board.count_some(1)
    gc.collect()
    assert gone() is None


def test_the_queue_comes_first_and_both_are_bounded():
    board = Scoreboard(SPEC)
    for number in range(2 * WATCHED):
        board.watch(f"u{number}", *said())
    assert board.waiting == WATCHED
    board.score(f"u{2 * WATCHED - 1}", TrueText("one two"))
    assert board.count_some(1) == 1
    assert board.rates["a"].words.reference_length == 2
    assert board.count_some(1000) == WATCHED
