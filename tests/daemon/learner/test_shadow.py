"""A learner in the shadow: what is used today is answered, the learner learns, is compared, and goes live."""

import asyncio

import grpc
import pytest

from galloon.v1 import challenge_pb2, spec_pb2
from galloon.v1 import combine_pb2 as wire
from tests.daemon.learner.test_challengers import challenges, compared, spoken, state_of, straight, told
from tests.daemon.serving import EXPERTS, serving

ROUNDS = 60
SPEC = spec_pb2.LearnerSpec(engines=EXPERTS, answer="cy")


def said_by(message, engine):
    (found,) = [output for output in message.outputs.engines if output.engine == engine]
    return " ".join(found.words)


async def counted(daemon):
    learner = daemon.app.registry.find("test")
    await learner.written()
    while learner.books.seq < learner.seq:
        await asyncio.to_thread(learner.books.count_some, learner.history, 60.0)


async def test_an_engine_is_answered_until_the_gate_opens_and_nothing_that_was_learned_is_lost(tmp_path):
    async with serving(tmp_path / "one") as daemon:
        stream = await daemon.open("test", SPEC)
        for number in range(ROUNDS):
            choice = await stream.choice(spoken(number))
            assert choice.text == said_by(spoken(number), "cy")
            assert set(choice.experts) == {"cy"}
            await stream.learned(told(number))
        assert choice.own_text == " ".join(map(str, told(ROUNDS - 1).true_text.split())), (
            "ann is always right"
        )
        await counted(daemon)
        found = await compared(daemon)
        assert (found.verdict, found.answered) == (challenge_pb2.VERDICT_GO_LIVE, "cy")
        assert found.sentence.startswith("It is time to go live: galloon makes ")
        assert found.learner.error_rate < 40 == next(e for e in found.others if e.name == "cy").error_rate
    async with serving(tmp_path / "one") as daemon:
        gate = challenges(daemon)
        opened = await gate.GoLive(challenge_pb2.GoLiveRequest(name="test"))
        assert (opened.answered_before, opened.learner.spec.answer) == ("cy", "")
        assert not (await gate.GoLive(challenge_pb2.GoLiveRequest(name="test"))).answered_before
    async with serving(tmp_path / "one") as daemon:
        state = await state_of(daemon, "test")
        stream = await daemon.open("test", spec_pb2.LearnerSpec(engines=EXPERTS))
        old = await stream.choice(spoken(1))
        assert (old.repeated_answer, old.text) == (True, said_by(spoken(1), "cy"))
        live = await stream.choice(spoken(ROUNDS))
        assert not live.HasField("own_text")
        assert live.text == told(ROUNDS).true_text
        await stream.learned(told(ROUNDS))
    assert state == await straight(tmp_path / "two", range(ROUNDS))


async def test_the_vote_is_answered_as_most_wrote_it_and_where_the_engine_did_not_run(tmp_path):
    spec = spec_pb2.LearnerSpec(engines=EXPERTS, answer="vote", normalizer="basic")
    message = spoken(1)
    for output in message.outputs.engines:
        output.words[:] = ["Total", "due", "May"] if output.engine != "cy" else ["total", "dew", "may"]
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec)
        assert (await stream.choice(message)).text == "Total due May"
        shadow = await daemon.open("of-cy", SPEC)
        absent = await shadow.choice(spoken(2, EXPERTS[:2]))
        assert set(absent.experts) == {"vote"}
        assert absent.HasField("own_text")


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": "nobody"},
        {"answer": "ann", "setting": spec_pb2.SETTING_BANDIT},
        {"answer": "ann", "algorithm": spec_pb2.ALGORITHM_COM_BAND},
    ],
)
async def test_what_cannot_be_a_shadow_is_refused_by_field(tmp_path, changes):
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        request = wire.Open(learner="test", create=spec_pb2.LearnerSpec(engines=EXPERTS, **changes))
        problem = await stream.problem(request)
        assert problem.field == "open.create.answer"
        with pytest.raises(grpc.aio.AioRpcError):
            await challenges(daemon).GoLive(challenge_pb2.GoLiveRequest(name="test"))
