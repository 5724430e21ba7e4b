"""Retention: by age and by size, cut at snapshots; rounds that go on stay; what has gone is refused in words."""

from galloon.daemon.config import Store
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.operate.retention import DAY_S, Retention
from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import feedback, serving, utterance


async def _two_halves(daemon):
    """Ten rounds, a snapshot, ten more; even ones are taught, number 1 after the snapshot."""
    stream = await daemon.open()
    learner = daemon.app.registry.find("test")
    for number in range(20):
        await stream.choice(utterance(number))
        if number % 2 == 0:
            await stream.learned(feedback(number))
        if number == 9:
            await learner.snapshot()
    await stream.learned(feedback(1))
    return stream, learner


async def test_what_is_too_old_goes_and_what_was_taught_later_stays(tmp_path):
    async with serving(tmp_path, limits__warm_rounds=1) as daemon:
        stream, learner = await _two_halves(daemon)
        before = await daemon.digest()
        journal = daemon.app._journal
        (snapshot,) = journal.backend.snapshots(learner.key)
        for days, gone in ((89, False), (91, True)):
            now = snapshot.time + days * DAY_S
            await Retention(journal, Store(), lambda now=now: now).look([learner])
            assert (journal.backend.base(learner.key) > 0) is gone
        problem = await stream.problem(feedback(3))
        assert problem.reason == wire.REASON_UNKNOWN_ROUND
        assert "history_days" in problem.message
        assert (await stream.learned(feedback(1))).repeated_answer, "it has an entry after the cut"
        assert (await stream.learned(feedback(13))).lessons == 12
        assert await daemon.digest() != before
        after = await daemon.digest()
        await rebuild(learner, "a test")
        assert await daemon.digest() == after, "what is before the base is in its snapshot"
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == after


async def test_what_is_too_large_is_cut_at_the_oldest_place(tmp_path):
    async with serving(tmp_path) as daemon:
        _, learner = await _two_halves(daemon)
        journal = daemon.app._journal
        await Retention(journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        assert journal.backend.base(learner.key) == learner.snapshot_seq
        before = await daemon.digest()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == before


async def test_a_client_is_told_from_which_round_on_the_history_is_whole(tmp_path):
    """What is unknown from there on was never durable, and can be sent again; before, it may have been learned."""
    asked = wire.Open(learner="test", unsure_ids=["never"])
    async with serving(tmp_path) as daemon:
        stream, learner = await _two_halves(daemon)
        again = await daemon.stream().opened(asked)
        assert (again.HasField("whole_from"), again.whole_from) == (True, 0)
        known = await daemon.stream().opened(wire.Open(learner="test", unsure_ids=["u3"]))
        assert not known.HasField("whole_from"), "nothing is unknown"
        await Retention(daemon.app._journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        assert (await daemon.stream().opened(asked)).whole_from == 10
        await learner.snapshot()
        await Retention(daemon.app._journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        assert (await daemon.stream().opened(asked)).whole_from == 20, "none is left"
        await stream.choice(utterance(20))
        assert (await daemon.stream().opened(asked)).whole_from == 20
    async with serving(tmp_path) as daemon:
        assert (await daemon.stream().opened(asked)).whole_from == 20


async def test_a_round_that_was_cut_is_not_taught_from_memory(tmp_path):
    """Its feedback would stand in the history without its utterance."""
    async with serving(tmp_path) as daemon:
        stream, learner = await _two_halves(daemon)
        await Retention(daemon.app._journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        assert (await stream.problem(feedback(3))).reason == wire.REASON_UNKNOWN_ROUND
        assert (await stream.learned(feedback(11))).lessons
        await rebuild(learner, "a test")
        assert learner.rounds.lessons == 12
