"""The learners' service: create, get, list, delete, snapshot, explain, export, import, watch.

Each method takes the request and the principal, and raises what the table in `errors` knows; `_refusing` turns
that into a gRPC status. Requests that cannot be read are refused without the parser's own words.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

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
from galloon.codec.spec import spec_from_wire
from galloon.daemon.errors import (
    CODES,
    Internal,
    Invalid,
    LimitPassed,
    Refused,
    Unavailable,
    UnknownLearner,
    refusal,
)
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.exports import Exports
from galloon.daemon.rpc.stream import CombineService
from galloon.v1 import learners_pb2 as wire

log = structlog.get_logger()
Context = grpc.aio.ServicerContext[Any, Any]
M = TypeVar("M", bound=Message)
CHUNK_BYTES = 256 * 1024
PAGE, PAGE_MOST = 100, 1000
EXPLAINED_SLOTS = 32  # of one answer: with 64 offers in each it takes a second and half a megabyte
STALL_S = 30.0  # in which a client must read an answer of a stream
INTERVAL_S, INTERVAL_LEAST_S, INTERVAL_MOST_S = 1.0, 0.1, 3600.0


class LearnerService:
    """Manages learners."""

    def __init__(
        self,
        registry: Registry,
        streams: CombineService,
        gate: Gate,
        limits: Limits,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._registry, self._streams, self._gate = registry, streams, gate
        self._limits, self._metrics, self._clock = limits, metrics, clock
        self.exports = Exports()
        self._importing: set[str] = set()  # principals; what they send is held in memory

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "CreateLearner": self._unary(self.create, wire.CreateLearnerRequest),
            "GetLearner": self._unary(self.get, wire.GetLearnerRequest),
            "ListLearners": self._unary(self.list, wire.ListLearnersRequest),
            "DeleteLearner": self._unary(self.delete, wire.DeleteLearnerRequest),
            "SnapshotLearner": self._unary(self.snapshot, wire.SnapshotLearnerRequest),
            "ExplainUtterance": self._unary(self.explain, wire.ExplainUtteranceRequest),
            "ExportLearner": self._stream(self.export, wire.ExportLearnerRequest),
            "WatchStatistics": self._stream(self.watch, wire.WatchStatisticsRequest),
            "ImportLearner": grpc.stream_unary_rpc_method_handler(
                self._refusing(self.import_),
                request_deserializer=_reader(wire.ImportLearnerRequest),
                response_serializer=wire.ImportLearnerResponse.SerializeToString,
            ),
        }
        return grpc.method_handlers_generic_handler("galloon.v1.LearnerService", methods)

    async def create(self, request: wire.CreateLearnerRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        spec = spec_from_wire(request.spec, self._limits, "spec")
        learner, created = await self._registry.create(request.name, spec, "name", "spec", caller.may_use)
        return wire.CreateLearnerResponse(learner=await self._shown(learner), created=created)

    async def get(self, request: wire.GetLearnerRequest, caller: Principal) -> Message:
        return wire.GetLearnerResponse(learner=await self._shown(self._find(request.name, caller)))

    async def list(self, request: wire.ListLearnersRequest, caller: Principal) -> Message:
        size = min(request.page_size or PAGE, PAGE_MOST)
        prefix = request.prefix

        def wanted(name: str) -> bool:
            return name.startswith(prefix) and caller.may_use(name)

        page = self._registry.page(request.page_token, size + 1, wanted)
        more = page[size - 1].name if len(page) > size else ""
        learners = [learner_to_wire(_brief(learner)) for learner in page[:size]]
        stopped = {} if request.page_token else self._registry.out_of_service(wanted)
        return wire.ListLearnersResponse(
            learners=learners,
            next_page_token=more,
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
        dropped = await learner.snapshot()
        self._metrics.snapshots.inc()
        digest, _ = await learner.digests()
        return snapshot_to_wire(Snapshot(learner.snapshot_bytes, dropped, digest))

    async def explain(self, request: wire.ExplainUtteranceRequest, caller: Principal) -> Message:
        most = request.most_slots or EXPLAINED_SLOTS
        if most > EXPLAINED_SLOTS:
            raise Invalid(f"most_slots: {most} is not from 1 to {EXPLAINED_SLOTS}", "most_slots")
        slots = range(request.first_slot, request.first_slot + most)
        explanation, slot_count = await self._find(request.name, caller).explain(request.id, slots)
        return explanation_to_wire(explanation, slot_count)

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
        async for request in requests:
            if request is None:
                raise _unreadable()
            if not chunks:
                name = request.name
                caller.check(name, "name")
            elif request.name:
                raise Invalid("name: only the first message carries it", "name")
            size += len(request.chunk)
            check(self._limits, "import_bytes", size, "chunk")
            chunks.append(request.chunk)
        learner = await self._registry.restore(name, b"".join(chunks), caller.may_use)
        return wire.ImportLearnerResponse(learner=await self._shown(learner))

    async def watch(self, request: wire.WatchStatisticsRequest, caller: Principal) -> AsyncGenerator[Message]:
        interval = request.interval_s or INTERVAL_S
        if not INTERVAL_LEAST_S <= interval <= INTERVAL_MOST_S:
            raise Invalid(
                f"interval_s: {interval} is not from {INTERVAL_LEAST_S} to {INTERVAL_MOST_S} seconds",
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

    async def _shown(self, learner: Learner) -> wire.Learner:
        statistics = await self._statistics(learner)
        digest, state_digest = await learner.digests()
        shown = replace(_brief(learner), statistics=statistics, digest=digest, state_digest=state_digest)
        return learner_to_wire(shown)

    async def _statistics(self, learner: Learner) -> Statistics:
        combiner, rounds = await learner.statistics(), learner.rounds
        return Statistics(
            rounds_started=rounds.started,
            lessons=rounds.lessons,
            rounds_pending=len(rounds.pending),
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
                )
                for name, rate in learner.books.rates.items()
            },
        )

    # From methods to handlers.

    def _unary(
        self, method: Callable[[M, Principal], Awaitable[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        return grpc.unary_unary_rpc_method_handler(
            self._refusing(method), request_deserializer=_reader(request), response_serializer=_to_bytes
        )

    def _stream(
        self, method: Callable[[M, Principal], AsyncGenerator[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        async def handle(message: M | None, context: Context) -> None:
            try:
                caller = self._caller(message, context)
                self._streams.quota.open_stream(caller.name)
                try:
                    async with aclosing(method(message, caller)) as answers:  # type: ignore[arg-type]  # not None here
                        async for answer in answers:
                            await _read_in_time(context.write(answer))
                finally:
                    self._streams.quota.close_stream(caller.name)
            except Exception as error:  # noqa: BLE001  # becomes a status
                await self._abort(context, error)

        return grpc.unary_stream_rpc_method_handler(
            handle, request_deserializer=_reader(request), response_serializer=_to_bytes
        )

    def _refusing(self, method: Callable[[Any, Principal], Awaitable[Message]]) -> Callable[..., Any]:
        async def handle(message: Any, context: Context) -> Message | None:
            try:
                return await method(message, self._caller(message, context))
            except Exception as error:  # noqa: BLE001  # becomes a status
                await self._abort(context, error)
                return None

        return handle

    def _caller(self, message: Message | None, context: Context) -> Principal:
        if message is None:
            raise _unreadable()
        return self._gate.principal(context.invocation_metadata() or (), context.auth_context())

    async def _abort(self, context: Context, error: Exception) -> None:
        refused: Refused = refusal(error)
        if isinstance(refused, Internal):
            log.error("call failed", exc_info=error)
        self._metrics.rejects[type(refused)].inc()
        await context.abort(CODES[type(refused)][0], refused.message)


async def _read_in_time(write: Awaitable[None]) -> None:
    """A client that reads nothing holds memory and a place: not for ever."""
    try:
        async with asyncio.timeout(STALL_S):
            await write
    except TimeoutError as error:
        raise Unavailable(f"nothing was read for {STALL_S:g} seconds: call again, and read on") from error


def _brief(learner: Learner) -> LearnerInfo:
    return LearnerInfo(learner.name, learner.spec, learner.experts)


def _reader(kind: type[M]) -> Callable[[bytes], M | None]:
    def read(data: bytes) -> M | None:
        try:
            return kind.FromString(data)
        except DecodeError:
            return None

    return read


def _to_bytes(message: Message) -> bytes:
    return message.SerializeToString()


def _unreadable() -> Invalid:
    return Invalid("request: not a readable message of this method")
