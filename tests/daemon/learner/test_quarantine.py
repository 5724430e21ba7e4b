"""One learner that cannot be brought back stops nobody else, and nothing of it is lost."""

import numpy as np
import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.daemon.store.protocol import Create
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2
from tests.daemon.serving import feedback, serving, simple_spec, utterance

# As an older galloon took it: a bound with which sums overflow over a life.
OVERFLOWING = CombinerSpec(("ann",)).to_json().replace('"gain_bound":0.0', '"gain_bound":1e+300')


async def refused(call) -> AioRpcError:
    with pytest.raises(AioRpcError) as found:
        await call
    return found.value


async def stopped(daemon) -> dict[str, str]:
    listed = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest())
    return {learner.name: learner.why for learner in listed.out_of_service}


async def health(daemon, name: str):
    stub = health_pb2_grpc.HealthStub(daemon.channel)
    return (await stub.Check(health_pb2.HealthCheckRequest(service=name))).status


@pytest.mark.parametrize("snapshot", [None, b"not a state"], ids=["a spec", "a snapshot"])
async def test_a_learner_that_cannot_be_restored_is_named_and_the_others_serve(tmp_path, snapshot):
    """Every request for it says why and what to do; it can be deleted, and then its name is free."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("good")
        await stream.choice(utterance(0))
        before = await daemon.digest("good")
    backend = SqliteBackend(tmp_path)
    spec = OVERFLOWING if snapshot is None else CombinerSpec(("ann",)).to_json()
    backend.transact(Create("bad", spec, snapshot))
    backend.close()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest("good") == before
        assert list(await stopped(daemon)) == ["bad"]
        calls = daemon.learners
        for call in (
            calls.GetLearner(learners_pb2.GetLearnerRequest(name="bad")),
            calls.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="bad")),
            calls.CreateLearner(learners_pb2.CreateLearnerRequest(name="bad", spec=simple_spec())),
        ):
            error = await refused(call)
            assert error.code() is StatusCode.FAILED_PRECONDITION
            assert "learner 'bad' is out of service" in error.details()
            assert "or delete the learner" in error.details()
        problem = await daemon.stream().problem(wire.Open(learner="bad", create=simple_spec()))
        assert problem.reason == wire.REASON_OUT_OF_SERVICE
        assert await health(daemon, "bad") == health_pb2.HealthCheckResponse.NOT_SERVING
        assert (
            await health(daemon, "") == await health(daemon, "good") == health_pb2.HealthCheckResponse.SERVING
        )
        await (await daemon.open("good")).choice(utterance(1))
        await calls.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="bad"))
        assert await stopped(daemon) == {}
        await daemon.open("bad")
    async with serving(tmp_path) as daemon:
        assert await stopped(daemon) == {}


async def test_what_made_it_fail_is_mended_and_it_is_as_it_was(tmp_path):
    """A limit that was lowered and raised again; meanwhile its bytes were not touched."""
    spec = simple_spec(algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE)
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("large", spec)
        for number in range(3):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        before = await daemon.digest("large")
    async with serving(tmp_path, limits__transitions=1) as daemon:
        (why,) = (await stopped(daemon)).values()
        assert "transitions" in why
    async with serving(tmp_path) as daemon:
        assert await daemon.digest("large") == before


class Overflows:
    """A combiner whose sums pass the largest number when it is told to; everything else is a real one's."""

    told = False

    def __init__(self, combiner) -> None:
        self._combiner = combiner

    def __getattr__(self, name):
        return getattr(self._combiner, name)

    def learn(self, *arguments):
        lesson = self._combiner.learn(*arguments)
        if Overflows.told:
            self._combiner._expert_gains[:] = np.inf
        return lesson


async def test_a_state_that_could_not_come_back_never_replaces_one_that_can(tmp_path, monkeypatch):
    """The snapshot is refused, its learner stops, and the next start has what was good."""
    make = lambda spec, budget: Overflows(build(spec, budget))  # noqa: E731
    async with serving(tmp_path, make) as daemon:
        stream = await daemon.open("bad", simple_spec(algorithm=spec_pb2.ALGORITHM_TIED))
        await daemon.open("good")
        await stream.choice(utterance(0))
        await stream.learned(feedback(0))
        request = learners_pb2.SnapshotLearnerRequest(name="bad")
        await daemon.learners.SnapshotLearner(request)
        monkeypatch.setattr(Overflows, "told", True)
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        error = await refused(daemon.learners.SnapshotLearner(request))
        assert error.code() is StatusCode.FAILED_PRECONDITION
        assert list(await stopped(daemon)) == ["bad"]
        problem = await stream.problem(utterance(2))
        assert problem.reason == wire.REASON_OUT_OF_SERVICE
        await (await daemon.open("good")).choice(utterance(0))
    monkeypatch.setattr(Overflows, "told", False)
    async with serving(tmp_path, make) as daemon:
        assert await stopped(daemon) == {}
        assert (await daemon.stream().opened(wire.Open(learner="bad"))).rounds_started == 2
