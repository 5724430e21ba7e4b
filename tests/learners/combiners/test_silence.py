"""Engines that say nothing leave no slots: every learner takes that, whatever feedback comes, and goes on."""

import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.observation import Utterance

FEEDBACK = (TrueText(""), TrueText("word"), TrueTokens(()), ShownGains(()), Score(0.0))
SETTINGS = [(name, "") for name in ALGORITHMS] + [("tied", "semi"), ("tied", "bandit")]


@pytest.mark.parametrize(("algorithm", "setting"), SETTINGS)
@pytest.mark.parametrize("feedback", FEEDBACK, ids=repr)
def test_silence_stops_nobody(algorithm, setting, feedback):
    """A kind of feedback that the setting does not take is refused by name; nothing else goes wrong."""
    combiner = build(CombinerSpec(("a", "b"), algorithm=algorithm, setting=setting, window=3))
    silent = combiner.choose(Utterance.of_texts("silent", {"a": "", "b": ""}), 0)
    assert (silent.text, len(silent)) == ("", 0)
    for view in (silent.view, None):
        try:
            assert combiner.learn(silent.memory, feedback, view).gain == 0
        except InvalidInput as refused:
            assert refused.advice  # noqa: PT017  # some settings need more, or take less
    assert combiner.choose(Utterance.of_texts("next", {"a": "x y z", "b": "x z"}), 1).text
