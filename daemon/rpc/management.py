"""The learners' service: create, get, list, delete, snapshot, explain, export, import, watch.

Each method takes the request and the principal, and raises what the table in `errors` knows; `_refusing` turns
that into a gRPC status. Requests that cannot be read are refused without the parser's own words.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from galloon.daemon.codec.answers import statistics_to_wire
from galloon.daemon.codec.explanation import explanation_to_wire
from galloon.daemon.codec.spec import spec_from_wire, spec_to_wire
from galloon.daemon.errors import CODES, Internal, Invalid, LimitPassed, Refused, UnknownLearner, refusal
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import LearnerHost
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.stream import CombineService
from galloon.v1 import learners_pb2 as wire

log = structlog.get_logger()
Context = grpc.aio.ServicerContext[Any, Any]
M = TypeVar("M", bound=Message)
CHUNK_BYTES = 256 * 1024
PAGE, PAGE_MOST = 100, 1000
EXPLAINED_SLOTS = 32  # of one answer: with 64 offers in each it takes a second and half a megabyte
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
        host, created = await self._registry.create(request.name, spec, "name", "spec", caller.may_use)
        return wire.CreateLearnerResponse(learner=await self._shown(host), created=created)

    async def get(self, request: wire.GetLearnerRequest, caller: Principal) -> Message:
        return wire.GetLearnerResponse(learner=await self._shown(self._find(request.name, caller)))

    async def list(self, request: wire.ListLearnersRequest, caller: Principal) -> Message:
        size = min(request.page_size or PAGE, PAGE_MOST)
        prefix = request.prefix
        page = self._registry.page(
            request.page_token, size + 1, lambda name: name.startswith(prefix) and caller.may_use(name)
        )
        more = page[size - 1].name if len(page) > size else ""
        learners = [_brief(host) for host in page[:size]]
        return wire.ListLearnersResponse(learners=learners, next_page_token=more)

    async def delete(self, request: wire.DeleteLearnerRequest, caller: Principal) -> Message:
        self._find(request.name, caller)
        host = await self._registry.delete(request.name)
        self._streams.end_streams_of(host, UnknownLearner(f"learner {host.name!r} has been deleted"))
        return wire.DeleteLearnerResponse()

    async def snapshot(self, request: wire.SnapshotLearnerRequest, caller: Principal) -> Message:
        host = self._find(request.name, caller)
        dropped = await host.snapshot()
        self._metrics.snapshots.inc()
        digest, _ = await host.digests()
        return wire.SnapshotLearnerResponse(
            snapshot_bytes=host.snapshot_bytes, journal_entries_dropped=dropped, digest=digest
        )

    async def explain(self, request: wire.ExplainUtteranceRequest, caller: Principal) -> Message:
        most = request.most_slots or EXPLAINED_SLOTS
        if most > EXPLAINED_SLOTS:
            raise Invalid(f"most_slots: {most} is not from 1 to {EXPLAINED_SLOTS}", "most_slots")
        slots = range(request.first_slot, request.first_slot + most)
        explained = await self._find(request.name, caller).explain(request.id, slots)
        return explanation_to_wire(explained, slots)

    async def export(self, request: wire.ExportLearnerRequest, caller: Principal) -> AsyncIterator[Message]:
        data = await self._find(request.name, caller).export()
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
        host = await self._registry.restore(name, b"".join(chunks), caller.may_use)
        return wire.ImportLearnerResponse(learner=await self._shown(host))

    async def watch(self, request: wire.WatchStatisticsRequest, caller: Principal) -> AsyncIterator[Message]:
        interval = request.interval_s or INTERVAL_S
        if not INTERVAL_LEAST_S <= interval <= INTERVAL_MOST_S:
            raise Invalid(
                f"interval_s: {interval} is not from {INTERVAL_LEAST_S} to {INTERVAL_MOST_S} seconds",
                "interval_s",
            )
        while True:
            host = self._find(request.name, caller)
            yield wire.WatchStatisticsResponse(statistics=await self._statistics(host))
            await asyncio.sleep(interval)

    # What a learner looks like.

    def _find(self, name: str, caller: Principal) -> LearnerHost:
        caller.check(name, "name")
        return self._registry.find(name)

    async def _shown(self, host: LearnerHost) -> wire.Learner:
        learner = _brief(host)
        learner.statistics.CopyFrom(await self._statistics(host))
        learner.digest, learner.state_digest = await host.digests()
        return learner

    async def _statistics(self, host: LearnerHost) -> wire.Statistics:
        shown = statistics_to_wire(await host.statistics())
        rounds = host.rounds
        shown.rounds_started, shown.lessons = rounds.started, rounds.lessons
        shown.rounds_pending, shown.rounds_expired = len(rounds.pending), rounds.expired_count
        shown.gain = rounds.total_gain
        shown.journal_entries, shown.snapshot_bytes = host.journal_entries, host.snapshot_bytes
        if host.snapshot_time is not None:
            shown.snapshot_age_s = self._clock() - host.snapshot_time
        shown.streams = self._streams.streams_of(host)
        for expert, rates in host.scoreboard.rates.items():
            shown.error_rates[expert].CopyFrom(
                wire.ErrorRate(
                    word_edits=rates.words.errors,
                    words=rates.words.reference_length,
                    char_edits=rates.chars.errors,
                    chars=rates.chars.reference_length,
                )
            )
        return shown

    # From methods to handlers.

    def _unary(
        self, method: Callable[[M, Principal], Awaitable[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        return grpc.unary_unary_rpc_method_handler(
            self._refusing(method), request_deserializer=_reader(request), response_serializer=_to_bytes
        )

    def _stream(
        self, method: Callable[[M, Principal], AsyncIterator[Message]], request: type[M]
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        async def handle(message: M | None, context: Context) -> AsyncIterator[Message]:
            try:
                caller = self._caller(message, context)
                self._streams.ledger.open_stream(caller.name)
                try:
                    async for answer in method(message, caller):  # type: ignore[arg-type]  # not None here
                        yield answer
                finally:
                    self._streams.ledger.close_stream(caller.name)
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


def _brief(host: LearnerHost) -> wire.Learner:
    return wire.Learner(name=host.name, spec=spec_to_wire(host.spec), experts=host.experts)


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
