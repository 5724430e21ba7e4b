"""An engine that changes is noticed within a few lines and learned anew; one that does not is left alone."""

import random

import numpy as np
import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.error_streams import ALARM, FEWEST, MOST_APART, SLACK, ErrorStreams
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState
from galloon.learners.observation import Utterance
from tests.learners.combiners.test_absence import ENGINES, line


def slow(rates):
    """Page's sums on a list, from its definition: where a change is noticed."""
    noticed, seen, up, down = [], [], 0.0, 0.0
    for place, rate in enumerate(rates):
        if len(seen) >= FEWEST:
            apart = (rate - np.mean(seen)) / np.sqrt(np.var(seen) + 0.01)
            apart = float(np.clip(apart, -MOST_APART, MOST_APART))
            up, down = max(0.0, up + apart - SLACK), max(0.0, down - apart - SLACK)
            if max(up, down) > ALARM:
                noticed.append(place)
                seen, up, down = [], 0.0, 0.0
                continue
        seen.append(rate)
    return noticed


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_sum_of_its_definition(seed):
    draw = np.random.default_rng(seed)
    rates = np.concatenate([draw.beta(1, 9, 80), draw.beta(5, 5, 80), draw.beta(1, 9, 80)]).tolist()
    made = ErrorStreams(2)
    found = [place for place, rate in enumerate(rates) if made.see([1], [rate], place)]
    assert found == slow(rates)
    assert len(found) == 2
    assert made.changes() == [(1, 2, found[-1])]
    again = ErrorStreams(2)
    again.restore(made.arrays())
    assert again.changes() == made.changes()


def test_a_forged_state_is_refused():
    with pytest.raises(DamagedState):
        ErrorStreams(1).restore({**ErrorStreams(1).arrays(), "changes.moments": np.full((1, 5), -1.0)})


def test_engines_that_exchange_their_names_are_noticed_and_the_others_are_not():
    made, draw, told = build(CombinerSpec(ENGINES)), random.Random(8), list[str]()
    for number in range(160):
        truth, said = line(draw, ENGINES, wrong=0.1)
        _, bad = line(draw, ENGINES, wrong=0.1)
        said["ann" if number < 80 else "dot"] = bad["ann"]  # of another line
        choice = made.choose(Utterance.of_texts(str(number), said), number)
        made.observe(choice.memory, choice.view)
        told += made.learn(choice.memory, TrueText(truth), choice.view).changed
    assert sorted(told) == ["ann", "dot"]
    changes = made.statistics().extra["changes"]
    assert set(changes) == {"ann", "dot"}
    assert all(80 < change["last_lesson"] <= 95 for change in changes.values())
