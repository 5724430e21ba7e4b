"""Every request kind at its legal maximum, and what others feel of it: `python -m tests.abuse.maxima`.

One client sends the requests of `largest` to a real daemon, one after the other, while another client in a process
of its own plays small rounds. Of each: what came of it, the other client's 99th percentile in the calm before it
and while it lasted (never less than a second), the longest turn of the event loop and the longest hold of the
interpreter lock in seconds of the processor (see `watched`), what the processor worked, and the peak of memory
beyond what was there. The daemon's own children count for processor and memory.

Exit status 1 when a request kept the other client's p99 above `P99_MS` and above three times that of the calm, had
a turn above `TURN_MS`, or took more than `MEMORY_MB`.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.abuse.blast import cpu_s, forget_peak, memory_mb
from tests.abuse.healthy import Healthy, p99_ms
from tests.abuse.largest import LARGEST, Client, Largest
from tests.abuse.watched import LOCK, TURN, Figures
from tests.daemon_process import Daemon

P99_MS, TIMES_CALM = 100.0, 3.0
TURN_MS = 100.0
MEMORY_MB = 1024.0
CALM_S = 1.5
LOOK_S = 0.05
PATIENCE_S = 180.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What one request took."""

    name: str
    outcome: str
    began: float
    ended: float
    turn_s: float
    lock_s: float
    cpu_s: float
    memory_mb: float

    def p99s(self, seen: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """The other client's, in the calm before it and meanwhile."""
        calm = [took for began, took in seen if self.began - CALM_S <= began < self.began]
        during = [
            took for began, took in seen if self.began - took <= began < max(self.ended, self.began + 1)
        ]
        return p99_ms(calm or [0.0]), p99_ms(during or [0.0])


async def taken(largest: Largest, client: Client, daemon: Daemon, figures: Figures) -> Taken:
    if largest.before is not None:
        await largest.before(client)
    await asyncio.sleep(CALM_S)
    together = _Together(daemon.pid)
    peak = asyncio.create_task(together.watch())
    forget_peak(daemon.pid)
    figures.clear()
    before_mb, before_s, began = memory_mb(daemon.pid, "VmRSS"), cpu_s(daemon.pid), time.monotonic()
    try:
        async with asyncio.timeout(PATIENCE_S):
            outcome = await largest.send(client)
            await asyncio.sleep(0.05)  # the turn that answers is over
    except TimeoutError:
        outcome = f"not answered within {PATIENCE_S:g} s"
    ended = time.monotonic()
    await asyncio.sleep(max(0.0, 1 - (ended - began)))
    peak.cancel()
    return Taken(
        largest.name,
        outcome,
        began,
        ended,
        figures.read(TURN),
        figures.read(LOCK),
        cpu_s(daemon.pid) - before_s,
        memory_mb(daemon.pid, "VmHWM") - before_mb + together.most_mb,
    )


class _Together:
    """The most that children of a process had in memory at once."""

    def __init__(self, pid: int) -> None:
        self._pid, self.most_mb = pid, 0.0

    async def watch(self) -> None:
        while True:
            self._look()
            await asyncio.sleep(LOOK_S)

    def _look(self) -> None:
        together = 0.0
        for task in Path(f"/proc/{self._pid}/task").iterdir():
            with suppress(OSError, LookupError):
                together += sum(
                    memory_mb(child, "VmRSS") for child in (task / "children").read_text().split()
                )
        self.most_mb = max(self.most_mb, together)


async def run(directory: Path, wanted: Sequence[str]) -> list[tuple[Taken, float, float]]:
    figures = Figures(directory / "figures")
    inside = (sys.executable, "-m", "tests.abuse.watched", str(directory / "figures"))
    daemon = Daemon(directory, "log.level=warning", inside=inside)
    await asyncio.to_thread(daemon.start)
    try:
        client, healthy = Client(daemon.address, daemon.http_address), Healthy(daemon.address)
        await healthy.start()
        await asyncio.sleep(2)
        found = []
        for largest in LARGEST:
            if not wanted or any(each in largest.name for each in wanted):
                each = await taken(largest, client, daemon, figures)
                found.append(each)
                print(
                    f"{each.name:48} {each.ended - each.began:7.2f} s, {each.memory_mb:6.0f} MB, turn "
                    f"{each.turn_s * 1000:4.0f} ms  {each.outcome}",
                    file=sys.stderr,
                    flush=True,
                )
        await client.channel.close()
        seen = await healthy.stop_timed()
        return [(each, *each.p99s(seen)) for each in found]
    finally:
        print(daemon.log_tail(), file=sys.stderr)
        daemon.kill()


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="galloon-maxima-") as directory:
        found = asyncio.run(run(Path(directory), sys.argv[1:]))
    print(
        "| request | outcome | p99 before | p99 meanwhile | turn of the loop | lock held | processor | memory |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    missed = []
    for each, calm, during in found:
        print(
            f"| {each.name} | {each.outcome} | {calm:.0f} ms | {during:.0f} ms | {each.turn_s * 1000:.0f} ms "
            f"| {each.lock_s * 1000:.0f} ms | {each.cpu_s:.2f} s | {each.memory_mb:.0f} MB |"
        )
        slow = during > P99_MS and during > TIMES_CALM * calm
        if slow or each.turn_s * 1000 > TURN_MS or each.memory_mb > MEMORY_MB:
            missed.append(each.name)
    print(f"\n{len(found) - len(missed)} of {len(found)} within {P99_MS:g} ms and {MEMORY_MB:g} MB")
    for name in missed:
        print(f"not: {name}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
