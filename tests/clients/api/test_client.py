"""The asynchronous client against a real daemon."""

import asyncio
import math
import os
import signal

import pytest

from galloon.clients.api.answered import Answered
from galloon.clients.api.client import Client
from galloon.clients.api.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    TimedOut,
    Unreachable,
    WrongState,
    WrongUsage,
)
from galloon.clients.api.stream import StreamOptions
from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Utterance, Word
from tests.clients.samples import BIGRAMS, EXPERTS, SCORED, TRUTH, aligned
from tests.daemon_process import Daemon, free_port

EXPLICIT = CombinerSpec(
    algorithm="expanded_hedge",
    gain={"kind": "ngram", "order": 1},
    automaton="0 1 first\n0 1 second\n1 2 last\n2\n",
)


async def test_a_long_utterance_is_explained_in_full(client: Client, name: str):
    """The daemon tells 32 slots at a time; the client puts them together, the chosen offer first."""
    async with client.stream(name, create=CombinerSpec(engines=("a", "b"), labels=("kind",))) as stream:
        said = {"a": " ".join(f"w{n}" for n in range(150)), "b": " ".join(f"v{n}" for n in range(150))}
        choice = await stream.choose(Utterance.of_texts("u1", said, {"kind": "fax"}))
        told = await client.explain(name, "u1")
        assert (told.state, told.detailed, told.text) == ("pending", True, choice.text)
        assert tuple(slot.token for slot in told.slots) == choice.tokens
        assert all(slot.offers[0].text == slot.token for slot in told.slots)
        assert any("labels" in context.name for context in told.slots[0].contexts)
        with pytest.raises(NotFound, match="no round is known"):
            await client.explain(name, "u2")


async def test_a_late_output_gives_a_revised_choice(client: Client, name: str):
    """Also while the first answer is on its way, and over a blocking stream of another day."""
    async with client.stream(name, create=CombinerSpec(engines=("slow", "a", "b"))) as stream:
        first = await stream.send_utterance(Utterance.of_texts("u1", {"a": "one too", "b": "won two"}))
        revised = await stream.offer_late(Utterance.of_texts("u1", {"slow": "one two"}))
        assert ((await first).revised, revised.revised, revised.round) == (False, True, (await first).round)
        assert revised.text == "one two"
        assert "slow" in (await stream.learn("u1", TrueText("one two"))).expert_gains
        with pytest.raises(AlreadyExists, match="has been taught"):
            await stream.offer_late(Utterance.of_texts("u1", {"slow": "one two"}))


async def test_one_round(client: Client, name: str):
    """An utterance gets a choice, its feedback a lesson, and feedback sent again gets the same lesson."""
    async with client.stream(name, create=BIGRAMS) as stream:
        assert (stream.opened.created, stream.opened.experts) == (True, EXPERTS)
        choice = await stream.choose(aligned("u1"))
        assert (choice.id, choice.round, choice.repeated_answer) == ("u1", 0, False)
        assert choice.text == " ".join(token for token in choice.tokens if token)
        assert [slot.expert for slot in choice.slots] == list(choice.experts)
        lesson = await stream.learn("u1", TrueTokens(TRUTH))
        assert (lesson.id, lesson.lessons, lesson.expert_gains["a"]) == ("u1", 1, 3.0)
        again = await stream.learn("u1", TrueTokens(TRUTH))
        assert again.repeated_answer
        assert (again.gain, again.lessons, again.total_gain) == (lesson.gain, 1, lesson.total_gain)
        assert (await stream.choose(aligned("u1"))).repeated_answer


async def test_alternatives_come_when_asked_for(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS, alternatives=True) as stream:
        choice = await stream.choose(aligned("u1"))
    assert {entry.slot for entry in choice.alternatives} == {0, 1}
    assert all(0 <= entry.probability <= 1 and entry.experts for entry in choice.alternatives)


async def test_engine_outputs_are_aligned_by_the_daemon(client: Client, name: str):
    """Words with and without confidences and times travel; what an engine left out stays out."""
    outputs = (
        ExpertOutput("a", (Word("the", 0.9, 0.0, 0.2), Word("cat", None, 0.2, 0.6)), confidence=0.5),
        ExpertOutput("b", (Word("the"), Word("cat"))),
        ExpertOutput("c", ()),
    )
    async with client.stream(name, create=BIGRAMS) as stream:
        choice = await stream.choose(Utterance("u1", outputs, labels={"speaker": "anna"}))
        assert set(choice.tokens) <= {"the", "cat", ""}
        lesson = await stream.learn("u1", TrueText("the cat"))
    assert lesson.lessons == 1


async def test_an_explicit_automaton_takes_a_token_for_each_transition(client: Client, name: str):
    async with client.stream(name, create=EXPLICIT) as stream:
        tokens = {"first": "the", "second": "a", "last": "cat"}
        choice = await stream.choose(Utterance.of_named_tokens("u1", tokens))
        assert choice.experts[0] in {"first", "second"}
        assert choice.tokens == (tokens[choice.experts[0]], "cat")
        assert (await stream.learn("u1", TrueText("the cat"))).gain >= 1.0


async def test_scores_teach_a_bandit_and_shown_gains_a_semi_bandit(client: Client, name: str):
    async with client.stream(f"{name}/bandit", create=SCORED) as stream:
        await stream.choose(aligned("u1"))
        assert (await stream.learn("u1", Score(0.5))).gain == 0.5
    semi = CombinerSpec(engines=EXPERTS, algorithm="semi_bandit", window=3)
    async with client.stream(f"{name}/semi", create=semi) as stream:
        await stream.choose(aligned("u1"))
        assert (await stream.learn("u1", ShownGains((1.0, 0.0, 1.0)))).gain == 2.0


async def test_many_utterances_are_answered_in_their_order(client: Client, name: str):
    ids = [f"u{i}" for i in range(200)]
    async with client.stream(name, create=BIGRAMS) as stream:
        choices = [choice async for choice in stream.choose_each(aligned(id_) for id_ in ids)]
        assert [choice.id for choice in choices] == ids
        assert [choice.round for choice in choices] == list(range(200))

        async def truths():
            for id_ in ids:
                yield Answered(id_, TrueTokens(TRUTH))

        lessons = [lesson async for lesson in stream.learn_each(truths())]
        assert [(lesson.id, lesson.lessons) for lesson in lessons] == [(f"u{i}", i + 1) for i in range(200)]


@pytest.mark.parametrize(("page_requests", "largest"), [(1, 0), (8, 8), (32, 20)])
async def test_what_waits_goes_out_as_pages(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch, page_requests: int, largest: int
):
    """Many lines are handed over at once: so many in a message as the options say, each answered in its place."""
    options = StreamOptions(max_in_flight=20, page_requests=page_requests)
    async with client.stream(f"{name}/{page_requests}", create=BIGRAMS, options=options) as stream:
        pages, next_message = [], stream._next_message

        def watched():
            message = next_message()
            if message is not None:
                pages.append(len(message.page.requests))
            return message

        monkeypatch.setattr(stream, "_next_message", watched)
        ids = [f"u{number}" for number in range(40)]
        assert [choice.id async for choice in stream.choose_each(map(aligned, ids))] == ids
        taught = stream.learn_each(Answered(id_, TrueTokens(TRUTH)) for id_ in ids)
        assert [lesson.id async for lesson in taught] == ids
        assert max(pages) == largest


async def test_one_at_a_time_each_choice_knows_the_lesson_before(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        taught = 0
        async for choice in stream.choose_each((aligned(f"u{i}") for i in range(5)), ahead=1):
            assert choice.lessons == taught
            taught = (await stream.learn(choice.id, TrueTokens(TRUTH))).lessons


async def test_no_more_than_the_bound_are_in_flight(daemon: Daemon, name: str):
    """With a daemon that does not answer, the bound is reached and the next send waits until its time is up."""
    async with Client(daemon.address) as client:
        async with client.stream(name, create=BIGRAMS, options=StreamOptions(max_in_flight=3)) as stream:
            os.kill(daemon.pid, signal.SIGSTOP)
            try:
                sent = [await stream.send_utterance(aligned(f"u{i}")) for i in range(3)]
                with pytest.raises(TimedOut, match=r"'u3'.*sending it again is safe"):
                    await stream.send_utterance(aligned("u3"), timeout_s=0.2)
            finally:
                os.kill(daemon.pid, signal.SIGCONT)
            assert [(await future).id for future in sent] == ["u0", "u1", "u2"]


async def test_what_timed_out_can_be_sent_again(daemon: Daemon, name: str):
    """The daemon may have taken the first one in: the same round answers both."""
    async with Client(daemon.address) as client, client.stream(name, create=BIGRAMS) as stream:
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            with pytest.raises(TimedOut):
                await stream.choose(aligned("u1"), timeout_s=0.2)
            retry = await stream.send_utterance(aligned("u1"))
        finally:
            os.kill(daemon.pid, signal.SIGCONT)
        assert (await retry).round == 0
        assert (await stream.choose(aligned("u2"))).round == 1


async def test_a_cancelled_caller_leaves_the_stream_alive(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        asking = asyncio.ensure_future(stream.choose(aligned("u1")))
        await asyncio.sleep(0)
        asking.cancel()
        assert (await stream.choose(aligned("u2"))).id == "u2"


async def test_feedback_may_be_sent_before_the_choice_is_there(client: Client, name: str):
    """It waits for its utterance, so nobody has to."""
    async with client.stream(name, create=BIGRAMS) as stream:
        choice = await stream.send_utterance(aligned("u1"))
        lesson = await stream.send_feedback("u1", TrueTokens(TRUTH))
        assert (await lesson).lessons == 1
        assert choice.done()


async def test_feedback_may_come_on_another_stream(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
    async with client.stream(name) as stream:
        assert (await stream.learn("u1", TrueTokens(TRUTH))).lessons == 1


REFUSED = {
    "content": (aligned("u1", slots=2), AlreadyExists, "other_content", "utterance.id"),
    "nan": (
        Utterance.of_slots("u2", {n: ["x"] for n in EXPERTS}, {"a": [math.inf]}),
        InvalidRequest,
        "invalid",
        "utterance.slots",
    ),
    "expert": (Utterance.of_slots("u3", {"a": ["x"]}), InvalidRequest, "invalid", "utterance"),
    "form": (Utterance.of_named_tokens("u4", {"first": "x"}), InvalidRequest, "invalid", ""),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_the_daemon_refuses_is_an_error_and_the_stream_lives_on(
    client: Client, name: str, case: str
):
    question, error, reason, field = REFUSED[case]
    async with client.stream(f"{name}/{case}", create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        with pytest.raises(error) as raised:
            await stream.choose(question)
        assert (raised.value.reason, raised.value.request_id) == (reason, question.id)
        assert raised.value.field.startswith(field)
        assert (await stream.learn("u1", TrueTokens(TRUTH))).lessons == 1


async def test_feedback_that_is_refused(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        with pytest.raises(NotFound) as unknown:
            await stream.learn("never sent", TrueTokens(TRUTH))
        assert (unknown.value.code, unknown.value.reason) == ("NOT_FOUND", "unknown_round")
        await stream.choose(aligned("u1"))
        with pytest.raises(WrongState) as wrong:
            await stream.learn("u1", Score(1.0))
        assert wrong.value.reason == "wrong_setting"
        await stream.learn("u1", TrueTokens(TRUTH))
        with pytest.raises(AlreadyExists) as other:
            await stream.learn("u1", TrueTokens(("a", "b", "c")))
        assert other.value.reason == "other_feedback"


async def test_a_stream_on_no_learner_or_with_another_spec_does_not_open(client: Client, name: str):
    with pytest.raises(NotFound, match="no learner"):
        await client.stream(name).open()
    await client.create_learner(name, BIGRAMS)
    with pytest.raises(AlreadyExists, match="another spec"):
        await client.stream(name, create=SCORED).open()


async def test_a_deleted_learner_ends_its_streams(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        await client.delete_learner(name)
        # By the daemon's word on ending the stream, or on reconnecting where that word was lost on the way.
        with pytest.raises(NotFound):
            await stream.choose(aligned("u2"))
        with pytest.raises(NotFound):
            await stream.choose(aligned("u3"))
    with pytest.raises(NotFound):
        await client.get_learner(name)


async def test_a_stream_is_used_while_it_is_open(client: Client, name: str):
    stream = client.stream(name, create=BIGRAMS)
    with pytest.raises(WrongUsage, match="not open"):
        await stream.choose(aligned("u1"))
    async with stream:
        with pytest.raises(WrongUsage, match="opened once"):
            await stream.open()
    with pytest.raises(WrongUsage, match="not open"):
        await stream.choose(aligned("u1"))


async def test_leaving_a_stream_waits_for_its_answers(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        futures = [await stream.send_utterance(aligned(f"u{i}")) for i in range(20)]
    assert [future.result().id for future in futures] == [f"u{i}" for i in range(20)]


async def test_leaving_by_an_error_does_not_wait(client: Client, name: str):
    futures = []

    async def leave() -> None:
        async with client.stream(name, create=BIGRAMS) as stream:
            futures.append(await stream.send_utterance(aligned("u1")))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await leave()
    with pytest.raises(WrongUsage, match="closed before this was answered"):
        await futures[0]


async def test_nobody_there():
    options = StreamOptions(open_timeout_s=0.4, timeout_s=0.4)
    async with Client(f"127.0.0.1:{free_port()}", options=options) as client:
        with pytest.raises(Unreachable, match=r"within 0\.4 s"):
            await client.stream("x").open()
        with pytest.raises(Unreachable, match=r"no daemon at 127\.0\.0\.1:\d+ within 0\.4 s"):
            await client.get_learner("x")


async def test_learners_are_created_shown_listed_and_deleted(client: Client, name: str):
    made = await client.create_learner(name, BIGRAMS)
    assert (made.created, made.spec, made.experts) == (True, BIGRAMS, EXPERTS)
    assert not (await client.create_learner(name, BIGRAMS)).created
    shown = await client.get_learner(name)
    assert (shown.digest, shown.statistics.rounds_started) == (made.digest, 0)
    assert [learner.name for learner in await client.list_learners(name)] == [name]
    await client.delete_learner(name)
    assert await client.list_learners(name) == []
    with pytest.raises(NotFound):
        await client.delete_learner(name)
    with pytest.raises(InvalidRequest, match="name"):
        await client.create_learner("no spaces please", BIGRAMS)


async def test_an_exported_learner_continues_elsewhere(client: Client, name: str):
    """Import gives the same digest, and the pending rounds of the original."""
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        await stream.learn("u1", TrueTokens(TRUTH))
        await stream.choose(aligned("u2"))
    data = await client.export_learner(name)
    copy = await client.import_learner(f"{name}/copy", data)
    original = await client.get_learner(name)
    assert (copy.digest, copy.state_digest) == (original.digest, original.state_digest)
    with pytest.raises(AlreadyExists):
        await client.import_learner(f"{name}/copy", data)
    with pytest.raises(InvalidRequest):
        await client.import_learner(f"{name}/damaged", data[:-1] + bytes([data[-1] ^ 1]))
    async with client.stream(f"{name}/copy") as stream:
        with pytest.raises(NotFound):  # the history stays where it is
            await stream.learn("u2", TrueTokens(TRUTH))
        await stream.choose(aligned("u3"))
        assert (await stream.learn("u3", TrueTokens(TRUTH))).lessons == 2


async def test_a_snapshot_keeps_the_history(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        await stream.choose(aligned("u1"))
        await stream.learn("u1", TrueTokens(TRUTH))
    taken = await client.snapshot_learner(name)
    assert taken.snapshot_bytes > 0
    assert taken.digest == (await client.get_learner(name)).digest


async def test_statistics_are_watched(client: Client, name: str):
    async with client.stream(name, create=BIGRAMS) as stream:
        watching = client.watch_learner(name, interval_s=0.1)
        assert (await anext(watching)).rounds_started == 0
        await stream.choose(aligned("u1"))
        await stream.learn("u1", TrueTokens(TRUTH))
        async for statistics in watching:
            if statistics.lessons == 1 and statistics.error_rates:  # scored a little later
                break
        await watching.aclose()
    assert statistics.regret is not None
    assert statistics.bound is not None
    assert statistics.error_rates["a"].wer == 0.0
    with pytest.raises(NotFound):
        await anext(client.watch_learner(f"{name}/none"))


async def test_an_option_that_is_a_word_travels(client: Client, name: str):
    """CDSB's estimator is chosen by name; the spec comes back as it was sent."""
    options = {"bias": "implicit", "confidence": 0.1}
    spec = CombinerSpec(engines=EXPERTS, algorithm="semi_bandit", window=3, options=options)
    made = await client.create_learner(name, spec)
    assert made.spec.options == options
    async with client.stream(name) as stream:
        choice = await stream.choose(aligned("u1"))
        assert (await stream.learn("u1", TrueTokens(TRUTH))).lessons == 1
        assert choice.tokens
