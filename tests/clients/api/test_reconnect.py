"""Streams survive their daemon: killed, stopped or restarted, nothing is lost and nothing is learned twice."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from galloon.clients.api.client import Client
from galloon.clients.api.connection import Backoff, Connection
from galloon.clients.api.errors import ChoiceReplaced, Unreachable
from galloon.clients.api.stream import StreamOptions
from galloon.learners.combiners.contract import Score, TrueTokens
from tests.clients.api.wire import wire_to
from tests.clients.samples import BIGRAMS, SCORED, TRUTH, aligned
from tests.daemon_process import Daemon, running_daemon

PATIENT = StreamOptions(timeout_s=120, open_timeout_s=120, give_up_s=120)
# Choices are written so late that a kill always loses those without feedback.
LAZY = "store.commit_delay_s=600"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running_daemon(tmp_path_factory.mktemp("killed"), LAZY) as daemon:
        yield daemon


@pytest.fixture
async def client(daemon: Daemon) -> AsyncIterator[Client]:
    if daemon.process is None:
        daemon.start()
    async with Client(daemon.address, options=PATIENT, random=Random(1)) as client:
        yield client


async def restart(daemon: Daemon) -> None:
    await asyncio.to_thread(daemon.start)


async def test_a_kill_loses_choices_and_the_client_recalls_them(client: Client, daemon: Daemon, name: str):
    """A choice that was shown but not durable comes back before its feedback; what was acknowledged stays."""
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        await stream.learn("u1", TrueTokens(TRUTH))
        await stream.choose(aligned("u2"))
        daemon.kill()
        taught = await stream.send_feedback("u2", TrueTokens(TRUTH))
        again = await stream.send_feedback("u1", TrueTokens(TRUTH))
        await restart(daemon)
        assert (await again).repeated_answer
        lesson = await taught
        assert (lesson.lessons, lesson.repeated_answer, stream.reconnects) == (2, False, 1)
    standing = (await client.get_learner(name)).statistics
    assert (standing.rounds_started, standing.lessons, standing.rounds_pending) == (2, 2, 0)


async def test_what_was_lost_is_recalled_whatever_came_meanwhile(client: Client, daemon: Daemon, name: str):
    """The daemon dies twice before this stream is back, and has given the number of its lost round to another.

    Feedback on it was sent, but no round of the learner is missing in its history: it cannot have been learned.
    """
    async with (
        wire_to(daemon.address) as wire,
        Client(wire.address, options=PATIENT) as away,
        away.stream(name, create=BIGRAMS) as stream,
    ):
        assert (await stream.choose(aligned("u1"))).round == 0
        os.kill(daemon.pid, signal.SIGSTOP)
        taught = await stream.send_feedback("u1", TrueTokens(TRUTH))
        await asyncio.sleep(0.5)  # until it is on the wire
        wire.cut()
        daemon.kill()
        await restart(daemon)
        async with client.stream(name) as other:
            for i in range(3):
                assert (await other.choose(aligned(f"v{i}"))).round == i
                await other.learn(f"v{i}", TrueTokens(TRUTH))
        daemon.kill()
        await restart(daemon)
        wire.mend()
        lesson = await taught
        assert (lesson.lessons, lesson.repeated_answer, lesson.round) == (4, False, 3)


async def test_requests_wait_while_the_daemon_is_away(client: Client, daemon: Daemon, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        daemon.kill()
        futures = [await stream.send_utterance(aligned(f"u{i}")) for i in range(30)]
        await restart(daemon)
        assert [(await future).id for future in futures] == [f"u{i}" for i in range(30)]


async def test_a_stop_in_good_order_loses_nothing(client: Client, daemon: Daemon, name: str):
    """A daemon that drains has made everything durable: nothing is recalled, and the stream goes on."""
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        assert await asyncio.to_thread(daemon.stop) == 0
        taught = await stream.send_feedback("u1", TrueTokens(TRUTH))
        await restart(daemon)
        assert (await taught).lessons == 1
    assert (await client.get_learner(name)).statistics.rounds_started == 1


async def test_a_score_is_not_credited_to_a_choice_that_nobody_saw(client: Client, daemon: Daemon, name: str):
    """The rounds come back in another order, so their draws differ: the caller is told, and judges anew."""
    async with client.stream(name, create=SCORED) as stream:
        shown = {id_: await stream.choose(aligned(id_, slots=8)) for id_ in ("u1", "u2")}
        assert shown["u1"].experts != shown["u2"].experts
        daemon.kill()
        await restart(daemon)
        with pytest.raises(ChoiceReplaced) as replaced:
            await stream.learn("u2", Score(0.5))
        assert replaced.value.replacement.round == 0
        assert replaced.value.replacement.experts != shown["u2"].experts
        assert (await stream.learn("u2", Score(0.25))).gain == 0.25


async def test_a_daemon_that_stays_away_is_given_up(daemon: Daemon, client: Client, name: str):
    short = StreamOptions(give_up_s=0.5, backoff=Backoff(first_s=0.01, longest_s=0.1))
    async with client.stream(name, create=BIGRAMS, options=short) as stream:
        daemon.kill()
        with pytest.raises(Unreachable, match=r"within 0\.5 s"):
            await stream.choose(aligned("u1"))
        with pytest.raises(Unreachable):
            await stream.choose(aligned("u2"))


async def test_calls_that_are_safe_to_repeat_wait_for_the_daemon(client: Client, daemon: Daemon, name: str):
    await client.create_learner(name, BIGRAMS)
    daemon.kill()
    asking = asyncio.ensure_future(client.get_learner(name))
    await restart(daemon)
    assert (await asking).name == name


async def test_the_store_is_the_same_after_a_kill(client: Client, daemon: Daemon, name: str, tmp_path: Path):
    """The digest of everything durable does not change when nothing was in flight."""
    async with client.stream(name, create=BIGRAMS) as stream:
        for i in range(20):
            await stream.choose(aligned(f"u{i}"))
            await stream.learn(f"u{i}", TrueTokens(TRUTH))
    before = await client.get_learner(name)
    daemon.kill()
    await restart(daemon)
    after = await client.get_learner(name)
    assert (after.digest, after.state_digest) == (before.digest, before.state_digest)


async def test_a_stopped_daemon_is_found_out(client: Client, daemon: Daemon, name: str):
    """The machine still answers for its socket, so only pings can tell; the request itself has minutes left."""
    patient = StreamOptions(timeout_s=600, give_up_s=0.5)
    async with Client(
        Connection(daemon.address, silence_s=3), options=patient, random=Random(1)
    ) as impatient:
        stream = impatient.stream(name, create=BIGRAMS)
        await stream.open()
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            with pytest.raises(Unreachable):
                await stream.choose(aligned("u1"))
        finally:
            os.kill(daemon.pid, signal.SIGCONT)
