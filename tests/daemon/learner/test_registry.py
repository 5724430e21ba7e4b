"""Learners come and go whole: whoever cancels, whatever comes at the same moment, and also on a full disk."""

import asyncio
import contextlib
import time
from random import Random

import grpc
import pytest

from galloon.daemon.errors import DaemonError, StoreFull, UnknownLearner
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.store.protocol import Create, Delete
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import learners_pb2
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, utterance

SPEC = CombinerSpec(EXPERTS, "expanded_hedge", window=4)


@pytest.fixture
def slow(monkeypatch):
    """A store whose operations take a while."""
    transact = SqliteBackend.transact

    def later(backend, operation):
        time.sleep(0.1)
        return transact(backend, operation)

    monkeypatch.setattr(SqliteBackend, "transact", later)


async def test_a_creation_that_the_client_gave_up_is_there_when_it_tries_again(tmp_path, slow):
    """By deadline, over the port; the name is not half taken, and the daemon goes on."""
    request = learners_pb2.CreateLearnerRequest(name="test", spec=simple_spec())
    async with serving(tmp_path) as daemon:
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await daemon.learners.CreateLearner(request, timeout=0.05)
        assert ended.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        again = await daemon.learners.CreateLearner(request, timeout=30)
        assert again.learner.name == "test"
        stream = await daemon.open()
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        digest = await daemon.digest()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == digest


async def test_a_deletion_that_the_client_gave_up_is_done(tmp_path, slow):
    """Streams on the learner hear of it, and its name is free."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        with pytest.raises(grpc.aio.AioRpcError):
            await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"), timeout=0.05)
        with pytest.raises(grpc.aio.AioRpcError, match="has been deleted"):
            await stream.read()
        created = await daemon.learners.CreateLearner(
            learners_pb2.CreateLearnerRequest(name="test", spec=simple_spec())
        )
        assert created.created


async def test_a_deletion_that_a_full_disk_refuses_leaves_the_learner_as_it_was(tmp_path, monkeypatch):
    def full(backend, operation):
        raise StoreFull("the disk is full")

    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        await stream.choice(utterance(1))
        monkeypatch.setattr(SqliteBackend, "transact", full)
        with pytest.raises(grpc.aio.AioRpcError, match="disk of the daemon is full"):
            await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"))
        monkeypatch.undo()
        assert (await stream.learned(feedback(1))).lessons == 1
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"))


async def test_a_name_that_is_taken_in_the_store_ends_nothing(tmp_path):
    """As an interrupted creation once left it: that request fails, the daemon serves on."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        await daemon.app._journal.transact(Create("taken", SPEC.to_json()))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await daemon.learners.CreateLearner(
                learners_pb2.CreateLearnerRequest(name="taken", spec=simple_spec())
            )
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))


async def test_a_snapshot_of_a_learner_that_goes_leaves_nothing_behind(tmp_path):
    """At the same moment, many times: the store opens again."""
    async with serving(tmp_path) as daemon:
        registry = daemon.app.registry
        for number in range(20):
            learner, _ = await registry.create(f"passing-{number}", SPEC, "name")
            snapshot, deletion = await asyncio.gather(
                learner.snapshot(), registry.delete(learner.name), return_exceptions=True
            )
            assert deletion is None
            assert isinstance(snapshot, int | UnknownLearner)
    async with serving(tmp_path) as daemon:
        assert daemon.app.registry.learners() == []


@pytest.mark.parametrize("seed", range(3))
async def test_any_interleaving_of_calls_and_cancellations_leaves_a_store_that_opens(tmp_path, seed):
    """Create, delete, import, snapshot, rebuild, read ids; who was told that a learner is there finds it."""
    random = Random(seed)
    async with serving(tmp_path) as daemon:
        registry = daemon.app.registry
        first, _ = await registry.create("first", SPEC, "name")
        exported = await first.export()

        def call(name):
            match random.randrange(6):
                case 0:
                    return registry.create(name, SPEC, "name")
                case 1:
                    return registry.delete(name)
                case 2:
                    return registry.restore(name, exported)
                case 3:
                    return registry.find(name).snapshot()
                case 4 if random.random() < 0.3:  # it takes a process
                    return registry.to_the_end(rebuild(registry.find(name), "a test"))
                case _:
                    return registry.find(name).load_ids()

        async def step():
            with contextlib.suppress(DaemonError):
                await call(random.choice(("a", "b")))

        for _ in range(60):
            tasks = [asyncio.create_task(step()) for _ in range(random.randrange(1, 5))]
            for _ in range(random.randrange(12)):
                await asyncio.sleep(0)
            for task in tasks:
                if random.random() < 0.4:
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        while registry._changes:
            await asyncio.gather(*registry._changes, return_exceptions=True)
        known = {learner.name: (await learner.digests())[0] for learner in registry.learners()}
        assert daemon.app._failure is None
    async with serving(tmp_path) as daemon:
        registry = daemon.app.registry
        assert {learner.name: (await learner.digests())[0] for learner in registry.learners()} == known


async def test_a_daemon_that_stops_meanwhile_ends_the_change_one_way_or_the_other(tmp_path):
    async with serving(tmp_path) as daemon:
        change = asyncio.create_task(daemon.app.registry.create("late", SPEC, "name"))
        await asyncio.sleep(0)
    await asyncio.gather(change, return_exceptions=True)
    async with serving(tmp_path) as daemon:
        learner, _ = await daemon.app.registry.create("late", SPEC, "name")
        await daemon.app.registry.delete("late")
        with pytest.raises(DaemonError):
            await daemon.app._journal.transact(Delete(learner.key))
