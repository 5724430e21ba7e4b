"""Which learners are this daemon's, where several share a store: those of its shards, brought in when asked for.

`bring` makes a learner live that is ours, by recovering it in a thread, and refuses one that is not, with the
address of its owner. `release` gives a shard up without an error that a client sees: its streams hear the answers
that they wait for and end, everything is written, and only then is the shard another's.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from weakref import WeakValueDictionary

import structlog

from galloon.daemon.errors import NotOwner, StoreError
from galloon.daemon.learner.fold import Recovered, recover_one
from galloon.daemon.learner.learner import Build
from galloon.daemon.learner.registry import Quarantined, Registry, check_name
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.stream import CombineService
from galloon.daemon.store.membership import Membership
from galloon.daemon.store.postgres import PostgresBackend
from galloon.daemon.store.postgres_schema import shard_of

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
        self._coming: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leaving: dict[int, asyncio.Task[None]] = {}

    async def bring(self, name: str, field: str) -> None:
        """Let a learner of the store go live here, if it is ours and is not yet."""
        check_name(name, field)
        self._check_ours(name, field)
        async with self._coming.setdefault(name, asyncio.Lock()):
            if name in self._registry.names():
                return
            found = await self._loop.run_in_executor(self._pool, partial(self._recover, name))
            self._check_ours(name, field)  # recovery may take long
            if isinstance(found, Recovered):
                self._registry.adopt(found.learner, found.key)
            elif found is not None:
                self._registry.quarantine(found)

    def release(self, shard: int) -> None:
        """Begin to give a shard up; called by any thread, as often as it likes."""
        self._loop.call_soon_threadsafe(self._begin_release, shard)

    def _check_ours(self, name: str, field: str) -> None:
        shard = shard_of(name)
        if shard in self._leaving or not self._membership.owns(shard):
            owner = "" if shard in self._leaving else self._membership.view.address_of(shard)
            raise NotOwner(name, owner, field)

    def _recover(self, name: str) -> Recovered | Quarantined | None:
        stored = self._backend.learner(name)
        if stored is None:
            return None
        return recover_one(self._backend, stored, self._build, self._limits, self._clock)

    def _begin_release(self, shard: int) -> None:
        if shard not in self._leaving:
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
