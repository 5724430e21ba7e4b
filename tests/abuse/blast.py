"""What a bomb costs: `blast` sends it to a daemon over the real port and measures the daemon's process.

`python -m tests.abuse.blast` sends all of them to a daemon of its own, while a healthy client measures its
latency, and prints a table. Exit status 1 when one was not refused as documented, or cost more than 2 s of
CPU or 512 MB.
"""

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.abuse.bombs import BOMBS, LEARNERS, Bomb
from tests.abuse.healthy import Healthy, p99_ms
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

    def line(self) -> str:
        verdict = "" if self.good else "  <<<"
        return (
            f"{self.bomb:40} {self.code.name:20} {self.cpu_s:6.2f} s "
            f"{self.memory_mb:7.1f} MB{verdict}  {self.words[:90]}"
        )


@dataclass(frozen=True, slots=True)
class Blasts:
    """All of them, and the 99th percentile of a healthy client's latency before and during them."""

    each: list[Blast]
    p99_before_ms: float
    p99_during_ms: float


async def blast(channel: grpc.aio.Channel, pid: int, bomb: Bomb, request: object) -> Blast:
    """Send what the bomb made, wait for the answer, see what it took."""
    before_s, before_mb = cpu_s(pid), resident_mb(pid)
    forget_peak(pid)
    code, words = await sent(channel, bomb, request)
    await asyncio.sleep(SETTLE_S)
    return Blast(
        bomb.name, code, words, cpu_s(pid) - before_s, memory_mb(pid, "VmHWM") - before_mb, bomb.codes
    )


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


def cpu_s(pid: int) -> float:
    """CPU seconds of a process and of the children that it has waited for."""
    values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, values[11:15])) / os.sysconf("SC_CLK_TCK")


def forget_peak(pid: int | str) -> None:
    """Let the peak of memory count from here."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def resident_mb(pid: int) -> float:
    return memory_mb(pid, "VmRSS")


def memory_mb(pid: int | str, name: str) -> float:
    """A line of /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


async def run(directory: Path, wanted: str = "") -> Blasts:
    """All bombs whose names contain `wanted`, beside a healthy client in a process of its own."""
    daemon = Daemon(directory, "log.level=error")
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            healthy = Healthy(daemon.address)
            await healthy.start()
            await asyncio.sleep(10.0)
            calm = await healthy.stop()
            await healthy.start()
            blasts = []
            for bomb in BOMBS:
                if wanted in bomb.name:
                    done = await blast(channel, daemon.pid, bomb, bomb.make())
                    print(done.line(), flush=True)
                    blasts.append(done)
            return Blasts(blasts, p99_ms(calm), p99_ms(await healthy.stop()))
    finally:
        daemon.kill()


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="galloon-abuse-") as directory:
        blasts = asyncio.run(run(Path(directory), sys.argv[1] if len(sys.argv) > 1 else ""))
    print(f"others' p99: {blasts.p99_before_ms:.1f} ms before, {blasts.p99_during_ms:.1f} ms during")
    return int(not all(each.good for each in blasts.each))


if __name__ == "__main__":
    sys.exit(main())
