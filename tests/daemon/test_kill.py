"""SIGKILL amid eight busy streams: nothing acknowledged is lost, nothing learned twice, the state the same."""

import asyncio
import random
from dataclasses import dataclass, field

import grpc
import pytest

from galloon.daemon.codec.spec import spec_from_wire
from galloon.daemon.codec.utterance import observation_from_wire
from galloon.daemon.limits import Limits
from galloon.learners.build import build
from galloon.learners.combiner import TrueTokens
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.daemon.serving import Conversation, feedback, simple_spec, truth, utterance
from tests.daemon_process import Daemon

STREAMS, ROUNDS, KILLS = 8, 20, 2


@dataclass
class Seen:
    """What the clients were told: the last choice of each round, and every acknowledgement."""

    choices: dict[str, wire.Choice] = field(default_factory=dict)
    lessons: dict[str, wire.Learned] = field(default_factory=dict)


async def client(address: str, first: int, seen: Seen) -> None:
    """Plays its rounds to the end, whatever happens to the daemon; reconnects and resumes."""
    numbers = range(first, first + ROUNDS)
    while left := [number for number in numbers if f"u{number}" not in seen.lessons]:
        try:
            async with grpc.aio.insecure_channel(address) as channel:
                stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
                unsure = [f"u{number}" for number in left]
                opened = await stream.opened(
                    wire.Open(learner="test", create=simple_spec(), unsure_ids=unsure)
                )
                states = {status.id: status.state for status in opened.rounds}
                for number in left:
                    if states[f"u{number}"] in {wire.ROUND_STATE_UNKNOWN, wire.ROUND_STATE_PENDING}:
                        seen.choices[f"u{number}"] = await stream.choice(utterance(number))
                    seen.lessons[f"u{number}"] = await stream.learned(feedback(number))
        except grpc.RpcError:
            await asyncio.sleep(0.05)


async def test_kills_lose_nothing_and_repeat_nothing(tmp_path):
    """The digest at the end equals that of a combiner that learned the same events without any daemon."""
    daemon = Daemon(tmp_path, "store.snapshot_events=60", "log.level=warning")
    seen, drawn = Seen(), random.Random(11)
    await asyncio.to_thread(daemon.start)
    try:
        clients = [asyncio.create_task(client(daemon.address, 1000 * k, seen)) for k in range(STREAMS)]
        for kill in range(KILLS):
            await lessons_reach(seen, (kill + 1) * STREAMS * ROUNDS // (KILLS + 1))
            await asyncio.sleep(drawn.random() * 0.02)  # anywhere within a round
            daemon.kill()
            await asyncio.to_thread(daemon.start)
        await asyncio.gather(*clients)
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            learners = learners_pb2_grpc.LearnerServiceStub(channel)
            answer = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
    finally:
        daemon.kill()
    total = STREAMS * ROUNDS
    assert sorted(learned.lessons for learned in seen.lessons.values()) == list(range(1, total + 1))
    assert answer.learner.statistics.lessons == total
    assert answer.learner.state_digest == replayed(seen)


async def lessons_reach(seen: Seen, count: int) -> None:
    while len(seen.lessons) < count:  # noqa: ASYNC110  # looks at what the clients have seen, as a bystander
        await asyncio.sleep(0.005)


def replayed(seen: Seen) -> str:
    """The digest after the same events in a combiner of our own: rounds by number, lessons in their order."""
    spec = spec_from_wire(simple_spec(), Limits(), "spec")
    combiner = build(spec)
    order = sorted(seen.lessons.values(), key=lambda learned: learned.lessons)
    memories: dict[str, bytes] = {}
    for taken in range(len(order) + 1):
        # Rounds that were chosen when exactly so many lessons had been taken in.
        for choice in seen.choices.values():
            if choice.lessons == taken:
                number = int(choice.id[1:])
                observation = observation_from_wire(utterance(number), spec.experts, Limits())
                decision = combiner.choose(observation, choice.round)
                assert decision.text == choice.text
                memories[choice.id] = decision.memory
        if taken < len(order):
            learned = order[taken]
            assert learned.round == seen.choices[learned.id].round
            combiner.learn(memories[learned.id], TrueTokens(tuple(truth(int(learned.id[1:])))))
    return combiner.digest()


# One on each side of a commit, and one after a snapshot; `make fault` goes through all of them.
POINTS = ["journal.before_write", "journal.after_sync", "snapshot.after_sync"]


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_on_either_side_of_a_durable_step_loses_nothing(tmp_path, point):
    """The daemon kills itself at a failpoint; the client resumes; the state is that of the events."""
    seen = Seen()
    settings = ("store.snapshot_events=10", "log.level=warning")
    daemon = Daemon(tmp_path, *settings, environment={"GALLOON_FAILPOINTS": f"{point}=kill@2"})
    await asyncio.to_thread(daemon.start)
    playing = asyncio.create_task(client(daemon.address, 0, seen))
    try:
        assert daemon.process is not None
        if point.startswith("snapshot"):
            await asyncio.to_thread(_wait_for_death, daemon, seen)
        else:
            await asyncio.to_thread(daemon.process.wait)
        daemon.process, daemon.environment = None, {}
        await asyncio.to_thread(daemon.start)
        await playing
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            learners = learners_pb2_grpc.LearnerServiceStub(channel)
            answer = await learners.GetLearner(learners_pb2.GetLearnerRequest(name="test"))
    finally:
        daemon.kill()
    assert answer.learner.statistics.lessons == ROUNDS
    assert answer.learner.state_digest == replayed(seen)


def _wait_for_death(daemon: Daemon, seen: Seen) -> None:
    """Snapshots on demand, in case the rounds are over before the daemon takes its second one."""
    with grpc.insecure_channel(daemon.address) as channel:
        learners = learners_pb2_grpc.LearnerServiceStub(channel)
        while daemon.process is not None and daemon.process.poll() is None:
            if len(seen.lessons) > 3:
                try:
                    learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="test"))
                except grpc.RpcError:
                    daemon.process.wait()
