"""An expert that is no help hardly changes what the default learner makes of the others, and is left out."""

from dataclasses import replace

import pytest

from bench.catalogue import materials
from bench.progressive import learned_scores
from bench.unhelpful import KINDS, NAME, with_unhelpful
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.replay.material import Material, shown_to_learner
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.text import TextCombiner
from galloon.learners.evaluation.error_rate import total

LINES = 196


@pytest.fixture(scope="module")
def material() -> Material:
    """The second half of the file, as a file."""
    whole = materials()["ASR"]
    return replace(whole, utterances=whole.utterances[-LINES:])


def test_it_costs_little_on_average(material: Material):
    """Single figures on so few lines are chance; over all kinds it is less than three percent."""
    plain = total(learned_scores(material).words).errors
    with_one = [total(learned_scores(with_unhelpful(material, kind)).words).errors for kind in KINDS]
    assert abs(sum(with_one) / len(with_one) / plain - 1) < 0.03


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "garbled" not in kind])
def test_it_is_left_out(material: Material, kind: str):
    """And nobody else is. (A garbled copy is right in half of its words, and listened to.)"""
    more = with_unhelpful(material, kind)
    combiner = TextCombiner(spec_for({}, more.experts, more.utterances))
    for number, utterance in enumerate(more.utterances[:40]):
        decision = combiner.choose(shown_to_learner(utterance, utterance.id, ()), number)
        combiner.learn(decision.memory, TrueText(utterance.target or ""))
    assert set(more.experts) - combiner._offer_model.listened_to(more.experts) == {NAME}
