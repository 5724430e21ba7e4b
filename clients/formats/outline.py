"""Places as engines write them, made upright boxes: `outline_of` corners, `corners_of` JSON, `box_of_edges`.

A polygon's corners come as pairs, as objects with x and y, or as one flat list of numbers.
"""

from collections.abc import Sequence

from galloon.clients.formats.safe_json import Node
from galloon.clients.formats.words import FARTHEST
from galloon.learners.documents.document import Box

Corner = tuple[float, float]


def outline_of(corners: Sequence[Corner]) -> tuple[Box | None, float | None]:
    """The upright box around a polygon, and the slope of its upper edge if it has four corners."""
    if not corners or any(max(abs(x), abs(y)) >= FARTHEST for x, y in corners):
        return None, None
    across, down = zip(*corners, strict=True)
    box = Box(min(across), min(down), max(across), max(down))
    slope = None
    if len(corners) == 4 and corners[1][0] > corners[0][0]:
        slope = (corners[1][1] - corners[0][1]) / (corners[1][0] - corners[0][0])
    return box, slope


def corners_of(node: Node, across: float = 1.0, down: float = 1.0) -> list[Corner]:
    """The corners in a JSON value; `across` and `down` are pixels for each of its units."""
    entries = list(node.items())
    if entries and not isinstance(entries[0].value, dict | list):
        flat = [entry.number() or 0.0 for entry in entries]
        if len(flat) % 2:
            raise node.wrong("as many numbers across as down")
        return [(across * x, down * y) for x, y in zip(flat[::2], flat[1::2], strict=True)]
    corners = []
    for entry in entries:
        if isinstance(entry.value, list):
            pair = [part.number() or 0.0 for part in entry.items()]
            if len(pair) != 2:
                raise entry.wrong("a pair of numbers")
            x, y = pair
        else:  # a coordinate of zero is left out by some
            x, y = (entry.first(*names).number() or 0.0 for names in (("x", "X"), ("y", "Y")))
        corners.append((across * x, down * y))
    return corners


def box_of_edges(node: Node, scale: float = 1.0) -> Box | None:
    """The box of a list `[left, top, right, bottom]`; `scale` is pixels for each of its units."""
    edges = [scale * (entry.number() or 0.0) for entry in node.items()]
    if not edges:
        return None
    if len(edges) != 4:
        raise node.wrong("a list of left, top, right and bottom")
    left, top, right, bottom = edges
    return outline_of([(left, top), (right, bottom)])[0]
