"""Daemons that share a PostgreSQL, streams that teach their learners, and faults: `Cluster`, `Workload`, `judge`.

A daemon that ends is started again, as a supervisor would. The workload notes what was acknowledged and long
silences of streams; afterwards `judge` compares that with the learners as they are, and with a replay of every
journal from its first entry in a fresh process.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg

from galloon.clients.api.client import Client
from galloon.clients.api.errors import ClientError
from galloon.clients.api.stream import StreamOptions
from galloon.daemon.store.postgres_schema import shard_of
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.daemon_process import free_port
from tests.postgres import Server

ENGINES = ("ann", "bob", "cy")
WORDS = ("so", "far", "good", "said", "the", "fox")
SPECS = (
    CombinerSpec(engines=ENGINES),
    CombinerSpec(engines=ENGINES, algorithm="expanded_hedge", gain={"kind": "ngram", "order": 2}, window=4),
)


class Node:
    """One daemon on ports of its own, started again whenever it ends."""

    def __init__(self, folder: Path, url: str, lease_s: float) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._log = (folder / f"{self.address.rpartition(':')[2]}.log").open("ab")
        self._command = [sys.executable, "-m", "galloon", "serve", "--store", url, "--listen", self.address]
        self._command += ["--http", "", "--set", f"store.lease_s={lease_s}", "--set", "server.drain_s=2"]
        self._ending = False
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log)

    def tend(self) -> None:
        if not self._ending and self.process.poll() is not None:
            self.start()

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def stop(self) -> None:
        self._ending = True
        self.signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


class Cluster:
    """So many daemons on one PostgreSQL."""

    def __init__(self, folder: Path, server: Server, nodes: int, lease_s: float) -> None:
        self.server, self.lease_s = server, lease_s
        self.url = server.new_database()
        self.nodes = [Node(folder, self.url, lease_s) for _ in range(nodes)]
        self.addresses = ",".join(node.address for node in self.nodes)
        self._ending = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def owner(self, learner: str) -> Node:
        """The node that has a learner, once one has."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, autocommit=True) as database:
                row = database.execute(
                    "SELECT address FROM galloon.shards JOIN galloon.members ON id = member AND NOT fenced "
                    "WHERE shard = %s",
                    (shard_of(learner),),
                ).fetchone()
                for node in self.nodes:
                    if row is not None and node.address == row[0]:
                        return node
            time.sleep(0.05)
        raise AssertionError(f"nobody has {learner} for five minutes")

    def wait_until_served(self) -> None:
        for stream in range(8):
            self.owner(f"learner-{stream}")

    def stop(self) -> None:
        self._ending.set()
        self._supervisor.join()
        for node in self.nodes:
            node.stop()

    def _supervise(self) -> None:
        while not self._ending.wait(0.1):
            for node in self.nodes:
                node.tend()


@contextmanager
def cluster(folder: Path, server: Server, nodes: int = 3, lease_s: float = 3.0) -> Iterator[Cluster]:
    made = Cluster(folder, server, nodes, lease_s)
    try:
        yield made
    finally:
        made.stop()


# Faults: each is over when it returns, but for what the cluster makes of it.


def kill_owner(cluster: Cluster, learner: str, random: Random) -> float:
    cluster.owner(learner).signal(signal.SIGKILL)
    return time.monotonic()


def pause_owner(cluster: Cluster, learner: str, random: Random) -> float:
    """Longer than its lease, with requests under way; then it goes on where it was."""
    node, began = cluster.owner(learner), time.monotonic()
    node.signal(signal.SIGSTOP)
    time.sleep(cluster.lease_s + 2)
    node.signal(signal.SIGCONT)
    return began


def restart_database(cluster: Cluster, learner: str, random: Random) -> float:
    cluster.server.stop("fast")
    cluster.server.start()
    return time.monotonic()


def kill_database(cluster: Cluster, learner: str, random: Random) -> float:
    cluster.server.kill()
    time.sleep(0.5)
    cluster.server.start()
    return time.monotonic()


FAULTS: dict[str, Callable[[Cluster, str, Random], float]] = {
    "kill": kill_owner,
    "pause": pause_owner,
    "restart database": restart_database,
    "kill database": kill_database,
}


@dataclass(slots=True)
class Stream:
    """What one client stream has seen."""

    learner: str
    acknowledged: dict[str, int] = field(default_factory=dict)  # id: the number of its lesson
    errors: list[str] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)  # lesson
    gaps: list[tuple[float, float]] = field(default_factory=list)  # long silences: when they began and ended


class Workload:
    """Streams in a thread of their own, each teaching one learner, a round after the other, until stopped."""

    def __init__(self, addresses: str, streams: int = 8) -> None:
        self.streams = [Stream(f"learner-{number}") for number in range(streams)]
        self._addresses, self._stop = addresses, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()

    def wait_for_lessons(self, more: int) -> None:
        """Until every stream has learned so many more."""
        goals = [len(stream.acknowledged) + more for stream in self.streams]
        deadline = time.monotonic() + 300
        while any(len(stream.acknowledged) < goal for stream, goal in zip(self.streams, goals, strict=True)):
            silent = [stream.learner for stream in self.streams if time.monotonic() - stream.last > 60]
            assert time.monotonic() < deadline, f"silent: {silent}"
            time.sleep(0.02)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    async def _run(self) -> None:
        options = StreamOptions(timeout_s=90.0, give_up_s=120.0, open_timeout_s=300.0)
        async with Client(self._addresses, options=options) as client:
            await asyncio.gather(*(self._teach(client, n, stream) for n, stream in enumerate(self.streams)))

    async def _teach(self, client: Client, number: int, seen: Stream) -> None:
        random = Random(number)
        async with client.stream(seen.learner, create=SPECS[number % len(SPECS)]) as stream:
            while not self._stop.is_set():
                id_ = f"u{len(seen.acknowledged)}-{len(seen.errors)}"
                truth = random.choices(WORDS, k=5)
                said = {
                    name: " ".join(word if random.random() < 0.8 else random.choice(WORDS) for word in truth)
                    for name in ENGINES
                }
                try:
                    await stream.choose(Utterance.of_texts(id_, said))
                    lesson = await stream.learn(id_, TrueText(" ".join(truth)))
                except ClientError as error:
                    seen.errors.append(f"{id_}: {type(error).__name__}: {error}")
                    continue
                now = time.monotonic()
                if now - seen.last > 1.0:
                    seen.gaps.append((seen.last, now))
                seen.acknowledged[id_], seen.last = lesson.lessons, now


@dataclass(frozen=True, slots=True)
class Verdict:
    acknowledged: int
    lost: int
    twice: int
    digests_differ: int


async def judge(addresses: str, url: str, workload: Workload) -> Verdict:
    """Compare what was acknowledged with what is there, and with a replay from the first entry."""
    async with Client(addresses, options=StreamOptions(timeout_s=60.0)) as client:
        found = {stream.learner: await client.get_learner(stream.learner) for stream in workload.streams}
        lost = twice = 0
        for stream in workload.streams:
            numbers = list(stream.acknowledged.values())
            statistics = found[stream.learner].statistics
            assert statistics is not None
            lost += max(0, len(numbers) - statistics.lessons)
            # Every lesson has a number of its own, and none but ours is there (an error may hide one).
            twice += len(numbers) - len(set(numbers))
            twice += max(0, statistics.lessons - len(numbers) - len(stream.errors))
    replayed = await asyncio.to_thread(_replayed, url)
    differ = sum(replayed[name] != info.digest for name, info in found.items())
    return Verdict(sum(len(s.acknowledged) for s in workload.streams), lost, twice, differ)


def _replayed(url: str) -> dict[str, str]:
    command = [sys.executable, "-m", "tests.cluster.replay", url]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    digests: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    return digests
