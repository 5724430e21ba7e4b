"""Error rates: counted from texts, from the history, over restarts."""

import json
from dataclasses import replace
from math import isqrt
from random import Random

import numpy as np

from galloon.daemon.learner.books import MOST_PAIRS, Books, Said
from galloon.daemon.learner.error_curve import Rates
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import char_errors
from galloon.learners.observation import Utterance
from galloon.learners.offers import Offers, no_offers
from galloon.v1 import combine_pb2 as wire
from tests.abuse.lock_watch import longest_hold
from tests.daemon.serving import EXPERTS, feedback, serving, truth, utterance

SPEC = CombinerSpec(engines=("a", "b"))


def said(feedback):
    """Two engines on two slots: a says "one two", b says "one too"; the combination is that of a."""
    tokens = np.array([[1, 1], [2, 3]], dtype=np.int32)
    network = Offers(("a", "b"), ("", "one", "two", "too"), tokens, np.full((2, 2), np.nan))
    return Said(Utterance("u", network), network, "one two", feedback)


def opened():
    return Books(SPEC, lambda memory: no_offers(0))


def errors(books):
    return {name: rates.words.errors for name, rates in books.rates.items()}


def test_every_engine_the_vote_and_the_combination_are_counted_and_taken_out_again():
    books = opened()
    books.count(said(TrueText("one two")))
    assert errors(books) == {"a": 0, "b": 1, "vote": 0, "galloon": 0}
    again = opened()
    again.restore(json.loads(json.dumps(books.to_json())))
    assert (again.rates, again.counted) == (books.rates, 1)
    again.count(said(TrueText("one two")), -1)
    assert set(again.rates.values()) == {Rates()}
    assert again.counted == 0


def test_a_text_so_long_that_others_would_wait_is_left_out():
    """Comparing letters holds the interpreter lock: 7 s for a true text of 380,000 of them, as it was."""
    books = opened()
    for length in (50_000, 8_000):
        books.count(replace(said(TrueText("one two " * length)), combined="two one " * length))
    assert books.rates == {}
    books.count(said(TrueText("one two " * 1_000)))
    assert books.rates["a"].chars.reference_length == 7_999


def all_counted(daemon):
    learner = daemon.app.registry.find("test")
    while learner.books.seq < learner.seq:
        learner.books.count_some(learner.history, 60.0)
    return learner.books


async def test_every_correction_is_counted_late_or_not_over_restarts_and_amendments(tmp_path):
    """More rounds than memory holds, taught in two lives; then one is replaced and one withdrawn."""
    rounds = 30
    async with serving(tmp_path, limits__warm_rounds=2) as daemon:
        stream = await daemon.open()
        for number in range(rounds):
            await stream.choice(utterance(number))
        for number in range(rounds // 2):
            await stream.learned(feedback(number))
    async with serving(tmp_path, limits__warm_rounds=2) as daemon:
        stream = await daemon.open()
        for number in range(rounds // 2, rounds):
            await stream.learned(feedback(number))
        books = all_counted(daemon)
        assert books.counted == rounds
        whole = dict(books.rates)
        assert set(whole) == {*EXPERTS, "vote", "galloon"}
        words = whole["galloon"].words.reference_length
        assert words == sum(len([word for word in truth(number) if word]) for number in range(rounds))
        await stream.learned(wire.Feedback(id="u3", withdrawn=True, replace=True))
        assert all_counted(daemon).counted == rounds - 1
        await daemon.app.registry.find("test").snapshot()
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        assert daemon.app.registry.find("test").books.counted == rounds - 1
        await stream.learned(feedback(3))
        assert all_counted(daemon).rates == whole


def test_the_longest_that_is_compared_holds_the_lock_for_a_moment():
    """By processor time, and the least of some runs: a busy machine does not count."""
    letters = Random(1).choices("abcdefgh ", k=2 * isqrt(MOST_PAIRS))
    one, other = "".join(letters[::2]), "".join(letters[1::2])
    assert longest_hold(lambda: lambda: char_errors(one, other)) < 0.1
