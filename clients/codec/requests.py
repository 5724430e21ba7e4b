"""What a client sends on a stream: `open_request`, `utterance_request`, `feedback_request`."""

from collections.abc import Iterable
from math import nan

from galloon.clients.api.questions import AlignedUtterance, NamedUtterance, Question
from galloon.clients.codec.spec import spec_to_wire
from galloon.learners.combiners.contract import Feedback, Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Hypothesis, Lattice, Utterance, Word
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2 as said


def open_request(
    learner: str, create: CombinerSpec | None, alternatives: bool, unsure_ids: Iterable[str]
) -> wire.CombineRequest:
    spec = None if create is None else spec_to_wire(create)
    return wire.CombineRequest(
        open=wire.Open(learner=learner, create=spec, alternatives=alternatives, unsure_ids=unsure_ids)
    )


def utterance_request(question: Question) -> wire.CombineRequest:
    match question:
        case AlignedUtterance():
            offers = [
                said.SlotOffers(expert=name, tokens=tokens, confidences=question.confidences.get(name, ()))
                for name, tokens in question.offers.items()
            ]
            message = said.Utterance(slots=said.Slots(offers=offers))
        case NamedUtterance():
            named = said.NamedTokens(names=question.tokens.keys(), tokens=question.tokens.values())
            message = said.Utterance(named_tokens=named)
        case Utterance():
            outputs = [_expert_output(output) for output in question.outputs]
            message = said.Utterance(outputs=said.EngineOutputs(outputs=outputs))
    message.id = question.id
    message.labels.update(question.labels)
    return wire.CombineRequest(utterance=message)


def feedback_request(utterance_id: str, feedback: Feedback) -> wire.CombineRequest:
    match feedback:
        case TrueText(text):
            message = wire.Feedback(id=utterance_id, true_text=text)
        case TrueTokens(tokens):
            message = wire.Feedback(id=utterance_id, true_tokens=wire.TrueTokens(tokens=tokens))
        case ShownGains(gains):
            message = wire.Feedback(id=utterance_id, shown_gains=wire.ShownGains(gains=gains))
        case Score(value):
            message = wire.Feedback(id=utterance_id, score=value)
    return wire.CombineRequest(feedback=message)


def _expert_output(output: ExpertOutput) -> said.ExpertOutput:
    words = output.words
    return said.ExpertOutput(
        expert=output.name,
        words=[word.text for word in words],
        confidences=_numbers([word.confidence for word in words]),
        starts=_numbers([word.start for word in words]),
        ends=_numbers([word.end for word in words]),
        confidence=output.confidence,
        nbest=[_hypothesis(entry) for entry in output.nbest],
        lattice=None if output.lattice is None else _lattice(output.lattice),
    )


def _hypothesis(entry: Hypothesis) -> said.Hypothesis:
    words: tuple[Word, ...] = entry.words
    return said.Hypothesis(
        words=[word.text for word in words],
        confidences=_numbers([word.confidence for word in words]),
        score=entry.score,
    )


def _lattice(lattice: Lattice) -> said.Lattice:
    return said.Lattice(
        state_count=lattice.state_count,
        initial=lattice.initial,
        finals=lattice.finals,
        sources=lattice.sources.tolist(),
        targets=lattice.targets.tolist(),
        words=lattice.words,
        log_scores=lattice.log_scores.tolist(),
        times=() if lattice.times is None else lattice.times.tolist(),
    )


def _numbers(values: list[float | None]) -> list[float]:
    """NaN where there is none; nothing at all where there is none anywhere."""
    if all(value is None for value in values):
        return []
    return [nan if value is None else value for value in values]
