"""The connection breaks and the daemon lives on: what was sent is answered once, and learned at most once."""

import asyncio
from collections.abc import Iterator

import pytest

from galloon.clients.api.client import Client
from galloon.clients.api.connection import Backoff
from galloon.clients.api.stream import StreamOptions
from galloon.learners.combiners.contract import TrueTokens
from tests.clients.api.wire import wire_to
from tests.clients.samples import BIGRAMS, TRUTH, aligned
from tests.daemon_process import Daemon, running_daemon

PATIENT = StreamOptions(timeout_s=120, give_up_s=120, backoff=Backoff(first_s=0.01, longest_s=0.05))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """It has only two rounds in memory."""
    with running_daemon(tmp_path_factory.mktemp("forgetful"), "limits.warm_rounds=2") as daemon:
        yield daemon


async def lessons(client: Client, name: str, wanted: int) -> None:
    """Until the learner has taken in so many lessons."""
    for _ in range(3000):
        statistics = (await client.get_learner(name)).statistics
        assert statistics is not None
        if statistics.lessons == wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{name} has {statistics.lessons} lessons, not {wanted}")


async def test_a_cut_in_the_middle_is_not_noticed(daemon: Daemon, name: str):
    """Feedback whose acknowledgement was lost is acknowledged on the next connection, as a repeated answer."""
    async with (
        wire_to(daemon.address) as wire,
        Client(daemon.address) as beside,
        Client(wire.address, options=PATIENT) as client,
        client.stream(name, create=BIGRAMS) as stream,
    ):
        await stream.choose(aligned("u1"))
        wire.deafen()
        lesson = await stream.send_feedback("u1", TrueTokens(TRUTH))
        choices = [await stream.send_utterance(aligned(f"v{i}")) for i in range(5)]
        await lessons(beside, name, 1)
        wire.cut()
        wire.mend()
        assert (await lesson).repeated_answer
        assert [(await choice).id for choice in choices] == [f"v{i}" for i in range(5)]
        assert stream.reconnects == 1
        assert (await beside.get_learner(name)).statistics.rounds_started == 6


async def test_feedback_whose_acknowledgement_was_lost_is_learned_once(daemon: Daemon, name: str):
    """It was learned, and its round has left the daemon's memory: the same answer again, from the history."""
    async with (
        wire_to(daemon.address) as wire,
        Client(daemon.address) as beside,
        Client(wire.address, options=PATIENT) as client,
        client.stream(name, create=BIGRAMS) as stream,
        beside.stream(name) as other,
    ):
        await stream.choose(aligned("u1"))
        wire.deafen()
        lesson = await stream.send_feedback("u1", TrueTokens(TRUTH))
        await lessons(beside, name, 1)
        wire.cut()
        for i in range(3):
            await other.choose(aligned(f"v{i}"))
            await other.learn(f"v{i}", TrueTokens(TRUTH))
        wire.mend()
        assert (await lesson).repeated_answer
        assert (await stream.choose(aligned("u2"))).id == "u2"
        assert (await beside.get_learner(name)).statistics.lessons == 4


async def test_a_daemon_that_says_nothing_is_left_for_the_one_that_has_the_learner(daemon: Daemon, name: str):
    """Connections to a paused machine stay up, so nobody is told; the others are asked."""
    async with wire_to(daemon.address) as wire:
        options = StreamOptions(timeout_s=120, doubt_s=0.2)
        async with Client(f"{wire.address},{daemon.address}", options=options) as client:
            async with client.stream(name, create=BIGRAMS) as stream:
                await stream.choose(aligned("u1"))
                wire.deafen()
                assert (await stream.learn("u1", TrueTokens(TRUTH))).lessons == 1
                assert stream.reconnects == 1
                await stream.choose(aligned("u2"))
