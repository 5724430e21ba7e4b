"""The load: many streams at once, each with a number of rounds in flight, and what it took.

Written on the bare gRPC library with ready-made bytes, because a heavy client would hide what the server costs.
The shipped client is measured beside it, in `bench.rate`.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

import grpc

from bench.work import SPEC, Round, opening
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire

METHOD = "/galloon.v1.CombineService/Combine"


@dataclass(slots=True)
class Taken:
    """What one load took: seconds altogether, and of each answer."""

    seconds: float = 0.0
    choose_s: list[float] = field(default_factory=list)
    learn_s: list[float] = field(default_factory=list)

    @property
    def messages_per_s(self) -> float:
        return (len(self.choose_s) + len(self.learn_s)) / self.seconds


async def put_load(
    address: str,
    learners: Iterable[str],
    work: list[list[Round]],
    window: int,
    spec: CombinerSpec = SPEC,
) -> Taken:
    """One stream for each list of rounds, on the learner of its place; every round is chosen and taught."""
    taken = Taken()
    # A connection for every few streams, as separate clients would have.
    channels = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(4)
    ]
    streams = [
        _Stream(channels[number % len(channels)], opening(learner, spec), rounds, window, taken)
        for number, (learner, rounds) in enumerate(zip(learners, work, strict=True))
    ]
    await asyncio.gather(*(stream.open() for stream in streams))
    started = perf_counter()
    await asyncio.gather(*(stream.run() for stream in streams))
    taken.seconds = perf_counter() - started
    for channel in channels:
        await channel.close()
    return taken


class _Stream:
    """A stream that keeps `window` rounds in flight: utterance, choice, feedback, lesson."""

    def __init__(
        self, channel: grpc.aio.Channel, first: bytes, rounds: list[Round], window: int, taken: Taken
    ) -> None:
        self._call = channel.stream_stream(METHOD)()
        self._first, self._window, self._taken = first, window, taken
        self._left = deque(rounds)
        self._feedback = {round_.id: round_.feedback for round_ in rounds}
        self._sent: dict[str, float] = {}
        self._outbox: deque[tuple[str, bytes]] = deque()
        self._wake = asyncio.Event()

    async def open(self) -> None:
        await self._call.write(self._first)
        answer = wire.CombineResponse.FromString(await self._call.read())
        assert answer.WhichOneof("response") == "opened", answer

    async def run(self) -> None:
        for _ in range(min(self._window, len(self._left))):
            self._next()
        writer = asyncio.create_task(self._write())
        for _ in range(2 * len(self._feedback)):
            self._take(wire.CombineResponse.FromString(await self._call.read()), perf_counter())
        await writer
        assert await self._call.read() is grpc.aio.EOF

    def _next(self) -> None:
        if self._left:
            round_ = self._left.popleft()
            self._outbox.append((round_.id, round_.utterance))
            self._wake.set()

    def _take(self, answer: wire.CombineResponse, now: float) -> None:
        match answer.WhichOneof("response"):
            case "choice":
                id_ = answer.choice.id
                self._taken.choose_s.append(now - self._sent.pop(id_))
                self._outbox.append((id_, self._feedback[id_]))
                self._wake.set()
            case "learned":
                self._taken.learn_s.append(now - self._sent.pop(answer.learned.id))
                self._next()
            case _:
                raise AssertionError(f"refused under load: {answer}")

    async def _write(self) -> None:
        for _ in range(2 * len(self._feedback)):
            while not self._outbox:
                self._wake.clear()
                await self._wake.wait()
            id_, message = self._outbox.popleft()
            self._sent[id_] = perf_counter()
            await self._call.write(message)
        await self._call.done_writing()
