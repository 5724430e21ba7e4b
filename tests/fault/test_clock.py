"""A wall clock that jumps by years, forwards and backwards, under a daemon at work: nothing notices.

Rounds expire, snapshots are made, queues are flushed and streams are kept alive by monotonic time alone.
"""

import asyncio
import json
from pathlib import Path

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.daemon.serving import Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon
from tests.fault.disk.shim import Switch, compiled
from tests.system import needs

CLOCK = Path(__file__).parent / "clock" / "jumping_clock.c"
YEAR_S = 31_557_600


@needs("gcc")
async def test_rounds_live_through_jumps_of_the_clock_and_so_do_restarts(tmp_path: Path):
    """A round begun before a jump learns after it, though it looks years old or unborn; the state is kept."""
    switch = Switch(tmp_path / "clock")
    variables = {"LD_PRELOAD": str(compiled(tmp_path, CLOCK)), "GALLOON_CLOCK_SWITCH": str(switch.path)}
    daemon = Daemon(tmp_path, "store.snapshot_events=5", environment=variables)
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
            await stream.opened(wire.Open(learner="test", create=simple_spec()))
            for number, years in enumerate((20, -20, 1, 0)):
                await stream.choice(utterance(number))
                switch.on(str(years * YEAR_S))
                assert (await stream.learned(feedback(number))).lessons == number + 1
            await stream.choice(utterance(9))  # this one waits through restarts
            shown = await _kept(channel)
        assert shown.statistics.rounds_expired == 0
        for number, years in enumerate((-30, 30), start=4):
            daemon.kill()
            switch.on(str(years * YEAR_S))
            await asyncio.to_thread(daemon.start)
            async with grpc.aio.insecure_channel(daemon.address) as channel:
                assert (await _shown(channel)).digest == shown.digest
                stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
                await stream.opened(wire.Open(learner="test"))
                await stream.learned(feedback(9 if years == -30 else 10))
                await stream.choice(utterance(10))
                shown = await _kept(channel)
                assert shown.statistics.lessons == number + 1
        assert daemon.stop() == 0
    finally:
        daemon.kill()
    stamps = [json.loads(line)["timestamp"] for line in daemon.log.read_text().splitlines()]
    assert max(stamps)[:4] > min(stamps)[:4], "the clock never jumped"


async def _kept(channel: grpc.aio.Channel) -> learners_pb2.Learner:
    """The learner after a snapshot: a choice alone need not be on the disk when a process is killed."""
    stub = learners_pb2_grpc.LearnerServiceStub(channel)
    await stub.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="test"))
    return await _shown(channel)


async def _shown(channel: grpc.aio.Channel) -> learners_pb2.Learner:
    stub = learners_pb2_grpc.LearnerServiceStub(channel)
    return (await stub.GetLearner(learners_pb2.GetLearnerRequest(name="test"))).learner
