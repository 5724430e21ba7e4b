"""A real server on a real port inside the test's own process, and a client that speaks the bare wire.

`serving` starts one; `Daemon.stream` opens a stream and gives a `Conversation`: `ask` sends any request and reads
the next answer, `opened`, `choice` and `learned` insist on the kind of it. Calls that are refused as soon as they
begin go through `insisting`.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import grpc

from galloon.codec.page import page_request
from galloon.daemon.app import App
from galloon.daemon.config import load
from galloon.learners.combiners.build import build
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc, spec_pb2, utterance_pb2

EXPERTS = ("ann", "bob", "cy")
T = TypeVar("T")
LOST = "Internal error from Core"  # gRPC's words for a write on a stream that was refused meanwhile


class Daemon:
    """A running daemon and one channel to it."""

    def __init__(self, app: App, channel: grpc.aio.Channel) -> None:
        self.app, self.channel = app, channel
        self.learners = learners_pb2_grpc.LearnerServiceStub(channel)

    def stream(self, metadata: Any = None) -> "Conversation":
        return Conversation(combine_pb2_grpc.CombineServiceStub(self.channel).Combine(metadata=metadata))

    async def open(self, learner: str = "test", spec: spec_pb2.LearnerSpec | None = None) -> "Conversation":
        """A stream on a learner, made from this spec (or a simple one) if it is new."""
        stream = self.stream()
        await stream.opened(wire.Open(learner=learner, create=spec or simple_spec()))
        return stream

    async def digest(self, learner: str = "test") -> str:
        answer = await self.learners.GetLearner(learners_pb2.GetLearnerRequest(name=learner))
        return answer.learner.digest


class Conversation:
    """One stream."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def send(self, request: Any) -> None:
        await self.call.write(as_request(request))

    async def read(self) -> wire.CombineResponse:
        return await self.call.read()

    async def ask(self, request: Any) -> wire.CombineResponse:
        await self.send(request)
        return await self.read()

    async def opened(self, request: wire.Open) -> wire.Opened:
        answer = await self.ask(request)
        assert answer.HasField("opened"), answer
        return answer.opened

    async def choice(self, request: utterance_pb2.Utterance) -> wire.Choice:
        answer = await self.ask(request)
        assert answer.HasField("choice"), answer
        return answer.choice

    async def learned(self, request: wire.Feedback) -> wire.Learned:
        answer = await self.ask(request)
        assert answer.HasField("learned"), answer
        return answer.learned

    async def page(self, requests: list[Any]) -> list[wire.CombineResponse]:
        """Many requests in one message, and the answer to each."""
        answer = await self.ask(requests)
        assert answer.HasField("page"), answer
        return list(answer.page.responses)

    async def problem(self, request: Any) -> wire.Problem:
        answer = await self.ask(request)
        assert answer.HasField("problem"), answer
        return answer.problem

    async def close(self) -> grpc.StatusCode:
        await self.call.done_writing()
        assert await self.call.read() is grpc.aio.EOF
        return await self.call.code()


async def insisting(call: Callable[[], Awaitable[T]]) -> T:
    """What a call gives or raises; called again where gRPC lost the refusal."""
    while True:
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            if error.details() != LOST:
                raise


def as_request(request: Any) -> wire.CombineRequest:
    match request:
        case wire.Open():
            return wire.CombineRequest(open=request)
        case utterance_pb2.Utterance():
            return wire.CombineRequest(utterance=request)
        case wire.Feedback():
            return wire.CombineRequest(feedback=request)
        case list():
            return page_request(map(as_request, request))
        case _:
            return request


@asynccontextmanager
async def serving(data_dir: Path, make: Any = build, **settings: Any) -> AsyncIterator[Daemon]:
    """A daemon on free loopback ports; settings are section__key=value."""
    flags = {name.replace("__", "."): str(value) for name, value in settings.items()}
    flags.setdefault("http.listen", "127.0.0.1:0")
    flags = {"server.listen": "127.0.0.1:0", "store.data_dir": str(data_dir), "server.drain_s": "2", **flags}
    app = App(load(None, {}, flags), make)
    await app.start()
    try:
        async with grpc.aio.insecure_channel(app.address) as channel:
            yield Daemon(app, channel)
    finally:
        await app.stop()


def simple_spec(**changes: Any) -> spec_pb2.LearnerSpec:
    values = {"engines": EXPERTS, "algorithm": spec_pb2.ALGORITHM_EXPANDED_HEDGE, "window": 4, **changes}
    return spec_pb2.LearnerSpec(**values)


def truth(number: int, slots: int = 6) -> list[str]:
    """The true tokens of an utterance, one a slot, some of them null."""
    drawn = random.Random(number)
    return [drawn.choice(["", "so", "far", "so", "good", "said"]) for _ in range(slots)]


def utterance(number: int, slots: int = 6, **changes: Any) -> utterance_pb2.Utterance:
    """What the experts say of it: ann is nearly always right, bob often, cy rarely."""
    drawn = random.Random(number + 1_000_000)
    offers = [
        utterance_pb2.SlotOffers(
            engine=expert,
            tokens=[
                token if drawn.random() < right else f"w{drawn.randrange(3)}"
                for token in truth(number, slots)
            ],
        )
        for expert, right in zip(EXPERTS, (0.9, 0.6, 0.3), strict=True)
    ]
    return utterance_pb2.Utterance(id=f"u{number}", slots=utterance_pb2.Slots(offers=offers), **changes)


def feedback(number: int, slots: int = 6) -> wire.Feedback:
    return wire.Feedback(id=f"u{number}", true_tokens=wire.TrueTokens(tokens=truth(number, slots)))
