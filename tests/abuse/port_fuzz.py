"""Mutated messages over the port: streams and calls answer each with a documented code, and the daemon
stays as it is.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import grpc

from galloon.daemon.errors import CODES, Internal
from galloon.v1 import combine_pb2 as wire
from tests.abuse.blast import resident_mb
from tests.abuse.mutation import mutated
from tests.abuse.restructure import restructured
from tests.abuse.seeds import CALLS, DOCUMENTS, REQUESTS
from tests.abuse.words import has_internal_text
from tests.daemon_process import Daemon

COMBINE = "/galloon.v1.CombineService/Combine"
DOCUMENTED = {code for refused, (code, _) in CODES.items() if refused is not Internal}
TOGETHER = 50  # messages of one stream


async def run(channel: grpc.aio.Channel, count: int, seed: int) -> Counter[str]:
    """Four of five messages go over streams, the others are calls."""
    random, outcomes = Random(seed), Counter[str]()
    while outcomes.total() < count:
        outcomes += await _stream(channel, random)
        for _ in range(TOGETHER // 5):
            outcomes += await _call(channel, random)
        for _ in range(TOGETHER // 10):
            outcomes += await _document(channel, random)
    return outcomes


async def _stream(channel: grpc.aio.Channel, random: Random) -> Counter[str]:
    """One stream, opened well; every message that follows is answered, and it ends well."""
    seeds, outcomes = [message.SerializeToString() for message in REQUESTS], Counter[str]()
    call = channel.stream_stream(COMBINE, response_deserializer=wire.CombineResponse.FromString)()
    await call.write(seeds[0])
    opened = await call.read()
    assert opened.HasField("opened"), opened
    for _ in range(TOGETHER):
        if random.random() < 0.5:
            data = mutated(random.choice(seeds[7:]), random.choice(seeds), random)
        else:
            data = restructured(random.choice(REQUESTS[7:]), random)
        await call.write(data)
        answer = await call.read()
        assert isinstance(answer, wire.CombineResponse), f"{data!r} ended the stream: {answer}"
        for each in answer.page.responses if answer.HasField("page") else (answer,):
            _check(each, data)
        outcomes[answer.WhichOneof("response") or "empty"] += 1
    await call.done_writing()
    assert await call.code() == grpc.StatusCode.OK
    return outcomes


def _check(answer: wire.CombineResponse, data: bytes) -> None:
    assert not answer.HasField("page"), f"a page in a page: {answer}"
    if answer.HasField("problem"):
        codes = {code.value[0] for code in DOCUMENTED}
        assert answer.problem.code in codes, (data, answer)
        assert not has_internal_text(answer.problem.message) or not answer.problem.message.isascii(), answer


async def _call(channel: grpc.aio.Channel, random: Random) -> Counter[str]:
    method, good = random.choice(list(CALLS.items()))
    other = random.choice(list(CALLS.values())).SerializeToString()
    data = mutated(good.SerializeToString(), other, random)
    if random.random() < 0.5:
        data = restructured(good, random)
    call = channel.unary_unary(f"/galloon.v1.LearnerService/{method}")(data)
    code, words = await call.code(), await call.details()
    assert code in DOCUMENTED | {grpc.StatusCode.OK}, (method, data, code, words)
    assert not has_internal_text(words or "") or not (words or "").isascii(), (method, data, words)
    return Counter({f"call {code.name}": 1})


async def _document(channel: grpc.aio.Channel, random: Random) -> Counter[str]:
    method, good = random.choice(DOCUMENTS)
    data = mutated(good.SerializeToString(), random.choice(DOCUMENTS)[1].SerializeToString(), random)
    if random.random() < 0.5:
        data = restructured(good, random)
    call = channel.unary_stream(f"/galloon.v1.DocumentService/{method}")(data)
    with suppress(grpc.aio.AioRpcError):
        async for _ in call:  # the status comes after all that was answered
            pass
    code, words = await call.code(), await call.details()
    assert code in DOCUMENTED | {grpc.StatusCode.OK}, (method, data, code, words)
    assert not has_internal_text(words or "") or not (words or "").isascii(), (method, data, words)
    return Counter({f"document {code.name}": 1})


async def measured(directory: Path, count: int, seed: int, show: Callable[[str], None]) -> None:
    daemon = Daemon(directory, "log.level=error")
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            await run(channel, count // 4, seed)
            before = resident_mb(daemon.pid)
            outcomes = await run(channel, count, seed + 1)
        grown = resident_mb(daemon.pid) - before
        show(f"{outcomes.total():,} messages over the port: {dict(outcomes)}; memory grew by {grown:.1f} MB")
        assert grown < 64, f"memory grew by {grown} MB"
        assert daemon.process is not None
        assert daemon.process.poll() is None
    finally:
        daemon.kill()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="galloon-abuse-") as scratch:
        asyncio.run(measured(Path(scratch), int(sys.argv[1]), int(sys.argv[2]), print))
