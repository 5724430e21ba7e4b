"""Feedback that is replaced or withdrawn: the learner becomes what it would be had it never been, to the bit."""

import pytest

from galloon.daemon.learner.exchange import rebuild
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2, utterance_pb2
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, truth, utterance

ROUNDS = 24
WRONG = (3, 8, 15)


def _spoken(number: int) -> utterance_pb2.Utterance:
    """Plain text for the default learner."""
    words = [word or "well" for word in truth(number, 5)]
    outputs = [
        utterance_pb2.EngineOutput(engine=expert, words=words[: 5 - shift] + ["so"] * shift)
        for shift, expert in enumerate(EXPERTS)
    ]
    return utterance_pb2.Utterance(id=f"u{number}", outputs=utterance_pb2.EngineOutputs(engines=outputs))


def _told(number: int, wrong: bool = False) -> wire.Feedback:
    text = "quite another text" if wrong else " ".join(word or "well" for word in truth(number, 5))
    return wire.Feedback(id=f"u{number}", true_text=text)


LEARNERS = {
    "text": (spec_pb2.LearnerSpec(engines=EXPERTS), _spoken, _told),
    "windows": (simple_spec(), utterance, lambda number, wrong=False: feedback(number + 7 * wrong)),
}


def _of(number, message, **more):
    changed = wire.Feedback()
    changed.CopyFrom(message)
    changed.id = f"u{number}"
    for name, value in more.items():
        setattr(changed, name, value)
    return changed


async def _play(folder, learner, wrong, skipped=()):
    """Play all rounds, some of them taught wrongly or not at all; the digest."""
    spec, say, tell = LEARNERS[learner]
    async with serving(folder) as daemon:
        stream = await daemon.open("test", spec)
        for number in range(ROUNDS):
            await stream.choice(say(number))
            if number not in skipped:
                await stream.learned(_of(number, tell(number, number in wrong)))
        return await daemon.digest()


@pytest.mark.parametrize("learner", LEARNERS)
async def test_what_is_withdrawn_or_replaced_was_never_there(tmp_path, learner):
    """After a restart, with one of each under way when the daemon stopped: equal to a run that never saw them."""
    spec, _, tell = LEARNERS[learner]
    kept, *withdrawn = WRONG
    straight = await _play(tmp_path / "straight", learner, (), withdrawn)
    assert await _play(tmp_path / "amended", learner, WRONG) != straight
    async with serving(tmp_path / "amended") as daemon:
        daemon.app._housekeeping._rebuild_after["test"] = float("inf")  # not while it lives
        stream = await daemon.open("test", spec)
        problem = await stream.problem(_of(kept, tell(kept)))
        assert problem.reason == wire.REASON_OTHER_FEEDBACK
        answer = await stream.learned(_of(kept, tell(kept), replace=True))
        assert answer.amended
        assert (await stream.learned(_of(kept, tell(kept), replace=True))).repeated_answer
        for number in withdrawn:
            assert (
                await stream.learned(wire.Feedback(id=f"u{number}", withdrawn=True, replace=True))
            ).amended
        before = await daemon.digest()
    async with serving(tmp_path / "amended") as daemon:
        learner_ = daemon.app.registry.find("test")
        daemon.app._housekeeping._rebuild_after["test"] = float("inf")
        assert learner_.amended_seq
        assert await daemon.digest() == before, "the present state goes on serving"
        rebuilt = await rebuild(learner_, "a test")
        assert rebuilt.lessons == ROUNDS - len(withdrawn)
        assert await daemon.digest() == straight
        assert not learner_.amended_seq
        stream = await daemon.open("test", spec)
        for number in withdrawn:
            assert (await stream.learned(_of(number, tell(number)))).lessons
        after = await daemon.digest()
    async with serving(tmp_path / "amended") as daemon:
        assert await daemon.digest() == after, "recovery goes through the exchange"


async def test_the_daemon_rebuilds_by_itself(tmp_path):
    spec = LEARNERS["text"][0]
    straight = await _play(tmp_path / "straight", "text", (), WRONG)
    await _play(tmp_path / "amended", "text", WRONG)
    async with serving(tmp_path / "amended") as daemon:
        stream = await daemon.open("test", spec)
        for number in WRONG:
            await stream.learned(wire.Feedback(id=f"u{number}", withdrawn=True, replace=True))
        learner, housekeeping = daemon.app.registry.find("test"), daemon.app._housekeeping
        while learner.amended_seq:
            housekeeping._rebuild_next([learner])
            for task in list(housekeeping._rebuilds.values()):
                await task
        assert await daemon.digest() == straight
