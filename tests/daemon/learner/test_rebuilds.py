"""Rebuilds and snapshots that come together: few at once, none for nothing, none half done, each in its turn."""

import asyncio

import pytest

from galloon.daemon.errors import StoreFull, UnknownLearner
from galloon.daemon.learner import registry as registries
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.rebuild import Player
from galloon.daemon.operate import housekeeping as housekeepings
from galloon.daemon.store.protocol import Exchange, SaveSnapshot
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.v1 import learners_pb2
from tests.daemon.serving import Daemon, feedback, serving, utterance


@pytest.fixture
def played(monkeypatch):
    """The rebuilds that were begun, and the most that there were at once."""
    seen = {"begun": 0, "now": 0, "most": 0}
    init, stop = Player.__init__, Player.stop

    def starting(self, *args):
        seen["begun"] += 1
        seen["now"] += 1
        seen["most"] = max(seen["most"], seen["now"])
        init(self, *args)

    def stopping(self):
        seen["now"] -= 1
        stop(self)

    monkeypatch.setattr(Player, "__init__", starting)
    monkeypatch.setattr(Player, "stop", stopping)
    return seen


async def taught(daemon: Daemon, name: str, rounds: int = 3) -> Learner:
    stream = await daemon.open(name)
    for number in range(rounds):
        await stream.choice(utterance(number))
        await stream.learned(feedback(number))
    await stream.close()
    return daemon.app.registry.find(name)


async def test_many_who_ask_at_once_are_told_of_one_rebuild(tmp_path, played):
    """The first may have begun before the last one asked: two are enough for all of them."""
    async with serving(tmp_path) as daemon:
        await taught(daemon, "test")
        request = learners_pb2.RebuildLearnerRequest(name="test")
        answers = await asyncio.gather(*(daemon.learners.RebuildLearner(request) for _ in range(8)))
        assert {(answer.rounds, answer.lessons) for answer in answers} == {(3, 3)}
    assert played["begun"] <= 2


async def test_few_learners_are_rebuilt_at_once(tmp_path, played, monkeypatch):
    """Each takes a process: a crowd of them would take the machine."""
    monkeypatch.setattr(registries, "REBUILDS", 1)
    async with serving(tmp_path) as daemon:
        learners = [await taught(daemon, f"test-{number}", 1) for number in range(4)]
        await asyncio.gather(*(rebuild(learner, "a test") for learner in learners))
    assert (played["begun"], played["most"]) == (4, 1)


async def test_a_rebuild_that_a_full_disk_refuses_leaves_no_gap(tmp_path, monkeypatch):
    """What is acknowledged after it follows what was before, and the store opens again."""
    transact = SqliteBackend.transact

    def full(backend, operation):
        if isinstance(operation, Exchange):
            raise StoreFull("the disk is full")
        return transact(backend, operation)

    async with serving(tmp_path) as daemon:
        learner = await taught(daemon, "test")
        monkeypatch.setattr(SqliteBackend, "transact", full)
        with pytest.raises(StoreFull):
            await rebuild(learner, "a test")
        monkeypatch.undo()
        stream = await daemon.open("test")
        await stream.choice(utterance(9))
        await stream.learned(feedback(9))
        await learner.written()
        seqs = [entry.seq for entry in learner.recorded().entries(0)]
        assert seqs == list(range(1, len(seqs) + 1))
        digest = await daemon.digest()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == digest


async def test_who_amends_without_end_does_not_keep_others_waiting(tmp_path):
    async with serving(tmp_path) as daemon:
        housekeeping, order = daemon.app._housekeeping, []
        learners = [await taught(daemon, name) for name in ("a", "z")]
        for _ in range(3):
            for learner in learners:
                learner.amended_seq = learner.seq
            housekeeping._rebuild_next(learners)
            order += housekeeping._rebuilds
            await asyncio.gather(*housekeeping._rebuilds.values())
        assert order == ["a", "z", "a"]


async def test_a_rebuild_that_meets_a_defect_is_told_of_and_waits(tmp_path, monkeypatch):
    """It must not be tried again at every tick, nor hold up others."""

    async def defect(learner, why):
        raise KeyError("a defect")

    async with serving(tmp_path) as daemon:
        learner = await taught(daemon, "test")
        housekeeping = daemon.app._housekeeping
        learner.amended_seq = learner.seq
        monkeypatch.setattr(housekeepings, "rebuild", defect)
        housekeeping._rebuild_next([learner])
        await asyncio.gather(*housekeeping._rebuilds.values())
        housekeeping._rebuild_next([learner])
        assert not housekeeping._rebuilds
        assert daemon.app.metrics.task_failures["housekeeping"]._value.get() == 1


async def test_many_snapshots_at_once_are_one(tmp_path, monkeypatch):
    """A copy of the state for each who asks would fill the memory."""
    saved = []
    transact = SqliteBackend.transact

    def counting(backend, operation):
        if isinstance(operation, SaveSnapshot):
            saved.append(operation.seq)
        return transact(backend, operation)

    monkeypatch.setattr(SqliteBackend, "transact", counting)
    async with serving(tmp_path) as daemon:
        learner = await taught(daemon, "test")
        await asyncio.gather(*(learner.snapshot() for _ in range(20)))
        assert len(saved) == 1
        await daemon.app.registry.delete("test")
        with pytest.raises(UnknownLearner):
            await learner.snapshot()
