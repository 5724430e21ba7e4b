"""Lattices with every finite number and any word: answered or refused, and never a defect."""

from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.codec.errors import InvalidMessage
from galloon.codec.utterance import decode_utterance
from galloon.daemon.limits import Limits
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.v1 import utterance_pb2 as wire

ENGINES = ("ann", "bob")
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.79e308, -1.79e308, 1e-320, -1e300, 1e17, -745.0]), st.floats(-30.0, 0.0)
)
WORDS = st.sampled_from(["x", "yy", "", " ", "  ", "\u2028", "x y", "\x00"])
ARCS = st.lists(st.tuples(WORDS, NUMBERS, NUMBERS), min_size=1, max_size=3)


@pytest.mark.parametrize("unit", ["word", "char"])
@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(ARCS, min_size=1, max_size=4),
    said=st.lists(st.sampled_from(["x", "yy", "z"]), max_size=3),
    scales=st.none() | st.tuples(st.sampled_from([0.0, 0.05, 1.0]), st.sampled_from([0.0, 1.0, 20.0])),
    times=NUMBERS,
)
def test_any_lattice_is_answered_and_taught(unit, steps, said, scales, times):
    message = wire.Utterance(id="u")
    lattice = wire.Lattice(state_count=len(steps) + 1, finals=[len(steps)])
    for state, arcs in enumerate(steps):
        for word, score, acoustic in arcs:
            lattice.sources.append(state)
            lattice.targets.append(state + 1)
            lattice.words.append(word)
            lattice.log_scores.append(score)
            if scales is not None:
                lattice.acoustic_scores.append(acoustic)
    if scales is not None:
        lattice.acoustic_scale, lattice.language_scale = scales
    lattice.times.extend([times] * (len(steps) + 1))
    message.outputs.engines.add(engine="ann", words=said, lattice=lattice)
    message.outputs.engines.add(engine="bob", words=["x", "z"])
    combiner = build(CombinerSpec(ENGINES, unit=unit), 1000)
    try:
        utterance = decode_utterance(message, ENGINES, Limits())
        choice = combiner.choose(utterance, 0)
        assert isfinite(choice.log_probability)
        combiner.observe(choice.memory, choice.view)
        assert isfinite(combiner.learn(choice.memory, TrueText("x z"), choice.view).gain)
        again = build(CombinerSpec(ENGINES, unit=unit), 1000)
        again.restore(combiner.to_bytes())
    except (InvalidMessage, LearnerError):
        return
