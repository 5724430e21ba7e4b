"""Pages of 32 lines in a message against single messages: rounds a second, durable acknowledgements for both.

16 streams with 32 rounds each in flight, as in `bench.rate`: single messages, or a page of utterances and then a
page of their feedback. Single messages, pages and a bare echo of single messages take turns; figures are medians
of ratios taken in one turn, by the clock and by the daemon's own processor time. The same through the shipped
client, and by a client that sends a line only when the one before is learned.
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import grpc

from bench.load import METHOD, put_load
from bench.servers import Server, daemon, echo_server
from bench.work import DEFAULT, SPEC, Round, opening, rounds
from galloon.clients.api.answered import Answered
from galloon.clients.api.client import Client
from galloon.clients.api.stream import StreamOptions
from galloon.codec.page import page_request
from galloon.learners.combiners.contract import TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2 as wire

TICK_S = 0.01  # the system counts processor time in ticks: a short run may show none
STREAMS, ROUNDS, TURNS, PAGE = 16, 128, 5, 32
IN_TURN_ROUNDS = 64


def figures() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="galloon-bench-") as scratch:
        directory = Path(scratch)
        with echo_server(directory) as echo, daemon(directory) as served:
            return {
                "paper's learner on slots": _compared(echo, served, SPEC),
                "default learner on plain text": _compared(echo, served, DEFAULT),
                "shipped client, paper's learner": _shipped(served, SPEC),
                "shipped client, default learner": _shipped(served, DEFAULT),
                "one stream, a page against a line at a time": _in_turn(served),
            }


def _compared(echo: Server, served: Server, spec: CombinerSpec) -> dict[str, float]:
    learner = "texts" if spec is DEFAULT else "slots"
    turns = []
    for turn in range(-1, TURNS):
        work = {
            way: [rounds(f"{way}-{turn}-{n}", ROUNDS, spec is DEFAULT) for n in range(STREAMS)]
            for way in ("single", "pages")
        }
        bare = _measured(echo, put_load(echo.address, [learner] * STREAMS, work["single"], PAGE, spec))
        single = _measured(served, put_load(served.address, [learner] * STREAMS, work["single"], PAGE, spec))
        pages = _measured(served, _put_pages(served.address, learner, work["pages"], spec))
        turns.append((bare, single, pages))
    measured = turns[1:]  # the first is a warm-up
    return {
        "pages_rounds_per_s": median(pages[0] for _, _, pages in measured),
        "single_rounds_per_s": median(single[0] for _, single, _ in measured),
        "pages_over_single": median(pages[0] / single[0] for _, single, pages in measured),
        "pages_over_echo_of_single_messages": median(pages[0] / bare[0] for bare, _, pages in measured),
        "single_over_pages_by_processor_time": median(single[1] / pages[1] for _, single, pages in measured),
        "pages_cpu_us_per_round": median(pages[1] for _, _, pages in measured),
    }


def _measured(server: Server, load: Any) -> tuple[float, float]:
    """Rounds a second, and microseconds of the server's processor time a round."""
    cpu_s, started = server.cpu_s(), perf_counter()
    taken = asyncio.run(load)
    seconds = perf_counter() - started if taken is None else taken.seconds
    used_s = max(server.cpu_s() - cpu_s, TICK_S)
    return STREAMS * ROUNDS / seconds, 1e6 * used_s / (STREAMS * ROUNDS)


async def _put_pages(address: str, learner: str, work: list[list[Round]], spec: CombinerSpec) -> None:
    channels = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(4)
    ]
    await asyncio.gather(
        *(_stream(channels[n % len(channels)], opening(learner, spec), each) for n, each in enumerate(work))
    )
    for channel in channels:
        await channel.close()


async def _stream(channel: grpc.aio.Channel, first: bytes, work: list[Round]) -> None:
    call = channel.stream_stream(METHOD)()
    await _answered(call, first)
    for start in range(0, len(work), PAGE):
        page = work[start : start + PAGE]
        for kind, messages in (
            ("choice", [round_.utterance for round_ in page]),
            ("learned", [round_.feedback for round_ in page]),
        ):
            request = page_request(map(wire.CombineRequest.FromString, messages))
            answers = (await _answered(call, request.SerializeToString())).page.responses
            assert [each.WhichOneof("response") for each in answers] == [kind] * len(page), answers[0]
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF


async def _answered(call: Any, request: bytes) -> wire.CombineResponse:
    await call.write(request)
    return wire.CombineResponse.FromString(await call.read())


def _shipped(served: Server, spec: CombinerSpec) -> dict[str, float]:
    """`choose_each` and `learn_each` of every stream, with pages and without."""
    ratios = []
    for turn in range(TURNS):
        single = asyncio.run(_through_client(served, spec, f"{turn}-single", 1))
        ratios.append(single / asyncio.run(_through_client(served, spec, f"{turn}-pages", PAGE)))
    return {"pages_over_single": median(ratios)}


async def _through_client(served: Server, spec: CombinerSpec, prefix: str, page: int) -> float:
    """Seconds for the rounds of all streams."""
    plain, words = spec is DEFAULT, tuple(f"word{number}" for number in range(20))
    options = StreamOptions(max_in_flight=2 * PAGE, page_requests=page)

    def question(id_: str) -> Utterance:
        if plain:
            return Utterance.of_texts(id_, dict.fromkeys(spec.engines, " ".join(words)))
        return Utterance.of_slots(id_, dict.fromkeys(spec.engines, words))

    async def stream(client: Client, number: int) -> None:
        async with client.stream("texts" if plain else "slots", options=options) as opened:
            for start in range(0, ROUNDS, PAGE):
                ids = [f"{prefix}-{number}-{n}" for n in range(start, start + PAGE)]
                async for choice in opened.choose_each(map(question, ids)):
                    del choice
                async for lesson in opened.learn_each(Answered(id_, TrueTokens(words)) for id_ in ids):
                    del lesson

    async with Client(served.address) as client:
        started = perf_counter()
        await asyncio.gather(*(stream(client, number) for number in range(STREAMS)))
        return perf_counter() - started


def _in_turn(served: Server) -> dict[str, float]:
    """A single stream: what a program gains that hands over the lines of a page together."""
    ratios = []
    for turn in range(TURNS):
        line = rounds(f"line-{turn}", IN_TURN_ROUNDS, plain_text=True)
        page = rounds(f"page-{turn}", IN_TURN_ROUNDS, plain_text=True)
        started = perf_counter()
        asyncio.run(put_load(served.address, ["texts"], [line], 1, DEFAULT))
        single_s = perf_counter() - started
        started = perf_counter()
        asyncio.run(_put_pages(served.address, "texts", [page], DEFAULT))
        ratios.append(single_s / (perf_counter() - started))
    return {"pages_over_single": median(ratios)}
