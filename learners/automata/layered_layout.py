"""Where to draw states and arcs: layers from left to right, as automata are drawn in papers.

`layered_layout` puts each state into the layer of the longest way to it, leads arcs that skip layers through
way points, sorts the layers so that few arcs cross (barycentres, swept back and forth), pulls states towards
their neighbours, bends parallel arcs apart, and finds each label a place where it covers no other.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

from galloon.learners.automata.arc_curves import Curve, Point, bent, loop, point_at, routed, trimmed
from galloon.learners.automata.diagram import Diagram

RADIUS = 18.0
ROW = 66.0  # between states of a layer
LANE = 30.0  # between parallel arcs, and between way points
CHARACTER = 7.4  # width of a label's character
LABEL_HEIGHT = 15.0
SWEEPS = 12
ARROW = 9.0  # length of an arrow head
MARGIN = 14.0
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """The curve of an arc up to its arrow head, where the head points to, and the middle of the label."""

    curve: Curve
    tip: Point
    label: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions for everything of a diagram, and the box that holds it: left, top, right, bottom."""

    box: Box
    states: tuple[Point, ...]
    arcs: tuple[PlacedArc, ...]


@dataclass(slots=True)
class _Node:
    """A state, or a way point of a long arc."""

    layer: int
    height: float
    y: float = 0.0


def layered_layout(diagram: Diagram) -> Layout:
    """The positions for a diagram; cycles are allowed, and arcs that lead back are bent around below."""
    layers = _layers(diagram)
    row = _row(diagram, layers)
    nodes = [_Node(layer, row) for layer in layers]
    chains = _chains(diagram, nodes)
    _arrange(nodes, chains)
    columns = _columns(diagram, nodes)
    places = [(columns[node.layer], node.y) for node in nodes]
    states = tuple(places[: diagram.state_count])
    curves = [
        _curve(tuple(places[node] for node in chain), bend)
        for chain, bend in zip(chains, _bends(diagram, chains), strict=True)
    ]
    labels, boxes = _labels(diagram, states, curves)
    arcs = tuple(
        PlacedArc(trimmed(curve, RADIUS, RADIUS + ARROW), trimmed(curve, RADIUS, RADIUS + 1.0)[-1].end, label)
        for curve, label in zip(curves, labels, strict=True)
    )
    boxes += [_box(states[diagram.initial], RADIUS, RADIUS)]
    for arc in arcs:
        boxes += [_box(point_at(arc.curve, k / 8), 2.0, 2.0) for k in range(9)]
    box = (
        min(b[0] for b in boxes) - MARGIN,
        min(b[1] for b in boxes) - MARGIN,
        max(b[2] for b in boxes) + MARGIN,
        max(b[3] for b in boxes) + MARGIN,
    )
    return Layout(box, states, arcs)


def _layers(diagram: Diagram) -> list[int]:
    """The longest way from the initial state to each state, along arcs that close no cycle."""
    onward: dict[int, list[int]] = defaultdict(list)
    for arc in diagram.arcs:
        onward[arc.source].append(arc.target)
    finished: list[int] = []
    seen: set[int] = set()
    forward: dict[int, list[int]] = defaultdict(list)
    active: set[int] = set()
    for root in (diagram.initial, *range(diagram.state_count)):
        stack = [(root, iter(onward[root]))] if root not in seen else []
        seen.add(root)
        active.add(root)
        while stack:
            state, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                finished.append(state)
                active.discard(state)
                stack.pop()
            elif step not in active:  # else the arc leads back into the way here
                forward[state].append(step)
                if step not in seen:
                    seen.add(step)
                    active.add(step)
                    stack.append((step, iter(onward[step])))
        active.discard(root)
    layers = [0] * diagram.state_count
    for state in reversed(finished):
        for step in forward[state]:
            layers[step] = max(layers[step], layers[state] + 1)
    return layers


def _row(diagram: Diagram, layers: list[int]) -> float:
    """The distance between states of a layer: wider where many labels must fit between two layers."""
    states, labels = Counter(layers), Counter[int]()
    for arc in diagram.arcs:
        if layers[arc.target] == layers[arc.source] + 1:
            labels[layers[arc.source]] += 1
    crowded = [
        LABEL_HEIGHT * 2.0 * count / ((states[layer] + states[layer + 1]) / 2)
        for layer, count in labels.items()
    ]
    return min(max([ROW, *crowded]), 3 * ROW)


def _chains(diagram: Diagram, nodes: list[_Node]) -> list[list[int]]:
    """For each arc the nodes that it passes; arcs that skip layers get way points of their own."""
    chains = []
    for arc in diagram.arcs:
        first, last = nodes[arc.source].layer, nodes[arc.target].layer
        chain = [arc.source]
        for layer in range(first + 1, last):
            chain.append(len(nodes))
            nodes.append(_Node(layer, LANE))
        chains.append([*chain, arc.target])
    return chains


def _arrange(nodes: list[_Node], chains: list[list[int]]) -> None:
    """Order each layer and give every node its height."""
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for chain in chains:
        for a, b in pairwise(chain):
            if nodes[b].layer == nodes[a].layer + 1:
                after[a].append(b)
                before[b].append(a)
    layers: list[list[int]] = [[] for _ in range(max(node.layer for node in nodes) + 1)]
    for i, node in enumerate(nodes):
        layers[node.layer].append(i)
    for layer in layers:
        _stack(nodes, layer)
    best = [list(layer) for layer in layers]
    fewest = _crossings(nodes, layers, after)
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            layer.sort(key=lambda i: _mean([nodes[j].y for j in neighbours[i]], nodes[i].y))
            _stack(nodes, layer)
        crossings = _crossings(nodes, layers, after)
        if crossings < fewest:
            fewest, best = crossings, [list(layer) for layer in layers]
    for layer in best:
        _stack(nodes, layer)
    for sweep in range(2 * SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in best if sweep % 2 == 0 else best[::-1]:
            _pull(nodes, layer, neighbours)


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _stack(nodes: list[_Node], layer: list[int]) -> None:
    """Put a layer's nodes under each other, the middle at 0."""
    y = -sum(nodes[i].height for i in layer) / 2
    for i in layer:
        nodes[i].y = y + nodes[i].height / 2
        y += nodes[i].height


def _crossings(nodes: list[_Node], layers: list[list[int]], after: dict[int, list[int]]) -> int:
    total = 0
    for layer in layers:
        ends = [(nodes[i].y, nodes[j].y) for i in layer for j in after[i]]
        total += sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for k, a in enumerate(ends) for b in ends[:k])
    return total


def _pull(nodes: list[_Node], layer: list[int], neighbours: dict[int, list[int]]) -> None:
    """Move nodes towards the mean of their neighbours, keeping their order and their distance."""
    wish = {i: _mean([nodes[j].y for j in neighbours[i]], nodes[i].y) for i in layer}
    down = dict(wish)
    for above, below in pairwise(layer):
        down[below] = max(down[below], down[above] + (nodes[above].height + nodes[below].height) / 2)
    up = dict(wish)
    for below, above in pairwise(layer[::-1]):
        up[above] = min(up[above], up[below] - (nodes[above].height + nodes[below].height) / 2)
    for i in layer:  # the mean of two ways to keep the distance keeps it too
        nodes[i].y = (down[i] + up[i]) / 2


def _columns(diagram: Diagram, nodes: list[_Node]) -> list[float]:
    """The middle of each layer: labels must fit in between, and steep arcs need some way to go."""
    count = max(node.layer for node in nodes) + 1
    gap = [2 * RADIUS + 50.0] * count
    for arc in diagram.arcs:
        first, last = sorted((nodes[arc.source].layer, nodes[arc.target].layer))
        width = label_width(arc.label) + 2 * RADIUS + 40.0
        for layer in range(first, last):
            rise = abs(nodes[arc.source].y - nodes[arc.target].y) / (last - first)
            gap[layer] = max(
                gap[layer], width / (last - first), width + 0.25 * rise if last == first + 1 else 0.0
            )
    columns = [RADIUS + 46.0]
    for layer in range(count - 1):
        columns.append(columns[-1] + gap[layer])
    return columns


def _bends(diagram: Diagram, chains: list[list[int]]) -> list[float]:
    """How far each arc is bent: parallel arcs spread, those that lead back go around below."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, (arc, chain) in enumerate(zip(diagram.arcs, chains, strict=True)):
        if len(chain) == 2:
            groups[arc.source, arc.target].append(i)
    bends = [0.0] * len(diagram.arcs)
    for members in groups.values():
        for place, i in enumerate(members):
            bends[i] = (place - (len(members) - 1) / 2) * LANE
    return bends


def _curve(points: tuple[Point, ...], bend: float) -> Curve:
    first, last = points[0], points[-1]
    if first == last:
        return loop(first, 2.2 * RADIUS + abs(bend))
    if last[0] <= first[0]:
        return bent(first, last, -0.8 * ROW - abs(bend))  # its right-hand side is up, so minus is below
    return bent(first, last, bend) if len(points) == 2 else routed(points)


def _labels(
    diagram: Diagram, states: tuple[Point, ...], curves: list[Curve]
) -> tuple[list[Point], list[Box]]:
    """For each label the spot on its arc where it covers least of the states and the labels before it."""
    taken = [_box(state, RADIUS, RADIUS) for state in states]
    chosen = []
    for arc, curve in zip(diagram.arcs, curves, strict=True):
        spots = [point_at(curve, t) for t in (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.27, 0.73)]
        boxes = [_box(spot, label_width(arc.label) / 2, LABEL_HEIGHT / 2) for spot in spots]
        covered = [sum(_overlap(box, other) for other in taken) for box in boxes]
        best = min(range(len(spots)), key=lambda k: (round(covered[k], 3), k))
        taken.append(boxes[best])
        chosen.append(spots[best])
    return chosen, taken


def label_width(label: str) -> float:
    """About how wide a label is drawn."""
    return len(label) * CHARACTER + 2.0


def _box(middle: Point, half_width: float, half_height: float) -> Box:
    x, y = middle
    return x - half_width, y - half_height, x + half_width, y + half_height


def _overlap(a: Box, b: Box) -> float:
    """The area that two boxes share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
