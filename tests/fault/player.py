"""A daemon without ports: the real store, recovery and hosts, and clients beside them, in one process to be
killed.

`play` is the whole life of a forked child: recover, say what was found, then keep the learners of `workload`
busy and tell the parent of every step, through a pipe that survives the child. The parent's record is the
client's log.
"""

import asyncio
import ctypes
import json
import os
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import structlog

from galloon.codec.answer import Choice, choice_from_wire
from galloon.codec.request import feedback_request, utterance_request
from galloon.daemon import failpoints
from galloon.daemon.futures import resolve
from galloon.daemon.learner.fold import recover
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from tests.fault.workload import POSTS, Post, truth_of, utterance_of

LIMITS = Limits(warm_rounds=20)
SNAPSHOT, PASSING, WITHOUT_FEEDBACK = (
    0.03,
    0.02,
    0.1,
)  # shares of rounds: with a snapshot, a passing learner, silent
EVENTS_AFTER = """
SELECT seq, kind, body FROM journal WHERE learner = ? AND seq > ? ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class Orders:
    """What one life is to do. `known` is the last entry of each learner that the parent has seen."""

    data_dir: Path
    number: int
    seed: int
    failpoints: str = ""
    unsure: tuple[tuple[str, str], ...] = ()  # learner and id of feedback that nobody acknowledged
    known: tuple[tuple[str, int], ...] = ()
    rounds: int = 1_000_000  # of each stream
    queue_bytes: int = 1 << 24
    checkpoint_pages: int = (
        0  # of the write-ahead log; small, so that checkpoints are among what is interrupted
    )


class Report:
    """Frames to the parent: four bytes of length, then JSON. One write each, so that a kill cuts only the last."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        # Where the faulty disk is loaded, its trace tells when clients knew what.
        self._mark = getattr(ctypes.CDLL(None), "galloon_mark", None)

    def __call__(self, **news: Any) -> None:
        body = json.dumps(news).encode()
        if self._mark is not None:
            self._mark(body)
        data = struct.pack("<I", len(body)) + body
        while data:
            data = data[os.write(self._pipe, data) :]


def play(orders: Orders, pipe: int) -> None:
    """Live until killed, or until all rounds are over; never returns."""
    status = 1
    try:
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(40),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )
        failpoints._ACTIONS = failpoints.parse(orders.failpoints)
        asyncio.run(_Life(orders, Report(pipe)).run())
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


class _Life:
    def __init__(self, orders: Orders, report: Report) -> None:
        self._orders, self._report = orders, report
        self._random = Random(f"{orders.seed} {orders.number}")

    async def run(self) -> None:
        orders = self._orders
        backend = SqliteBackend(orders.data_dir)
        journal = Journal(backend, 0.002, orders.queue_bytes)
        if orders.checkpoint_pages:
            backend._database.execute(f"PRAGMA wal_autocheckpoint = {orders.checkpoint_pages}")
        pool = ThreadPoolExecutor(2)
        self._registry = Registry(journal, build, LIMITS, pool, 0.001, time.monotonic, lambda *_: None)
        recovered = list(recover(backend, build, LIMITS, time.monotonic))
        self._report(
            recovered=[_found(backend, one.key, one.learner, dict(orders.known)) for one in recovered]
        )
        for one in recovered:
            self._registry.adopt(one.learner, one.key)
        failed = asyncio.get_running_loop().create_future()
        journal.start(lambda *_: None, lambda error: failed.done() or failed.set_exception(error))
        work = asyncio.create_task(self._work())
        await asyncio.wait({work, failed}, return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            self._report(failed=str(failed.exception()))
            os._exit(3)
        await work
        for host in self._registry.learners():
            statistics = {"lessons": host.rounds.lessons, "rounds_started": host.rounds.started}
            digest, state_digest = await host.digests()
            self._report(
                ended=host.name,
                digest=digest,
                state_digest=state_digest,
                gain=host.rounds.total_gain,
                **statistics,
            )
        await journal.close()

    async def _work(self) -> None:
        posts = {post.name: post for post in POSTS}
        for post in POSTS:
            await self._registry.create(post.name, post.spec, "name", "spec")
        for host in self._registry.learners():
            if host.name not in posts:  # passed by when an earlier life ended
                await self._delete(host.name)
        self._report(ready=True)
        async with asyncio.TaskGroup() as streams:
            for learner, id_ in self._orders.unsure:
                streams.create_task(self._round(posts[learner], id_, silent=False))
            numbered = enumerate(post for post in POSTS for _ in range(post.streams))
            for number, post in numbered:
                streams.create_task(self._stream(post, number))

    async def _stream(self, post: Post, number: int) -> None:
        for count in range(self._orders.rounds):
            silent = self._random.random() < WITHOUT_FEEDBACK
            await self._round(post, f"{self._orders.number}-{number}-{count}", silent)
            if self._random.random() < SNAPSHOT:
                await self._registry.find(post.name).snapshot()
            if self._random.random() < PASSING:
                await self._passing_learner(f"passing-{self._orders.number}-{number}-{count}")

    async def _round(self, post: Post, id_: str, silent: bool) -> None:
        host = self._registry.find(post.name)
        choice = await self._choice(host, post, id_)
        if silent:
            return
        self._report(sent=id_, learner=post.name, experts=choice.experts, round=choice.round)
        message = feedback_request(id_, post.judge(truth_of(post, id_), choice)).feedback
        answer = wire.CombineResponse.FromString(await _asked(partial(host.enter_feedback, message))).learned
        self._report(
            acknowledged=id_, learner=post.name, gain=answer.gain, lessons=answer.lessons, round=answer.round
        )

    async def _choice(self, host: Learner, post: Post, id_: str) -> Choice:
        message = utterance_request(utterance_of(post, id_)).utterance
        answer = await _asked(partial(host.enter_utterance, message, message.ByteSize(), False))
        return choice_from_wire(wire.CombineResponse.FromString(answer).choice)

    async def _passing_learner(self, name: str) -> None:
        """A learner that comes and goes: creation and deletion are durable steps too."""
        self._report(creating=name)
        await self._registry.create(
            name, CombinerSpec(("a", "b"), "expanded_hedge", window=4), "name", "spec"
        )
        self._report(created=name)
        await asyncio.sleep(self._random.uniform(0, 0.02))
        await self._delete(name)

    async def _delete(self, name: str) -> None:
        self._report(deleting=name)
        await self._registry.delete(name)
        self._report(deleted=name)


async def _asked(ask: Any) -> bytes:
    """The answer to a request, as one stream would get it."""
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    ask(partial(resolve, future))
    return await future


def _found(backend: SqliteBackend, key: int, host: Learner, known: dict[str, int]) -> dict[str, Any]:
    """A recovered learner: its digest, and the events that the parent has not seen yet."""
    rows = backend._database.execute(EVENTS_AFTER, (key, known.get(host.name, 0))).fetchall()
    return {
        "name": host.name,
        "digest": state.digest(host.capture()),
        "seq": host.seq,
        "events": [(seq, kind, body.hex()) for seq, kind, body in rows],
    }
