"""The life of a round over a real port."""

import asyncio

import grpc
import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, truth, utterance


async def test_an_utterance_is_answered_and_its_feedback_is_learned(tmp_path):
    """Open, utterance, choice, feedback, learned; the answer names tokens, experts and probabilities."""
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        opened = await stream.opened(wire.Open(learner="test", create=simple_spec()))
        assert opened.created
        assert list(opened.experts) == list(EXPERTS)
        choice = await stream.choice(utterance(1))
        assert (choice.id, choice.round, choice.lessons) == ("u1", 0, 0)
        offered = {offer.engine: offer.tokens for offer in utterance(1).slots.offers}
        for slot, (token, expert) in enumerate(zip(choice.tokens, choice.experts, strict=True)):
            assert offered[expert][slot] == token
        assert choice.text == " ".join(token for token in choice.tokens if token)
        assert len(choice.probabilities) == 6
        assert not choice.alternatives
        learned = await stream.learned(feedback(1))
        shown_right = sum(a == b for a, b in zip(choice.tokens, truth(1), strict=True))
        assert (learned.id, learned.gain, learned.lessons) == ("u1", shown_right, 1)
        assert set(learned.expert_gains) == set(EXPERTS)
        assert await stream.close() == grpc.StatusCode.OK


async def test_alternatives_come_when_asked_for(tmp_path):
    """With `alternatives` each slot lists what else was on offer and by whom."""
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        await stream.opened(wire.Open(learner="test", create=simple_spec(), alternatives=True))
        choice = await stream.choice(utterance(3))
        assert choice.alternatives
        assert {name for offer in choice.alternatives for name in offer.experts} <= set(EXPERTS)


ALGORITHMS = [
    (spec.ALGORITHM_COMPONENT_HEDGE, "true_tokens"),
    (spec.ALGORITHM_EXPANDED_HEDGE, "true_text"),
    (spec.ALGORITHM_PERTURBED_LEADER, "true_tokens"),
    (spec.ALGORITHM_SEMI_BANDIT, "shown_gains"),
    (spec.ALGORITHM_COM_BAND, "score"),
    (spec.ALGORITHM_EXP3_PATHS, "score"),
]


@pytest.mark.parametrize(("algorithm", "kind"), ALGORITHMS)
async def test_every_algorithm_learns_over_the_stream(tmp_path, algorithm, kind):
    """All six learners, each with the feedback of its setting."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open(spec=simple_spec(algorithm=algorithm, window=6))
        for number in range(3):
            choice = await stream.choice(utterance(number))
            right = [float(a == b) for a, b in zip(choice.tokens, truth(number), strict=True)]
            kinds = {
                "true_tokens": {"true_tokens": wire.TrueTokens(tokens=truth(number))},
                "true_text": {"true_text": " ".join(filter(None, truth(number)))},
                "shown_gains": {"shown_gains": wire.ShownGains(gains=right)},
                "score": {"score": sum(right)},
            }
            learned = await stream.learned(wire.Feedback(id=choice.id, **kinds[kind]))
            assert learned.lessons == number + 1
            if kind != "true_text":
                assert learned.gain == sum(right)


GAINS = [
    spec.Gain(slot_match=spec.SlotMatchGain()),
    spec.Gain(ngram=spec.NgramGain(order=2)),
    spec.Gain(patterns=spec.PatternsGain(patterns=[spec.Pattern(tokens=["so", "far"], weight=2.0)])),
    spec.Gain(regex=spec.RegexGain(expression="so (far|good)")),
    spec.Gain(gappy=spec.GappyGain(lengths=[2], discount=0.5, max_gap=1)),
]


@pytest.mark.parametrize("gain", GAINS, ids=lambda gain: gain.WhichOneof("gain"))
async def test_every_gain_is_learned_over_the_stream(tmp_path, gain):
    """All gains that are valued from true tokens."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open(spec=simple_spec(gain=gain, window=6))
        await stream.choice(utterance(1))
        learned = await stream.learned(feedback(1))
        assert learned.gain >= 0


async def test_an_arbitrary_gain_takes_any_score_in_its_range(tmp_path):
    """The arbitrary gain has no structure: one number for what was shown."""
    async with serving(tmp_path) as daemon:
        gain = spec.Gain(arbitrary=spec.ArbitraryGain(bound=5.0))
        stream = await daemon.open(spec=simple_spec(algorithm=spec.ALGORITHM_EXP3_PATHS, gain=gain))
        await stream.choice(utterance(1, slots=4))
        assert (await stream.learned(wire.Feedback(id="u1", score=3.5))).gain == 3.5


AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n3\n"


@pytest.mark.parametrize(
    "algorithm", [spec.ALGORITHM_EXPANDED_HEDGE, spec.ALGORITHM_EXP3_PATHS, spec.ALGORITHM_COM_BAND]
)
async def test_an_explicit_automaton_takes_tokens_by_name(tmp_path, algorithm):
    """A choice follows a path of the automaton, and names its transitions."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open(spec=spec.LearnerSpec(automaton=AUTOMATON, algorithm=algorithm))
        named = utterance_pb2.NamedTokens(names=["a", "b", "c", "d"], tokens=["one", "two", "three", "four"])
        choice = await stream.choice(utterance_pb2.Utterance(id="x", named_tokens=named))
        assert (list(choice.experts), choice.text) in [(["a", "c"], "one three"), (["b", "d"], "two four")]
        learned = await stream.learned(
            wire.Feedback(id="x", true_tokens=wire.TrueTokens(tokens=["one", "three"]))
        )
        assert learned.lessons == 1


async def test_engines_outputs_are_aligned_by_the_daemon(tmp_path):
    """1-best words of different lengths become slots."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        said = {
            "ann": "it was the best of times",
            "bob": "it was best of thymes",
            "cy": "it saw the beast of times",
        }
        outputs = [utterance_pb2.EngineOutput(engine=e, words=text.split()) for e, text in said.items()]
        message = utterance_pb2.Utterance(id="x", outputs=utterance_pb2.EngineOutputs(engines=outputs))
        choice = await stream.choice(message)
        assert len(choice.tokens) == 6
        learned = await stream.learned(wire.Feedback(id="x", true_text=said["ann"]))
        assert learned.expert_gains["ann"] == 6


@pytest.mark.parametrize("setting", [spec.SETTING_FULL, spec.SETTING_SEMI_BANDIT, spec.SETTING_BANDIT])
async def test_the_tied_learner_has_every_setting(tmp_path, setting):
    """On engines' own words, with labels; it takes the truth in each, and less where the setting reveals less."""
    tied = spec.LearnerSpec(engines=EXPERTS, setting=setting, labels=["speaker"])
    async with serving(tmp_path) as daemon:
        stream = await daemon.open(spec=tied)
        for number in range(4):
            said = ["it was the best of times", "it was best of thymes", "it saw the beast of times"]
            outputs = [
                utterance_pb2.EngineOutput(engine=e, words=text.split())
                for e, text in zip(EXPERTS, said, strict=True)
            ]
            message = utterance_pb2.Utterance(
                id=f"u{number}",
                outputs=utterance_pb2.EngineOutputs(engines=outputs),
                labels={"speaker": "anna", "weather": "fine"},
            )
            choice = await stream.choice(message)
            kinds = {
                spec.SETTING_FULL: {"true_text": said[0]},
                spec.SETTING_SEMI_BANDIT: {"shown_gains": wire.ShownGains(gains=[1.0] * len(choice.tokens))},
                spec.SETTING_BANDIT: {"score": float(len(choice.tokens))},
            }
            learned = await stream.learned(wire.Feedback(id=choice.id, **kinds[setting]))
            assert learned.lessons == number + 1


async def test_a_repeated_utterance_gets_the_same_answer_and_no_second_round(tmp_path):
    """Before and after its feedback, on this stream or another."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        first = await stream.choice(utterance(1))
        again = await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        other = await daemon.open()
        late = await other.choice(utterance(1))
        for answer in (again, late):
            assert answer.repeated_answer
            answer.repeated_answer = False
            assert answer == first
        assert (await stream.choice(utterance(2))).round == 1


async def test_repeated_feedback_gets_the_same_answer_and_no_second_lesson(tmp_path):
    """Also when both are on their way to the disk at once."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        await stream.choice(utterance(1))
        await stream.send(feedback(1))
        await stream.send(feedback(1))
        first, again = (await stream.read()).learned, (await stream.read()).learned
        late = await stream.learned(feedback(1))
        for answer in (again, late):
            assert answer.repeated_answer
            answer.repeated_answer = False
            assert answer == first


async def test_feedback_comes_late_and_out_of_order(tmp_path):
    """Each is learned when it comes; the order is that of arrival."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        for number in range(10):
            await stream.choice(utterance(number))
        other = await daemon.open()
        order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
        lessons = [(await other.learned(feedback(number))).lessons for number in order]
        assert lessons == list(range(1, 11))


async def test_streams_on_one_learner_share_its_rounds(tmp_path):
    """Round numbers and lessons are counted over all streams, each exactly once."""
    async with serving(tmp_path) as daemon:

        async def play(first: int) -> list[tuple[int, int]]:
            stream = await daemon.open()
            seen = []
            for number in range(first, first + 10):
                choice = await stream.choice(utterance(number))
                seen.append((choice.round, (await stream.learned(feedback(number))).lessons))
            return seen

        seen = [pair for part in await asyncio.gather(*(play(100 * k) for k in range(8))) for pair in part]
        assert sorted(round_ for round_, _ in seen) == list(range(80))
        assert sorted(lesson for _, lesson in seen) == list(range(1, 81))


async def test_any_round_of_the_history_can_be_taught_at_any_time(tmp_path):
    """Far more rounds than stay in memory, taught in another order, half of them after a restart: all learned."""
    rounds = 60
    async with serving(tmp_path, limits__warm_rounds=4) as daemon:
        stream = await daemon.open()
        first = [await stream.ask(utterance(number)) for number in range(rounds)]
        for number in range(rounds - 1, rounds // 2, -1):
            await stream.learned(feedback(number))
        assert len(daemon.app.registry.find("test").rounds.recent) <= 5
    async with serving(tmp_path, limits__warm_rounds=4) as daemon:
        stream = await daemon.open()
        for number in range(rounds // 2 + 1):
            await stream.learned(feedback(number))
        again = [await stream.ask(utterance(number)) for number in range(rounds)]
        for before, after in zip(first, again, strict=True):
            assert after.choice.repeated_answer
            after.choice.repeated_answer = False
            assert after == before
        problem = await stream.problem(feedback(3, slots=1))
        assert problem.reason == wire.REASON_OTHER_FEEDBACK
        assert (await stream.learned(feedback(3))).repeated_answer
        learner = daemon.app.registry.find("test")
        assert (learner.rounds.lessons, learner.rounds.pending) == (rounds, 0)


async def test_what_memory_holds_changes_no_bit(tmp_path):
    """The same requests with three warm rounds and with a thousand: the same answers and the same digest."""
    seen = []
    for warm in (3, 1000):
        async with serving(tmp_path / str(warm), limits__warm_rounds=warm) as daemon:
            stream = await daemon.open()
            answers = [await stream.ask(utterance(number)) for number in range(40)]
            answers += [await stream.ask(feedback(number * 7 % 40)) for number in range(40)]
            seen.append((answers, await daemon.digest()))
    assert seen[0] == seen[1]


async def test_a_round_that_was_never_sent_and_one_that_has_gone_are_told_so(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        problem = await stream.problem(feedback(0))
        assert problem.reason == wire.REASON_UNKNOWN_ROUND
        assert "never sent" in problem.message
        assert "store.history_days" in problem.message


async def test_a_client_that_reconnects_learns_what_became_of_its_rounds(tmp_path):
    """`unsure_ids` tells pending, learned and unknown apart, wherever the rounds are."""
    async with serving(tmp_path, limits__warm_rounds=1) as daemon:
        stream = await daemon.open()
        for number in range(4):
            await stream.choice(utterance(number))
        await stream.learned(feedback(3))
        again = daemon.stream()
        opened = await again.opened(wire.Open(learner="test", unsure_ids=["u0", "u2", "u3", "never"]))
        states = {status.id: status.state for status in opened.rounds}
        assert states == {
            "u0": wire.ROUND_STATE_PENDING,
            "u2": wire.ROUND_STATE_PENDING,
            "u3": wire.ROUND_STATE_LEARNED,
            "never": wire.ROUND_STATE_UNKNOWN,
        }
        assert (opened.rounds_started, opened.lessons) == (4, 1)


async def test_flow_control_holds_a_hasty_client_back(tmp_path):
    """More requests than may be in flight are all answered, in whatever order, and none is refused."""
    async with serving(tmp_path, limits__in_flight=2) as daemon:
        stream = await daemon.open()

        async def send() -> None:
            for number in range(40):
                await stream.send(utterance(number))

        sending = asyncio.create_task(send())
        answers = [await stream.read() for _ in range(40)]
        await sending
        assert {answer.choice.id for answer in answers} == {f"u{number}" for number in range(40)}
