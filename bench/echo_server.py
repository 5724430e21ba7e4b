"""A bare server of the same schema, the yardstick of the rate: it parses, answers and knows nothing.

As anybody would write it: gRPC's asyncio server on asyncio's own loop. (The daemon's, which takes gRPC's calls
together, would make it about 5 % faster.)

`python -m bench.echo_server READY_FILE` writes its address to the file once its port is open. An utterance gets a
choice of the size that the daemon would answer, made from a prebuilt message and the id; feedback gets a lesson.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

import grpc

from bench.work import EXPERTS, SLOTS
from galloon.v1 import combine_pb2 as wire
from galloon.v1.combine_pb2_grpc import CombineServiceServicer, add_CombineServiceServicer_to_server

PREBUILT = wire.CombineResponse(
    choice=wire.Choice(
        round=1,
        text=" ".join(["word"] * SLOTS),
        tokens=["word"] * SLOTS,
        experts=[EXPERTS[0]] * SLOTS,
        probabilities=[0.25] * SLOTS,
        log_probability=-12.5,
        lessons=1,
    )
)


class Echo(CombineServiceServicer):
    """Reads and writes as a stream of messages: the quickest of the ways that grpc.aio offers."""

    async def Combine(self, request_iterator, context):
        del request_iterator
        while (request := await context.read()) is not grpc.aio.EOF:
            match request.WhichOneof("request"):
                case "utterance":
                    answer = wire.CombineResponse()
                    answer.CopyFrom(PREBUILT)
                    answer.choice.id = request.utterance.id
                case "feedback":
                    learned = wire.Learned(
                        id=request.feedback.id, round=1, gain=1.0, lessons=1, total_gain=1.0
                    )
                    learned.expert_gains.update(dict.fromkeys(EXPERTS, 1.0))
                    answer = wire.CombineResponse(learned=learned)
                case _:
                    answer = wire.CombineResponse(opened=wire.Opened(max_in_flight=64))
            await context.write(answer)


async def main(ready: Path) -> None:
    server = grpc.aio.server()
    add_CombineServiceServicer_to_server(Echo(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ready.with_suffix(".partial").write_text(json.dumps({"grpc": f"127.0.0.1:{port}"}))
    ready.with_suffix(".partial").rename(ready)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    await end.wait()
    await server.stop(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
