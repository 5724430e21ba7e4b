"""The daemon, wired top to bottom: configuration in, a running server out. Read this first.

    listener ── streams ─────────┐
                management RPCs ─┴── registry ── learner (one work queue each) ── combiner (galloon.learners)
                                                    │
                                                 journal (a queue, one writer thread) ── backend (SQLite, or
                                                                                          PostgreSQL for several)

`run` is the whole life: recover, open the ports, serve until a signal, drain, snapshot, close. Clock, storage and
the builder of combiners come in through the constructor, so that a test can replace them.
"""

import asyncio
import gc
import json
import math
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import grpc
import structlog
from grpc_reflection.v1alpha import reflection

from galloon.daemon.config import Config
from galloon.daemon.errors import PortUnavailable, StoreError
from galloon.daemon.http.connections import Connections
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.http.page.access import Access, is_loopback_name
from galloon.daemon.http.page.routes import Page
from galloon.daemon.http.scrape import scrape
from galloon.daemon.http.server import HttpPort, application, open_http_port
from galloon.daemon.learner.challengers import Challengers
from galloon.daemon.learner.erasing import Erasing
from galloon.daemon.learner.fold import Recovered, recover
from galloon.daemon.learner.learner import Build
from galloon.daemon.learner.registry import Registry
from galloon.daemon.operate.housekeeping import Housekeeping
from galloon.daemon.operate.kernels import load_kernels, load_others
from galloon.daemon.operate.tasks import Supervisor, Work
from galloon.daemon.rpc.auth import gate_from_config
from galloon.daemon.rpc.challenges import ChallengeService
from galloon.daemon.rpc.documents import DocumentService
from galloon.daemon.rpc.health import HEALTH_SERVICES, Health
from galloon.daemon.rpc.history import HistoryService
from galloon.daemon.rpc.listener import Listener
from galloon.daemon.rpc.looks import THREADS, Looks
from galloon.daemon.rpc.management import LearnerService
from galloon.daemon.rpc.quota import Quota
from galloon.daemon.rpc.server import check_exposure, credentials_from_config, grpc_server
from galloon.daemon.rpc.stream import CombineService
from galloon.daemon.store.cluster_figures import ClusterFigures
from galloon.daemon.store.erasures import FILE_NAME, ErasureList
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import Backend
from galloon.daemon.store.sqlite import SqliteBackend

if TYPE_CHECKING:
    from galloon.daemon.store.membership import Membership
    from galloon.daemon.store.postgres import PostgresBackend

log = structlog.get_logger()
LEARNER_THREAD = "learner"
STEP_S = 0.6  # of one step of the end, after the streams have drained
FORCED_S = 4.0  # after drain_s, until the process is ended by force
SERVICES = tuple(
    f"galloon.v1.{name}Service" for name in ("Challenge", "Combine", "Document", "History", "Learner")
)


class App:
    """One daemon. `start`, then `wait` for its end, then `stop`."""

    def __init__(
        self,
        config: Config,
        build: Build,
        clock: Callable[[], float] = time.monotonic,
        backend: Backend | None = None,
    ) -> None:
        self.config, self._build, self._clock = config, build, clock
        check_exposure(config)
        self._credentials = credentials_from_config(config)
        self._gate = gate_from_config(config)
        self._membership: Membership | None = None
        self._backend = backend or self._open_store()
        self._journal = Journal(self._backend, config.store.commit_delay_s, config.store.queue_bytes)
        self._serving = False
        self._end = asyncio.Event()
        self._failure: StoreError | None = None

    async def start(self) -> None:
        """Recover every learner, then open the ports."""
        config = self.config
        self.metrics = Metrics()
        self._pool, self._long_pool, self._looking = (
            ThreadPoolExecutor(count, thread_name_prefix=LEARNER_THREAD)
            for count in (config.server.threads, config.server.threads, THREADS)
        )
        self._health = Health(self._gate)
        self.registry = Registry(
            self._journal,
            self._build,
            config.limits,
            self._pool,
            config.server.inline_s,
            self._clock,
            self._health.set_learner,
            self._long_pool,
        )
        if self._membership is None:
            self._recover_all()
        self._journal.start(self.metrics.commit, self._store_failed)
        self._quota = Quota(config.limits)
        self._looks = Looks(self._looking)
        self.streams = CombineService(self.registry, self._gate, self._quota, config.limits, self.metrics)
        self._erasing = Erasing(self._journal, ErasureList(_erasures(config)))
        self._housekeeping = Housekeeping(
            self.registry, self._journal, config.store, self.metrics, self._erasing, self._clock
        )
        self._tasks = Supervisor(lambda name: self.metrics.task_failures[name].inc())
        try:
            self.address = await self._open_grpc_port()
            self.http_address = await self._open_http_port()
        except PortUnavailable:
            await self._give_up()
            raise
        if self._membership is not None:
            await self._own_shards(self._membership)
        self._tasks.start("housekeeping", self._housekeeping.run)
        self._tasks.start("challengers", Challengers(self.registry.challenges).run)
        self._tasks.start("listener", self._listener.watch)
        self._health.set_daemon(serving=True)
        self._serving = True
        log.info("serving", grpc=self.address, http=self.http_address, learners=len(self.registry))

    async def wait(self) -> None:
        """Until a signal comes, or the store fails."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end.set)
        await self._end.wait()

    async def stop(self) -> None:
        """Drain the streams first, by ourselves: gRPC's own grace would wait out its time on idle ones.

        No step waits long for a client or for a learner's work: what was acknowledged is durable.
        """
        log.info("draining", streams=self._quota.streams)
        self._serving = False
        self._health.shut_down()
        await self._tasks.stop()
        patience = self.config.server.drain_s if self._failure is None else STEP_S
        await _at_most(patience, self.streams.drain(), "streams cut")
        await _at_most(STEP_S, self._listener.stop(0.5), "gRPC calls cut")
        await self._documents.close()
        if self._failure is None:
            await _at_most(STEP_S, self._snapshot_all(), "last snapshots cut; the journal has everything")
        await self._journal.close()
        if self._membership is not None:
            await asyncio.to_thread(self._membership.leave)
        if self._http is not None:
            await _at_most(STEP_S, self._http.close(), "HTTP requests cut")
        await _at_most(STEP_S, self._rest(), "work cut")
        for pool in (self._pool, self._long_pool, self._looking):
            pool.shutdown(wait=False, cancel_futures=True)
        log.info("stopped")
        if self._failure is not None:
            raise self._failure

    @property
    def failed(self) -> bool:
        """Whether the store did, which ended the daemon."""
        return self._failure is not None

    async def is_at_work(self) -> bool:
        """Whether a thread is still busy with what a learner was asked, after the end; idle ones go at once."""
        for _ in range(20):
            if not any(thread.name.startswith(LEARNER_THREAD) for thread in threading.enumerate()):
                return False
            await asyncio.sleep(0.02)
        return True

    async def _rest(self) -> None:
        for learner in self.registry.learners():
            await learner.queue.rest()  # who asked may have gone; the threads go last

    def run_once(self, name: str, work: Work) -> None:
        """Run work in the background; it is cancelled when the daemon stops."""
        self._tasks.once(name, work)

    # Parts.

    def _open_store(self) -> Backend:
        """SQLite for this daemon alone, or a PostgreSQL among whose members it is from here on."""
        store = self.config.store
        if not store.url:
            return SqliteBackend(Path(store.data_dir))
        # Imported late: an extra brings what it needs.
        from galloon.daemon.store.membership import Membership
        from galloon.daemon.store.postgres import PostgresBackend

        self._membership = Membership(store.url, store.lease_s)
        return PostgresBackend(store.url, self._membership.join(), store.lease_s)

    def _recover_all(self) -> None:
        for found in recover(self._backend, self._build, self.config.limits, self._clock):
            if isinstance(found, Recovered):
                self.registry.adopt(found.learner, found.key)
            else:
                self.registry.quarantine(found)

    async def _own_shards(self, membership: "Membership") -> None:
        """Take part: learners are brought in when somebody asks for them."""
        from galloon.daemon.learner.ownership import Ownership

        self.ownership = Ownership(
            membership,
            cast("PostgresBackend", self._backend),
            self.registry,
            self.streams,
            self._build,
            self.config.limits,
            self._clock,
            self._pool,
        )
        self.registry.bring = self.ownership.bring
        self.registry.everywhere = self.ownership.everywhere
        loop = asyncio.get_running_loop()

        def lost(error: StoreError) -> None:
            loop.call_soon_threadsafe(self._store_failed, error)

        address = self.config.server.advertise or self.address
        await asyncio.to_thread(membership.start, address, self.ownership.release, lost)

    async def _give_up(self) -> None:
        """End the threads and the port of a start that failed: the process could not exit while they run."""
        await self._listener.stop(0)
        await self._journal.close()
        for pool in (self._pool, self._long_pool, self._looking):
            pool.shutdown()

    async def _open_grpc_port(self) -> str:
        self.management = management = LearnerService(
            self.registry,
            self.streams,
            self._gate,
            self.config.limits,
            self.metrics,
            self._clock,
            self._looks,
        )
        self._documents = documents = DocumentService(
            self.registry, self._gate, self._quota, self.config.limits, self.metrics
        )

        history = HistoryService(
            self.registry, self._erasing, self._gate, self._quota, self.metrics, self._looks
        )
        challenges = ChallengeService(self.registry, management, self.config.limits)

        def server() -> grpc.aio.Server:
            made = grpc_server(self.config, self._gate)
            services = (self.streams, documents, history, management, challenges)
            made.add_generic_rpc_handlers(tuple(service.handlers() for service in services))
            self._health.add_to(made)
            if self.config.server.reflection:
                names = (*SERVICES, *HEALTH_SERVICES, reflection.SERVICE_NAME)
                reflection.enable_server_reflection(names, made)
            return made

        self._listener = Listener(server, self.config.server.listen, self._credentials)
        return await self._listener.open()

    @property
    def ready(self) -> bool:
        """Whether clients are served: the daemon is up, and its port really accepts."""
        return self._serving and self._listener.accepting

    async def _open_http_port(self) -> str:
        self._http: HttpPort | None = None
        if not self.config.http.listen:
            return ""
        shown = self.config.http.learners_shown
        scraped = partial(
            scrape, self.registry, self._journal, self._quota, self.metrics, shown, self._cluster
        )
        connections = Connections(self.config.http.connections)
        access = Access(self._gate, on_loopback=is_loopback_name(self.config.http.listen))
        app = application(scraped, lambda: self.ready, access, self.config.http.require_token, connections)
        self.page = Page(
            self.config,
            self.registry,
            self.streams,
            self._journal,
            self.metrics,
            access,
            self._clock,
            lambda: self.ready,
            self._cluster,
            self._looks,
        )
        self.page.add_to(app)
        listen = self.config.http.listen
        self._http = await open_http_port(app, listen, connections)
        return f"{listen.rpartition(':')[0]}:{self._http.port}"

    def _cluster(self) -> ClusterFigures | None:
        return None if self._membership is None else self._membership.figures()

    async def _snapshot_all(self) -> None:
        try:
            await self._housekeeping.snapshot_all()
        except StoreError as error:
            log.warning("last snapshots failed; the journal has everything", error=str(error))

    def _store_failed(self, error: StoreError) -> None:
        log.error("store failed", error=str(error))
        self._failure = error
        self._end.set()


async def run(config: Config, build: Build, ready_file: Path | None) -> None:
    """Serve until a signal comes. The ready file tells other programs the ports, once they are open."""
    threads = ThreadPoolExecutor(thread_name_prefix=LEARNER_THREAD)
    asyncio.get_running_loop().set_default_executor(threads)
    app = App(config, build)  # takes the data directory: a wrong one should not wait for the next line
    missing = load_kernels()  # no first utterance of a default learner waits for a compiler
    await app.start()
    if missing:
        app.run_once("kernels", load_others)
    _calm_the_collector()
    if ready_file is not None:
        ports = {"grpc": app.address, "http": app.http_address, "pid": os.getpid()}
        partial = ready_file.with_suffix(".partial")
        partial.write_text(json.dumps(ports))
        partial.rename(ready_file)
    await app.wait()
    # Long work in a thread cannot be interrupted, so the end waits for none of it: a thread sees to that, and the
    # system, should compiled code hold the interpreter.
    forced = threading.Timer(config.server.drain_s + FORCED_S, _end_by_force, (app,))
    forced.daemon = True
    forced.start()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(math.ceil(config.server.drain_s + FORCED_S) + 1)
    await app.stop()
    forced.cancel()
    threads.shutdown(wait=False, cancel_futures=True)
    if await app.is_at_work():
        log.warning("ended while learners were at work; what was acknowledged is durable")
        os._exit(0)  # the interpreter would wait for their threads


def _end_by_force(app: App) -> None:
    log.warning("the end was cut short; what was acknowledged is durable")
    os._exit(int(app.failed))


def _erasures(config: Config) -> Path:
    """Where the list of erasures is."""
    return Path(config.store.erasures or Path(config.store.data_dir) / FILE_NAME)


async def _at_most(seconds: float, step: Awaitable[None], warning: str) -> None:
    """A step of the end, cut off after so long."""
    try:
        async with asyncio.timeout(seconds):
            await step
    except TimeoutError:
        log.warning(warning)


def _calm_the_collector() -> None:
    """Look for cycles less often, and never among what start-up left behind: a round makes none.

    With the defaults one eighth of the processor's time goes into looking.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
