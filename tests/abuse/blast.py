"""What a bomb costs: `blast` sends it to a daemon over the real port and measures the daemon's process.

`python -m tests.abuse.blast` sends all of them to a daemon of its own, while a healthy client measures its
latency, and prints a table. Exit status 1 when one was not refused as documented, or cost more than 2 s of
CPU or 512 MB.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.abuse.bombs import BOMBS, LEARNERS, Bomb
from tests.daemon_process import Daemon

CPU_S, MEMORY_MB = 2.0, 512.0
HONOURED_CPU_S = 5.0  # of the largest requests that are legal
SETTLE_S = 0.7  # housekeeping counts error rates after the answer


@dataclass(frozen=True, slots=True)
class Blast:
    """One bomb: the code that it got, and what it cost the daemon. `words` is the message of a refusal."""

    bomb: str
    code: grpc.StatusCode
    words: str
    cpu_s: float
    memory_mb: float
    codes: tuple[grpc.StatusCode, ...]

    @property
    def good(self) -> bool:
        """Answered as documented, and within the budget."""
        most_s = HONOURED_CPU_S if self.code == grpc.StatusCode.OK else CPU_S
        return self.code in self.codes and self.cpu_s <= most_s and self.memory_mb <= MEMORY_MB


async def blast(channel: grpc.aio.Channel, pid: int, bomb: Bomb, request: object) -> Blast:
    """Send what the bomb made, wait for the answer, see what it took."""
    before_s, before_mb = cpu_s(pid), resident_mb(pid)
    _forget_peak(pid)
    code, words = await sent(channel, bomb, request)
    await asyncio.sleep(SETTLE_S)
    return Blast(bomb.name, code, words, cpu_s(pid) - before_s, _field(pid, "VmHWM") - before_mb, bomb.codes)


async def sent(channel: grpc.aio.Channel, bomb: Bomb, request: object) -> tuple[grpc.StatusCode, str]:
    """The code and the words of the answer."""
    learners = learners_pb2_grpc.LearnerServiceStub(channel)
    if isinstance(request, spec.LearnerSpec):
        call = learners.CreateLearner(learners_pb2.CreateLearnerRequest(name="bomb", spec=request))
        code, words = await call.code(), await call.details()
        if code == grpc.StatusCode.OK:
            await learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="bomb"))
        return code, words or ""
    stream = combine_pb2_grpc.CombineServiceStub(channel).Combine()
    name = f"bomb/{bomb.learner}"
    await stream.write(wire.CombineRequest(open=wire.Open(learner=name, create=LEARNERS[bomb.learner])))
    assert (await stream.read()).HasField("opened")
    answer = wire.CombineResponse()
    for message in request if isinstance(request, list) else [request]:
        kind = "utterance" if isinstance(message, said.Utterance) else "feedback"
        await stream.write(wire.CombineRequest(**{kind: message}))
        answer = await stream.read()
    await stream.done_writing()
    await learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name=name))
    if not answer.HasField("problem"):
        return grpc.StatusCode.OK, ""
    codes = {code.value[0]: code for code in grpc.StatusCode}
    return codes[answer.problem.code], answer.problem.message


async def latencies(channel: grpc.aio.Channel, seen: list[float], stop: asyncio.Event) -> None:
    """A healthy client: small rounds, one after the other, each timed."""
    stream = combine_pb2_grpc.CombineServiceStub(channel).Combine()
    await stream.write(wire.CombineRequest(open=wire.Open(learner="healthy", create=LEARNERS["words"])))
    await stream.read()
    number = 0
    while not stop.is_set():
        offers = [said.SlotOffers(expert=name, tokens=["a", "b", "c"]) for name in ("ann", "bob", "cy")]
        message = said.Utterance(id=f"h{number}", slots=said.Slots(offers=offers))
        started = time.perf_counter()
        await stream.write(wire.CombineRequest(utterance=message))
        await stream.read()
        seen.append(time.perf_counter() - started)
        number += 1
        await asyncio.sleep(0.005)


def p99_ms(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(0.99 * (len(seconds) - 1))] * 1000


def cpu_s(pid: int) -> float:
    """CPU seconds of a process and of the children that it has waited for."""
    values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, values[11:15])) / os.sysconf("SC_CLK_TCK")


def _forget_peak(pid: int) -> None:
    """Let the peak of memory count from here."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def resident_mb(pid: int) -> float:
    return _field(pid, "VmRSS")


def _field(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


async def run(directory: Path, wanted: str = "") -> list[Blast]:
    daemon = Daemon(directory, "log.level=error")
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            calm: list[float] = []
            stop = asyncio.Event()
            healthy = asyncio.create_task(latencies(channel, calm, stop))
            await asyncio.sleep(3.0)
            stop.set()
            await healthy
            blasts = []
            print(f"others' p99 before: {p99_ms(calm):.1f} ms")
            for bomb in BOMBS:
                if wanted not in bomb.name:
                    continue
                request = bomb.make()  # before anybody's time is taken
                seen: list[float] = []
                stop = asyncio.Event()
                async with grpc.aio.insecure_channel(
                    daemon.address, options=[("grpc.use_local_subchannel_pool", 1)]
                ) as other:
                    healthy = asyncio.create_task(latencies(other, seen, stop))
                    await asyncio.sleep(0.2)
                    done = await blast(channel, daemon.pid, bomb, request)
                    stop.set()
                    await healthy
                verdict = "" if done.good else "  <<<"
                print(
                    f"{done.bomb:40} {done.code.name:20} {done.cpu_s:6.2f} s {done.memory_mb:7.1f} MB "
                    f"p99 {p99_ms(seen):7.1f} ms  max {max(seen) * 1000:7.1f}{verdict}  {done.words[:90]}",
                    flush=True,
                )
                blasts.append(done)
            return blasts
    finally:
        daemon.kill()


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="galloon-abuse-") as directory:
        blasts = asyncio.run(run(Path(directory), sys.argv[1] if len(sys.argv) > 1 else ""))
    return int(not all(each.good for each in blasts))


if __name__ == "__main__":
    sys.exit(main())
