"""Does memory grow? Samples of a process, and the judgement on them: `judge_memory`.

Two things must hold after the warm-up: bytes in use are level, and resident memory at the end is within 5 % of
what it was when the warm-up ended. Both are taken as what memory comes back to, the lowest of each minute: in
between, work in hand comes and goes by megabytes.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

LOOKS = 3  # at least in a minute: the last one may be a single moment in the middle of a flood
MINUTES = 5  # at the beginning and at the end, whose median is compared
RESIDENT, IN_USE = 0.05, 0.02  # that the end may exceed the beginning, as a share
WATCHED = Path(__file__).with_name("watched")


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at a moment."""

    at_s: float
    resident_mb: float
    in_use_mb: float  # by the C library's count
    blocks: int  # small objects of Python's
    descriptors: int
    threads: int
    fault: str  # the last one


@dataclass(frozen=True, slots=True)
class Grown:
    """What memory came back to after the warm-up, and at the end."""

    resident_mb: tuple[float, float]
    in_use_mb: tuple[float, float]
    blocks: tuple[float, float]

    def complaints(self) -> list[str]:
        """Sentences, one for each thing that grew; none where nothing did."""
        measured = {
            "resident memory in MB": (self.resident_mb, RESIDENT),
            "bytes in use in MB": (self.in_use_mb, IN_USE),
            "blocks of small objects": (self.blocks, IN_USE),
        }
        return [
            f"{name} grew from {before:,.1f} to {after:,.1f}: more than {share:.0%}"
            for name, ((before, after), share) in measured.items()
            if after > before * (1 + share)
        ]


def judge_memory(samples: Sequence[Sample]) -> Grown:
    """Samples after the warm-up, in order; at least one."""
    return Grown(
        _ends(samples, lambda each: each.resident_mb),
        _ends(samples, lambda each: each.in_use_mb),
        _ends(samples, lambda each: float(each.blocks)),
    )


def lowest_of_minutes(samples: Sequence[Sample], size: Callable[[Sample], float]) -> list[Sample]:
    """What memory came back to: the lowest of each minute that was looked at often enough to have come back."""
    minutes = [list(minute) for _, minute in groupby(samples, key=lambda each: each.at_s // 60)]
    lows = [min(minute, key=size) for minute in minutes if len(minute) >= LOOKS]
    return lows or [min(samples, key=size)]


def _ends(samples: Sequence[Sample], size: Callable[[Sample], float]) -> tuple[float, float]:
    lows = [size(each) for each in lowest_of_minutes(samples, size)]
    return median(lows[:MINUTES]), median(lows[-MINUTES:])


def watched(in_use: Path) -> dict[str, str]:
    """Variables that make a process write what it has in use to this file."""
    path = [str(WATCHED), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(path), "GALLOON_IN_USE": str(in_use)}


def sampled(pid: int, at_s: float, fault: str, in_use: Path) -> Sample:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    resident = int(fields["VmRSS"].split()[0]) / 1024
    used, blocks = (int(number) for number in in_use.read_text().split())
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Sample(at_s, resident, used / 2**20, blocks, descriptors, int(fields["Threads"]), fault)
