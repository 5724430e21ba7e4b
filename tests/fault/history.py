"""What is undone, erased and cut off under load, with kills on both sides of every durable step on the way.

`undo`: eight streams teach one learner, some lessons wrongly; these are withdrawn or replaced while the streams go
on and the daemon dies at every step of the rebuild. `erase`: rounds with words that nobody else says are erased,
and the daemon dies at every step of that. `retention`: history is cut while rounds are taught. Each is judged by a
combiner that was never interrupted and never saw what is gone, and by what clients were acknowledged.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from galloon.clients.api.client import Client
from galloon.clients.api.errors import FateUnknown, NotFound
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.codec.feedback import Withdrawn, feedback_from_wire
from galloon.codec.utterance import decode_utterance
from galloon.daemon.learner.events import Amended, Applied, Chose, Taught, from_entry
from galloon.daemon.store.compression import unpacked
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2, utterance_pb2
from tests.daemon_process import Daemon
from tests.engines import ENGINES, WORDS

LEARNER = "corrected"
SPEC = CombinerSpec(ENGINES)
STREAMS = 8
PATIENT = StreamOptions(max_in_flight=4, timeout_s=600, open_timeout_s=600, give_up_s=600)
UNDOING = ("rebuild.before_replay", "rebuild.after_replay", "exchange.before_write", "exchange.after_sync")
ERASING = (
    "erasure.before_list",
    "erasure.after_list",
    *UNDOING,
    "vacuum.before",
    "vacuum.after",
    "erasure.before_done",
)
CUTTING = ("retention.before_cut", "retention.after_cut")
DIES_WITHIN_S = 300.0
SECRETS = ("Mrzgelwitz", "Aberquondam")


@dataclass(slots=True)
class Load:
    """What eight streams do, and what they were acknowledged."""

    lessons: int
    wrong: frozenset[str] = frozenset()
    acknowledged: set[str] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)
    halfway: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, address: str, seed: int) -> None:
        async with asyncio.TaskGroup() as streams:
            for number in range(STREAMS):
                streams.create_task(self._stream(address, number, Random(f"{seed} {number}")))

    async def _stream(self, address: str, number: int, random: Random) -> None:
        async with (
            Client(address, options=PATIENT, random=random) as client,
            client.stream(LEARNER, create=SPEC) as stream,
        ):
            for count in range(self.lessons // STREAMS):
                await self._round(stream, f"{number}-{count}")
                if len(self.acknowledged) >= self.lessons // 2:
                    self.halfway.set()

    async def _round(self, stream: CombineStream, id_: str) -> None:
        await stream.choose(said(id_))
        try:
            await stream.learn(id_, TrueText("all of it is wrong" if id_ in self.wrong else truth(id_)))
        except (FateUnknown, NotFound):
            self.uncertain.add(id_)
        else:
            self.acknowledged.add(id_)


def truth(id_: str) -> str:
    return " ".join(Random(f"truth {id_}").choices([word for word in WORDS if word], k=6))


def said(id_: str, words: Sequence[str] = (), **more: dict[str, str]) -> Utterance:
    """Each engine misses a word of its own."""
    true = [*truth(id_).split(), *words]
    draw = Random(f"said {id_}")
    texts = {}
    for engine in ENGINES:
        heard = list(true)
        heard[draw.randrange(6)] = draw.choice(("uh", "eh", "oh"))
        texts[engine] = " ".join(heard)
    return Utterance.of_texts(id_, texts, **more)


async def die_at_each(daemon: Daemon, points: Sequence[str]) -> None:
    """Let the daemon, which runs, die once at each of these; it runs when this returns, with no more to come."""
    for point, following in zip(points, (*points[1:], ""), strict=True):
        if daemon.environment != _failpoint(point):
            daemon.kill()
            daemon.environment = _failpoint(point)
            await asyncio.to_thread(daemon.start)
        assert daemon.process is not None
        status = await asyncio.to_thread(daemon.process.wait, DIES_WITHIN_S)
        assert status == -9, f"the daemon failed before {point}:\n{daemon.log_tail()}"
        daemon.kill()
        daemon.environment = _failpoint(following)
        await asyncio.to_thread(daemon.start)


def _failpoint(point: str) -> dict[str, str]:
    return {"GALLOON_FAILPOINTS": f"{point}=kill"} if point else {}


async def undo(directory: Path, lessons: int, wrong: int, seed: int, points: Sequence[str] = UNDOING) -> str:
    """Lessons of which some are wrong, undone while others are taught."""
    random, daemon = Random(seed), Daemon(directory, "store.snapshot_events=400")
    early = [f"{number}-{count}" for number in range(STREAMS) for count in range(lessons // STREAMS // 3)]
    load = Load(lessons, frozenset(random.sample(early, wrong)))
    daemon.environment = _failpoint(points[0])  # no rebuild may be done before
    try:
        await asyncio.to_thread(daemon.start)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(load.run(daemon.address, seed))
            await load.halfway.wait()
            tasks.create_task(put_right(daemon.address, sorted(load.wrong)))
            await die_at_each(daemon, points)
        async with Client(daemon.address, options=PATIENT) as client:
            rebuilt = await client.rebuild_learner(LEARNER)
            shown = await client.get_learner(LEARNER)
    finally:
        daemon.kill()
    expected, learned = never_interrupted(daemon.data_dir)
    assert shown.state_digest == expected, "the state is not that of a run that never saw what was undone"
    lost = {id_ for id_ in load.acknowledged - learned if id_ not in load.wrong}
    assert not lost, f"acknowledged and lost: {sorted(lost)[:5]}"
    return (
        f"{wrong} of {lessons:,} lessons undone under {STREAMS} streams, {len(points)} kills: digest equal to "
        f"that of a run that never saw them; rebuilt {rebuilt.rounds:,} rounds and {rebuilt.lessons:,} "
        f"lessons in {rebuilt.cpu_seconds:.2f} s of a processor, {rebuilt.lessons / rebuilt.cpu_seconds:,.0f} "
        "lessons a second"
    )


async def put_right(address: str, ids: Sequence[str]) -> None:
    """Every other one is withdrawn, the others are replaced."""
    async with Client(address, options=PATIENT) as client, client.stream(LEARNER) as stream:
        for place, id_ in enumerate(ids):
            feedback = Withdrawn() if place % 2 else TrueText(truth(id_))
            await stream.learn(id_, feedback, replace=True)


async def erase(
    directory: Path, lessons: int, secret: int, seed: int, points: Sequence[str] = ERASING
) -> str:
    """Rounds that are erased while others are taught: nothing of them is left, nothing else is missing."""
    daemon, load = Daemon(directory, "store.snapshot_events=100"), Load(lessons)
    ids = [f"secret-{number}" for number in range(secret)]
    daemon.environment = _failpoint(points[0])
    try:
        await asyncio.to_thread(daemon.start)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(load.run(daemon.address, seed))
            async with Client(daemon.address, options=PATIENT) as client:
                async with client.stream(LEARNER, create=SPEC) as stream:
                    for id_ in ids:
                        await stream.choose(said(id_, SECRETS, labels={"person": "4711"}))
                        await stream.learn(id_, TrueText(f"{truth(id_)} {' '.join(SECRETS)}"))
                await load.halfway.wait()
                erasing = tasks.create_task(
                    client.erase_rounds(LEARNER, label=("person", "4711"), timeout_s=1800)
                )
                await die_at_each(daemon, points)
                await erasing
                rest = await client.erase_rounds(LEARNER, ids)
                assert (rest.erased, rest.erased_before) == (0, secret), rest
        async with Client(daemon.address, options=PATIENT) as client:
            await client.rebuild_learner(LEARNER)
            shown = await client.get_learner(LEARNER)
    finally:
        daemon.kill()
    found = words_in(daemon.data_dir)
    assert not found, f"erased words are in {found}"
    expected, learned = never_interrupted(daemon.data_dir)
    assert shown.state_digest == expected
    assert load.acknowledged <= learned, f"acknowledged and lost: {sorted(load.acknowledged - learned)[:5]}"
    return (
        f"{secret} rounds erased under {STREAMS} streams, {len(points)} kills: no word of them in any file, "
        f"{len(load.acknowledged):,} acknowledged lessons there, digest equal to a run without them"
    )


async def retention(directory: Path, lessons: int, seed: int, points: Sequence[str] = CUTTING) -> str:
    """History is cut at every start, at the last snapshot, while rounds are taught."""
    daemon = Daemon(directory, "store.snapshot_events=50", "store.history_days=0.000001")
    load = Load(lessons)
    try:
        await asyncio.to_thread(daemon.start)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(load.run(daemon.address, seed))
            await load.halfway.wait()
            async with Client(daemon.address, options=PATIENT) as client:
                await client.snapshot_learner(LEARNER)  # to cut at
            await die_at_each(daemon, points)
        async with Client(daemon.address, options=PATIENT) as client:
            before = await client.get_learner(LEARNER)
        daemon.kill()
        await asyncio.to_thread(daemon.start)
        async with Client(daemon.address, options=PATIENT) as client:
            after = await client.get_learner(LEARNER)
    finally:
        daemon.kill()
    assert after.digest == before.digest
    assert after.statistics is not None
    kept = after.statistics.lessons
    least, most = len(load.acknowledged), len(load.acknowledged | load.uncertain)
    assert least <= kept <= most, f"{kept} lessons, {least} to {most} were acknowledged"
    backend = SqliteBackend(daemon.data_dir)
    (stored,) = backend.learners()
    backend.close()
    assert stored.base, "nothing was cut"
    return (
        f"history cut under {STREAMS} streams, {len(points)} kills: {kept:,} lessons, none lost, none twice"
    )


def never_interrupted(data_dir: Path) -> tuple[str, set[str]]:
    """The digest of a combiner that plays what the history says in the end, and the ids that it learned."""
    backend = SqliteBackend(data_dir)
    try:
        (stored,) = backend.learners()
        events = [from_entry(entry) for entry in backend.journal(stored.key, 0)]
    finally:
        backend.close()
    feedback: dict[str, bytes] = {}
    for event in events:
        if isinstance(event, Taught | Amended):
            feedback[event.id] = event.feedback
    combiner, memories, learned = build(SPEC), dict[str, bytes](), set[str]()
    for event in events:
        if isinstance(event, Chose):
            message = utterance_pb2.Utterance.FromString(event.utterance)
            utterance = decode_utterance(message, SPEC.engines, None)
            memories[event.id] = combiner.choose(utterance, event.round_number).memory
            combiner.observe(memories[event.id])
        elif isinstance(event, Applied) and event.answer and feedback[event.id]:
            told = combine_pb2.Feedback.FromString(feedback[event.id])
            combiner.learn(memories[event.id], feedback_from_wire(told))
            learned.add(event.id)
    return combiner.digest(), learned


def words_in(data_dir: Path) -> set[str]:
    """Files that have an erased word, and entries and snapshots that have one when they are unpacked."""
    marks = [word.encode() for word in SECRETS]
    found = {path.name: path.read_bytes() for path in data_dir.iterdir() if path.is_file()}
    backend = SqliteBackend(data_dir)
    try:
        (stored,) = backend.learners()
        for entry in backend.journal(stored.key, 0):
            found[f"entry {entry.seq}"] = unpacked(entry.kind, entry.body)[1]
        for snapshot in backend.snapshots(stored.key):
            found[f"snapshot {snapshot.seq}"] = backend.snapshot(stored.key, snapshot.seq)
    finally:
        backend.close()
    return {name for name, data in found.items() if any(mark in data for mark in marks)}
