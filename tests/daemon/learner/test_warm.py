"""Warm views save time and change nothing: what was learned with them is what a restart learns without them."""

import pytest

from galloon.daemon.learner.round import WARM_VIEWS
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2, utterance_pb2
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, truth, utterance

ROUNDS = 12
TEXTS = ("so far so good", "so far so god", "so fat so good", "too far", "good", "so far")


def _spoken(number: int) -> utterance_pb2.Utterance:
    """Plain text of the default learner, each utterance of another length."""
    outputs = [
        utterance_pb2.EngineOutput(
            engine=expert, words=[*TEXTS[(number + shift) % len(TEXTS)].split(), *truth(number, number % 5)]
        )
        for shift, expert in enumerate(EXPERTS)
    ]
    for output in outputs:
        output.words[:] = [word or "well" for word in output.words]
    return utterance_pb2.Utterance(id=f"u{number}", outputs=utterance_pb2.EngineOutputs(engines=outputs))


def _said_truly(number: int) -> wire.Feedback:
    return wire.Feedback(id=f"u{number}", true_text=TEXTS[number % len(TEXTS)])


LEARNERS = {
    "default": (spec_pb2.LearnerSpec(engines=EXPERTS), _spoken, _said_truly),
    "windows": (simple_spec(), lambda number: utterance(number, slots=3 + number % 5), None),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("pending", [ROUNDS, WARM_VIEWS + ROUNDS], ids=["warm", "partly cold"])
async def test_many_pending_rounds_learned_in_another_order_are_learned_as_after_a_restart(
    tmp_path, monkeypatch, name, pending
):
    """The journal is replayed without any view."""
    spec, say, tell = LEARNERS[name]
    tell = tell or (lambda number: feedback(number, slots=3 + number % 5))
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec)
        for number in range(pending):
            await stream.choice(say(number))
        learner = daemon.app.registry.find("test")
        views = [round_.view for round_ in learner.rounds.recent.values()]
        assert len({id(view) for view in views if view is not None}) == min(pending, WARM_VIEWS)
        for number in reversed(range(pending)):
            await stream.learned(tell(number))
        warm = await learner.digests()

        async def nothing() -> None:
            pass

        monkeypatch.setattr(daemon.app._housekeeping, "snapshot_all", nothing)  # keep the journal
    async with serving(tmp_path) as daemon:
        assert await daemon.app.registry.find("test").digests() == warm
