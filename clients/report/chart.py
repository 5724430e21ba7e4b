"""Learning curves as SVG that takes its colours from the page: `curve_chart`.

Lines are thinned to what a screen can show; every point that is drawn is a true one.
"""

from html import escape

import numpy as np
from numpy.typing import NDArray

from galloon.clients.replay.curves import LearningCurves
from galloon.clients.replay.names import GALLOON, VOTE

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 34, 132, 12, 36
MOST_POINTS = 240
LABEL_GAP = 15.5  # between the names at the right edge, in units of the drawing


def curve_chart(drawn: LearningCurves, which: str, title: str, styles: dict[str, str]) -> str:
    """One chart: `which` is "rolling" or "cumulative"; `styles` are the CSS classes of the systems."""
    count = drawn.curves[0].rolling.size
    frame = _Frame(drawn.start + 1, count, drawn.top)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">', *frame.axes()]
    ends = []
    order = sorted(drawn.curves, key=lambda curve: (curve.name == GALLOON, curve.name == VOTE))
    for curve in order:  # galloon last: on top of the others
        values = getattr(curve, which)
        strength = " strong" if curve.name == GALLOON else " firm" if curve.name == VOTE else ""
        dashed = " dashed" if curve.name.startswith(f"{GALLOON},") else ""
        parts.append(
            f'<path class="line {styles[curve.name]}{strength}{dashed}" d="{frame.path(values, drawn.start)}">'
            f"<title>{escape(curve.name)}</title></path>"
        )
        ends.append((frame.y(values[-1]), curve.name, float(values[-1])))
    parts += _names(ends, styles)
    return "".join([*parts, "</svg>"])


class _Frame:
    """From utterances and percent to places in the drawing."""

    def __init__(self, first: int, last: int, top: float) -> None:
        self.first, self.last, self.top = first, max(last, first + 1), top or 1.0

    def x(self, utterance: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (utterance - self.first) / (self.last - self.first)

    def y(self, percent: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - percent / self.top)

    def path(self, values: NDArray[np.float64], start: int) -> str:
        places = np.unique(np.linspace(start, values.size - 1, MOST_POINTS).astype(int))
        points = [f"{self.x(place + 1):.1f} {self.y(values[place]):.1f}" for place in places]
        return "M" + "L".join(points)

    def axes(self) -> list[str]:
        parts = []
        for tick in _ticks(0, self.top, 5):
            y = self.y(tick)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(
                f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
            )
        bottom = HEIGHT - BOTTOM
        for tick in _ticks(self.first, self.last, 5):
            x = self.x(tick)
            parts.append(f'<path class="grid" d="M{x:.1f} {bottom}v4"/>')
            parts.append(
                f'<text class="tick" x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{tick:,.0f}</text>'
            )
        middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
        parts.append(
            f'<text class="tick" x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">utterance</text>'
        )
        return parts


def _names(ends: list[tuple[float, str, float]], styles: dict[str, str]) -> list[str]:
    """The names at the right edge, pushed apart where they would overlap, and kept inside the drawing."""
    parts, lowest = [], HEIGHT - BOTTOM + LABEL_GAP
    spread = []
    for y, name, value in sorted(ends, reverse=True):
        lowest = min(y, lowest - LABEL_GAP)
        spread.append((lowest, name, value))
    over = max(0.0, TOP - min(place for place, _, _ in spread))
    for y, name, value in spread:
        weight = " strong" if name == GALLOON else ""
        parts.append(
            f'<text class="name {styles[name]}{weight}" x="{WIDTH - RIGHT + 8}" y="{y + over + 4:.1f}">'
            f"{value:.1f} {escape(_short(name))}</text>"
        )
    return parts


def _short(name: str, most: int = 12) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from low to high, about so many."""
    rough = (high - low) / about
    step = min((m * 10.0**e for e in range(-3, 9) for m in (1, 2, 5)), key=lambda size: abs(size - rough))
    first = np.ceil(low / step)
    return [float(step * k) for k in range(int(first), int(high / step) + 1)]
