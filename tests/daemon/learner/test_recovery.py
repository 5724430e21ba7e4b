"""What was acknowledged is there after a restart, to the bit."""

import asyncio
from itertools import pairwise

import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueTokens
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2
from tests.daemon.serving import feedback, serving, simple_spec, truth, utterance

ALGORITHMS = [
    spec_pb2.ALGORITHM_TIED,
    spec_pb2.ALGORITHM_COMPONENT_HEDGE,
    spec_pb2.ALGORITHM_EXPANDED_HEDGE,
    spec_pb2.ALGORITHM_PERTURBED_LEADER,
    spec_pb2.ALGORITHM_SEMI_BANDIT,
    spec_pb2.ALGORITHM_COM_BAND,
    spec_pb2.ALGORITHM_EXP3_PATHS,
]


async def play(stream, first, last, teach=lambda number: True):
    """Rounds with feedback a little later than the choices, some without."""
    for number in range(first, last):
        await stream.choice(utterance(number))
        if number > first and teach(number - 1):
            await stream.learned(feedback(number - 1))


def every_third_missing(number):
    return number % 3 != 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_restart_changes_nothing(tmp_path, algorithm):
    """The digest before and after, from the journal alone and from a snapshot plus journal."""
    spec = simple_spec(algorithm=algorithm)
    async with serving(tmp_path) as daemon:
        daemon.app._housekeeping.snapshot_all = _nothing  # so that the next start has a journal to replay
        stream = await daemon.open(spec=spec)
        await play(stream, 0, 12, every_third_missing)
        before = await daemon.digest()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == before
        daemon.app._housekeeping.snapshot_all = _nothing
        await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="test"))
        assert await daemon.digest() == before
        stream = await daemon.open(spec=spec)
        await play(stream, 12, 20)
        after = await daemon.digest()
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == after
        opened = await daemon.stream().opened(wire.Open(learner="test"))
        assert opened.rounds_started == 20


async def test_an_interrupted_run_equals_one_that_never_stopped(tmp_path):
    """The same events with and without restarts in between end in the same digest."""
    digests = []
    for restarts in ((), (3, 7, 8)):
        place = tmp_path / str(len(restarts))
        cuts = [0, *restarts, 12]
        for first, last in pairwise(cuts):
            async with serving(place) as daemon:
                stream = await daemon.open()
                for number in range(first, last):
                    await stream.choice(utterance(number))
                    await stream.learned(feedback(number))
                digest = await daemon.digest()
        digests.append(digest)
    assert digests[0] == digests[1]


async def test_the_state_is_that_of_the_library(tmp_path):
    """A combiner that learns the same rounds in the same order, without any daemon, has the same digest."""
    from galloon.codec.spec import spec_from_wire
    from galloon.codec.utterance import decode_utterance
    from galloon.daemon.limits import Limits

    spec = spec_from_wire(simple_spec(), Limits(), "spec")
    combiner = build(spec)
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        for number in range(8):
            choice = await stream.choice(utterance(number))
            await stream.learned(feedback(number))
            decision = combiner.choose(
                decode_utterance(utterance(number), spec.engines, Limits()), choice.round
            )
            assert decision.text == choice.text
            combiner.learn(decision.memory, TrueTokens(tuple(truth(number))))
        answer = await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
    assert answer.learner.state_digest == combiner.digest()


async def test_answers_are_remembered_over_a_restart(tmp_path):
    """A retry after the restart gets the same answers, and learns nothing twice."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        choice = await stream.choice(utterance(1))
        learned = await stream.learned(feedback(1))
        await stream.choice(utterance(2))
        digest = await daemon.digest()
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        again, taught = await stream.choice(utterance(1)), await stream.learned(feedback(1))
        assert again.repeated_answer
        assert taught.repeated_answer
        assert (again.text, again.round) == (choice.text, choice.round)
        assert (taught.gain, taught.lessons) == (learned.gain, learned.lessons)
        assert await daemon.digest() == digest
        assert (await stream.learned(feedback(2))).lessons == 2


async def test_feedback_that_the_combiner_refuses_changes_nothing_now_or_on_replay(tmp_path):
    """It is in the journal (it was synced before it was applied), and refused again on replay."""
    wrong = wire.Feedback(id="u1", true_tokens=wire.TrueTokens(tokens=["too", "few"]))
    async with serving(tmp_path) as daemon:
        daemon.app._housekeeping.snapshot_all = _nothing
        stream = await daemon.open()
        await stream.choice(utterance(1))
        before = await daemon.digest()
        problem = await stream.problem(wrong)
        assert problem.reason == wire.REASON_INVALID
        assert await daemon.digest() == before
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == before
        stream = await daemon.open()
        assert (await stream.learned(feedback(1))).lessons == 1


async def test_a_snapshot_amid_traffic_covers_exactly_what_came_before_it(tmp_path):
    """Rounds and feedback go on while snapshots are taken; every restart finds the same state."""
    async with serving(tmp_path, store__snapshot_events=3) as daemon:
        daemon.app._housekeeping.snapshot_all = _nothing
        host = None

        async def traffic(first):
            stream = await daemon.open()
            await play(stream, first, first + 25, every_third_missing)

        async def snapshots():
            nonlocal host
            await daemon.open()
            host = daemon.app.registry.find("test")
            for _ in range(12):
                await host.snapshot()

        await asyncio.gather(snapshots(), *(traffic(100 * k) for k in range(4)))
        await traffic(400)
        before = await daemon.digest()
        assert host is not None
        assert host.journal_entries > 0
    async with serving(tmp_path) as daemon:
        assert await daemon.digest() == before


async def test_deleted_learners_stay_deleted(tmp_path):
    """A name can be used again; nothing of the old learner comes back."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"))
    async with serving(tmp_path) as daemon:
        opened = await daemon.stream().opened(wire.Open(learner="test", create=simple_spec()))
        assert opened.created
        assert (opened.rounds_started, opened.lessons) == (0, 0)


async def _nothing() -> None:
    pass
