"""What is answered while a learner runs in the shadow of an engine or of the vote: `answered_instead`.

The learner's own text goes with the answer; who reads both can compare them, and the books do.
"""

from collections.abc import Sequence
from dataclasses import replace

from galloon.codec.answer import Choice
from galloon.learners.alignment import majority_vote
from galloon.learners.combiners import contract
from galloon.learners.combiners.spec import VOTE, CombinerSpec
from galloon.learners.combiners.writing import Writing
from galloon.learners.observation import Utterance
from galloon.learners.offers import Offers


def answered_instead(
    own: Choice, chosen: contract.Choice, utterance: Utterance, spec: CombinerSpec
) -> Choice:
    """The answer of the spec's engine, or of the vote where it is the vote or the engine did not run."""
    offers = chosen.offers.engines()
    name = spec.answer if spec.answer in offers.experts else VOTE
    if name == VOTE:
        tokens, written = _vote(offers, spec)
        text = spec.unit.join(written or tokens)
    else:
        tokens, written = offers.of(name), ()
        text = _said(utterance, name) or spec.unit.join(tokens)
    return replace(
        own,
        text=text,
        tokens=tokens,
        experts=[name] * len(tokens),
        probabilities=[1.0] * len(tokens),
        log_probability=0.0,
        alternatives=(),
        written=written,
        own_text=own.text,
    )


def _vote(offers: Offers, spec: CombinerSpec) -> tuple[list[str], Sequence[str]]:
    """Its tokens, and how most engines wrote them."""
    voted = majority_vote(offers).tokens
    tokens = [offers.vocabulary[token] for token in voted.tolist()]
    return tokens, Writing(spec.engines, spec.unit, spec.normalizer).write(offers, voted) or ()


def _said(utterance: Utterance, engine: str) -> str:
    """The engine's text as it came; empty where it came in slots."""
    if not isinstance(utterance.said, tuple):
        return ""
    return next((output.text for output in utterance.said if output.name == engine), "")
