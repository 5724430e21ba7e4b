"""Why tokens were chosen, over a real port: what is known of a round, of every kind of learner, and how long."""

import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2, utterance_pb2
from tests.daemon.serving import feedback, serving, simple_spec, utterance

LEARNERS = {
    "text": simple_spec(algorithm=spec_pb2.ALGORITHM_TIED, decide=spec_pb2.DECIDE_BEST),
    "windows": simple_spec(derived=["vote"]),
    "paths": simple_spec(algorithm=spec_pb2.ALGORITHM_EXP3_PATHS),
    "leader": simple_spec(algorithm=spec_pb2.ALGORITHM_PERTURBED_LEADER),
}
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n3\n"


async def explained(daemon, learner, utterance_id, **more) -> learners_pb2.ExplainUtteranceResponse:
    request = learners_pb2.ExplainUtteranceRequest(name=learner, id=utterance_id, **more)
    return await daemon.learners.ExplainUtterance(request)


@pytest.mark.parametrize("name", LEARNERS)
async def test_a_choice_is_explained_slot_by_slot_and_nothing_changes(tmp_path, name):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open(name, LEARNERS[name])
        for number in range(5):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        choice = await stream.choice(utterance(9))
        before = await daemon.digest(name)
        answer = await explained(daemon, name, "u9")
        assert (answer.id, answer.round, answer.text) == ("u9", choice.round, choice.text)
        assert (answer.state, answer.detailed) == (wire.ROUND_STATE_PENDING, True)
        assert (answer.lessons, answer.lessons_since) == (5, 0)
        assert answer.HasField("log_probability") == (name != "leader")
        assert [slot.token for slot in answer.slots] == list(choice.tokens)
        said = {each.engine: each.tokens for each in utterance(9).slots.offers}
        for number, slot in enumerate(answer.slots):
            assert (slot.slot, slot.expert) == (number, choice.experts[number])
            offers = {offer.token: offer for offer in slot.offers}
            for expert, tokens in said.items():
                assert expert in offers[tokens[number]].experts
            if name in {"paths", "leader"}:  # their laws have no cheap marginals
                assert not slot.trust
                assert not any(offer.HasField("probability") for offer in slot.offers)
            else:
                assert sum(slot.trust.values()) == pytest.approx(1.0)
                chosen = offers[slot.token].probability
                assert chosen == pytest.approx(choice.probabilities[number], abs=1e-6)
                assert chosen == pytest.approx(sum(slot.trust[each] for each in offers[slot.token].experts))
            assert sum(context.weight for context in slot.contexts) == pytest.approx(1.0)
        assert await daemon.digest(name) == before
        assert (await stream.learned(feedback(9))).lessons == 6


async def test_the_scorer_says_what_speaks_for_an_offer(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("text", LEARNERS["text"])
        for number in range(8):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        await stream.choice(utterance(9))
        slots = [slot for slot in (await explained(daemon, "text", "u9")).slots if len(slot.offers) > 1]
        assert slots
        for slot in slots:
            assert [context.name for context in slot.contexts].count("everything") == 1
            for offer in slot.offers:
                assert offer.HasField("score")
                assert 0 < len(offer.reasons) <= 8
                assert all(reason.phrase for reason in offer.reasons)
                parts = [abs(reason.part) for reason in offer.reasons]
                assert parts == sorted(parts, reverse=True)


async def test_a_step_along_an_automaton_is_explained_by_the_ways_that_leave_its_state(tmp_path):
    async with serving(tmp_path) as daemon:
        spec = spec_pb2.LearnerSpec(
            algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE, automaton=AUTOMATON, decide=spec_pb2.DECIDE_BEST
        )
        stream = await daemon.open("automaton", spec)
        tokens = {"a": "so", "b": "no", "c": "far", "d": "good"}
        named = utterance_pb2.Utterance(
            id="u", named_tokens=utterance_pb2.NamedTokens(names=tokens.keys(), tokens=tokens.values())
        )
        choice = await stream.choice(named)
        first, second = (await explained(daemon, "automaton", "u")).slots
        assert {offer.token: list(offer.experts) for offer in first.offers} == {"so": ["a"], "no": ["b"]}
        assert [context.name for context in first.contexts] == ["state 0"]
        assert [first.expert, second.expert] == list(choice.experts)
        assert second.token in {"far", "good"}


async def test_slots_come_in_pages(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("windows", LEARNERS["windows"])
        choice = await stream.choice(utterance(1, slots=100))
        first = await explained(daemon, "windows", "u1")
        assert (first.slot_count, len(first.slots)) == (100, 32)
        rest = [await explained(daemon, "windows", "u1", first_slot=first) for first in (32, 64, 96)]
        few = await explained(daemon, "windows", "u1", first_slot=98, most_slots=1)
        assert [slot.token for page in (first, *rest) for slot in page.slots] == list(choice.tokens)
        assert [slot.slot for slot in few.slots] == [98]
        assert not (await explained(daemon, "windows", "u1", first_slot=100)).slots
        assert not (await explained(daemon, "windows", "u1", first_slot=2**32 - 1)).slots


async def test_a_round_that_was_learned_is_known_in_full_as_long_as_the_history(tmp_path):
    """Its memory is there, also after a restart."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("text", LEARNERS["text"])
        choice = await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        await stream.choice(utterance(2))
        told = await explained(daemon, "text", "u1")
        assert (told.state, told.detailed, told.lessons_since) == (wire.ROUND_STATE_LEARNED, True, 1)
    async with serving(tmp_path) as daemon:
        told = await explained(daemon, "text", "u1")
        assert (told.state, told.detailed) == (wire.ROUND_STATE_LEARNED, True)
        assert [slot.token for slot in told.slots] == list(choice.tokens)
        assert [slot.probability for slot in told.slots] == pytest.approx(list(choice.probabilities))
        assert all(slot.offers and slot.trust for slot in told.slots)
        assert (await explained(daemon, "text", "u2")).detailed


async def test_labels_of_aligned_slots_are_looked_at(tmp_path):
    """As those of engines' outputs: they are a context of every slot."""
    async with serving(tmp_path) as daemon:
        spec = simple_spec(algorithm=spec_pb2.ALGORITHM_TIED, labels=["kind"])
        stream = await daemon.open("text", spec)
        await stream.choice(utterance(1, labels={"kind": "fax", "other": "ignored"}))
        await stream.choice(utterance(2))
        for utterance_id, labelled in (("u1", True), ("u2", False)):
            for slot in (await explained(daemon, "text", utterance_id)).slots:
                assert any(", labels #" in context.name for context in slot.contexts) == labelled
