"""The curves of arcs: chains of cubic Bezier pieces from the rim of one state to the rim of another.

`bent` for neighbours, `routed` through way points, `loop` from a state to itself; all are made from middle to
middle and then `trimmed` to the circles. `point_at` walks along a curve.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import hypot

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Piece:
    """A cubic Bezier curve."""

    start: Point
    leave: Point
    arrive: Point
    end: Point

    def at(self, t: float) -> Point:
        return self.split(t)[0].end

    def split(self, t: float) -> tuple["Piece", "Piece"]:
        """The curve before and after t (de Casteljau)."""
        a = _between(self.start, self.leave, t)
        b = _between(self.leave, self.arrive, t)
        c = _between(self.arrive, self.end, t)
        ab, bc = _between(a, b, t), _between(b, c, t)
        middle = _between(ab, bc, t)
        return Piece(self.start, a, ab, middle), Piece(middle, bc, c, self.end)


Curve = tuple[Piece, ...]


def bent(start: Point, end: Point, bend: float) -> Curve:
    """From start to end, its middle `bend` off the straight line, to the right-hand side of the way."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy)
    off = (-dy / length * bend * 4 / 3, dx / length * bend * 4 / 3)
    leave = (start[0] + dx / 4 + off[0], start[1] + dy / 4 + off[1])
    arrive = (end[0] - dx / 4 + off[0], end[1] - dy / 4 + off[1])
    return (Piece(start, leave, arrive, end),)


def routed(points: tuple[Point, ...]) -> Curve:
    """Through the points, level at each way point, and straight out of and into the states."""
    pieces = []
    for i, (a, b) in enumerate(pairwise(points)):
        dx = (b[0] - a[0]) * 0.45
        leave = (a[0] + dx, a[1]) if i > 0 else _between(a, b, 0.4)
        arrive = (b[0] - dx, b[1]) if i < len(points) - 2 else _between(a, b, 0.6)
        pieces.append(Piece(a, leave, arrive, b))
    return tuple(pieces)


def loop(middle: Point, size: float) -> Curve:
    """From a state to itself, above it."""
    x, y = middle
    return (Piece(middle, (x - size, y - 1.6 * size), (x + size, y - 1.6 * size), middle),)


def trimmed(curve: Curve, first_radius: float, last_radius: float) -> Curve:
    """The curve without what lies inside the circles around its two ends."""
    head = _outside(curve[0], first_radius)
    curve = (head, *curve[1:])
    last = curve[-1]
    tail = _outside(Piece(last.end, last.arrive, last.leave, last.start), last_radius, curve[-1].end)
    return (*curve[:-1], Piece(tail.end, tail.arrive, tail.leave, tail.start))


def point_at(curve: Curve, t: float) -> Point:
    """The point at the share t of the curve, its pieces counted alike."""
    along = t * len(curve)
    i = min(int(along), len(curve) - 1)
    return curve[i].at(along - i)


def _outside(piece: Piece, radius: float, middle: Point | None = None) -> Piece:
    """The piece from where it leaves the circle around its start for the first time."""
    x, y = middle or piece.start
    inside, outside = 0.0, 0.5
    for _ in range(24):
        t = (inside + outside) / 2
        px, py = piece.at(t)
        if hypot(px - x, py - y) < radius:
            inside = t
        else:
            outside = t
    return piece.split(outside)[1]


def _between(a: Point, b: Point, t: float) -> Point:
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t
