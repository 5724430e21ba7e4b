"""A file played to a learner inside this process: predict, then learn, line by line. Used by several benches.

The same state transitions as in the daemon, without a wire and a disk: `progressive` gives texts and statistics.
"""

from dataclasses import dataclass
from time import perf_counter

from galloon.clients.replay.material import Material, shown_to_learner
from galloon.learners.build import build
from galloon.learners.combiner import Statistics, TrueText
from galloon.learners.spec import CombinerSpec

FIRST_FIVE = ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy")


@dataclass(frozen=True, slots=True)
class Progressive:
    """What was shown of each utterance, and where the learner stood at the end."""

    texts: list[str]
    statistics: Statistics
    seconds: float


def progressive(material: Material, spec: CombinerSpec) -> Progressive:
    """Play every utterance that has a true text."""
    combiner, texts = build(spec), []
    start = perf_counter()
    for number, utterance in enumerate(material.utterances):
        assert utterance.target is not None, "the bundled samples have true texts throughout"
        decision = combiner.choose(shown_to_learner(utterance, utterance.id, spec.labels), number)
        texts.append(decision.text)
        combiner.learn(decision.memory, TrueText(utterance.target))
    seconds = perf_counter() - start
    return Progressive(texts, combiner.statistics(), seconds)
