"""The machine: interpreter, processor, memory, and whether its clocks agree.

A container sees the files of its host; what its control group allows is what counts.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good

OLDEST_PYTHON = (3, 11)
LEAST_MEMORY = 256 * 2**20  # the daemon with its libraries and no learners has about 200 MB
ENOUGH_MEMORY = 512 * 2**20
# Long before this code was written: a wall clock that says so was never set.
EARLIEST_WALL_S = 1_735_689_600.0  # 2025
CLOCK_SAMPLE_S = 0.25


def check_machine(root: Path = Path("/")) -> Iterator[Finding]:
    """All of it. `root` is where proc and sys are."""
    yield check_python(sys.version_info[:2], sys.maxsize)
    yield check_processor(root)
    yield check_memory(root)
    yield check_clock(time.monotonic, time.time, time.sleep)


def check_python(version: tuple[int, ...], largest: int) -> Finding:
    text = f"Python {platform.python_version()} ({platform.python_implementation()}), {platform.platform()}"
    if version < OLDEST_PYTHON or platform.python_implementation() != "CPython":
        return bad("python", text, "run galloon with CPython 3.11 or newer")
    if largest < 2**62:
        return bad("python", f"{text}, 32 bits", "use a 64-bit Python: its libraries exist for nothing else")
    return good("python", text)


def check_processor(root: Path) -> Finding:
    cores = len(os.sched_getaffinity(0))
    allowed = _allowed_cores(root)
    flags = _flags(root)
    vectors = [name for name in ("sse4_2", "avx2", "fma", "avx512f", "asimd") if name in flags]
    target = os.environ.get("NUMBA_CPU_NAME") or "this processor"
    text = f"{platform.machine()}, {cores} cores, {'/'.join(vectors) or 'no vectors'}; kernels for {target}"
    if allowed is not None and allowed < cores:
        text += f"; the control group allows {allowed:.3g} cores"
    usable = cores if allowed is None else min(cores, allowed)
    if usable < 1:
        return doubtful("processor", text, "give it a whole core: streams wait while it is held back")
    return good("processor", text)


def check_memory(root: Path) -> Finding:
    available = _meminfo(root).get("MemAvailable", 0)
    limit = _number(root / "sys/fs/cgroup/memory.max")
    used = _number(root / "sys/fs/cgroup/memory.current")
    text = f"{available / 2**30:.1f} GiB available"
    if limit is not None:
        left = limit - (used or 0)
        text += f"; the control group allows {limit / 2**30:.1f} GiB"
        available = min(available, left)
    if available < LEAST_MEMORY:
        return bad("memory", text, "free memory or raise the limit: the daemon alone needs 256 MiB")
    if available < ENOUGH_MEMORY:
        return doubtful(
            "memory", text, "512 MiB leave room for learners; see limits.transitions for their size"
        )
    return good("memory", text)


def check_clock(
    monotonic: Callable[[], float], wall: Callable[[], float], sleep: Callable[[float], None]
) -> Finding:
    """Rounds expire by the monotonic clock; certificates and logs go by the wall clock."""
    started, wall_started = monotonic(), wall()
    sleep(CLOCK_SAMPLE_S)
    elapsed, wall_elapsed = monotonic() - started, wall() - wall_started
    text = f"{elapsed:.3f} s on the monotonic clock were {wall_elapsed:.3f} s on the wall clock"
    if elapsed <= 0:
        return bad(
            "clock", text, "the monotonic clock stands still: rounds would never expire; see to the host"
        )
    if wall() < EARLIEST_WALL_S:
        said = time.strftime("%Y-%m-%d", time.gmtime(wall()))
        return bad("clock", f"the wall clock says {said}", "set it: certificates are judged by it")
    if abs(wall_elapsed - elapsed) > 0.05 * elapsed:
        return doubtful("clock", text, "somebody sets the wall clock just now; let one time service do it")
    return good("clock", text)


def _allowed_cores(root: Path) -> float | None:
    try:
        quota, period = (root / "sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return None  # no control group, or none that limits
    return None if quota == "max" else int(quota) / int(period)


def _flags(root: Path) -> set[str]:
    try:
        lines = (root / "proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return set(value.split())
    return set()


def _meminfo(root: Path) -> dict[str, int]:
    """Bytes by name."""
    found = {}
    for line in (root / "proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        found[name] = int(value.split()[0]) * 1024
    return found


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None  # absent, or "max"
