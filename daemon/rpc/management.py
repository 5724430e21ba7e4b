"""The learners' service: create, get, list, update, delete, snapshot, explain, export, import, watch.

Each method takes the request and the principal, and raises what the table in `errors` knows; `Calls` turns
that into a gRPC status.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.codec.explanation import explanation_to_wire
from galloon.codec.learner import (
    ErrorRate,
    LearnerInfo,
    Snapshot,
    Statistics,
    learner_to_wire,
    snapshot_to_wire,
    statistics_to_wire,
)
from galloon.codec.spec import changed_spec, spec_from_wire
from galloon.daemon.errors import Invalid, LimitPassed, UnknownLearner
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.exchange import rebuild, update
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.calls import Calls, in_time, reader, unreadable
from galloon.daemon.rpc.exports import Exports
from galloon.daemon.rpc.looks import Looks
from galloon.daemon.rpc.stream import CombineService
from galloon.v1 import learners_pb2 as wire

CHUNK_BYTES = 256 * 1024
PAGE, PAGE_MOST = 100, 1000
END: Any = object()  # of a stream
PAGE_BYTES = 1 << 20
WITHDRAWN_MOST = 10_000
EXPLAINED_SLOTS = 32  # of one answer: with 64 offers in each it takes a second and half a megabyte
INTERVAL_S, INTERVAL_LEAST_S, INTERVAL_MOST_S = 1.0, 0.1, 3600.0


class LearnerService(Calls):
    """Manages learners."""

    def __init__(
        self,
        registry: Registry,
        streams: CombineService,
        gate: Gate,
        limits: Limits,
        metrics: Metrics,
        clock: Callable[[], float],
        looks: Looks,
    ) -> None:
        super().__init__(gate, streams.quota, metrics)
        self.looks = looks
        self._registry, self._streams = registry, streams
        self._limits, self._clock = limits, clock
        self.exports = Exports()
        self._importing: set[str] = set()  # principals; what they send is held in memory

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "CreateLearner": self.unary(self.create, wire.CreateLearnerRequest),
            "GetLearner": self.unary(self.get, wire.GetLearnerRequest),
            "ListLearners": self.unary(self.list, wire.ListLearnersRequest),
            "DeleteLearner": self.unary(self.delete, wire.DeleteLearnerRequest),
            "SnapshotLearner": self.unary(self.snapshot, wire.SnapshotLearnerRequest),
            "RebuildLearner": self.unary(self.rebuild, wire.RebuildLearnerRequest),
            "UpdateLearner": self.unary(self.update, wire.UpdateLearnerRequest),
            "ExplainUtterance": self.unary(self.explain, wire.ExplainUtteranceRequest),
            "ExportLearner": self.streaming(self.export, wire.ExportLearnerRequest),
            "WatchStatistics": self.streaming(self.watch, wire.WatchStatisticsRequest),
            "ImportLearner": grpc.stream_unary_rpc_method_handler(
                self.refusing(self.import_),
                request_deserializer=reader(wire.ImportLearnerRequest),
                response_serializer=wire.ImportLearnerResponse.SerializeToString,
            ),
        }
        return grpc.method_handlers_generic_handler("galloon.v1.LearnerService", methods)

    async def create(self, request: wire.CreateLearnerRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        spec = spec_from_wire(request.spec, self._limits, "spec")
        learner, created = await self._registry.create(request.name, spec, "name", "spec", caller.may_use)
        return wire.CreateLearnerResponse(learner=await self.shown(learner), created=created)

    async def get(self, request: wire.GetLearnerRequest, caller: Principal) -> Message:
        return wire.GetLearnerResponse(learner=await self.shown(self._find(request.name, caller)))

    async def list(self, request: wire.ListLearnersRequest, caller: Principal) -> Message:
        size = min(request.page_size or PAGE, PAGE_MOST)
        prefix = request.prefix

        def wanted(name: str) -> bool:
            return name.startswith(prefix) and caller.may_use(name)

        if self._registry.everywhere is None or request.this_daemon:
            page = [_brief(each) for each in self._registry.page(request.page_token, size + 1, wanted)]
        else:
            page = await self._registry.everywhere(request.page_token, size + 1, wanted)
        stopped = {} if request.page_token else self._registry.out_of_service(wanted)
        learners = await asyncio.to_thread(_briefly, page[:size])
        return wire.ListLearnersResponse(
            learners=learners,
            next_page_token=learners[-1].name if len(learners) < len(page) else "",
            out_of_service=[wire.OutOfService(name=name, why=why) for name, why in stopped.items()],
        )

    async def delete(self, request: wire.DeleteLearnerRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        deleted = UnknownLearner(f"learner {request.name!r} has been deleted")
        await self._registry.delete(
            request.name, lambda learner: self._streams.end_streams_of(learner, deleted)
        )
        return wire.DeleteLearnerResponse()

    async def snapshot(self, request: wire.SnapshotLearnerRequest, caller: Principal) -> Message:
        learner = self._find(request.name, caller)
        await learner.snapshot()
        self.metrics.snapshots.inc()
        digest, _ = await learner.digests()
        return snapshot_to_wire(Snapshot(learner.snapshot_bytes, digest))

    async def rebuild(self, request: wire.RebuildLearnerRequest, caller: Principal) -> Message:
        learner = self._find(request.name, caller)
        ids = list(request.without_ids)
        if len(ids) > WITHDRAWN_MOST:
            raise LimitPassed(
                "without_ids", len(ids), WITHDRAWN_MOST, "withdraw fewer at once", "without_ids"
            )
        if request.as_of:
            look = partial(learner.recorded().taught_after, request.as_of)
            ids += await learner.still_taught(await self.looks.look(caller.name, look))
        for utterance_id in ids:
            await learner.withdraw(utterance_id)
        rebuilt = await self._registry.to_the_end(rebuild(learner, "an operator asked for it"), learner.name)
        self.metrics.rebuilds.inc()
        digest, _ = await learner.digests()
        return wire.RebuildLearnerResponse(
            rounds=rebuilt.rounds,
            lessons=rebuilt.lessons,
            withdrawn=len(ids),
            cpu_seconds=rebuilt.seconds,
            digest=digest,
        )

    async def update(self, request: wire.UpdateLearnerRequest, caller: Principal) -> Message:
        learner = self._find(request.name, caller)
        message = changed_spec(learner.spec, request.spec, request.default_fields)
        spec = spec_from_wire(message, self._limits, "spec")
        change = update(learner, spec, from_history=request.rebuild, accept_loss=request.accept_loss)
        done = await self._registry.to_the_end(change, learner.name)
        response = wire.UpdateLearnerResponse(
            learner=await self.shown(learner), changed_fields=done.changed, rebuilt=done.rebuilt is not None
        )
        if done.rebuilt is not None:
            self.metrics.rebuilds.inc()
            response.rounds, response.lessons = done.rebuilt.rounds, done.rebuilt.lessons
            response.lessons_lost, response.cpu_seconds = done.rebuilt.lost, done.rebuilt.seconds
        return response

    async def explain(self, request: wire.ExplainUtteranceRequest, caller: Principal) -> Message:
        most = request.most_slots or EXPLAINED_SLOTS
        if most > EXPLAINED_SLOTS:
            raise Invalid(f"{most} is not from 1 to {EXPLAINED_SLOTS}", "most_slots")
        slots = range(request.first_slot, request.first_slot + most)
        explanation, slot_count = await self._find(request.name, caller).explain(request.id, slots)
        return await asyncio.to_thread(explanation_to_wire, explanation, slot_count)

    async def export(self, request: wire.ExportLearnerRequest, caller: Principal) -> AsyncGenerator[Message]:
        async with self.exports.copy_of(self._find(request.name, caller), caller.name) as data:
            for start in range(0, len(data), CHUNK_BYTES):
                yield wire.ExportLearnerResponse(chunk=data[start : start + CHUNK_BYTES])

    async def import_(self, requests: AsyncIterator[wire.ImportLearnerRequest], caller: Principal) -> Message:
        if caller.name in self._importing:
            raise LimitPassed("imports of one principal at once", 2, 1, "wait for the other one to end")
        self._importing.add(caller.name)
        try:
            return await self._import(requests, caller)
        finally:
            self._importing.discard(caller.name)

    async def _import(self, requests: AsyncIterator[wire.ImportLearnerRequest], caller: Principal) -> Message:
        name, size, chunks = "", 0, list[bytes]()
        while (request := await in_time(anext(requests, END), "sent", "begin again, and go on")) is not END:
            if request is None:
                raise unreadable()
            if not chunks:
                name = request.name
                caller.check(name, "name")
                await self._registry.bring(name, "name")
            elif request.name:
                raise Invalid("only the first message carries it", "name")
            size += len(request.chunk)
            check(self._limits, "import_bytes", size, "chunk")
            chunks.append(request.chunk)
        learner = await self._registry.restore(name, b"".join(chunks), caller.may_use)
        return wire.ImportLearnerResponse(learner=await self.shown(learner))

    async def watch(self, request: wire.WatchStatisticsRequest, caller: Principal) -> AsyncGenerator[Message]:
        interval = request.interval_s or INTERVAL_S
        if not INTERVAL_LEAST_S <= interval <= INTERVAL_MOST_S:
            raise Invalid(
                f"{interval} is not from {INTERVAL_LEAST_S} to {INTERVAL_MOST_S} seconds",
                "interval_s",
            )
        while True:
            learner = self._find(request.name, caller)
            statistics = statistics_to_wire(await self._statistics(learner))
            yield wire.WatchStatisticsResponse(statistics=statistics)
            await asyncio.sleep(interval)

    # What a learner looks like.

    def _find(self, name: str, caller: Principal) -> Learner:
        caller.check(name, "name")
        return self._registry.find(name)

    async def shown(self, learner: Learner) -> wire.Learner:
        """With its statistics and digests."""
        statistics = await self._statistics(learner)
        digest, state_digest = await learner.digests()
        shown = replace(_brief(learner), statistics=statistics, digest=digest, state_digest=state_digest)
        return learner_to_wire(shown)

    async def _statistics(self, learner: Learner) -> Statistics:
        combiner, rounds = await learner.statistics(), learner.rounds
        return Statistics(
            rounds_started=rounds.started,
            lessons=rounds.lessons,
            rounds_pending=rounds.pending,
            rounds_expired=rounds.expired_count,
            gain=rounds.total_gain,
            regret=combiner.regret,
            regret_estimate=combiner.regret_estimate,
            bound=combiner.bound,
            guarantee=combiner.guarantee,
            expert_states=combiner.expert_states,
            expert_transitions=combiner.expert_transitions,
            context_states=combiner.context_states,
            context_transitions=combiner.context_transitions,
            state_bytes=combiner.state_bytes,
            journal_entries=learner.journal_entries,
            snapshot_bytes=learner.snapshot_bytes,
            snapshot_age_s=None if learner.snapshot_time is None else self._clock() - learner.snapshot_time,
            streams=self._streams.streams_of(learner),
            extra=combiner.extra,
            error_rates={
                name: ErrorRate(
                    rate.words.errors,
                    rate.words.reference_length,
                    rate.chars.errors,
                    rate.chars.reference_length,
                    rate.corrections,
                )
                for name, rate in learner.books.rates.items()
            },
        )


def _briefly(learners: Iterable[LearnerInfo]) -> list[wire.Learner]:
    """The first of these, as many as make a message of a reasonable size: a spec may have a megabyte."""
    shown: list[wire.Learner] = []
    size = 0
    for learner in learners:
        shown.append(learner_to_wire(learner))
        size += shown[-1].ByteSize()
        if size > PAGE_BYTES:
            break
    return shown


def _brief(learner: Learner) -> LearnerInfo:
    return LearnerInfo(learner.name, learner.spec, learner.experts)
