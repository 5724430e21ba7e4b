"""Which learners are this daemon's, where several share a store: those of its shards, brought in when asked for.

`bring` makes a learner live that is ours, by recovering it in a thread, and refuses one that is not, with the
address of its owner. `release` gives a shard up without an error that a client sees: its streams hear the answers
that they wait for and end, everything is written, and only then is the shard another's.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

import structlog

from galloon.codec.learner import LearnerInfo
from galloon.daemon.errors import NotOwner, StoreError
from galloon.daemon.learner.fold import Recovered, recover_one
from galloon.daemon.learner.learner import Build
from galloon.daemon.learner.names import champion_of, check_name, is_challenger
from galloon.daemon.learner.registry import Quarantined, Registry
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.stream import CombineService
from galloon.daemon.store.membership import Membership
from galloon.daemon.store.postgres import PostgresBackend
from galloon.daemon.store.postgres_schema import shard_of
from galloon.learners.combiners.spec import CombinerSpec

log = structlog.get_logger()


class Ownership:
    """The shards of this daemon, as far as its learners are concerned."""

    def __init__(
        self,
        membership: Membership,
        backend: PostgresBackend,
        registry: Registry,
        streams: CombineService,
        build: Build,
        limits: Limits,
        clock: Callable[[], float],
        pool: Executor,
    ) -> None:
        self._membership, self._backend, self._registry = membership, backend, registry
        self._streams, self._build, self._limits, self._clock = streams, build, limits, clock
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._coming: dict[str, asyncio.Task[bool]] = {}  # learners that are being recovered
        self._leaving: dict[int, asyncio.Task[None]] = {}
        self._given_up: Counter[int] = Counter()  # how often each shard was

    async def bring(self, name: str, field: str) -> None:
        """Let a learner of the store go live here with its challengers, if it is ours and is not yet."""
        name = champion_of(name)
        check_name(name, field)
        self._check_ours(name, field)
        if name not in self._registry.names():
            if name not in self._coming:
                self._coming[name] = asyncio.create_task(self._bring(name))
                self._coming[name].add_done_callback(lambda task: task.cancelled() or task.exception())
            # It goes on when whoever asked has gone: the next who asks must not begin from the first entry again.
            if not await asyncio.shield(self._coming[name]):
                raise NotOwner(name, "", field)
            self._check_ours(name, field)  # recovery may take long

    async def everywhere(self, after: str, most: int, wanted: Callable[[str], bool]) -> list[LearnerInfo]:
        """The next learners of the store by name, whoever has them, each with the address of its daemon."""
        view, found = self._membership.view, list[LearnerInfo]()
        while len(found) < most:
            rows = await self._loop.run_in_executor(self._pool, self._backend.specs, after)
            if not rows:
                break
            for name, given in rows:
                if not is_challenger(name) and wanted(name):
                    spec = CombinerSpec.from_json(given)
                    experts = (*spec.engines, *spec.derived)
                    address = view.address_of(shard_of(name))
                    found.append(LearnerInfo(name, spec, experts, daemon=address))
            after = rows[-1][0]
        return found[:most]

    def release(self, shard: int) -> None:
        """Begin to give a shard up; called by any thread, as often as it likes."""
        self._loop.call_soon_threadsafe(self._begin_release, shard)

    def _check_ours(self, name: str, field: str) -> None:
        shard = shard_of(name)
        if not self._is_ours(shard):
            owner = "" if shard in self._leaving else self._membership.view.address_of(shard)
            raise NotOwner(name, owner, field)

    def _is_ours(self, shard: int) -> bool:
        return shard not in self._leaving and self._membership.owns(shard)

    async def _bring(self, name: str) -> bool:
        """Recover a learner, if there is one; false where its shard has moved meanwhile."""
        shard = shard_of(name)
        before = self._given_up[shard]
        try:
            recovered = await self._loop.run_in_executor(self._pool, partial(self._recover, name))
            if not self._is_ours(shard) or self._given_up[shard] != before:
                return False  # another daemon may have taught it
            for found in recovered:
                if isinstance(found, Recovered):
                    self._registry.adopt(found.learner, found.key)
                else:
                    self._registry.quarantine(found)
            return True
        finally:
            del self._coming[name]

    def _recover(self, name: str) -> list[Recovered | Quarantined]:
        found = self._backend.with_challengers(name)
        return [
            recover_one(self._backend, stored, self._build, self._limits, self._clock) for stored in found
        ]

    def _begin_release(self, shard: int) -> None:
        if shard not in self._leaving:
            self._given_up[shard] += 1
            self._leaving[shard] = asyncio.create_task(self._release(shard))

    async def _release(self, shard: int) -> None:
        try:
            for name in [name for name in self._registry.names() if shard_of(name) == shard]:
                await self._let_go(name)
            await asyncio.to_thread(self._membership.disown, shard)
            log.info("shard given up", shard=shard)
            await asyncio.sleep(1.0)  # until every view has seen it
        except StoreError as error:
            log.warning("shard not given up", shard=shard, error=str(error))
        finally:
            del self._leaving[shard]

    async def _let_go(self, name: str) -> None:
        learner = self._registry.find(name)
        await self._streams.finish_streams_of(learner, NotOwner(name, ""))
        await learner.snapshot()  # which is written after everything that is queued
        await learner.close()
        self._registry.forget(name)
