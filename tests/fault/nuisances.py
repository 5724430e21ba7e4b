"""What clients do to a daemon that it must survive: vanish, stay silent, dawdle, never read, talk nonsense, ask
for too much.

Each nuisance is a coroutine of an address and a random generator; it ends by itself, and leaves nothing
behind that it cleaned up: that is the daemon's task. `NUISANCES` lists them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc, spec_pb2, utterance_pb2

EXPERTS = ("a", "b")
COMBINE = "/galloon.v1.CombineService/Combine"


async def vanishing(address: str, random: Random, streams: int = 20) -> None:
    """Streams whose connection is cut in the middle of rounds."""
    async with grpc.aio.insecure_channel(address) as channel:
        calls = [await opened(channel, "nuisance/vanishing") for _ in range(streams)]
        for call in calls:
            for _ in range(random.randint(1, 5)):
                await call.write(utterance_request(f"v{random.getrandbits(60)}"))
        # The channel closes here: nothing is half-closed, nothing is read.


async def silent(address: str, random: Random, streams: int = 50, seconds: float = 5.0) -> None:
    """Streams that are opened, perhaps even on a learner, and say nothing more."""
    async with grpc.aio.insecure_channel(address) as channel:
        calls = [combine_pb2_grpc.CombineServiceStub(channel).Combine() for _ in range(streams // 2)]
        calls += [await opened(channel, "nuisance/silent") for _ in range(streams - len(calls))]
        await asyncio.sleep(seconds * random.uniform(0.5, 1.0))
        for call in calls:
            call.cancel()


async def slow(address: str, random: Random, streams: int = 50, seconds: float = 5.0) -> None:
    """Streams that send an utterance a second and fall behind with reading: one answer every two."""
    async with grpc.aio.insecure_channel(address) as channel:
        calls = [await opened(channel, "nuisance/slow") for _ in range(streams)]

        async def dawdle(call: grpc.aio.StreamStreamCall) -> None:
            for count in range(int(seconds)):
                await asyncio.sleep(random.uniform(0.5, 1.5))
                await call.write(utterance_request(f"s{random.getrandbits(60)}"))
                if count % 2:
                    assert (await call.read()).HasField("choice")

        await asyncio.gather(*(dawdle(call) for call in calls))
        for call in calls:
            call.cancel()


async def never_reading(
    address: str, random: Random, streams: int = 10, seconds: float = 5.0, slots: int = 200
) -> None:
    """Streams that send until flow control stops them, and read no answer."""
    async with grpc.aio.insecure_channel(address) as channel:
        calls = [await opened(channel, "nuisance/deaf") for _ in range(streams)]

        async def talk(call: grpc.aio.StreamStreamCall) -> None:
            while True:
                await call.write(utterance_request(f"n{random.getrandbits(60)}", slots))

        talking = [asyncio.create_task(talk(call)) for call in calls]
        await asyncio.sleep(seconds)
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        for call in calls:
            call.cancel()


async def nonsense(address: str, random: Random, messages: int = 300) -> None:
    """Bytes that are no message, on an open stream; each gets an answer."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream(COMBINE, response_deserializer=wire.CombineResponse.FromString)()
        for _ in range(messages):
            await call.write(random.randbytes(random.randint(1, 200)))
            answer = await call.read()
            assert answer.WhichOneof("response") == "problem", answer
        await call.done_writing()


async def greedy(address: str, random: Random) -> None:
    """Learners that are too large, refused before they are built."""
    stub_of = learners_pb2_grpc.LearnerServiceStub
    async with grpc.aio.insecure_channel(address) as channel:
        for order in random.sample(range(6, 20), 5):
            spec = spec_pb2.LearnerSpec(
                engines=[f"e{n}" for n in range(64)],
                window=4096,
                algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE,
                gain=spec_pb2.Gain(ngram=spec_pb2.NgramGain(order=order)),
            )
            request = learners_pb2.CreateLearnerRequest(name="nuisance/greedy", spec=spec)
            call = stub_of(channel).CreateLearner(request)
            assert await call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, await call.details()


async def passing(address: str, random: Random, learners: int = 10) -> None:
    """Learners that come, play a little, travel as bytes, and go."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = learners_pb2_grpc.LearnerServiceStub(channel)
        for number in range(learners):
            name = f"nuisance/passing-{number}"
            call = await opened(channel, name)
            for count in range(random.randint(1, 5)):
                await call.write(utterance_request(f"p{count}"))
                assert (await call.read()).HasField("choice")
            await call.done_writing()
            chunks = [
                answer.chunk
                async for answer in stub.ExportLearner(learners_pb2.ExportLearnerRequest(name=name))
            ]
            copy = f"{name}-copy"
            await stub.ImportLearner(
                iter([learners_pb2.ImportLearnerRequest(name=copy, chunk=b"".join(chunks))])
            )
            for each in (name, copy):
                await stub.DeleteLearner(learners_pb2.DeleteLearnerRequest(name=each))


NUISANCES: dict[str, Callable[[str, Random], Awaitable[None]]] = {
    nuisance.__name__: nuisance
    for nuisance in (vanishing, silent, slow, never_reading, nonsense, greedy, passing)
}


async def opened(channel: grpc.aio.Channel, learner: str) -> "grpc.aio.StreamStreamCall":
    """A stream on a small learner, made if it is new."""
    call = combine_pb2_grpc.CombineServiceStub(channel).Combine()
    spec = spec_pb2.LearnerSpec(engines=EXPERTS, algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE, window=4)
    await call.write(wire.CombineRequest(open=wire.Open(learner=learner, create=spec)))
    answer = await call.read()
    assert answer.HasField("opened"), answer
    return call


def utterance_request(id_: str, slots: int = 4) -> wire.CombineRequest:
    offers = [utterance_pb2.SlotOffers(engine=name, tokens=["word"] * slots) for name in EXPERTS]
    utterance = utterance_pb2.Utterance(id=id_, slots=utterance_pb2.Slots(offers=offers))
    return wire.CombineRequest(utterance=utterance)
