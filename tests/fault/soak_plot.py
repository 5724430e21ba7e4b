"""A picture of a soak: memory over time, what it came back to in each minute, and where the floods were."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from tests.fault.soak import Sample

FLOOD = "never_reading"


def plot(samples: Sequence["Sample"], lows: Sequence["Sample"], slope_mb_per_hour: float, path: Path) -> None:
    """`lows` are those that were measured; all before the first of them is warm-up."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(0, lows[0].at_s / 60, color="0.93", label="warm-up")
    for before, after in pairwise(samples):
        if after.fault == FLOOD != before.fault:
            axes.axvline(after.at_s / 60, color="tab:orange", linewidth=0.6, alpha=0.6)
    axes.plot([], [], color="tab:orange", linewidth=0.6, label="a flood: clients that never read")
    axes.plot(
        _minutes(samples), _sizes(samples), color="tab:blue", linewidth=0.6, alpha=0.5, label="every 5 s"
    )
    label = f"lowest of each minute: {slope_mb_per_hour:+.2f} MB an hour"
    axes.plot(_minutes(lows), _sizes(lows), color="tab:blue", marker=".", linewidth=1.2, label=label)
    axes.set(xlabel="minutes", ylabel="resident memory of the daemon, MB")
    axes.margins(x=0)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def _minutes(samples: Sequence["Sample"]) -> list[float]:
    return [each.at_s / 60 for each in samples]


def _sizes(samples: Sequence["Sample"]) -> list[float]:
    return [each.resident_mb for each in samples]
