"""Limits: over one, RESOURCE_EXHAUSTED with its name and value; below it, everything works."""

import grpc
import pytest

from galloon.daemon.errors import LimitPassed
from galloon.daemon.limits import ADVICE, Limits, check
from galloon.daemon.rpc.quota import Quota
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2
from tests.daemon.serving import insisting, serving, simple_spec, utterance


async def test_too_many_streams_are_turned_away_until_one_ends(tmp_path):
    """The status names the limit; a place becomes free when a stream ends."""
    async with serving(tmp_path, limits__streams=2) as daemon:
        first, second = await daemon.open(), await daemon.open()
        with pytest.raises(grpc.RpcError) as refused:
            await insisting(lambda: daemon.stream().ask(wire.Open(learner="test")))
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "streams: 3 asked, 2 allowed" in refused.value.details()
        await first.close()
        await daemon.open()
        await second.choice(utterance(1))


async def test_too_many_learners(tmp_path):
    """By open and by create; deleting one makes room."""
    async with serving(tmp_path, limits__learners=2) as daemon:
        for name in "ab":
            await daemon.open(name)
        problem = await daemon.stream().problem(wire.Open(learner="c", create=simple_spec()))
        assert (problem.limit.name, problem.limit.allowed, problem.limit.needed) == ("learners", 2, 3)
        with pytest.raises(grpc.RpcError) as refused:
            await daemon.learners.CreateLearner(
                learners_pb2.CreateLearnerRequest(name="c", spec=simple_spec())
            )
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="a"))
        await daemon.open("c")


async def test_an_import_that_is_too_large(tmp_path):
    """Refused while it comes in, not after."""
    async with serving(tmp_path, limits__import_bytes=1000) as daemon:

        def chunks():
            yield learners_pb2.ImportLearnerRequest(name="a", chunk=bytes(900))
            yield learners_pb2.ImportLearnerRequest(chunk=bytes(900))

        with pytest.raises(grpc.RpcError) as refused:
            await daemon.learners.ImportLearner(chunks())
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "import_bytes: 1800 asked, 1000 allowed" in refused.value.details()


async def test_bytes_in_flight_of_one_principal(tmp_path):
    """A request over what a principal may hold is refused; the next one that fits is not."""
    async with serving(tmp_path, limits__bytes_per_principal=1000) as daemon:
        stream = await daemon.open()
        large = utterance(1, labels={f"l{number}": "x" * 200 for number in range(10)})
        problem = await stream.problem(large)
        assert problem.limit.name == "bytes_per_principal"
        await stream.choice(utterance(1))


def test_the_quota_gives_back_what_it_took():
    """Streams and bytes, by principal; empty in the end."""
    quota = Quota(Limits(streams=3, streams_per_principal=2, bytes_per_principal=10))
    for name in ("a", "a", "b"):
        quota.open_stream(name)
    with pytest.raises(LimitPassed, match="streams: 4 asked"):
        quota.open_stream("b")
    quota.close_stream("b")
    with pytest.raises(LimitPassed, match="streams_per_principal: 3 asked"):
        quota.open_stream("a")
    quota.hold("a", 10)
    quota.hold("b", 10)
    with pytest.raises(LimitPassed, match="bytes_per_principal: 11 asked"):
        quota.hold("a", 1)
    quota.release("a", 10)
    quota.hold("a", 5)
    for name, size in (("a", 5), ("b", 10)):
        quota.release(name, size)
    for _ in range(2):
        quota.close_stream("a")
    assert quota.streams == 0
    assert not quota._bytes
    assert not quota._streams


def test_every_advice_is_about_a_limit():
    """And every limit that is checked has one."""
    for name in ADVICE:
        with pytest.raises(LimitPassed, match=f"^{name}: "):
            check(Limits(), name, float("inf"))
