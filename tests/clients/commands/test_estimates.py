"""Which engine is best, without any truth: what the learner tells is a table, the best engine first."""

import random
from io import StringIO

from rich.console import Console

from galloon.clients.commands.estimates import estimates_table
from galloon.codec.learner import extra_to_wire
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.learners.combiners.test_absence import ENGINES, line


def told(lines):
    """What a learner of four engines estimates after so many lines, of which the first engine reads half."""
    made, draw = build(CombinerSpec((*ENGINES, "never"))), random.Random(6)
    for number in range(lines):
        _, said = line(draw, ENGINES, wrong=0.1)
        _, worse = line(draw, ENGINES, wrong=0.1)
        said["dot"] = worse["dot"]  # of another line
        if number % 2:
            del said["ann"]
        choice = made.choose(Utterance.of_texts(str(number), said), number)
        made.observe(choice.memory, choice.view)
    return made.statistics().extra


def test_engines_that_ran_are_estimated_and_the_best_comes_first():
    extra = told(60)
    extra_to_wire(extra)  # it travels
    known = extra["estimates"]
    assert set(known) == set(ENGINES)
    assert (known["ann"]["lines"], known["bob"]["lines"]) == (30, 60)
    for name in ("ann", "bob", "cy"):
        assert (
            known[name]["low"]
            <= known[name]["error_rate"]
            <= known[name]["high"]
            < known["dot"]["error_rate"]
        )
    table = estimates_table(extra)
    assert table is not None
    written = StringIO()
    Console(file=written, width=120).print(table)
    shown = written.getvalue()
    assert "Estimated without any truth" in shown
    assert max(shown.index(name) for name in ("ann", "bob", "cy")) < shown.index("dot")


def test_before_anything_is_seen_there_is_no_table():
    assert estimates_table(told(0)) is None
    assert estimates_table({}) is None
