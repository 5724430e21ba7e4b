"""Requests that come in one turn of the event loop are answered as if they had come one by one."""

import asyncio

import pytest

from galloon.daemon.errors import OtherContent, UnknownRound
from galloon.daemon.learner.learner import WAITING_BYTES
from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import as_request, feedback, serving, utterance


class Crowd:
    """Hands requests to a learner, all in one turn of the loop."""

    def __init__(self, host):
        self._host = host

    async def ask(self, *messages):
        """What came of each, in order: an answer or an error."""
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in messages]
        for message, future in zip(messages, futures, strict=True):

            def reply(answer, error, future=future):
                future.set_result(error or wire.CombineResponse.FromString(answer))

            request = as_request(message)
            if request.HasField("utterance"):
                self._host.enter_utterance(request.utterance, request.ByteSize(), False, reply)
            else:
                self._host.enter_feedback(request.feedback, reply)
        return await asyncio.gather(*futures)


@pytest.fixture
async def crowd(tmp_path):
    """On a learner whose work is known to be light."""
    async with serving(tmp_path) as daemon:
        await daemon.open()
        crowd = Crowd(daemon.app.registry.find("test"))
        for number in range(-8, 0):
            await crowd.ask(utterance(number))
            await crowd.ask(feedback(number))
        yield crowd


async def test_rounds_are_numbered_in_the_order_of_arrival(crowd):
    answers = await crowd.ask(*map(utterance, range(20)))
    first = answers[0].choice.round
    assert [answer.choice.round for answer in answers] == list(range(first, first + 20))


async def test_what_waits_in_the_lane_is_weighed_whatever_stream_it_came_from(crowd):
    """Streams that share a learner share what may wait for it; all are answered."""
    host, long = crowd._host, 100
    requests = [
        utterance(number, long) for number in range(2 * WAITING_BYTES // utterance(0, long).ByteSize())
    ]
    asked = asyncio.create_task(crowd.ask(*requests))
    await asyncio.sleep(0)
    assert host.lags
    answers = await asked
    assert [answer.choice.id for answer in answers] == [request.id for request in requests]
    assert host.queue.waiting_bytes == 0


async def test_feedback_may_come_right_behind_its_utterance(crowd):
    """As from a client that does not wait for the choice."""
    requests = [make(number) for number in range(10) for make in (utterance, feedback)]
    answers = await crowd.ask(*requests)
    lessons = [answer.learned.lessons for answer in answers[1::2]]
    assert lessons == list(range(lessons[0], lessons[0] + 10))


async def test_feedback_before_its_utterance_is_refused(crowd):
    refused, chosen = await crowd.ask(feedback(1), utterance(1))
    assert isinstance(refused, UnknownRound)
    assert chosen.choice.id == "u1"


async def test_the_same_utterance_twice_in_a_row_is_one_round(crowd):
    first, other, second = await crowd.ask(utterance(1), utterance(2), utterance(1))
    assert second.choice.repeated_answer
    assert not first.choice.repeated_answer
    assert second.choice.round == first.choice.round == other.choice.round - 1


async def test_an_id_twice_in_a_row_with_other_content_is_refused(crowd):
    other = utterance(2)
    other.id = "u1"
    first, second, third = await crowd.ask(utterance(1), other, utterance(3))
    assert isinstance(second, OtherContent)
    assert third.choice.round == first.choice.round + 1


async def test_one_that_is_refused_in_the_middle_leaves_no_gap(crowd):
    """Neither what cannot be read, nor what the combiner refuses."""
    unreadable, foreign = utterance(1), wire.Feedback(id="u2", true_tokens=wire.TrueTokens(tokens=["one"]))
    del unreadable.slots.offers[:]
    answers = await crowd.ask(utterance(2), unreadable, utterance(3), foreign, utterance(4), feedback(3))
    assert [isinstance(answer, Exception) for answer in answers] == [False, True, False, True, False, False]
    assert answers[4].choice.round == answers[0].choice.round + 2
    again, *_ = await crowd.ask(utterance(1))
    assert again.choice.round == answers[0].choice.round + 3


async def test_together_or_alone_the_state_is_the_same(tmp_path):
    """Also after a restart, which applies the journal one event after the other."""
    digests = []
    for name in ("together", "alone"):
        async with serving(tmp_path / name) as daemon:
            daemon.app._housekeeping.snapshot_all = lambda: asyncio.sleep(0)
            await daemon.open()
            host = daemon.app.registry.find("test")
            crowd = Crowd(host)
            for start in range(0, 40, 10):
                for make in (utterance, feedback):
                    requests = [make(number) for number in range(start, start + 10)]
                    for part in [requests] if name == "together" else [[one] for one in requests]:
                        await crowd.ask(*part)
            digests.append(await host.digests())
    async with serving(tmp_path / "together") as daemon:
        digests.append(await daemon.app.registry.find("test").digests())
    assert digests[0] == digests[1] == digests[2]
