"""A checksum proves that bytes are whole, not that they are honest: forged learners are refused, or harm
only themselves.
"""

from pathlib import Path
from random import Random

import grpc
import pytest

from galloon.learners import state
from galloon.v1 import learners_pb2, learners_pb2_grpc
from tests.abuse import import_fuzz
from tests.abuse.forgery import forged
from tests.daemon.serving import serving


async def test_forged_learners_are_refused_or_harm_only_themselves(tmp_path: Path):
    """Arrays, counts, texts and memories changed under a good checksum; the daemon is a process that could die."""
    outcomes = await import_fuzz.measured(tmp_path, trials=6, seed=6)
    assert outcomes["import INVALID_ARGUMENT"] > 0
    assert outcomes["let in"] > 0


async def test_a_forgery_is_whole(tmp_path: Path):
    """So that it is not the checksum that refuses it."""
    async with serving(tmp_path) as daemon:
        good = await import_fuzz.exported(daemon.channel, "expanded_hedge")
    for seed in range(50):
        assert state._checksum(forged(good, Random(seed))[:-32]) == forged(good, Random(seed))[-32:]


@pytest.mark.parametrize(
    ("name", "value"),
    [("engines", [f"e{n}" for n in range(65)]), ("engines", ["x" * 300]), ("engines", ["a\nb"])],
)
async def test_an_imported_spec_is_held_to_the_limits_of_a_spec_on_the_wire(tmp_path: Path, name, value):
    """A container carries its spec; an import must not be a way around the limits."""
    import json

    async with serving(tmp_path) as daemon:
        good = await import_fuzz.exported(daemon.channel, "expanded_hedge")
        found = state.unpack(good, "learner", 1)
        spec = {**json.loads(found.meta["spec"]), name: value}
        data = state.pack("learner", 1, {**found.meta, "spec": json.dumps(spec)}, found.arrays)
        request = learners_pb2.ImportLearnerRequest(name="other", chunk=data)
        call = learners_pb2_grpc.LearnerServiceStub(daemon.channel).ImportLearner(iter([request]))
        assert await call.code() in {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT}
        assert "engines" in await call.details()
