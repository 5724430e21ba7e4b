"""The automata of a learner as drawings: positions and curves in JSON, painted by the page in its own colours."""

import asyncio
from typing import Any

from galloon.daemon.learner.learner import Learner
from galloon.learners.automata.arc_curves import Curve, Point
from galloon.learners.automata.diagram import Diagram, context_diagram, expert_diagram
from galloon.learners.automata.layered_layout import LABEL_HEIGHT, RADIUS, label_width, layered_layout
from galloon.learners.paths.game import Game

DRAWN_ARCS = 160  # beyond this a drawing on a page tells nobody anything


async def automata(learner: Learner) -> dict[str, Any]:
    """A and A': how large they are, and a drawing where they are small."""
    game = learner.describe().game
    if game is None:
        return {"automata": [], "limit": DRAWN_ARCS}
    return {"automata": await asyncio.to_thread(_drawn, game), "limit": DRAWN_ARCS}


def _drawn(game: Game) -> list[dict[str, Any]]:
    found = [_entry("A", "the expert automaton", game.expert.state_count, game.expert.edge_count)]
    if game.expert.edge_count <= DRAWN_ARCS:
        found[0]["drawing"] = drawing(expert_diagram(game.expert))
    if game.context is not None:
        context = game.context
        entry = _entry("A′", "the context automaton", context.state_count, context.transition_count)
        if context.transition_count <= DRAWN_ARCS:
            entry["drawing"] = drawing(context_diagram(context))
        found.append(entry)
    return found


def drawing(diagram: Diagram) -> dict[str, Any]:
    """The diagram, laid out. Lengths are pixels; `path` and `head` are SVG's."""
    layout = layered_layout(diagram)
    return {
        "box": [round(edge, 1) for edge in layout.box],
        "radius": RADIUS,
        "label_height": LABEL_HEIGHT,
        "states": [
            {
                "x": round(x, 1),
                "y": round(y, 1),
                "initial": state == diagram.initial,
                "final": state in diagram.finals,
            }
            for state, (x, y) in enumerate(layout.states)
        ],
        "arcs": [
            {
                "path": _path(placed.curve),
                "head": _head(placed.curve[-1].end, placed.tip),
                "label": arc.label,
                "x": round(placed.label[0], 1),
                "y": round(placed.label[1], 1),
                "width": round(label_width(arc.label), 1),
            }
            for arc, placed in zip(diagram.arcs, layout.arcs, strict=True)
        ],
    }


def _entry(name: str, title: str, states: int, transitions: int) -> dict[str, Any]:
    return {"name": name, "title": title, "states": states, "transitions": transitions, "drawing": None}


def _path(curve: Curve) -> str:
    pieces = [f"M{_point(curve[0].start)}"]
    pieces += ["C" + " ".join(map(_point, (piece.leave, piece.arrive, piece.end))) for piece in curve]
    return "".join(pieces)


def _head(base: Point, tip: Point) -> str:
    dx, dy = (tip[0] - base[0]) * 0.42, (tip[1] - base[1]) * 0.42
    corners = (tip, (base[0] - dy, base[1] + dx), (base[0] + dy, base[1] - dx))
    return " ".join(map(_point, corners))


def _point(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
