"""The blocking client: the same verbs for programs without an event loop."""

import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import signature

import pytest

from galloon.clients.api.answered import Answered
from galloon.clients.api.blocking import BlockingClient, BlockingStream
from galloon.clients.api.client import Client
from galloon.clients.api.errors import NotFound, WrongUsage
from galloon.clients.api.stream import CombineStream
from galloon.codec.feedback import Withdrawn
from galloon.learners.combiners.contract import TrueTokens
from tests.clients.samples import BIGRAMS, TRUTH, aligned
from tests.daemon_process import Daemon


@pytest.fixture
def blocking(daemon: Daemon) -> Iterator[BlockingClient]:
    with BlockingClient(daemon.address) as client:
        yield client


def test_one_round(blocking: BlockingClient, name: str):
    with blocking.stream(name, create=BIGRAMS) as stream:
        assert stream.opened.created
        assert stream.choose(aligned("u1")).id == "u1"
        assert stream.learn("u1", TrueTokens(TRUTH)).lessons == 1
        assert stream.reconnects == 0


def test_a_lesson_is_taken_back(blocking: BlockingClient, name: str):
    with blocking.stream(name, create=BIGRAMS) as stream:
        stream.choose(aligned("u1"))
        stream.learn("u1", TrueTokens(TRUTH))
        assert stream.learn("u1", Withdrawn(), replace=True).amended
        (round_,) = blocking.past_rounds(name)
        assert round_.state == "pending"


@pytest.mark.parametrize(("one", "other"), [(Client, BlockingClient), (CombineStream, BlockingStream)])
def test_the_verbs_and_their_arguments_are_those_of_the_other_client(one: type, other: type):
    for verb, method in inspect.getmembers(one, inspect.isfunction):
        if not verb.startswith("_"):
            asked, taken = (list(signature(each).parameters) for each in (method, getattr(other, verb)))
            assert taken == asked, verb


def test_many_in_their_order(blocking: BlockingClient, name: str):
    ids = [f"u{i}" for i in range(150)]
    with blocking.stream(name, create=BIGRAMS) as stream:
        assert [choice.id for choice in stream.choose_each(map(aligned, ids))] == ids
        lessons = stream.learn_each(Answered(id_, TrueTokens(TRUTH)) for id_ in ids)
        assert [lesson.lessons for lesson in lessons] == list(range(1, 151))


def test_what_is_asked_may_depend_on_what_was_answered(blocking: BlockingClient, name: str):
    """Items are taken in the caller's thread, so they may use the same stream without a deadlock."""
    with blocking.stream(name, create=BIGRAMS) as stream:

        def questions():
            for i in range(5):
                stream.choose(aligned(f"inner{i}"))
                yield aligned(f"outer{i}")

        assert [choice.id for choice in stream.choose_each(questions())] == [f"outer{i}" for i in range(5)]


def test_several_threads_share_one_stream(blocking: BlockingClient, name: str):
    with blocking.stream(name, create=BIGRAMS) as stream, ThreadPoolExecutor(4) as pool:
        rounds = [choice.round for choice in pool.map(stream.choose, (aligned(f"u{i}") for i in range(40)))]
    assert sorted(rounds) == list(range(40))


def test_learners_are_managed(blocking: BlockingClient, name: str):
    assert blocking.create_learner(name, BIGRAMS).created
    assert blocking.get_learner(name).spec == BIGRAMS
    assert [learner.name for learner in blocking.list_learners(name)] == [name]
    assert blocking.snapshot_learner(name).snapshot_bytes > 0
    assert blocking.import_learner(f"{name}/copy", blocking.export_learner(name)).spec == BIGRAMS
    watching = blocking.watch_learner(name, interval_s=0.1)
    assert [next(watching).rounds_started, next(watching).rounds_started] == [0, 0]
    watching.close()
    blocking.delete_learner(name)
    with pytest.raises(NotFound):
        blocking.get_learner(name)


def test_errors_arrive_in_the_callers_thread(blocking: BlockingClient, name: str):
    with blocking.stream(name, create=BIGRAMS) as stream:
        with pytest.raises(NotFound):
            stream.learn("never sent", TrueTokens(TRUTH))
        assert stream.choose(aligned("u1")).id == "u1"


def test_a_wrong_address_leaves_no_thread_behind():
    with pytest.raises(WrongUsage, match="host:port"):
        BlockingClient("nowhere")
