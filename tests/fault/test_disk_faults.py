"""P4 on the whole daemon: a full disk refuses and heals, a failed write or sync stops it, a read-only one
is named.
"""

import asyncio
import subprocess
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.daemon.serving import Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon
from tests.fault.disk.shim import Switch, compiled, preloaded
from tests.system import needs

pytestmark = needs("gcc")


class Place:
    """A daemon on a faulty disk."""

    def __init__(self, folder: Path) -> None:
        self.switch = Switch(folder / "switch")
        environment = preloaded(compiled(folder), folder / "data", switch=self.switch.path)
        self.daemon = Daemon(folder, "log.level=error", environment=environment)

    def channel(self) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(self.daemon.address)


@pytest.fixture
def place(tmp_path: Path):
    found = Place(tmp_path)
    found.daemon.start()
    yield found
    found.daemon.kill()


async def _stream(channel: grpc.aio.Channel) -> Conversation:
    stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
    await stream.opened(wire.Open(learner="test", create=simple_spec()))
    return stream


async def _digest(channel: grpc.aio.Channel) -> str:
    stub = learners_pb2_grpc.LearnerServiceStub(channel)
    return (await stub.GetLearner(learners_pb2.GetLearnerRequest(name="test"))).learner.digest


async def test_a_full_disk_acknowledges_nothing_goes_on_reading_and_heals(place: Place):
    """Also when the last write is cut short; after a restart the state is the one that was shown."""
    async with place.channel() as channel:
        stream = await _stream(channel)
        for number, room in enumerate((0, 100, 5000)):
            await stream.choice(utterance(number))
            place.switch.on(f"full@{room}")
            if room < 5000:
                problem = await stream.problem(feedback(number))
                assert problem.reason == wire.REASON_UNAVAILABLE
                assert "full" in problem.message
            assert await _digest(channel), "reading goes on"
            assert (await stream.choice(utterance(100 + number))).id == f"u{100 + number}", "so does choosing"
            place.switch.off()
            assert (await stream.learned(feedback(number))).lessons == number + 1
        digest = await _digest(channel)
    place.daemon.kill()
    await asyncio.to_thread(place.daemon.start)
    async with place.channel() as channel:
        assert await _digest(channel) == digest


async def test_a_failed_sync_stops_the_daemon_which_never_tries_again_in_place(place: Place):
    """Nothing is acknowledged from then on; it ends with status 1; the next start has all that was
    acknowledged.
    """
    async with place.channel() as channel:
        stream = await _stream(channel)
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        await stream.choice(utterance(2))
        place.switch.on("sync_error@1")
        answer = None
        with suppress(grpc.RpcError):  # the stream may end before the answer
            answer = await stream.ask(feedback(2))
        assert answer is None or not answer.HasField("learned"), "acknowledged without a sync"
    process = place.daemon.process
    assert process is not None
    assert await asyncio.to_thread(process.wait, 60) == 1
    place.daemon.process = None
    place.switch.off()
    await asyncio.to_thread(place.daemon.start)
    async with place.channel() as channel:
        stream = await _stream(channel)
        assert (await stream.learned(feedback(1))).repeated_answer
        await stream.choice(utterance(2))
        assert (await stream.learned(feedback(2))).lessons == 2


def test_a_read_only_disk_is_named(tmp_path: Path):
    """The daemon does not start, and says why."""
    place = Place(tmp_path)
    place.daemon.data_dir.mkdir(parents=True)
    place.switch.on("readonly@0")
    with pytest.raises(AssertionError, match=r"status 1.*\n(.*\n)*.*Read-only file system"):
        place.daemon.start()


def test_the_faulty_disk_compiles_without_a_warning(tmp_path: Path):
    """The instrument itself is held to the strictest of the compiler's opinions."""
    library = compiled(tmp_path)
    listed = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    assert "galloon_mark" in listed
