"""A checksum proves that bytes are whole, not that they are honest: forged learners are refused, or harm
only themselves.
"""

import json
from pathlib import Path
from random import Random

import grpc
import pytest

from galloon.daemon.limits import Limits
from galloon.learners import state
from galloon.learners.saved_learner import VERSION
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


async def imported(daemon, data: bytes) -> tuple[grpc.StatusCode, str]:
    request = learners_pb2.ImportLearnerRequest(name="other", chunk=data)
    call = learners_pb2_grpc.LearnerServiceStub(daemon.channel).ImportLearner(iter([request]))
    return await call.code(), await call.details()


def with_count(meta, arrays):
    """So many rounds that the next one's draws would leave 64 bits."""
    meta["started"] = 2**53 - 1


def with_more_ends(meta, arrays):
    meta["lessons"] = meta["started"] + 1


async def test_rounds_come_from_the_store_alone(tmp_path: Path):
    """Exports of the first version held rounds, which nobody could vouch for: they are refused."""
    async with serving(tmp_path) as daemon:
        found = state.unpack(await import_fuzz.exported(daemon.channel, "semi_bandit"), "learner", VERSION)
        code, words = await imported(daemon, state.pack("learner", 1, found.meta, found.arrays))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "export again" in words


@pytest.mark.parametrize("forge", [with_count, with_more_ends])
async def test_what_would_only_fail_later_is_refused_before_it_is_written(tmp_path: Path, forge):
    """An import is rehearsed in full and read back; nothing of a refused one is in the store."""
    async with serving(tmp_path) as daemon:
        found = state.unpack(await import_fuzz.exported(daemon.channel, "semi_bandit"), "learner", VERSION)
        meta, arrays = dict(found.meta), dict(found.arrays)
        forge(meta, arrays)
        code, words = await imported(daemon, state.pack("learner", VERSION, meta, arrays))
        assert code == grpc.StatusCode.INVALID_ARGUMENT, words
        assert [learner.name for learner in daemon.app.registry.learners()] == ["semi_bandit"]
    async with serving(tmp_path) as daemon:
        assert [learner.name for learner in daemon.app.registry.learners()] == ["semi_bandit"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("engines", [f"e{n}" for n in range(Limits().engines + 1)]),
        ("engines", ["x" * 300]),
        ("engines", ["a\nb"]),
    ],
)
async def test_an_imported_spec_is_held_to_the_limits_of_a_spec_on_the_wire(tmp_path: Path, name, value):
    """A container carries its spec; an import must not be a way around the limits."""
    async with serving(tmp_path) as daemon:
        good = await import_fuzz.exported(daemon.channel, "expanded_hedge")
        found = state.unpack(good, "learner", VERSION)
        spec = {**json.loads(found.meta["spec"]), name: value}
        data = state.pack("learner", VERSION, {**found.meta, "spec": json.dumps(spec)}, found.arrays)
        code, words = await imported(daemon, data)
        assert code in {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT}
        assert "engines" in words
