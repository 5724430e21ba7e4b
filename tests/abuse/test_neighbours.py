"""P5: what one client can do to another through the services beside the stream."""

import asyncio
import threading
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.codec.spec import spec_to_wire
from galloon.daemon.learner.registry import MOST_LEFT
from galloon.daemon.rpc import calls
from galloon.daemon.rpc.auth import new_token
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, learners_pb2_grpc
from tests.daemon.serving import serving, simple_spec, utterance


@pytest.fixture
def tokens(tmp_path: Path):
    alice, alice_entry = new_token("alice", "alice/")
    bob, bob_entry = new_token("bob", "bob/")
    path = tmp_path / "tokens.toml"
    path.write_text(f"{alice_entry}\n\n{bob_entry}\n")
    return {"path": path, "alice": _bearer(alice), "bob": _bearer(bob)}


def _bearer(token: str):
    return (("authorization", f"Bearer {token}"),)


async def test_the_health_of_a_learner_is_shown_to_those_who_may_use_it(tmp_path: Path, tokens):
    """Else anybody could find out by guessing which learners there are; the whole daemon's health is for all."""
    async with serving(tmp_path / "data", auth__tokens=tokens["path"]) as daemon:
        request = learners_pb2.CreateLearnerRequest(name="alice/x", spec=simple_spec())
        await daemon.learners.CreateLearner(request, metadata=tokens["alice"])
        health = health_pb2_grpc.HealthStub(daemon.channel)

        async def code(service: str, metadata) -> grpc.StatusCode:
            return await health.Check(
                health_pb2.HealthCheckRequest(service=service), metadata=metadata
            ).code()

        assert await code("", ()) == grpc.StatusCode.OK
        assert await code("alice/x", tokens["alice"]) == grpc.StatusCode.OK
        for name in ("alice/x", "alice/none"):
            assert await code(name, ()) == grpc.StatusCode.UNAUTHENTICATED
            assert await code(name, tokens["bob"]) == grpc.StatusCode.PERMISSION_DENIED
        watch = health.Watch(health_pb2.HealthCheckRequest(service="alice/x"), metadata=tokens["bob"])
        assert await watch.code() == grpc.StatusCode.PERMISSION_DENIED


async def test_one_tenant_cannot_take_all_places_for_learners(tmp_path: Path, tokens):
    """Its own limit is reached first, also by requests at once; the other tenant still finds a place."""
    settings = {"auth__tokens": tokens["path"], "limits__learners_per_principal": 2, "limits__learners": 4}
    async with serving(tmp_path / "data", **settings) as daemon:

        async def code(name: str) -> grpc.StatusCode:
            request = learners_pb2.CreateLearnerRequest(name=name, spec=simple_spec())
            return await daemon.learners.CreateLearner(request, metadata=tokens[name.split("/")[0]]).code()

        codes = await asyncio.gather(*(code(f"alice/{number}") for number in range(6)))
        assert sorted(codes, key=lambda each: each.value[0]) == (
            [grpc.StatusCode.OK] * 2 + [grpc.StatusCode.RESOURCE_EXHAUSTED] * 4
        )
        assert await code("bob/1") == grpc.StatusCode.OK
        call = daemon.learners.DeleteLearner(
            learners_pb2.DeleteLearnerRequest(name=f"alice/{codes.index(grpc.StatusCode.OK)}"),
            metadata=tokens["alice"],
        )
        assert await call.code() == grpc.StatusCode.OK
        assert await code("alice/7") == grpc.StatusCode.OK, "a deleted one makes room"


async def test_imports_are_held_in_memory_so_each_principal_has_one_at_a_time(tmp_path: Path):
    """Else a few clients could fill the memory of all with learners that never end."""
    async with serving(tmp_path) as daemon:
        first = daemon.learners.ImportLearner()
        await first.write(learners_pb2.ImportLearnerRequest(name="first", chunk=b"x"))
        await daemon.learners.ListLearners(
            learners_pb2.ListLearnersRequest()
        )  # on the same connection, after it
        # Refused at once; says nothing itself, because a write to a call that is over is an error of gRPC's own.
        second = daemon.learners.ImportLearner()
        assert await second.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        await first.done_writing()
        assert await first.code() == grpc.StatusCode.INVALID_ARGUMENT
        third = daemon.learners.ImportLearner(iter([learners_pb2.ImportLearnerRequest(name="third")]))
        assert await third.code() == grpc.StatusCode.INVALID_ARGUMENT, "the place is free again"


# An export of nine megabytes.
LARGE = CombinerSpec(
    tuple(f"engine-{n}" for n in range(40)), "component_hedge", {"kind": "ngram", "order": 3}, window=8
)


async def test_exports_that_nobody_reads_are_one_copy_and_end(tmp_path: Path, tokens, monkeypatch):
    """Else each holds a copy in memory for as long as its client likes; places come back, also for others."""
    unread = [("grpc.http2.bdp_probe", 0)]  # else a slow machine lets the client's window grow to all of it
    async with (
        serving(tmp_path / "data", auth__tokens=tokens["path"]) as daemon,
        grpc.aio.insecure_channel(daemon.app.address, options=unread) as channel,
    ):
        learners = learners_pb2_grpc.LearnerServiceStub(channel)
        request = learners_pb2.CreateLearnerRequest(name="alice/large", spec=spec_to_wire(LARGE))
        await daemon.learners.CreateLearner(request, metadata=tokens["alice"])

        def export():
            asked = learners_pb2.ExportLearnerRequest(name="alice/large")
            return learners.ExportLearner(asked, metadata=tokens["alice"])

        held = [export(), export()]
        for call in held:
            await call.read()
        assert len(daemon.app.management.exports) == 1
        assert await export().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        for call in held:
            call.cancel()
        monkeypatch.setattr(calls, "STALL_S", 0.2)
        silent = export()
        await silent.read()
        await asyncio.sleep(1)
        while len(daemon.app.management.exports):  # noqa: ASYNC110  # the end is the server's own
            await asyncio.sleep(0.05)
        monkeypatch.undo()
        sizes = [len(chunk.chunk) async for chunk in export()]
        assert sum(sizes) > 9_000_000, "who reads gets all of it"
        with pytest.raises(grpc.aio.AioRpcError, match="nothing was read"):
            await drained(silent)


async def drained(call: grpc.aio.UnaryStreamCall) -> None:
    """Read what was on its way, then the status."""
    while await call.read() is not grpc.aio.EOF:
        pass


async def test_watching_and_exporting_count_as_streams(tmp_path: Path):
    """There is a number on everything that stays open."""
    async with serving(tmp_path, limits__streams_per_principal=2) as daemon:
        await daemon.learners.CreateLearner(learners_pb2.CreateLearnerRequest(name="a", spec=simple_spec()))
        request = learners_pb2.WatchStatisticsRequest(name="a")
        watching = [daemon.learners.WatchStatistics(request) for _ in range(2)]
        for call in watching:
            await call.read()
        assert await daemon.learners.WatchStatistics(request).code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        for call in watching:
            call.cancel()


async def test_calls_that_say_nothing_are_counted_before_anything_is_known_of_them(tmp_path: Path, tokens):
    """Else strangers fill the memory: opening a call and watching the daemon's health take no token."""
    settings = {"auth__tokens": tokens["path"], "limits__streams": 1, "limits__other_calls": 4}
    async with serving(tmp_path / "data", **settings) as daemon:
        stream = daemon.stream(metadata=tokens["alice"])
        await stream.opened(wire.Open(learner="alice/x", create=simple_spec()))
        watch = health_pb2_grpc.HealthStub(daemon.channel).Watch
        watching = [watch(health_pb2.HealthCheckRequest()) for _ in range(2)]
        for call in watching:
            await call.read()
        silent = [daemon.channel.stream_unary("/galloon.v1.LearnerService/GetLearner")() for _ in range(2)]
        await asyncio.sleep(0.2)  # nothing ever answers these, so nothing tells when they have arrived
        async with asyncio.timeout(10):  # a watch that is let in never ends
            code = await watch(health_pb2.HealthCheckRequest()).code()
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (await stream.choice(utterance(1))).id == "u1", "who was there goes on"
        for call in (*watching, *silent):
            call.cancel()
        for _ in range(100):
            late = watch(health_pb2.HealthCheckRequest())
            if await late.read() is not grpc.aio.EOF:
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("the places of those who left stay taken")


async def test_an_import_that_is_not_sent_loses_its_place(tmp_path: Path, monkeypatch):
    """Without tokens all clients are one principal: one that says nothing must not keep others from importing."""
    monkeypatch.setattr(calls, "STALL_S", 0.05)
    async with serving(tmp_path) as daemon:
        silent = daemon.learners.ImportLearner()
        await silent.write(learners_pb2.ImportLearnerRequest(name="half"))
        assert await silent.code() is grpc.StatusCode.UNAVAILABLE
        assert not daemon.app.management._importing


async def test_changes_that_nobody_waits_for_do_not_pile_up(tmp_path: Path):
    """Each goes on to its end, and is held in memory until then."""
    async with serving(tmp_path) as daemon:
        await daemon.learners.CreateLearner(learners_pb2.CreateLearnerRequest(name="a", spec=simple_spec()))
        learner = daemon.app.registry.find("a")
        change = learners_pb2.UpdateLearnerRequest(name="a", spec=simple_spec(seed=2))
        async with learner.exchanging:  # something takes long
            codes = set()
            for _ in range(2 * MOST_LEFT):
                call = daemon.learners.UpdateLearner(change, timeout=0.05)
                codes.add(await call.code())
            assert codes == {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}
            assert len(daemon.app.registry._changes) <= MOST_LEFT + 1
        while daemon.app.registry._changes:  # noqa: ASYNC110  # nobody waits for them
            await asyncio.sleep(0.01)
        answer = await daemon.learners.UpdateLearner(change)
        assert answer.learner.spec.seed == 2


async def test_what_is_asked_counts_against_the_bytes_of_a_principal(tmp_path: Path):
    """On every method, not on streams alone: a thousand large requests that wait would fill the memory."""
    settings = {"limits__message_bytes": 20_000, "limits__bytes_per_principal": 30_000}
    async with serving(tmp_path, **settings) as daemon:
        await daemon.learners.CreateLearner(learners_pb2.CreateLearnerRequest(name="a", spec=simple_spec()))

        def rebuild(size: int) -> grpc.aio.UnaryUnaryCall:
            request = learners_pb2.RebuildLearnerRequest(name="a", without_ids=["x" * size])
            return daemon.learners.RebuildLearner(request)

        assert "message_bytes" in await rebuild(25_000).details()
        learner = daemon.app.registry.find("a")
        gate = threading.Event()
        learner.queue.enter(("block", 0), gate.wait, lambda *_: None)
        asked = [asyncio.create_task(rebuild(19_000).details()) for _ in range(8)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        gate.set()
        found = await asyncio.gather(*asked)
        assert any("bytes_per_principal" in each for each in found)
        assert not daemon.app._quota._bytes
