"""Streams that teach learners of a cluster, and the judgement: `Workload`, `judge`.

The workload notes what was acknowledged and when streams were silent. `judge` compares that with the learners as
they are, and with a replay of every journal from its first entry in a fresh process.
"""

import asyncio
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from random import Random

from galloon.clients.api.client import Client
from galloon.clients.api.errors import ClientError
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

ENGINES = ("ann", "bob", "cy")
WORDS = ("so", "far", "good", "said", "the", "fox")
SPECS = (
    CombinerSpec(engines=ENGINES),
    CombinerSpec(engines=ENGINES, algorithm="expanded_hedge", gain={"kind": "ngram", "order": 2}, window=4),
    CombinerSpec(engines=ENGINES, unit="char"),
)
AT_ONCE = (1, 8)  # lessons that a stream has under way
PATIENCE_S = 300.0


@dataclass(slots=True)
class Stream:
    """What one client stream has seen."""

    learner: str
    sent: int = 0
    acknowledged: dict[str, int] = field(default_factory=dict)  # id: the number of its lesson
    errors: list[str] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)  # lesson
    silences: list[tuple[float, float]] = field(default_factory=list)  # when they began and ended


class Workload:
    """Streams in a thread of their own, each teaching one learner, until stopped."""

    def __init__(self, addresses: str, streams: int = 8, pause_s: float = 0.0) -> None:
        self.streams = [Stream(f"learner-{number}") for number in range(streams)]
        self._addresses, self._pause_s, self._stop = addresses, pause_s, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()

    def wait_for_lessons(self, more: int) -> None:
        """Until every stream has learned so many more."""
        goals = [len(stream.acknowledged) + more for stream in self.streams]
        deadline = time.monotonic() + PATIENCE_S
        while any(len(stream.acknowledged) < goal for stream, goal in zip(self.streams, goals, strict=True)):
            silent = {s.learner: s.errors[-1:] for s in self.streams if time.monotonic() - s.last > 60}
            assert time.monotonic() < deadline, f"silent: {silent}"
            assert self._thread.is_alive(), "the streams have ended"
            time.sleep(0.02)

    def silence_since(self, moment: float) -> float:
        """The longest of any stream, counted from this moment."""
        silences = [
            end - max(start, moment) for s in self.streams for start, end in s.silences if end > moment
        ]
        return max(silences, default=0.0)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def errors(self) -> list[str]:
        return [error for stream in self.streams for error in stream.errors]

    async def _run(self) -> None:
        # How long a busy machine takes is no matter of the judgement: an error is what no patience would mend.
        options = StreamOptions(timeout_s=PATIENCE_S, give_up_s=PATIENCE_S, open_timeout_s=PATIENCE_S)
        async with Client(self._addresses, options=options) as client:
            await asyncio.gather(*(self._teach(client, n, stream) for n, stream in enumerate(self.streams)))

    async def _teach(self, client: Client, number: int, seen: Stream) -> None:
        random = Random(number)
        async with client.stream(seen.learner, create=SPECS[number % len(SPECS)]) as stream:
            while not self._stop.is_set():
                at_once = AT_ONCE[number % len(AT_ONCE)]
                await asyncio.gather(*(self._teach_one(stream, seen, random) for _ in range(at_once)))
                await asyncio.sleep(self._pause_s)

    async def _teach_one(self, stream: CombineStream, seen: Stream, random: Random) -> None:
        id_, truth = f"u{seen.sent}", random.choices(WORDS, k=5)
        seen.sent += 1
        said = {
            name: " ".join(word if random.random() < 0.8 else random.choice(WORDS) for word in truth)
            for name in ENGINES
        }
        try:
            await stream.choose(Utterance.of_texts(id_, said))
            lesson = await stream.learn(id_, TrueText(" ".join(truth)))
        except ClientError as error:
            seen.errors.append(f"{id_}: {type(error).__name__}: {error}")
            return
        now = time.monotonic()
        if now - seen.last > 0.1:
            seen.silences.append((seen.last, now))
        seen.acknowledged[id_], seen.last = lesson.lessons, now


@dataclass(frozen=True, slots=True)
class Verdict:
    acknowledged: int
    lost: int  # acknowledged, and not in the journal or not counted
    twice: int  # more than once in the journal, or two lessons with one number
    digests_differ: int  # learners whose replay from the first entry has another state

    @property
    def is_good(self) -> bool:
        return (self.lost, self.twice, self.digests_differ) == (0, 0, 0) and self.acknowledged > 0


async def judge(addresses: str, url: str, workload: Workload) -> Verdict:
    """Compare what was acknowledged with what is there, and with a replay from the first entry."""
    async with Client(addresses, options=StreamOptions(timeout_s=120.0)) as client:
        found = {stream.learner: await client.get_learner(stream.learner) for stream in workload.streams}
    replayed = await asyncio.to_thread(_replayed, url)
    acknowledged = lost = twice = differ = 0
    for stream in workload.streams:
        statistics, replay = found[stream.learner].statistics, replayed[stream.learner]
        assert statistics is not None
        times, numbers = replay["taught"], list(stream.acknowledged.values())
        acknowledged += len(numbers)
        lost += sum(id_ not in times for id_ in stream.acknowledged)
        lost += max(0, len(numbers) - statistics.lessons)
        twice += sum(count - 1 for count in times.values()) + len(numbers) - len(set(numbers))
        differ += replay["digest"] != found[stream.learner].digest
    return Verdict(acknowledged, lost, twice, differ)


def _replayed(url: str) -> dict[str, dict]:
    command = [sys.executable, "-m", "tests.cluster.replay", url]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout.splitlines()[-1])
