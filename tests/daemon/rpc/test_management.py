"""The learners' service: create, show, list, delete, snapshot, export, import, watch."""

import grpc
import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2
from tests.daemon.serving import feedback, serving, simple_spec, utterance


async def create(daemon, name, spec=None):
    request = learners_pb2.CreateLearnerRequest(name=name, spec=spec or simple_spec())
    return await daemon.learners.CreateLearner(request)


async def exported(daemon, name):
    parts = [
        part.chunk
        async for part in daemon.learners.ExportLearner(learners_pb2.ExportLearnerRequest(name=name))
    ]
    return b"".join(parts)


def imports(name, data, size=1000):
    yield learners_pb2.ImportLearnerRequest(name=name, chunk=data[:size])
    for start in range(size, len(data), size):
        yield learners_pb2.ImportLearnerRequest(chunk=data[start : start + size])


async def test_creating_twice_is_safe(tmp_path):
    """The same spec gives the same learner; defaults are filled in."""
    async with serving(tmp_path) as daemon:
        first, again = await create(daemon, "a"), await create(daemon, "a")
        assert first.created
        assert not again.created
        assert first.learner.digest == again.learner.digest
        assert first.learner.spec.unit == spec_pb2.UNIT_WORD
        assert first.learner.spec.gain.WhichOneof("gain") == "slot_match"


async def test_lists_come_in_pages_by_name(tmp_path):
    """Every learner once, in order; a prefix narrows the list."""
    async with serving(tmp_path) as daemon:
        for name in ("b/2", "a/1", "b/1", "b/3", "c"):
            await create(daemon, name)
        names, token = [], ""
        while True:
            page = await daemon.learners.ListLearners(
                learners_pb2.ListLearnersRequest(page_size=2, page_token=token)
            )
            assert len(page.learners) <= 2
            names += [learner.name for learner in page.learners]
            token = page.next_page_token
            if not token:
                break
        assert names == ["a/1", "b/1", "b/2", "b/3", "c"]
        some = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest(prefix="b/"))
        assert [learner.name for learner in some.learners] == ["b/1", "b/2", "b/3"]


async def test_an_exported_learner_goes_on_elsewhere_with_the_same_bits(tmp_path):
    """Same digest, same next choice; the rounds stay where they were, with the history."""
    async with serving(tmp_path / "one") as one, serving(tmp_path / "two") as two:
        stream = await one.open("a")
        for number in range(10):
            await stream.choice(utterance(number))
            if number % 2:
                await stream.learned(feedback(number))
        data = await exported(one, "a")
        answer = await two.learners.ImportLearner(imports("b", data))
        assert answer.learner.digest == await one.digest("a")
        other = two.stream()
        await other.opened(wire.Open(learner="b"))
        for mine, theirs in ((stream, other),):
            a, b = await mine.choice(utterance(50)), await theirs.choice(utterance(50))
            assert a == b
            assert await mine.learned(feedback(50)) == await theirs.learned(feedback(50))
            assert (await mine.learned(feedback(1))).repeated_answer
            assert (await theirs.problem(feedback(1))).reason == wire.REASON_UNKNOWN_ROUND
        assert await one.digest("a") == await two.digest("b")
    async with serving(tmp_path / "two") as two:
        assert (
            await two.learners.GetLearner(learners_pb2.GetLearnerRequest(name="b"))
        ).learner.statistics.lessons == 6


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: d[:500] + b"x" + d[501:], lambda d: d + b"x"])
async def test_damaged_exports_are_refused(tmp_path, damage):
    """Cut short, changed, or longer: INVALID_ARGUMENT, and nothing is created."""
    async with serving(tmp_path) as daemon:
        await create(daemon, "a")
        data = damage(await exported(daemon, "a"))
        with pytest.raises(grpc.RpcError) as refused:
            await daemon.learners.ImportLearner(imports("b", data))
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert len(daemon.app.registry) == 1


async def test_whole_bytes_that_are_not_honest_are_refused(tmp_path):
    """A right checksum over a state that fits no learner."""
    import numpy as np

    from galloon.learners import state

    async with serving(tmp_path) as daemon:
        await create(daemon, "a")
        found = state.unpack(await exported(daemon, "a"), "learner", 2)
        forgeries = [
            ({**found.meta, "spec": "{}"}, found.arrays),
            ({**found.meta, "unapplied": ["x"]}, found.arrays),
            ({"spec": found.meta["spec"]}, found.arrays),
            (found.meta, {**found.arrays, "combiner": np.zeros(9, np.uint8)}),
            (found.meta, {name: array for name, array in found.arrays.items() if name != "total_gain"}),
        ]
        for meta, arrays in forgeries:
            with pytest.raises(grpc.RpcError) as refused:
                await daemon.learners.ImportLearner(imports("b", state.pack("learner", 2, meta, arrays)))
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT, meta
        assert len(daemon.app.registry) == 1


async def test_a_snapshot_on_demand_covers_the_journal(tmp_path):
    """And says the digest of what it holds."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("a")
        for number in range(5):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        answer = await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="a"))
        assert answer.digest == await daemon.digest("a")
        shown = (
            await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name="a"))
        ).learner.statistics
        assert shown.journal_entries == 0
        assert shown.snapshot_bytes == answer.snapshot_bytes
        assert shown.snapshot_age_s >= 0


async def test_watching_shows_lessons_as_they_come(tmp_path):
    """The first answer at once, the next after the interval."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("a")
        watch = daemon.learners.WatchStatistics(learners_pb2.WatchStatisticsRequest(name="a", interval_s=0.1))
        first = (await watch.read()).statistics
        assert (first.lessons, first.streams) == (0, 1)
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        while (later := (await watch.read()).statistics).lessons == 0:
            pass
        assert later.rounds_started == 1
        assert later.HasField("regret")
        assert later.HasField("bound")
        watch.cancel()
