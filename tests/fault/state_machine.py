"""All requests of two tenants in random order, cut off, killed, on a full disk, against a model.

`run` plays so many steps against a daemon in a process of its own, on a small disk where the system lets us mount
one. A step is one request on one learner: create, delete, get, list, snapshot, export, import, explain, watch, a
round with its feedback, or a request for the other tenant's learner. Some are cancelled on the way, some fall
together on one name, some die with the daemon. What is held:

- every restart opens, with every learner whose creation was acknowledged and none whose deletion was;
- no lesson that was acknowledged is lost, and none is learned twice;
- no request is answered by a defect (INTERNAL, UNKNOWN), and no tenant gets at the other's learners.
"""

import asyncio
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import grpc

from galloon.daemon.rpc.auth import new_token
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc, spec_pb2
from tests.daemon.serving import LOST, Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon
from tests.fault.small_disk import SmallDisk, possible, small_disk

Code = grpc.StatusCode
TENANTS = ("ann", "bea")
NAMES = tuple(f"{tenant}/{number}" for tenant in TENANTS for number in range(3))
SPECS = (simple_spec(), spec_pb2.LearnerSpec(engines=["ann", "bob", "cy"]))
DEFECTS = (Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS)
REFUSED = (  # surely without effect
    *(Code.NOT_FOUND, Code.ALREADY_EXISTS, Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION),
    *(Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
)
CHANGES = ("create", "delete", "import")
MANY = 10**9
DISK_BYTES = 64 << 20
STEPS_OF_A_LIFE = 250
STEPS_AT_ONCE = 6


@dataclass(slots=True)
class Life:
    """What is known of a name: whether there is a learner (None: nobody can say), and its lessons."""

    there: bool | None = False
    least: int = 0
    most: int = 0

    def forget(self) -> None:
        self.there, self.least, self.most = None, 0, MANY


@dataclass(slots=True)
class Report:
    steps: Counter[str] = field(default_factory=Counter)
    restarts: int = 0
    acknowledged: int = 0

    def sentence(self) -> str:
        return (
            f"{self.steps.total():,} steps ({dict(self.steps)}), {self.restarts} restarts after kills; "
            f"{self.acknowledged:,} lessons acknowledged, none lost or twice"
        )


class Machine:
    """The daemon, and the model of what it has said."""

    def __init__(self, daemon: Daemon, tokens: dict[str, str], seed: int) -> None:
        self._daemon, self._random = daemon, Random(seed)
        self._metadata = {name: (("authorization", f"Bearer {token}"),) for name, token in tokens.items()}
        self.model = {name: Life() for name in NAMES}
        self._exports: dict[str, bytes] = {}
        self._utterances = 0
        self._ids: dict[str, str] = {}  # the last utterance of each learner
        self.report = Report()

    async def live(self, steps: int, disk: SmallDisk | None) -> None:
        """So many steps, then SIGKILL in the middle of some more, a restart, and a look at everything."""
        async with grpc.aio.insecure_channel(self._daemon.address) as channel:
            self._channel, self._calls = channel, learners_pb2_grpc.LearnerServiceStub(channel)
            filled = steps // 2 if disk is not None else steps
            played = 0
            while played < steps:
                if disk is not None and played >= filled and not (disk.seen / "filler").exists():
                    disk.fill(self._random.choice((0, 5_000, 50_000)))
                if disk is not None and played >= filled + steps // 5 and (disk.seen / "filler").exists():
                    disk.empty()
                    filled = steps
                played += await self._batch()
            if disk is not None and (disk.seen / "filler").exists():
                disk.empty()
            await self._look(settled=False)
            last = asyncio.create_task(self._batch())
            await asyncio.sleep(self._random.random() * 0.05)
            self._daemon.kill()
            await last
        await asyncio.to_thread(self._daemon.start)
        self.report.restarts += 1
        async with grpc.aio.insecure_channel(self._daemon.address) as channel:
            self._channel, self._calls = channel, learners_pb2_grpc.LearnerServiceStub(channel)
            await self._look(settled=True)

    async def _batch(self) -> int:
        """A few steps at once: on different learners, or all on one, where only the end can be judged."""
        count = self._random.randint(1, STEPS_AT_ONCE)
        if self._random.random() < 0.3:
            rivals = [self._random.choice(NAMES)] * count
            if count > 1:
                self.model[rivals[0]].forget()
            names = rivals
        else:
            names = self._random.sample(NAMES, count)
        await asyncio.gather(*(self._step(name, rival=names.count(name) > 1) for name in names))
        return count

    async def _step(self, name: str, rival: bool) -> None:
        kinds = (
            *("round",) * 8,
            *("create",) * 4,
            *("snapshot", "delete", "get", "list", "export", "import", "explain", "watch", "stranger"),
        )
        kind = self._random.choice(kinds)
        self.report.steps[kind] += 1
        life = (
            Life(None, 0, MANY) if rival else self.model[name]
        )  # what rivals are told says nothing of the end
        work = asyncio.create_task(getattr(self, f"_{kind}")(name, life))
        if self._random.random() < 0.15:
            self.report.steps["cancelled"] += 1
            await asyncio.sleep(self._random.random() * 0.02)
            work.cancel()
        try:
            await work
        except asyncio.CancelledError:
            if kind in CHANGES:
                life.forget()
        except grpc.aio.AioRpcError as error:
            self._judge(kind, error, life)

    def _judge(self, kind: str, error: grpc.aio.AioRpcError, life: Life) -> None:
        lost = error.details() == LOST  # a status that the client's gRPC lost
        assert error.code() not in DEFECTS or lost or self._daemon.process is None, f"{kind}: {error}"
        if kind in CHANGES and error.code() not in REFUSED:
            life.forget()

    # Steps.

    async def _create(self, name: str, life: Life) -> None:
        request = learners_pb2.CreateLearnerRequest(name=name, spec=SPECS[NAMES.index(name) % len(SPECS)])
        answer = await self._calls.CreateLearner(request, metadata=self._of(name))
        assert life.there is not False or answer.created, f"{name}: a learner that nobody made"
        assert life.there is not True or not answer.created, f"{name}: a learner that had gone"
        if answer.created:
            life.least = life.most = 0
        life.there = True

    async def _delete(self, name: str, life: Life) -> None:
        request = learners_pb2.DeleteLearnerRequest(name=name)
        await self._calls.DeleteLearner(request, metadata=self._of(name))
        life.there, life.least, life.most = False, 0, 0

    async def _get(self, name: str, life: Life) -> None:
        request = learners_pb2.GetLearnerRequest(name=name)
        await self._calls.GetLearner(request, metadata=self._of(name))

    async def _list(self, name: str, life: Life) -> None:
        tenant = name.partition("/")[0]
        found = await self._calls.ListLearners(learners_pb2.ListLearnersRequest(), metadata=self._of(name))
        assert all(each.name.startswith(f"{tenant}/") for each in found.learners)
        assert not found.out_of_service, found.out_of_service

    async def _snapshot(self, name: str, life: Life) -> None:
        request = learners_pb2.SnapshotLearnerRequest(name=name)
        await self._calls.SnapshotLearner(request, metadata=self._of(name))

    async def _export(self, name: str, life: Life) -> None:
        request = learners_pb2.ExportLearnerRequest(name=name)
        answers = self._calls.ExportLearner(request, metadata=self._of(name))
        self._exports[name] = b"".join([answer.chunk async for answer in answers])

    async def _import(self, name: str, life: Life) -> None:
        if not self._exports:
            return
        data = self._random.choice(list(self._exports.values()))
        request = learners_pb2.ImportLearnerRequest(name=name, chunk=data)
        answer = await self._calls.ImportLearner(iter([request]), metadata=self._of(name))
        life.there, life.least = True, int(answer.learner.statistics.lessons)
        life.most = life.least

    async def _explain(self, name: str, life: Life) -> None:
        request = learners_pb2.ExplainUtteranceRequest(name=name, id=self._ids.get(name, "none"))
        await self._calls.ExplainUtterance(request, metadata=self._of(name))

    async def _watch(self, name: str, life: Life) -> None:
        request = learners_pb2.WatchStatisticsRequest(name=name)
        call = self._calls.WatchStatistics(request, metadata=self._of(name))
        await call.read()
        call.cancel()

    async def _stranger(self, name: str, life: Life) -> None:
        """The other tenant's token opens nothing."""
        other = next(tenant for tenant in TENANTS if not name.startswith(tenant))
        call = self._calls.GetLearner(
            learners_pb2.GetLearnerRequest(name=name), metadata=self._metadata[other]
        )
        code = await call.code()
        assert code == Code.PERMISSION_DENIED or self._daemon.process is None, code

    async def _round(self, name: str, life: Life) -> None:
        self._utterances += 1
        number = self._utterances
        call = combine_pb2_grpc.CombineServiceStub(self._channel).Combine(metadata=self._of(name))
        stream = Conversation(call)
        try:
            answer = await stream.ask(wire.Open(learner=name))
            if not getattr(answer, "opened", None) or not answer.HasField("opened"):
                self._check(answer)
                return
            self._check(await stream.ask(utterance(number)))
            self._ids[name] = f"u{number}"
            life.most += 1
            answer = await stream.ask(feedback(number))
            self._check(answer)
            if answer is not grpc.aio.EOF and answer.HasField("learned"):
                life.least += 1
                self.report.acknowledged += 1
            elif answer is not grpc.aio.EOF:
                life.most -= 1
        finally:
            call.cancel()

    def _check(self, answer: Any) -> None:
        if answer is not grpc.aio.EOF and answer.HasField("problem"):
            assert answer.problem.code not in [code.value[0] for code in DEFECTS], answer.problem

    # Looking.

    async def _look(self, settled: bool) -> None:
        """Compare everything with the model. Once all has settled, what nobody could say is known."""
        for name, life in self.model.items():
            await self._list(name, life)
            call = self._calls.GetLearner(learners_pb2.GetLearnerRequest(name=name), metadata=self._of(name))
            code = await call.code()
            assert code in (Code.OK, Code.NOT_FOUND), (name, code, await call.details())
            assert life.there is None or life.there == (code == Code.OK), (name, life, code)
            lessons = int((await call).learner.statistics.lessons) if code == Code.OK else 0
            if life.there:
                assert life.least <= lessons <= life.most, (name, life, lessons)
            if settled:
                life.there, life.least, life.most = code == Code.OK, lessons, lessons

    def _of(self, name: str) -> Any:
        return self._metadata[name.partition("/")[0]]


def run(directory: Path, steps: int, seed: int, steps_of_a_life: int = STEPS_OF_A_LIFE) -> Report:
    """So many steps, with a kill at the end of each life."""
    directory.mkdir(parents=True, exist_ok=True)
    made = {tenant: new_token(tenant, f"{tenant}/") for tenant in TENANTS}
    tokens = directory / "tokens.toml"
    tokens.write_text("\n\n".join(entry for _, entry in made.values()) + "\n")
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(directory / "data", DISK_BYTES)) if possible() else None
        settings = ("log.level=error", f"auth.tokens={tokens}", "store.snapshot_events=40")
        daemon = Daemon(directory, *settings, inside=() if disk is None else disk.inside)
        stack.callback(daemon.kill)
        daemon.start()
        machine = Machine(daemon, {tenant: token for tenant, (token, _) in made.items()}, seed)
        for _ in range(-(-steps // steps_of_a_life)):
            asyncio.run(machine.live(min(steps, steps_of_a_life), disk))
    return machine.report
