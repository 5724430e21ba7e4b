"""All requests of two tenants in random order, cut off, killed, on a full disk, against a model.

`run` plays so many steps against a daemon in a process of its own, on a small disk where the system lets us mount
one. A step is one request (`any_request`): on a learner as a whole, on its history, its challengers, a document,
a round with its feedback, or for the other tenant's learner. Some are cancelled on the way, some fall together on
one name, some die with the daemon. What is held:

- every restart opens, with every learner whose creation was acknowledged and none whose deletion was;
- no lesson that was acknowledged is lost, and none is learned twice; what was erased does not come back;
- no request is answered by a defect (INTERNAL, UNKNOWN), and no tenant gets at the other's learners.
"""

import asyncio
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import grpc

from galloon.daemon.rpc.auth import new_token
from galloon.v1 import learners_pb2
from tests.daemon.serving import LOST
from tests.daemon_process import Daemon
from tests.fault.any_request import DEFECTS, KINDS, MANY, NAMES, REFUSED, TENANTS, Code, Life, Requests
from tests.fault.small_disk import SmallDisk, possible, small_disk

CHANGES = ("create", "delete", "import")
DISK_BYTES = 64 << 20
STEPS_OF_A_LIFE = 250
STEPS_AT_ONCE = 6


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
        self.requests = Requests(tokens, self._random)
        self.model = {name: Life() for name in NAMES}
        self.report = Report()

    async def live(self, steps: int, disk: SmallDisk | None) -> None:
        """So many steps, then SIGKILL in the middle of some more, a restart, and a look at everything."""
        async with grpc.aio.insecure_channel(self._daemon.address) as channel:
            self.requests.connect(channel)
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
            self.requests.connect(channel)
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
        kind = self._random.choices(list(KINDS), KINDS.values())[0]
        self.report.steps[kind] += 1
        life = (
            Life(None, 0, MANY) if rival else self.model[name]
        )  # what rivals are told says nothing of the end
        request = self.requests.import_ if kind == "import" else getattr(self.requests, kind)
        work = asyncio.create_task(request(name, life))
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
        if rival:
            self.model[name].going += life.going

    def _judge(self, kind: str, error: grpc.aio.AioRpcError, life: Life) -> None:
        lost = error.details() == LOST  # a status that the client's gRPC lost
        assert error.code() not in DEFECTS or lost or self._daemon.process is None, f"{kind}: {error}"
        if kind in CHANGES and error.code() not in REFUSED:
            life.forget()

    # Looking.

    async def _look(self, settled: bool) -> None:
        """Compare everything with the model. Once all has settled, what nobody could say is known."""
        for name, life in self.model.items():
            await self.requests.list(name, life)
            request = learners_pb2.GetLearnerRequest(name=name)
            call = self.requests.learners.GetLearner(request, metadata=self.requests.of(name))
            code = await call.code()
            assert code in (Code.OK, Code.NOT_FOUND), (name, code, await call.details())
            assert life.there is None or life.there == (code == Code.OK), (name, life, code)
            lessons = int((await call).learner.statistics.lessons) if code == Code.OK else 0
            if life.there:
                assert life.least <= lessons <= life.most, (name, life, lessons)
            if settled:
                life.there, life.least, life.most = code == Code.OK, lessons - life.going, lessons


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
    machine.report.acknowledged = machine.requests.acknowledged
    return machine.report
