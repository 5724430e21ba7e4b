"""A file played to a learner inside this process: predict, then learn, line by line. Used by several benches.

The same state transitions as in the daemon, where the last rounds are warm, without a wire and a disk:
`progressive` gives texts and statistics, `learned_scores` their error rates, `scored` those of anybody's texts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from galloon.clients.commands.learner_options import spec_for
from galloon.clients.replay.material import Material, normalizer_for, shown_to_learner
from galloon.clients.scores.systems import SystemScores, score_texts
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Statistics, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.text.normalizers import normalizer

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
        combiner.observe(decision.memory, decision.view)
        combiner.learn(decision.memory, TrueText(utterance.target), decision.view)
    seconds = perf_counter() - start
    return Progressive(texts, combiner.statistics(), seconds)


def learned_scores(material: Material, name: str = "galloon", **given: Any) -> SystemScores:
    """The default learner, or one with these fields of the spec, played over the file from a cold start."""
    spec = spec_for(given, material.experts, material.utterances)
    return scored(name, material, progressive(material, spec).texts)


def scored(name: str, material: Material, texts: Iterable[str | None]) -> SystemScores:
    """A text for each utterance of the file against its true one; None where the system did not run."""
    rule = normalizer(normalizer_for(material.utterances))
    references = [rule(utterance.target or "") for utterance in material.utterances]
    return score_texts(name, references, texts, rule)
