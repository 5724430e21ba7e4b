"""P4 on a real disk that is full: a tmpfs of a few megabytes, where writes are cut short by the system itself."""

import asyncio
from pathlib import Path

import grpc
import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.daemon.serving import Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon
from tests.fault.small_disk import needs_small_disks, small_disk

SIZE = 4 << 20
PAGE = 4096  # of memory, which is what a tmpfs gives away
MOST = 400  # rounds that surely do not fit into the room that is left


@needs_small_disks()
async def test_a_disk_that_fills_up_refuses_heals_and_keeps_what_was_acknowledged(tmp_path: Path):
    """Whatever room is left, the last write may be cut short: no feedback is acknowledged that a restart loses."""
    with small_disk(tmp_path / "data", SIZE) as disk:
        daemon = Daemon(tmp_path, "log.level=error", inside=disk.inside)
        await asyncio.to_thread(daemon.start)
        acknowledged = 0
        try:
            for turn, room in enumerate((0, 5_000, 50_000)):
                async with grpc.aio.insecure_channel(daemon.address) as channel:
                    stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
                    await stream.opened(wire.Open(learner="test", create=simple_spec()))
                    disk.fill(room)
                    refused = None
                    for number in range(turn * MOST, (turn + 1) * MOST):
                        await stream.choice(utterance(number))
                        answer = await stream.ask(feedback(number))
                        if answer.HasField("problem"):
                            refused = answer.problem
                            break
                        acknowledged += 1
                    assert refused is not None, "the disk took more than there is"
                    assert refused.reason == wire.REASON_UNAVAILABLE
                    assert "full" in refused.message
                    learners = learners_pb2_grpc.LearnerServiceStub(channel)
                    shown = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                    assert shown.learner.statistics.lessons == acknowledged, "reading goes on"
                    disk.empty()
                    await stream.learned(feedback(number))
                    acknowledged += 1
                    shown = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                daemon.kill()
                await asyncio.to_thread(daemon.start)
                async with grpc.aio.insecure_channel(daemon.address) as channel:
                    learners = learners_pb2_grpc.LearnerServiceStub(channel)
                    again = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                    assert again.learner.digest == shown.learner.digest
                    assert again.learner.statistics.lessons == acknowledged
        finally:
            daemon.kill()


@needs_small_disks()
async def test_a_full_disk_after_a_delete_ends_nothing_and_answers_everything(tmp_path: Path):
    """A delete takes the mark of what was acknowledged back; writing the next one needs no new space."""
    with small_disk(tmp_path / "data", SIZE) as disk:
        daemon = Daemon(tmp_path, "log.level=error", inside=disk.inside)
        await asyncio.to_thread(daemon.start)
        try:
            async with grpc.aio.insecure_channel(daemon.address) as channel:
                learners = learners_pb2_grpc.LearnerServiceStub(channel)
                stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
                await stream.opened(wire.Open(learner="test", create=simple_spec()))
                number = 0
                for pages in range(12):  # at one of these sizes a commit takes the last page
                    request = learners_pb2.CreateLearnerRequest(name="passing", spec=simple_spec())
                    await learners.CreateLearner(request)
                    await learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="passing"))
                    disk.fill(pages * PAGE)
                    answered = None
                    while answered is None or answered.HasField("learned"):
                        number += 1
                        await stream.choice(utterance(number))
                        answered = await stream.ask(feedback(number))
                    assert "full" in answered.problem.message
                    disk.empty()
                    assert daemon.process is not None
                    assert daemon.process.poll() is None, "a full disk ended the daemon"
        finally:
            daemon.kill()


@needs_small_disks()
async def test_a_disk_that_is_full_during_a_rebuild_leaves_the_learner_as_it_was(tmp_path: Path):
    """The rebuilt state cannot be written: the present one serves on, in memory and after a restart."""
    with small_disk(tmp_path / "data", SIZE) as disk:
        daemon = Daemon(tmp_path, "log.level=error", inside=disk.inside)
        await asyncio.to_thread(daemon.start)
        try:
            async with grpc.aio.insecure_channel(daemon.address) as channel:
                learners = learners_pb2_grpc.LearnerServiceStub(channel)
                stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
                await stream.opened(wire.Open(learner="test", create=simple_spec()))
                for number in range(8):
                    await stream.choice(utterance(number))
                    await stream.learned(feedback(number))
                shown = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                disk.fill(0)
                for again in (False, True):
                    call = learners.RebuildLearner(learners_pb2.RebuildLearnerRequest(name="test"))
                    if again:
                        assert (await call).digest == shown.learner.digest
                    else:
                        with pytest.raises(grpc.aio.AioRpcError, match="full"):
                            await call
                        disk.empty()
                    present = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                    assert present.learner.digest == shown.learner.digest
                await stream.choice(utterance(8))
                await stream.learned(feedback(8))
                shown = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
            daemon.kill()
            await asyncio.to_thread(daemon.start)
            async with grpc.aio.insecure_channel(daemon.address) as channel:
                learners = learners_pb2_grpc.LearnerServiceStub(channel)
                present = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
                assert present.learner.digest == shown.learner.digest
        finally:
            daemon.kill()
