"""A picture of a soak: memory over time, what it came back to in each minute, and where the floods were."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from matplotlib.figure import Figure

from tests.fault.memory import Sample, lowest_of_minutes

FLOOD = "never_reading"


def plot(samples: Sequence[Sample], measured: Sequence[Sample], path: Path) -> None:
    """All before the first that is measured is warm-up."""
    lows = lowest_of_minutes(measured, lambda each: each.resident_mb)
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(0, measured[0].at_s / 60, color="0.93", label="warm-up")
    for before, after in pairwise(samples):
        if after.fault == FLOOD != before.fault:
            axes.axvline(after.at_s / 60, color="tab:orange", linewidth=0.6, alpha=0.6)
    axes.plot([], [], color="tab:orange", linewidth=0.6, label="a flood: clients that never read")
    axes.plot(
        _minutes(samples), _sizes(samples), color="tab:blue", linewidth=0.6, alpha=0.5, label="every 5 s"
    )
    label = "lowest of each minute"
    axes.plot(_minutes(lows), _sizes(lows), color="tab:blue", marker=".", linewidth=1.2, label=label)
    in_use = [each.in_use_mb for each in samples]
    axes.plot(_minutes(samples), in_use, color="tab:green", linewidth=0.6, label="bytes in use, every 5 s")
    axes.set(xlabel="minutes", ylabel="memory of the daemon, MB", ylim=0)
    axes.margins(x=0)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def _minutes(samples: Sequence[Sample]) -> list[float]:
    return [each.at_s / 60 for each in samples]


def _sizes(samples: Sequence[Sample]) -> list[float]:
    return [each.resident_mb for each in samples]
