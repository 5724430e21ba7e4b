"""Error rates on their own: counted from texts, in parts, while others read them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import isqrt
from random import Random

import numpy as np

from galloon.daemon.learner.books import MOST_PAIRS, QUEUED, Books
from galloon.daemon.learner.round import Round, Status, Warm
from galloon.learners.combiners.contract import Choice, Score, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import char_errors
from galloon.learners.observation import Utterance
from galloon.learners.offers import Offers
from tests.abuse.lock_watch import longest_hold

SPEC = CombinerSpec(engines=("a", "b"))


def said():
    """Two engines on two slots: a says "one two", b says "one too"; the combination is that of a."""
    tokens = np.array([[1, 1], [2, 3]], dtype=np.int32)
    network = Offers(("a", "b"), ("", "one", "two", "too"), tokens, np.full((2, 2), np.nan))
    return Utterance("u", network), Choice(
        "one two", network, ("one", "two"), ("a", "a"), (1.0, 1.0), np.ones((1, 2)), 0.0, b""
    )


def learned(feedback):
    """A round of it that has learned, and is warm."""
    round_ = Round(0, "u", b"", b"", status=Status.LEARNED, warm=Warm(*said()))
    round_.warm.feedback = feedback
    return round_


def test_every_engine_the_vote_and_the_combination_are_counted():
    books = Books(SPEC)
    books.enter(learned(TrueText("one two")))
    assert books.count_some(9) == 1
    assert {name: rates.words.errors for name, rates in books.rates.items()} == {
        "a": 0,
        "b": 1,
        "vote": 0,
        "galloon": 0,
    }
    assert books.waiting == 0


def test_what_says_nothing_about_the_text_or_is_cold_is_left_out():
    books, cold = Books(SPEC), learned(TrueText("one two"))
    cold.warm = None
    for round_ in (cold, learned(Score(1.0)), learned(None)):
        books.enter(round_)
    assert books.waiting == 0


def test_the_queue_is_bounded_and_counted_in_parts():
    books = Books(SPEC)
    for _ in range(2 * QUEUED):
        books.enter(learned(TrueText("one two")))
    assert books.waiting == QUEUED
    assert books.count_some(1) == 1
    assert books.rates["a"].words.reference_length == 2
    assert books.count_some(1000) == QUEUED - 1
    assert books.rates["a"].words.reference_length == 2 * QUEUED


def test_who_reads_while_others_count_sees_whole_rounds():
    """Rounds are entered by one thread, counted by two, and read by a third."""
    books, rounds, stop = Books(SPEC), 150, threading.Event()
    torn = []

    def read():
        while not stop.is_set():
            seen = books.rates
            torn.extend(
                seen
                for rate in seen.values()
                if rate.words.reference_length != seen["a"].words.reference_length
            )

    def count():
        while not stop.is_set():
            books.count_some(3)

    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(work) for work in (read, count, count)]
        for _ in range(rounds):
            books.enter(learned(TrueText("one two")))
        while books.waiting:
            books.count_some(1)
        stop.set()
        for task in tasks:
            task.result()
    books.count_some(rounds)
    assert books.rates["b"].words.errors == rounds
    assert not torn


def test_a_text_so_long_that_others_would_wait_is_left_out():
    """Comparing letters holds the interpreter lock: 7 s for a true text of 380,000 of them, as it was."""
    books = Books(SPEC)
    for length in (50_000, 8_000):
        said_long = learned(TrueText("one two " * length))
        said_long.warm.choice = replace(said_long.warm.choice, text="two one " * length)
        books.enter(said_long)
    assert books.count_some(9) == 2
    assert books.rates == {}
    books.enter(learned(TrueText("one two " * 1_000)))
    books.count_some(9)
    assert books.rates["a"].chars.reference_length == 7_999


def test_the_longest_that_is_compared_holds_the_lock_for_a_moment():
    """By processor time, and the least of some runs: a busy machine does not count."""
    letters = Random(1).choices("abcdefgh ", k=2 * isqrt(MOST_PAIRS))
    one, other = "".join(letters[::2]), "".join(letters[1::2])
    assert longest_hold(lambda: lambda: char_errors(one, other)) < 0.1
