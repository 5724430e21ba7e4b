"""Regret curves against their bounds, as a picture for a talk: PNG or SVG by the file's ending.

One panel a learner, because a bandit's bound is many times that of a learner with full information; the
panels of learners that are told the same share their scale.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from galloon.learners.combiners.spec import ALGORITHMS
from galloon.learners.paths.catalogue import CATALOGUE
from galloon.learners.paths.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REGRET, BOUND, INK, FAINT = "#0072B2", "#D55E00", "#222222", "#dddddd"
TOLD = {"full": "full information", "semi": "semi-bandit", "bandit": "full bandit"}
MOST_COLUMNS = 3


def plot_regret(results: Mapping[str, Sequence[Run]], title: str, file: Path) -> None:
    """Draw each learner's mean regret with its range over seeds, and its bound as a dashed line."""
    try:
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise click.ClickException("plots need matplotlib: pip install 'galloon[plots]'") from error
    mpl.use("Agg")

    columns = 2 if len(results) == 4 else min(MOST_COLUMNS, len(results))
    rows = -(-len(results) // columns)
    size = (9, 5.2) if len(results) == 1 else (4.2 * columns, 3.4 * rows + 0.6)
    with plt.rc_context({"font.size": 10.5, "svg.hashsalt": "galloon", "text.color": INK}):
        figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        panels = list(grid.flat)
        for panel in panels[len(results) :]:
            panel.set_visible(False)
        tops = _tops(results)
        for panel, (name, runs) in zip(panels, results.items(), strict=False):
            _draw(panel, name, runs, tops[name])
        for row in grid:
            row[0].set_ylabel("regret")
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        figure.savefig(file, dpi=160, metadata=_metadata(file))
        plt.close(figure)


def _draw(panel: "Axes", name: str, runs: Sequence[Run], top: float) -> None:
    rounds, bound = runs[0].rounds, runs[0].bound
    curves = np.array([run.regret for run in runs])
    mean = curves.mean(axis=0)
    panel.plot(rounds, bound, color=BOUND, linewidth=1.8, linestyle=(0, (5, 3)))
    panel.fill_between(rounds, curves.min(axis=0), curves.max(axis=0), color=REGRET, alpha=0.2, linewidth=0)
    panel.plot(rounds, mean, color=REGRET, linewidth=2.2)
    panel.set_title(CATALOGUE[name].title, loc="left", fontweight="bold", fontsize=11.5)
    panel.set_title(TOLD[ALGORITHMS[name].value], loc="right", fontsize=9.5, color="#666666")
    panel.set_xlim(0, rounds[-1])
    panel.set_ylim(min(0.0, float(curves.min()) * 1.1), top)
    middle = rounds.size * 5 // 8
    if not np.isnan(bound[-1]):
        panel.annotate(
            f"bound {bound[-1]:,.0f}", (rounds[middle], bound[middle]), xytext=(0, 6),
            textcoords="offset points", color=BOUND, ha="right", va="bottom",
        )  # fmt: skip
    share = "" if np.isnan(bound[-1]) else f", {mean[-1] / bound[-1]:.0%} of it"
    panel.annotate(
        f"regret {mean[-1]:,.0f}{share}", (rounds[-1], mean[-1]), xytext=(0, 6),
        textcoords="offset points", color=REGRET, ha="right", va="bottom",
    )  # fmt: skip
    panel.set_xlabel("round")
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _tops(results: Mapping[str, Sequence[Run]]) -> dict[str, float]:
    """The top of each panel: the largest number among the learners that are told the same."""
    tops = {
        name: max(float(np.nanmax([run.regret.max(), np.nanmax([*run.bound, 0.0])])) for run in runs)
        for name, runs in results.items()
    }
    return {
        name: 1.12 * max(top for other, top in tops.items() if ALGORITHMS[other] is ALGORITHMS[name])
        for name in results
    }


def _metadata(file: Path) -> dict[str, str | None]:
    """No date in the file: the same run gives the same bytes."""
    return {"Date": None} if file.suffix == ".svg" else {"Software": "galloon"}
