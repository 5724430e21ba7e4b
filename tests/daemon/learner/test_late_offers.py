"""An engine's output that comes later than the answer: the round takes it in, and feedback counts for it then."""

import pytest

from galloon.daemon.learner.exchange import rebuild
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2, utterance_pb2
from tests.daemon.learner.test_challengers import caught_up, challenge, spoken, state_of, told
from tests.daemon.serving import EXPERTS, serving, utterance

SPEC = spec_pb2.LearnerSpec(engines=EXPERTS)
ROUNDS = 10
EARLY, LATE = EXPERTS[1:], EXPERTS[:1]  # the best engine comes late


def late(number: int, engines=LATE) -> utterance_pb2.Utterance:
    message = spoken(number, engines)
    message.late = True
    return message


async def play(daemon, rounds, together=False):
    """Rounds whose best engine comes late, all taught but every fourth; or as if it had come with the others."""
    stream = await daemon.open("test", SPEC)
    for number in rounds:
        first = await stream.choice(spoken(number, EXPERTS if together else EARLY))
        assert not first.revised
        if not together:
            second = await stream.choice(late(number))
            assert (second.revised, second.repeated_answer, second.round) == (True, False, first.round)
        if number % 4:
            await stream.learned(told(number))
    return stream


async def test_a_late_output_revises_the_answer_and_feedback_counts_for_it(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", SPEC)
        first = await stream.choice(spoken(1, EARLY))
        revised = await stream.choice(late(1))
        whole = await (await daemon.open("whole", SPEC)).choice(spoken(1))
        assert (revised.text, revised.tokens) == (whole.text, whole.tokens)
        assert revised.text != first.text or list(revised.experts) != list(first.experts)
        for again in (late(1), spoken(1, EARLY)):
            answer = await stream.choice(again)
            assert answer.repeated_answer
            assert (answer.text, answer.revised) == (revised.text, True)
        lesson = await stream.learned(told(1))
        assert set(EXPERTS) <= set(lesson.expert_gains), "all three were in the round"


async def test_feedback_behind_a_late_output_counts_for_it(tmp_path):
    """Requests are taken in their order, those of a page too."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", SPEC)
        first, revised, lesson = await stream.page([spoken(1, EARLY), late(1), told(1)])
        assert (first.choice.revised, revised.choice.revised) == (False, True)
        assert set(EXPERTS) <= set(lesson.learned.expert_gains)


async def test_what_cannot_be_taken_in_is_refused_by_name_and_changes_nothing(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", SPEC)
        await stream.choice(spoken(1, EARLY))
        before = await daemon.digest()
        other = late(1, EARLY)
        other.outputs.engines[0].words.append("more")
        labelled = late(1)
        labelled.labels["kind"] = "letter"
        slots = utterance(1)
        slots.id, slots.late = "u1", True
        stranger = late(1)
        stranger.outputs.engines[0].engine = "nobody"
        for message, reason in (
            (late(2), wire.REASON_UNKNOWN_ROUND),
            (other, wire.REASON_OTHER_CONTENT),
            (labelled, wire.REASON_INVALID),
            (slots, wire.REASON_INVALID),
            (stranger, wire.REASON_INVALID),
            (spoken(1), wire.REASON_OTHER_CONTENT),
        ):
            problem = await stream.problem(message)
            assert problem.reason == reason, problem
        assert await daemon.digest() == before
        await stream.learned(told(1))
        assert (await stream.problem(late(1))).reason == wire.REASON_OTHER_FEEDBACK


@pytest.mark.parametrize("warm", [2, 1000])
async def test_recovery_and_rebuild_go_through_it_to_the_bit(tmp_path, warm):
    """A life that is cut, another one, and a state made again from the history."""
    async with serving(tmp_path, limits__warm_rounds=warm) as daemon:
        await play(daemon, range(ROUNDS))
        daemon.app._housekeeping.snapshot_all = _nothing
        digest, state = await daemon.digest(), await state_of(daemon, "test")
    async with serving(tmp_path, limits__warm_rounds=warm) as daemon:
        assert await daemon.digest() == digest
        learner = daemon.app.registry.find("test")
        rebuilt = await rebuild(learner, "a test")
        assert (rebuilt.rounds, await state_of(daemon, "test")) == (ROUNDS, state)
        stream = await daemon.open("test", SPEC)
        answer = await stream.choice(spoken(4, EARLY))
        assert (answer.repeated_answer, answer.revised) == (True, True)
        assert (await stream.choice(late(8, LATE))).repeated_answer
        await stream.learned(told(4))


async def _nothing() -> None:
    pass


async def test_two_that_come_late_at_once_are_both_taken_in(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", SPEC)
        await stream.choice(spoken(1, EXPERTS[2:]))
        for engine in EXPERTS[:2]:
            await stream.send(late(1, (engine,)))
        await stream.read()
        last = (await stream.read()).choice
        whole = await (await daemon.open("whole", SPEC)).choice(spoken(1))
        assert last.text == whole.text
        lesson = await stream.learned(told(1))
        assert set(EXPERTS) <= set(lesson.expert_gains)


async def test_challengers_hear_it_too(tmp_path):
    async with serving(tmp_path) as daemon:
        await daemon.open("test", SPEC)
        await challenge(daemon)
        await play(daemon, range(ROUNDS))
        await caught_up(daemon)
        assert await state_of(daemon, "test:other") == await state_of(daemon, "test")
