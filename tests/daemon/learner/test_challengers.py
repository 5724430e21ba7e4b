"""Challengers play the champion's rounds in the background, over restarts, and are compared with it."""

import asyncio
from random import Random

import grpc
import pytest

from galloon.v1 import challenge_pb2, challenge_pb2_grpc, learners_pb2, spec_pb2, utterance_pb2
from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import EXPERTS, serving
from tests.postgres import needs_postgres, shared

ROUNDS = 12
WORDS = ("so", "far", "good", "said", "then", "never")


def truth(number: int) -> list[str]:
    return Random(number).choices(WORDS, k=5)


def spoken(number: int, engines: tuple[str, ...] = EXPERTS) -> utterance_pb2.Utterance:
    """Plain text: each engine is wrong in as many places as its place in the list says."""
    drawn, words = Random(-number - 1), truth(number)
    outputs = []
    for wrong, engine in enumerate(EXPERTS):
        places = drawn.sample(range(len(words)), wrong)
        said = [f"{word}{wrong}" if place in places else word for place, word in enumerate(words)]
        if engine in engines:
            outputs.append(utterance_pb2.EngineOutput(engine=engine, words=said))
    return utterance_pb2.Utterance(id=f"u{number}", outputs=utterance_pb2.EngineOutputs(engines=outputs))


def told(number: int, text: str = "", **more: bool) -> wire.Feedback:
    return wire.Feedback(id=f"u{number}", true_text=text or " ".join(truth(number)), **more)


async def play(daemon, rounds, learner="test", **changes):
    """Rounds of the default learner, all of them taught."""
    stream = await daemon.open(learner, spec_pb2.LearnerSpec(engines=EXPERTS, **changes))
    for number in rounds:
        await stream.choice(spoken(number))
        await stream.learned(told(number))
    return stream


def challenges(daemon):
    return challenge_pb2_grpc.ChallengeServiceStub(daemon.channel)


async def challenge(daemon, label="other", engines=EXPERTS, **changes):
    spec = spec_pb2.LearnerSpec(engines=engines, **changes)
    request = challenge_pb2.AddChallengerRequest(name="test", label=label, spec=spec)
    return await challenges(daemon).AddChallenger(request)


async def compared(daemon):
    return await challenges(daemon).CompareLearner(challenge_pb2.CompareLearnerRequest(name="test"))


async def until(is_so):
    """Look again and again."""
    while not is_so():  # noqa: ASYNC110  # nobody tells
        await asyncio.sleep(0.01)


async def caught_up(daemon, label="other"):
    """The challenger, once it has played all that the champion has, and both have counted it."""
    challenger, champion = daemon.app.registry.find(f"test:{label}"), daemon.app.registry.find("test")
    await champion.written()
    await until(lambda: challenger.followed >= champion.seq)
    for each in (champion, challenger):
        await each.written()
        while each.books.seq < each.seq:
            await asyncio.to_thread(each.books.count_some, each.history, 60.0)
    return challenger


async def state_of(daemon, name):
    answer = await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name=name))
    return answer.learner.state_digest


async def straight(folder, rounds, skipped=(), **changes):
    """The state of a learner that had these rounds itself."""
    async with serving(folder) as daemon:
        stream = await daemon.open("test", spec_pb2.LearnerSpec(engines=EXPERTS, **changes))
        for number in rounds:
            await stream.choice(spoken(number))
            if number not in skipped:
                await stream.learned(told(number))
        return await state_of(daemon, "test")


async def test_a_challenger_becomes_what_it_would_be_had_it_answered_from_the_start_over_restarts(tmp_path):
    """It begins with the history, goes on with what comes; a restart in between changes nothing, to the bit."""
    other = {"unit": spec_pb2.UNIT_CHAR}
    async with serving(tmp_path / "one") as daemon:
        await play(daemon, range(ROUNDS))
        added = await challenge(daemon, **other)
        assert (added.created, added.challenger.name) == (True, "test:other")
        assert not (await challenge(daemon, **other)).created
        await caught_up(daemon)
        champion = await state_of(daemon, "test")
    async with serving(tmp_path / "one") as daemon:
        assert await state_of(daemon, "test") == champion
        daemon.app.registry.find("test:other").books.begin_again()
        await caught_up(daemon)
        assert (await compared(daemon)).others[0].corrections == ROUNDS, (
            "counted beside the champion, also now"
        )
        await play(daemon, range(ROUNDS, 2 * ROUNDS))
        await caught_up(daemon)
        found = await state_of(daemon, "test:other")
        listed = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest())
        assert [learner.name for learner in listed.learners] == ["test"]
    assert found == await straight(tmp_path / "two", range(2 * ROUNDS), **other)


async def test_what_was_played_after_the_last_snapshot_is_not_played_twice(tmp_path):
    """As after a kill: the place where it stopped is older than its history."""
    async with serving(tmp_path / "one") as daemon:
        await play(daemon, range(ROUNDS))
        await challenge(daemon)
        challenger = await caught_up(daemon)
        entries, challenger.followed = challenger.seq, 0
        await caught_up(daemon)
        assert challenger.seq == entries
        assert await state_of(daemon, "test:other") == await state_of(daemon, "test")


async def test_a_challenger_learns_what_was_put_in_the_place_of_other_feedback(tmp_path):
    async with serving(tmp_path / "one") as daemon:
        await challenge_after(daemon, seed=7)
        stream = await play(daemon, range(ROUNDS))
        await caught_up(daemon)
        await stream.learned(wire.Feedback(id="u3", withdrawn=True, replace=True))
        challenger = await caught_up(daemon)
        await until(lambda: not challenger.amended_seq)  # the daemon rebuilds it by itself
        found = await state_of(daemon, "test:other")
    assert found == await straight(tmp_path / "two", range(ROUNDS), skipped=(3,), seed=7)


async def challenge_after(daemon, **changes):
    await daemon.open("test", spec_pb2.LearnerSpec(engines=EXPERTS))
    await challenge(daemon, **changes)


async def test_a_challenger_hears_its_own_engines_alone_and_is_compared_on_the_same_corrections(tmp_path):
    rounds = 60
    async with serving(tmp_path) as daemon:
        await play(daemon, range(rounds))
        early = await compared(daemon)
        assert early.verdict in (challenge_pb2.VERDICT_TOO_EARLY, challenge_pb2.VERDICT_STAY)
        await challenge(daemon, "without-ann", EXPERTS[1:])
        await caught_up(daemon, "without-ann")
        found = await compared(daemon)
    names = [(each.name, each.kind) for each in found.others]
    assert names == [
        ("without-ann", challenge_pb2.CONTESTANT_KIND_CHALLENGER),
        ("vote", challenge_pb2.CONTESTANT_KIND_VOTE),
        *((name, challenge_pb2.CONTESTANT_KIND_ENGINE) for name in EXPERTS),
    ]
    assert {each.corrections for each in (found.learner, *found.others)} == {rounds} == {found.lessons}
    words = 5 * rounds
    wrong = {name: 100 * rounds * place / words for place, name in enumerate(EXPERTS)}
    for each in found.others:
        assert each.learner_error_rate == pytest.approx(found.learner.error_rate)
        assert each.difference == pytest.approx(each.error_rate - found.learner.error_rate)
        assert each.difference_low <= each.difference <= each.difference_high
        if each.name in wrong:
            assert each.error_rate == pytest.approx(wrong[each.name])
    assert found.others[0].difference > 0, "ann is always right, and the challenger does not hear her"
    assert found.verdict == challenge_pb2.VERDICT_STAY
    assert found.sentence.startswith("Keep the learner that answers")


async def test_a_challenger_answers_nobody_and_goes_with_its_champion(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await play(daemon, range(2))
        await challenge(daemon)
        await caught_up(daemon)
        intruder = daemon.stream()
        await intruder.opened(wire.Open(learner="test:other"))
        for request in (spoken(9), told(0)):
            problem = await intruder.problem(request)
            assert "is a challenger" in problem.message
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await challenges(daemon).CompareLearner(challenge_pb2.CompareLearnerRequest(name="test:other"))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        for label in ("", "a b", "a:b", "a" * 33):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await challenge(daemon, label)
            assert refused.value.details().startswith("label:")
        await stream.close()
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"))
        assert daemon.app.registry.names() == []
    async with serving(tmp_path) as daemon:
        assert daemon.app.registry.names() == []


async def promote(daemon, label="other"):
    request = challenge_pb2.PromoteChallengerRequest(name="test", label=label)
    return (await challenges(daemon).PromoteChallenger(request)).learner


async def test_promoting_exchanges_a_learner_and_its_challenger_and_again_goes_back(tmp_path):
    """To the bit what the other spec would have become; rounds that wait are taught; answers stay as given."""
    other = {"unit": spec_pb2.UNIT_CHAR}
    async with serving(tmp_path / "one") as daemon:
        stream = await play(daemon, range(ROUNDS))
        first = await stream.choice(spoken(ROUNDS))
        await challenge(daemon, **other)
        await caught_up(daemon)
        before = await state_of(daemon, "test:other")
        promoted = await promote(daemon)
        assert (promoted.spec.unit, promoted.state_digest) == (spec_pb2.UNIT_CHAR, before)
        again = await stream.choice(spoken(ROUNDS))
        assert (again.repeated_answer, again.text) == (True, first.text)
        await stream.learned(told(ROUNDS))
    async with serving(tmp_path / "one") as daemon:
        challenger = await caught_up(daemon)
        assert challenger.spec.unit.name == "word"
        stream = await daemon.open("test", spec_pb2.LearnerSpec(engines=EXPERTS))
        await stream.choice(spoken(ROUNDS + 1))
        await stream.learned(told(ROUNDS + 1))
        await caught_up(daemon)
        found = await compared(daemon)
        assert found.others[0].corrections == 1, "of what it answered itself"
        back = await promote(daemon)
        assert back.spec.unit == spec_pb2.UNIT_WORD
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await promote(daemon, "nobody")
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert back.state_digest == await straight(tmp_path / "two", range(ROUNDS + 2))


async def test_an_exchange_that_nobody_waits_for_is_made_all_the_same(tmp_path):
    """Half of it would leave the spec that answered so far nowhere."""
    async with serving(tmp_path) as daemon:
        await play(daemon, range(3))
        await challenge(daemon, seed=5)
        request = challenge_pb2.PromoteChallengerRequest(name="test", label="other")
        call = challenges(daemon).PromoteChallenger(request)
        champion, find = daemon.app.registry.find("test"), daemon.app.registry.find
        await until(champion.exchanging.locked)
        call.cancel()
        await until(lambda: champion.spec.seed == 5)
        await until(lambda: daemon.app.registry.challengers("test") and find("test:other").spec.seed == 0)


async def test_two_exchanges_at_once_lose_no_spec(tmp_path):
    async with serving(tmp_path) as daemon:
        await play(daemon, range(3), seed=1)
        await challenge(daemon, "first", seed=2)
        await challenge(daemon, "second", seed=3)
        await asyncio.gather(promote(daemon, "first"), promote(daemon, "second"))
        registry = daemon.app.registry
        seeds = {each.spec.seed for each in (registry.find("test"), *registry.challengers("test"))}
        assert seeds == {1, 2, 3}


@needs_postgres
async def test_a_challenger_goes_where_its_champion_goes(tmp_path):
    """On PostgreSQL it belongs to the shard of its champion, and comes with it when somebody asks for that."""
    url = shared().new_database()
    async with serving(tmp_path, store__url=url) as daemon:
        await until(lambda: daemon.app._membership.view.owners)
        await play(daemon, range(3))
        await challenge(daemon, seed=1)
        await caught_up(daemon)
    async with serving(tmp_path, store__url=url) as daemon:
        await until(lambda: daemon.app._membership.view.owners)
        assert daemon.app.registry.names() == []
        await play(daemon, range(3, 6))
        challenger = await caught_up(daemon)
        assert challenger.rounds.lessons == 6
