"""Diagrams of automata for a person to look at: DOT text and SVG.

`to_dot` for Graphviz and friends. `to_svg` draws with the built-in layout and needs no program.
The initial state is bold, final states have a double circle.
"""

from xml.sax.saxutils import escape

from galloon.learners.automata.arc_curves import Point
from galloon.learners.automata.diagram import Arc, Diagram
from galloon.learners.automata.layered_layout import (
    LABEL_HEIGHT,
    RADIUS,
    Layout,
    PlacedArc,
    label_width,
    layered_layout,
)

STYLE = """
.galloon-diagram{font:13px ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",sans-serif}
.galloon-diagram .arc{fill:none;stroke:#64748b;stroke-width:1.3}
.galloon-diagram .arc.strong{stroke:#2563eb;stroke-width:2.6}
.galloon-diagram .head{fill:#64748b}
.galloon-diagram .head.strong{fill:#2563eb}
.galloon-diagram .state{fill:#f8fafc;stroke:#334155;stroke-width:1.4}
.galloon-diagram .state.initial{stroke-width:3.4}
.galloon-diagram .inner{fill:none;stroke:#334155;stroke-width:1.2}
.galloon-diagram text{fill:#0f172a;text-anchor:middle}
.galloon-diagram .ground{fill:#fff;fill-opacity:.86}
.galloon-diagram .label.strong{fill:#1d4ed8;font-weight:600}
"""


def to_dot(diagram: Diagram) -> str:
    """The diagram in Graphviz's language."""
    lines = [
        f"digraph {_quoted(diagram.title)} {{",
        "  rankdir=LR; node [shape=circle, fixedsize=true, width=0.45];",
    ]
    for state in range(diagram.state_count):
        shape = ", shape=doublecircle" if state in diagram.finals else ""
        bold = ", penwidth=3" if state == diagram.initial else ""
        lines.append(f'  {state} [label="{state}"{shape}{bold}];')
    for arc in diagram.arcs:
        strong = ", penwidth=2.5, color=blue" if arc.strong else ""
        lines.append(f"  {arc.source} -> {arc.target} [label={_quoted(arc.label)}{strong}];")
    return "\n".join([*lines, "}", ""])


def to_svg(diagram: Diagram) -> str:
    """The diagram as a picture that stands alone, in a file or inside a page."""
    layout = layered_layout(diagram)
    title = escape(diagram.title)
    left, top, right, bottom = layout.box
    width, height = right - left, bottom - top
    view = (
        f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="galloon-diagram" role="img" {view}>',
        f"<title>{title}</title><style>{STYLE}</style>",
    ]
    pairs = list(zip(diagram.arcs, layout.arcs, strict=True))
    parts += [_curve(arc, placed) for arc, placed in pairs]
    parts += [_state(diagram, layout, state) for state in range(diagram.state_count)]
    # Labels come last, each on a pale ground that lifts it off the arcs below.
    parts += [_label(arc, placed) for arc, placed in pairs]
    return "\n".join([*parts, "</svg>", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _state(diagram: Diagram, layout: Layout, state: int) -> str:
    x, y = layout.states[state]
    kind = "state initial" if state == diagram.initial else "state"
    circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:g}"/>'
    if state in diagram.finals:
        circle += f'<circle class="inner" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS - 4:g}"/>'
    return f'{circle}<text x="{x:.1f}" y="{y:.1f}" dy=".35em">{state}</text>'


def _label(arc: Arc, placed: PlacedArc) -> str:
    x, y = placed.label
    kind = "label strong" if arc.strong else "label"
    half = label_width(arc.label) / 2
    ground = (
        f'<rect class="ground" x="{x - half:.1f}" y="{y - LABEL_HEIGHT / 2:.1f}" '
        f'width="{2 * half:.1f}" height="{LABEL_HEIGHT:g}" rx="4"/>'
    )
    return f'{ground}<text class="{kind}" x="{x:.1f}" y="{y:.1f}" dy=".35em">{escape(arc.label)}</text>'


def _curve(arc: Arc, placed: PlacedArc) -> str:
    start = placed.curve[0].start
    steps = " ".join(
        "C" + " ".join(f"{x:.1f},{y:.1f}" for x, y in (piece.leave, piece.arrive, piece.end))
        for piece in placed.curve
    )
    kind = "strong" if arc.strong else "plain"
    path = f'<path class="arc {kind}" d="M{start[0]:.1f},{start[1]:.1f} {steps}"/>'
    return path + _arrow_head(placed.curve[-1].end, placed.tip, kind)


def _arrow_head(base: Point, tip: Point, kind: str) -> str:
    """A filled triangle; markers would do, but their ids clash when two drawings share a page."""
    dx, dy = (tip[0] - base[0]) * 0.42, (tip[1] - base[1]) * 0.42
    corners = [tip, (base[0] - dy, base[1] + dx), (base[0] + dy, base[1] - dx)]
    return f'<polygon class="head {kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'
