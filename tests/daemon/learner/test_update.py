"""Specs that change while a learner serves: carried over, or learned again as if it had been so from the start."""

import grpc
import pytest

from galloon.daemon.config import Store
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.operate.retention import Retention
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2, utterance_pb2
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, utterance

ROUNDS = 18
WORDS = ("So", "far", "so", "good", "said", "the", "Man")


def spec(*engines, **more):
    return spec_pb2.LearnerSpec(engines=engines or EXPERTS, **more)


def said(number, engines=EXPERTS):
    """Each engine is wrong in a word of its own."""
    outputs = []
    for place, engine in enumerate(engines):
        words = list(WORDS)
        words[(number + place) % len(words)] = f"w{number % 3}"
        outputs.append(utterance_pb2.EngineOutput(engine=engine, words=words))
    return utterance_pb2.Utterance(id=f"u{number}", outputs=utterance_pb2.EngineOutputs(engines=outputs))


def told(number):
    return wire.Feedback(id=f"u{number}", true_text=" ".join(WORDS))


def without(message, engine):
    kept = [each for each in message.outputs.engines if each.engine != engine]
    return utterance_pb2.Utterance(id=message.id, outputs=utterance_pb2.EngineOutputs(engines=kept))


async def play(stream, numbers, say=said, tell=told):
    for number in numbers:
        await stream.choice(say(number))
        if number % 6:  # some wait
            await stream.learned(tell(number))


async def update(daemon, change=None, learner="test", **more):
    request = learners_pb2.UpdateLearnerRequest(name=learner, spec=change, **more)
    return await daemon.learners.UpdateLearner(request)


async def state(daemon, learner="test"):
    answer = await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name=learner))
    return answer.learner.digest, answer.learner.state_digest


async def test_engines_join_and_leave_on_an_open_stream(tmp_path):
    more, fewer = (*EXPERTS, "dot"), ("ann", "cy", "dot")
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream, range(ROUNDS))
        problem = await stream.problem(said(50, more))
        assert "'dot' is not an engine of this learner" in problem.message
        done = await update(daemon, spec(*more))
        assert list(done.changed_fields) == ["engines"]
        assert not done.rebuilt
        assert done.learner.statistics.lessons == ROUNDS - 3
        assert not (await update(daemon, spec(*more))).changed_fields, "a retry changes nothing"
        await play(stream, range(ROUNDS, 2 * ROUNDS), lambda number: said(number, more))
        assert list((await update(daemon, spec(*fewer))).learner.experts[:3]) == list(fewer)
        problem = await stream.problem(said(51, more))
        assert problem.field == "utterance.outputs.engines[1].engine"
        assert (await stream.choice(said(0))).repeated_answer, "of what was said before, the same answer"
        await stream.learned(told(0))  # it was chosen two specs ago
        await play(stream, range(2 * ROUNDS, 3 * ROUNDS), lambda number: said(number, fewer))
        refused = await daemon.stream().ask(wire.Open(learner="test", create=spec()))
        assert refused.problem.reason == wire.REASON_OTHER_SPEC
        assert "differs in engines" in refused.problem.message
        after = await state(daemon)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after
        stream = await daemon.open("test", spec(*fewer))
        await stream.learned(told(6))
        learner = daemon.app.registry.find("test")
        await rebuild(learner, "a test")  # all places move
        straight = await daemon.open("straight", spec(*fewer))
        for number in range(3 * ROUNDS):
            engines = EXPERTS if number < ROUNDS else more if number < 2 * ROUNDS else fewer
            await straight.choice(without(said(number, engines), "bob"))
            if number % 6:
                await straight.learned(told(number))
            if number == 2 * ROUNDS - 1:
                await straight.learned(told(0))
        await straight.learned(told(6))
        assert await state(daemon) == await state(daemon, "straight")
        await stream.learned(told(12))  # chosen when places were others
        after = await state(daemon)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after


CHANGES = {
    "normalizer": spec_pb2.LearnerSpec(normalizer="basic"),
    "unit": spec_pb2.LearnerSpec(unit=spec_pb2.UNIT_CHAR),
    "derived": spec_pb2.LearnerSpec(derived=["vote"], seed=7),
    "algorithm": spec_pb2.LearnerSpec(
        algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE, setting=spec_pb2.SETTING_FULL, window=4
    ),
}


@pytest.mark.parametrize("field", CHANGES)
async def test_anything_else_is_learned_again_as_if_it_had_been_so_from_the_start(tmp_path, field):
    change = CHANGES[field]
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream, range(ROUNDS))
        done = await update(daemon, change)
        assert done.rebuilt
        assert field in done.changed_fields
        assert (done.rounds, done.lessons, done.lessons_lost) == (ROUNDS, ROUNDS - 3, 0)
        other = spec()
        other.MergeFrom(change)
        straight = await daemon.open("straight", other)
        await play(straight, range(ROUNDS))
        assert await state(daemon) == await state(daemon, "straight")
        for each in (stream, straight):
            await play(each, range(ROUNDS, ROUNDS + 3))
        assert await state(daemon) == await state(daemon, "straight")
        assert (await stream.learned(told(0))).lessons == ROUNDS  # answered by the old spec
        after = await state(daemon)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after
        assert daemon.app.registry.find("test").spec == daemon.app.registry.find("straight").spec
        stream = await daemon.open("test", other)
        await stream.learned(told(6))


async def refusal(call):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refused.value.code().name, refused.value.details()


async def test_a_refused_change_names_its_field_and_changes_nothing(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream, range(3))
        before = await state(daemon)
        for change, more, words in (
            (spec_pb2.LearnerSpec(normalizer="no such"), {}, "spec.normalizer"),
            (spec_pb2.LearnerSpec(engines=["ann", "ann"]), {}, "spec.engines"),
            (spec_pb2.LearnerSpec(options={"nonsense": 1.0}), {}, "spec.options"),
            (None, {"default_fields": ["engines"]}, "default_fields"),
            (None, {"default_fields": ["lables"]}, "lables"),
            (spec_pb2.LearnerSpec(seed=3), {"default_fields": ["seed"]}, "spec.seed"),
        ):
            code, said_so = await refusal(update(daemon, change, **more))
            assert code == "INVALID_ARGUMENT"
            assert words in said_so
        assert (await refusal(update(daemon, learner="nobody")))[0] == "NOT_FOUND"
        assert await state(daemon) == before
        await stream.learned(told(0))


async def test_what_would_be_lost_is_said_first(tmp_path):
    """Learners on windows play all engines in every round: a further one was in none so far."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", simple_spec())
        await play(stream, range(12), utterance, feedback)
        before = await state(daemon)
        change = spec_pb2.LearnerSpec(engines=(*EXPERTS, "dot"))
        code, words = await refusal(update(daemon, change))
        assert code == "INVALID_ARGUMENT"
        assert "spec.engines: 10 of 10 lessons" in words
        assert await state(daemon) == before
        done = await update(daemon, change, accept_loss=True)
        assert (done.lessons, done.lessons_lost) == (0, 10)
        done = await update(daemon, spec_pb2.LearnerSpec(engines=("ann", "cy")))
        assert (done.lessons, done.lessons_lost) == (10, 0), "the history still has them"


async def test_scores_of_what_an_older_spec_showed_are_not_taught_to_another(tmp_path):
    bandit = simple_spec(algorithm=spec_pb2.ALGORITHM_COM_BAND, window=6)
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", bandit)
        for number in range(6):
            await stream.choice(utterance(number))
            if number < 4:
                await stream.learned(wire.Feedback(id=f"u{number}", score=2.0))
        code, words = await refusal(update(daemon, spec_pb2.LearnerSpec(seed=5)))
        assert code == "INVALID_ARGUMENT"
        assert "4 of 4 lessons" in words
        assert (await update(daemon, spec_pb2.LearnerSpec(seed=5), accept_loss=True)).lessons_lost == 4
        problem = await stream.problem(wire.Feedback(id="u4", score=2.0))
        assert "send the true text" in problem.message
        await stream.learned(feedback(5))


async def test_what_retention_has_cut_is_carried_over_or_given_up_on_purpose(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream, range(ROUNDS))
        learner = daemon.app.registry.find("test")
        await learner.snapshot()
        await Retention(daemon.app._journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        await play(stream, range(ROUNDS, ROUNDS + 5))
        change = spec_pb2.LearnerSpec(normalizer="basic")
        code, words = await refusal(update(daemon, change))
        assert code == "INVALID_ARGUMENT"
        assert words.startswith("spec.normalizer: what was learned before the history begins")
        done = await update(daemon, spec("ann", "bob"), rebuild=True)
        assert done.rebuilt
        assert done.learner.statistics.lessons == ROUNDS - 3 + 4, "with the state at the cut"
        done = await update(daemon, change, accept_loss=True)
        assert done.learner.statistics.lessons == 4
        after = await state(daemon)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after
        await rebuild(daemon.app.registry.find("test"), "a test")
        assert await state(daemon) == after


async def test_the_books_go_on_and_compare_as_the_new_spec_does(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream, range(ROUNDS))
        learner = daemon.app.registry.find("test")

        def rates():
            learner.books.count_some(learner.recorded(), 10.0)
            return {
                name: (rate.words.errors, rate.words.reference_length)
                for name, rate in learner.books.rates.items()
            }

        await learner.written()
        before = rates()
        await update(daemon, spec("ann", "bob"))
        assert rates() == {name: rate for name, rate in before.items() if name != "cy"}
        await update(daemon, spec_pb2.LearnerSpec(normalizer="basic"))
        after = rates()
        assert after["ann"][1] == before["ann"][1]
        assert set(after) == {"ann", "bob", "galloon"}, "an older spec's votes are not known"
        await play(stream, range(ROUNDS, ROUNDS + 3), lambda number: said(number, ("ann", "bob")))
        await learner.written()
        assert rates()["vote"][1] == 2 * len(WORDS)
