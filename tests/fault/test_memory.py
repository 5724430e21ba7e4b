"""A daemon that gets no more memory in the middle of its work: what it acknowledged is there afterwards.

It may refuse what needs memory, or die; it may not lose anything.
"""

import asyncio
import resource
from contextlib import suppress
from pathlib import Path

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc, spec_pb2
from tests.daemon.serving import Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon

# Hundreds of megabytes of arrays, within the limit below: more than any slack in what a process has reserved.
LARGE = spec_pb2.LearnerSpec(
    engines=[f"e{n}" for n in range(60)],
    window=60,
    algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE,
    gain=spec_pb2.Gain(ngram=spec_pb2.NgramGain(order=3)),
)
ROUNDS = 30


async def test_nothing_acknowledged_is_lost_where_memory_ends(tmp_path: Path):
    """A large learner is asked for while rounds go on; then the process is killed, if it still lives."""
    daemon = Daemon(tmp_path, "log.level=error", "limits.transitions=20000000")
    await asyncio.to_thread(daemon.start)
    acknowledged: list[int] = []
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
            await stream.opened(wire.Open(learner="test", create=simple_spec()))
            await _play(stream, range(ROUNDS), acknowledged)
            assert len(acknowledged) == ROUNDS
            _end_of_memory(daemon.pid)
            large = _create(channel)
            with suppress(grpc.RpcError):  # the stream ends when the daemon does
                await _play(stream, range(ROUNDS, 2 * ROUNDS), acknowledged)
            assert await large != grpc.StatusCode.OK, "there was memory enough: this test is none"
        daemon.kill()
        await asyncio.to_thread(daemon.start)
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
            lessons = (await stream.opened(wire.Open(learner="test"))).lessons
            assert len(acknowledged) <= lessons <= 2 * ROUNDS
            for number in acknowledged:
                assert (await stream.learned(feedback(number))).repeated_answer
    finally:
        daemon.kill()


async def _play(stream: Conversation, numbers: range, acknowledged: list[int]) -> None:
    """Rounds one after the other; problems are no acknowledgements."""
    for number in numbers:
        await stream.ask(utterance(number))
        if (await stream.ask(feedback(number))).HasField("learned"):
            acknowledged.append(number)


def _create(channel: grpc.aio.Channel) -> asyncio.Task[grpc.StatusCode]:
    request = learners_pb2.CreateLearnerRequest(name="large", spec=LARGE)

    async def code() -> grpc.StatusCode:
        return await learners_pb2_grpc.LearnerServiceStub(channel).CreateLearner(request).code()

    return asyncio.create_task(code())


def _end_of_memory(pid: int) -> None:
    """Let a process have what it has, and no more."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    size = pages * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
