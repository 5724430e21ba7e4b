"""The stream: one client's requests in, one answer to each out, whatever happens in between.

`CombineService.combine` handles one stream. Its reader takes requests one by one (`Stream.receive`) and hands
utterances and feedback to the learner, those of a page too; answers come back through `Request`, perhaps in
another order, and its writer sends what `Stream.send` queued.
An error about one request is a `problem` in the stream. The reader pauses while too many requests are unanswered,
or while learner or disk are behind with what came: a flood grows no faster than it is answered and written.
"""

import asyncio
from collections import deque
from time import perf_counter
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4

import grpc
import structlog
from google.protobuf.message import DecodeError

from galloon.codec.answer import Opened, answer_to_bytes
from galloon.codec.spec import spec_from_wire
from galloon.daemon.errors import (
    CODES,
    Internal,
    Invalid,
    LimitPassed,
    Refused,
    Unavailable,
    WrongOrder,
    refusal,
)
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.quota import Quota
from galloon.daemon.rpc.request import FIELDS, Page, Request
from galloon.v1 import combine_pb2 as wire

log = structlog.get_logger()
Context = grpc.aio.ServicerContext[Any, Any]
UNSURE_IDS = 10_000
LAG_PAUSE_S = 0.02


class Incoming(NamedTuple):
    """A request as it came: its size, and the message unless it could not be read."""

    size: int
    message: wire.CombineRequest | None


def read_request(data: bytes) -> Incoming:
    """Deserialise, without letting the parser's own words reach the client."""
    try:
        return Incoming(len(data), wire.CombineRequest.FromString(data))
    except DecodeError:
        return Incoming(len(data), None)


class CombineService:
    """All open streams."""

    def __init__(
        self, registry: Registry, gate: Gate, quota: Quota, limits: Limits, metrics: Metrics
    ) -> None:
        self.registry, self.gate, self.quota = registry, gate, quota
        self.limits, self.metrics = limits, metrics
        self.run_id = uuid4().hex
        self._streams: set[Stream] = set()
        self._draining: Refused | None = None

    def handlers(self) -> grpc.GenericRpcHandler:
        method: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(
            self.combine, request_deserializer=read_request, response_serializer=None
        )
        return grpc.method_handlers_generic_handler("galloon.v1.CombineService", {"Combine": method})

    async def combine(self, _: Any, context: Context) -> None:
        """One stream, from its first request to its last answer."""
        try:
            if self._draining is not None:
                raise self._draining
            principal = self.gate.principal(context.invocation_metadata() or (), context.auth_context())
            self.quota.open_stream(principal.name)
        except Refused as refused:
            self.metrics.rejects[type(refused)].inc()
            await context.abort(CODES[type(refused)][0], str(refused))
        stream = Stream(self, context, principal)
        self._streams.add(stream)
        self.metrics.streams_opened.inc()
        try:
            await stream.run()
        finally:
            self._streams.discard(stream)
            self.quota.close_stream(principal.name)
            stream.close()

    async def drain(self) -> None:
        """Let every stream see the answers that it waits for, then end it."""
        self._draining = Unavailable("the daemon is stopping", advice="reconnect later and resume")
        open_streams = list(self._streams)
        for stream in open_streams:
            stream.end(self._draining)
        for stream in open_streams:
            await stream.closed.wait()

    def end_streams_of(self, learner: Learner, reason: Refused) -> None:
        for stream in list(self._streams):
            if stream.learner is learner:
                stream.end(reason)

    async def finish_streams_of(self, learner: Learner, reason: Refused) -> None:
        """The same, and wait until all of their answers are out."""
        streams = [stream for stream in self._streams if stream.learner is learner]
        self.end_streams_of(learner, reason)
        for stream in streams:
            await stream.closed.wait()

    def streams_of(self, learner: Learner) -> int:
        return sum(stream.learner is learner for stream in self._streams)


class Stream:
    """One client's stream."""

    def __init__(self, service: CombineService, context: Context, principal: Principal) -> None:
        self._service, self._context, self.principal = service, context, principal
        self.metrics = service.metrics
        self.learner: Learner | None = None
        self._alternatives = False
        self._in_flight = 0  # requests taken and not yet answered on the wire
        self._held = 0  # their bytes
        self._outbox: deque[tuple[bytes, int, int]] = deque()  # answer, bytes held for it, requests
        self._reading = True
        self._loop = asyncio.get_running_loop()
        self._wake: asyncio.Future[None] | None = None  # the writer sleeps on this
        self._room: asyncio.Future[None] | None = None  # the reader sleeps on this
        self._ending: Refused | None = None
        self.closed = asyncio.Event()
        self._started, self._taken, self._problems = perf_counter(), 0, 0

    async def run(self) -> None:
        self._reader = asyncio.create_task(self._read())
        try:
            await self._write()
            if self._ending is not None:
                await self._context.abort(CODES[type(self._ending)][0], str(self._ending))
        finally:
            self._reader.cancel()
            del self._reader  # its error remembers this stream: a cycle that only a collection would end

    def end(self, reason: Refused) -> None:
        """Take no more requests; end the stream once all answers are out."""
        self._ending = reason
        self._reader.cancel()
        self._stop_reading()

    def close(self) -> None:
        """The client has gone, or has heard everything. Later answers are discarded."""
        self.closed.set()
        self._service.quota.release(self.principal.name, self._held)
        log.info(
            "stream ended",
            principal=self.principal.name,
            learner=self.learner.name if self.learner else None,
            requests=self._taken,
            problems=self._problems,
            seconds=round(perf_counter() - self._started, 3),
        )

    # Reading.

    async def _read(self) -> None:
        read, limit = self._context.read, self._service.limits.in_flight
        while True:
            incoming = await read()
            if incoming is grpc.aio.EOF:
                break
            self._taken += 1
            self._in_flight += 1
            opening = self.receive(incoming)
            if opening is not None:
                await self._answer_open(*opening)
            while self._in_flight >= limit:
                self._room = self._loop.create_future()
                await self._room
            while self.learner is not None and self.learner.lags:  # noqa: ASYNC110  # the writer's thread wakes nobody
                await asyncio.sleep(LAG_PAUSE_S)
        self._stop_reading()

    def _stop_reading(self) -> None:
        self._reading = False
        self._wake_writer()

    def receive(self, incoming: Incoming) -> tuple[wire.Open, Request] | None:
        """Hand a request to whom it concerns; nothing that it does can end the stream. An open is handed back."""
        size, message = incoming
        request = Request(self, message)
        about = request.about
        try:
            self._service.quota.hold(self.principal.name, size)
            request.size = size
            self._held += size
            if size > self._service.limits.message_bytes:
                check(self._service.limits, "message_bytes", size)
            if message is None:
                _refuse_unreadable()
            elif about == wire.REQUEST_KIND_UTTERANCE:
                self._opened().enter_utterance(message.utterance, size, self._alternatives, request)
            elif about == wire.REQUEST_KIND_FEEDBACK:
                self._opened().enter_feedback(message.feedback, request)
            elif about == wire.REQUEST_KIND_OPEN:
                return message.open, request
            elif about == wire.REQUEST_KIND_PAGE:
                self._receive_page(message.page, size)
            else:
                _refuse_unreadable()
        except Exception as error:  # noqa: BLE001  # becomes the answer
            request(None, error)
        return None

    def _receive_page(self, message: wire.Page, size: int) -> None:
        """Enter every request of a page, as if it had come alone; refuse all of it only by its number."""
        count = len(message.requests)
        if not count:
            raise Invalid("a page holds at least one request", "page.requests")
        check(self._service.limits, "page_requests", count, "page.requests")
        learner, page = self._opened(), Page(count, size)
        self._taken += count - 1
        self._in_flight += count - 1
        for place, each in enumerate(message.requests):
            request = Request(self, each, page, place)
            try:
                if request.about == wire.REQUEST_KIND_UTTERANCE:
                    learner.enter_utterance(each.utterance, size // count, self._alternatives, request)
                elif request.about == wire.REQUEST_KIND_FEEDBACK:
                    learner.enter_feedback(each.feedback, request)
                else:
                    _refuse_in_page(place)
            except Exception as error:  # noqa: BLE001  # becomes the answer
                request(None, error)

    async def _answer_open(self, message: wire.Open, request: Request) -> None:
        try:
            request(await self._open(message), None)
        except asyncio.CancelledError:
            if self._ending is not None:  # or the stream would wait for this answer
                request(None, self._ending)
            raise
        except Exception as error:  # noqa: BLE001  # becomes the answer
            request(None, error)

    def _opened(self) -> Learner:
        if self.learner is None:
            raise WrongOrder("the first request of a stream must be open")
        return self.learner

    async def _open(self, message: wire.Open) -> bytes:
        if self.learner is not None:
            raise WrongOrder(f"this stream is open on {self.learner.name!r}", "open", "use another stream")
        self.principal.check(message.learner, "open.learner")
        if len(message.unsure_ids) > UNSURE_IDS:
            raise LimitPassed(
                "unsure_ids", len(message.unsure_ids), UNSURE_IDS, "ask for fewer", "open.unsure_ids"
            )
        created = False
        await self._service.registry.bring(message.learner, "open.learner")
        if message.HasField("create"):
            spec = spec_from_wire(message.create, self._service.limits, "open.create")
            learner, created = await self._service.registry.create(
                message.learner, spec, "open.learner", "open.create", self.principal.may_use
            )
        else:
            learner = self._service.registry.find(message.learner, "open.learner")
        ids = list(message.unsure_ids)
        states, whole_from = await learner.statuses(ids)
        await self._service.registry.bring(message.learner, "open.learner")
        if self._service.registry.find(message.learner, "open.learner") is not learner:
            # While it was looked at it was given to another daemon, which would not know of this stream.
            raise Unavailable(f"{message.learner!r} has moved", "open.learner", "ask again")
        self.learner, self._alternatives = learner, message.alternatives
        return answer_to_bytes(
            Opened(
                learner=learner.name,
                spec=learner.spec,
                experts=learner.experts,
                max_in_flight=self._service.limits.in_flight,
                created=created,
                rounds_started=learner.rounds.started,
                lessons=learner.rounds.lessons,
                run_id=self._service.run_id,
                rounds_recovered=learner.rounds_recovered,
                rounds=tuple(zip(ids, states, strict=True)),
                max_page_requests=self._service.limits.page_requests,
                max_message_bytes=self._service.limits.message_bytes,
                whole_from=whole_from,
            )
        )

    # Writing.

    def send(self, request: Request, answer: bytes | None, error: Exception | None) -> None:
        """Queue the answer to a request; called on the event loop, once for each."""
        if self.closed.is_set():
            return
        if answer is None:
            refused = refusal(
                error or AssertionError("neither an answer nor an error"), FIELDS[request.about]
            )
            if isinstance(refused, Internal):
                log.error("request failed", learner=self.learner and self.learner.name, exc_info=error)
            self._problems += 1
            self._service.metrics.rejects[type(refused)].inc()
            answer = answer_to_bytes(refused.answer_to(request.id, request.about))
        page = request.page
        if page is None:
            self._outbox.append((answer, request.size, 1))
        elif (whole := page.fill(request.place, answer)) is not None:
            self._outbox.append((whole, page.size, len(page)))
        else:
            return
        self._wake_writer()

    def _wake_writer(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _write(self) -> None:
        """Send answers until the client has said its last word and has heard all of ours."""
        write, release, name = self._context.write, self._service.quota.release, self.principal.name
        while True:
            while self._outbox:
                answer, size, requests = self._outbox.popleft()
                await write(answer)
                release(name, size)
                self._held -= size
                self._in_flight -= requests
                if self._room is not None and not self._room.done():
                    self._room.set_result(None)
            if not self._reading and not self._in_flight:
                return
            self._wake = self._loop.create_future()
            await self._wake


def _refuse_unreadable() -> NoReturn:
    raise Invalid("not a readable CombineRequest with open, utterance, feedback or page", "request")


def _refuse_in_page(place: int) -> NoReturn:
    field = f"page.requests[{place}]"
    raise Invalid("a page holds utterances and feedback", field, "send anything else by itself")
