"""The learning curves of a replay as a picture for a talk: PNG or SVG by the file's ending."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from galloon.clients.replay.curves import Curve, LearningCurves, learning_curves
from galloon.clients.replay.names import GALLOON, VOTE
from galloon.clients.replay.palette import colours
from galloon.clients.replay.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT = "#222222", "#dddddd"
LABEL_GAP = 0.045  # of the height: labels at the right edge keep this distance


def plot_curves(results: Results, file: Path) -> None:
    """Draw the rolling and the cumulative error rate of every system that competes."""
    try:
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise click.ClickException("plots need matplotlib: pip install 'galloon[plots]'") from error
    mpl.use("Agg")
    drawn = learning_curves(results)
    colour = colours(tuple(results.engines), [system.name for system in results.systems])
    with plt.rc_context({"font.size": 10.5, "svg.hashsalt": "galloon", "text.color": INK}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.8), layout="constrained", sharey=True)
        _draw(left, drawn, colour, "rolling", f"last {drawn.window:,} utterances")
        _draw(right, drawn, colour, "cumulative", "all utterances so far")
        left.set_ylabel(f"{results.metric.upper()}, percent")
        title = f"{Path(results.file).name}: predict, then learn"
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        if drawn.off_scale:
            off = ", ".join(f"{name} {rate:.0f}" for name, rate in drawn.off_scale.items())
            figure.supxlabel(f"off the scale: {off}", x=0.99, ha="right", fontsize=9, color="#666666")
        metadata = (
            {"Date": None} if file.suffix == ".svg" else {"Software": "galloon"}
        )  # the same bytes again
        figure.savefig(file, dpi=160, metadata=metadata)
        plt.close(figure)


def _draw(panel: "Axes", drawn: LearningCurves, colour: dict[str, str], which: str, title: str) -> None:
    start, count = drawn.start, drawn.curves[0].rolling.size
    rounds = range(start + 1, count + 1)
    for curve in drawn.curves:
        strong = curve.name in {GALLOON, VOTE}
        panel.plot(
            rounds, getattr(curve, which)[start:], color=colour[curve.name],
            linewidth=2.4 if curve.name == GALLOON else 1.8 if strong else 1.1, zorder=3 if strong else 2,
            linestyle="--" if curve.name.startswith(f"{GALLOON},") else "-",
        )  # fmt: skip
    for curve, at in label_places(drawn, which):
        panel.annotate(
            f"{curve.name} {getattr(curve, which)[-1]:.1f}", (count, at), xytext=(5, 0),
            textcoords="offset points", color=colour[curve.name], va="center", fontsize=9.5,
            fontweight="bold" if curve.name == GALLOON else "normal", annotation_clip=False,
        )  # fmt: skip
    panel.set_title(title, loc="left", fontsize=11)
    panel.set_xlim(start + 1, max(count, start + 2))
    panel.set_ylim(0, drawn.top)
    panel.set_xlabel("utterance")
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.spines[["top", "right"]].set_visible(False)


def label_places(drawn: LearningCurves, which: str) -> list[tuple[Curve, float]]:
    """Where the names stand at the right edge: at their curve's end, pushed up where they would overlap."""
    ends = sorted(
        ((float(getattr(curve, which)[-1]), curve) for curve in drawn.curves), key=lambda end: end[0]
    )
    places, lowest = [], -drawn.top
    for end, curve in ends:
        at = max(end, lowest + LABEL_GAP * drawn.top)
        places.append((curve, at))
        lowest = at
    return places
