"""Drawings hold every state and arc, keep states apart, and refuse what nobody could read."""

import subprocess
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.diagram import (
    context_diagram,
    expert_diagram,
    literal_diagram,
    transducer_diagram,
)
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.drawing import to_dot, to_svg
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.layered_layout import RADIUS, layered_layout
from galloon.learners.automata.literal import literal_context
from galloon.learners.automata.rewriting import RewriteRules, rewrite_transducer
from galloon.learners.errors import BudgetExceeded, InvalidInput
from tests.learners.automata.strategies import ensembles, explicit_automata, reaches
from tests.system import needs

SVG = "{http://www.w3.org/2000/svg}"
experts = st.one_of(ensembles(), explicit_automata())


@st.composite
def diagrams(draw):
    expert, reach = draw(experts), draw(reaches(3))
    kind = draw(st.sampled_from(["A", "A'", "T_A", "complete T_A", "literal A'"]))
    assume(not isinstance(expert, Ensemble) or reach.shortest <= expert.slots)
    try:
        if kind == "A":
            return expert_diagram(expert)
        if kind == "A'":
            return context_diagram(context_automaton(expert, reach))
        rules = RewriteRules((reach.shortest,), reach.span - reach.shortest)
        if kind == "literal A'":
            return literal_diagram(literal_context(expert, rules))
        return transducer_diagram(rewrite_transducer(expert.explicit(), rules, complete=kind.startswith("c")))
    except BudgetExceeded:
        assume(False)


@settings(deadline=None, max_examples=60)
@given(diagrams())
def test_the_picture_is_sound_xml_with_every_state_and_label(diagram):
    root = ET.fromstring(to_svg(diagram))
    circles = root.findall(f"{SVG}circle")
    assert sum(c.get("class").startswith("state") for c in circles) == diagram.state_count
    assert sum(c.get("class") == "inner" for c in circles) == len(diagram.finals)
    assert sum("initial" in c.get("class") for c in circles) == 1
    texts = [t.text for t in root.findall(f"{SVG}text")]
    assert sorted(texts) == sorted(
        [*map(str, range(diagram.state_count)), *(arc.label for arc in diagram.arcs)]
    )
    assert len(root.findall(f"{SVG}path")) == len(diagram.arcs)


@settings(deadline=None, max_examples=60)
@given(diagrams())
def test_states_do_not_touch_and_everything_lies_inside(diagram):
    layout = layered_layout(diagram)
    left, top, right, bottom = layout.box
    for i, (x, y) in enumerate(layout.states):
        assert left + RADIUS <= x <= right - RADIUS
        assert top + RADIUS <= y <= bottom - RADIUS
        for u, v in layout.states[:i]:
            assert abs(x - u) > 2 * RADIUS or abs(y - v) > 2 * RADIUS
    for arc in layout.arcs:
        for piece in arc.curve:
            assert left <= piece.end[0] <= right
            assert top <= piece.end[1] <= bottom


@settings(deadline=None, max_examples=40)
@given(explicit_automata())
def test_arcs_lead_from_left_to_right(automaton):
    layout = layered_layout(expert_diagram(automaton))
    for source, target in zip(automaton.sources, automaton.targets, strict=True):
        assert layout.states[source][0] < layout.states[target][0]


def test_the_same_diagram_is_always_drawn_alike():
    diagram = expert_diagram(Ensemble(3, 4))
    assert to_svg(diagram) == to_svg(diagram)


def test_tokens_and_the_chosen_path_are_shown():
    svg = to_svg(expert_diagram(Ensemble(2, 2), ["<b>", "", "c", "d"], strong=[0, 3]))
    assert "h1,1:&lt;b&gt;" in svg
    assert "h2,1:∅" in svg
    assert svg.count('class="arc strong"') == 2
    context = context_diagram(context_automaton(Ensemble(2, 2), Reach(2, 2)), ["a", "b", "a", ""])
    assert [arc.label for arc in context.arcs] == ["a a", "b a", "a ∅", "b ∅"]


def test_context_symbols_are_written_as_in_the_paper():
    literal = literal_diagram(literal_context(Ensemble(1, 3), RewriteRules((2,), 1)))
    assert [arc.label for arc in literal.arcs] == ["(#h1,1h1,2)₀", "(#h1,2h1,3)₀", "(#h1,1h1,3)₁"]
    plain = transducer_diagram(rewrite_transducer(Ensemble(1, 2).explicit(), RewriteRules((2,))))
    assert {arc.label for arc in plain.arcs} == {"h1,1:ε", "h1,2:ε", "h1,2:#h1,1h1,2"}


def test_what_nobody_could_read_is_refused():
    with pytest.raises(BudgetExceeded, match="transitions to draw"):
        expert_diagram(Ensemble(30, 30))
    with pytest.raises(BudgetExceeded, match="transitions to draw"):
        context_diagram(context_automaton(Ensemble(6, 60), Reach(4, 4)))
    with pytest.raises(InvalidInput, match="3 outputs were given for 4 transitions"):
        expert_diagram(Ensemble(2, 2), ["a"] * 3)


def test_dot_has_bold_initial_and_double_final_states():
    dot = to_dot(expert_diagram(Ensemble(1, 1), ['say "hi"\\']))
    assert '0 [label="0", penwidth=3];' in dot
    assert '1 [label="1", shape=doublecircle];' in dot
    assert r'0 -> 1 [label="h1,1:say \"hi\"\\"];' in dot


@needs("dot")
def test_graphviz_draws_our_dot():
    dot = to_dot(expert_diagram(Ensemble(2, 2), ['"', "\\", "<", "é"]))
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True)
    assert ET.fromstring(drawn.stdout).tag == f"{SVG}svg"
