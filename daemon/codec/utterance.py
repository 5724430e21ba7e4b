"""Utterances: galloon.v1.Utterance to and from what a combiner observes.

`observation_from_wire` is on the path of every utterance, so it makes no object per token: tokens of slots are
numbered by compiled code, and only different ones become texts. `fingerprint` names the content of a message.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import repeat
from math import isinf, isnan
from secrets import randbits

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from galloon.daemon.codec.lattice import lattice_from_wire, lattice_to_wire
from galloon.daemon.errors import Invalid
from galloon.daemon.learner.events import FINGERPRINT_BYTES
from galloon.daemon.limits import Limits, check
from galloon.learners.combiners.contract import NamedTokens, Observation
from galloon.learners.kernels import wire_tokens
from galloon.learners.observation import ExpertOutput, Hypothesis, Utterance, Word
from galloon.learners.offers import Offers
from galloon.v1 import utterance_pb2 as wire

ID_BYTES = 256
LABELS = 16
LABEL_BYTES = 256
HYPOTHESES = 1000
NAN = float("nan")
# Of this process: decides where tokens fall when they are numbered, not what number they get.
SECRET = np.uint64(randbits(64))


def fingerprint(message: Message) -> bytes:
    """Equal for equal content, however the sender ordered its maps."""
    return fingerprint_of(canonical(message))


def canonical(message: Message) -> bytes:
    """The bytes of a message, the same for the same content."""
    return message.SerializeToString(deterministic=True)


def fingerprint_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=FINGERPRINT_BYTES).digest()


def check_id(value: str, field: str) -> None:
    if not value:
        raise Invalid(f"{field}: missing; give every utterance an id of its own", field)
    if len(value.encode()) > ID_BYTES:
        raise Invalid(f"{field}: {len(value.encode())} bytes, at most {ID_BYTES} are allowed", field)


def observation_from_wire(message: wire.Utterance, experts: Sequence[str], limits: Limits) -> Observation:
    """What the combiner of these experts sees; for an explicit automaton there are no experts."""
    check_id(message.id, "utterance.id")
    _check_labels(message.labels)
    match message.WhichOneof("observation"):
        case "slots":
            network = _slots_from_wire(message.slots, experts, limits)
            return replace(network, labels=dict(message.labels)) if message.labels else network
        case "outputs":
            outputs = _outputs_from_wire(message.outputs, experts, limits)
            return Utterance(message.id, outputs, None, dict(message.labels))
        case "named_tokens":
            return _named_from_wire(message.named_tokens)
        case None:
            raise Invalid("utterance: give slots, outputs or named_tokens", "utterance")


def observation_to_wire(observation: Observation, utterance_id: str) -> wire.Utterance:
    match observation:
        case Offers():
            slots = _slots_to_wire(observation)
            return wire.Utterance(id=utterance_id, slots=slots, labels=observation.labels)
        case NamedTokens(tokens):
            named = wire.NamedTokens(names=tokens.keys(), tokens=tokens.values())
            return wire.Utterance(id=utterance_id, named_tokens=named)
        case Utterance():
            outputs = wire.EngineOutputs(outputs=[_output_to_wire(output) for output in observation.outputs])
            return wire.Utterance(id=utterance_id, outputs=outputs, labels=observation.labels)


def _check_labels(labels: Mapping[str, str]) -> None:
    if len(labels) > LABELS:
        raise Invalid(
            f"utterance.labels: {len(labels)} labels, at most {LABELS} are allowed", "utterance.labels"
        )
    for name, value in labels.items():
        if not name or max(len(name.encode()), len(value.encode())) > LABEL_BYTES:
            raise Invalid(
                f"utterance.labels: names and values have at most {LABEL_BYTES} bytes, and no name is empty",
                "utterance.labels",
            )


def _check_experts(given: list[str], experts: Sequence[str], field: str) -> None:
    """Each expert of the learner once, and nobody else."""
    if not experts:
        raise Invalid(f"{field}: this learner has an automaton: send named_tokens", field)
    if len(given) == len(experts) and set(given) == set(experts):
        return
    for number, name in enumerate(given):
        if name not in experts:
            known = ", ".join(experts)
            raise Invalid(f"{field}[{number}].expert: {name!r} is not an expert; known are {known}", field)
        if name in given[:number]:
            raise Invalid(f"{field}[{number}].expert: {name!r} comes twice", field)
    missing = ", ".join(sorted(set(experts) - set(given)))
    raise Invalid(f"{field}: nothing from {missing}; an expert that said nothing is sent empty", field)


def _slots_from_wire(message: wire.Slots, experts: Sequence[str], limits: Limits) -> Offers:
    field = "utterance.slots.offers"
    ordered, offers = message, message.offers
    check(limits, "experts", len(offers), field)
    given = [offer.expert for offer in offers]
    if not offers or given != list(experts):
        _check_experts(given, experts, field)
        ordered = wire.Slots(offers=[offers[given.index(name)] for name in experts])
        offers = ordered.offers
    slots = len(offers[0].tokens)
    check(limits, "slots", slots, f"{field}[0].tokens")
    data = ordered.SerializeToString()
    tokens = np.empty((slots, len(offers)), dtype=np.int32)
    spans = np.empty((tokens.size + 1, 2), dtype=np.int32)
    count, confident = wire_tokens.number_tokens(np.frombuffer(data, np.uint8), SECRET, tokens, spans)
    if not slots or count == wire_tokens.UNEVEN:
        raise _uneven(message)
    vocabulary = ("", *[data[start:end].decode() for start, end in spans[1:count].tolist()])
    confidences = _slot_confidences(offers, slots) if confident else _none(tokens.shape)
    return Offers(tuple(experts), vocabulary, tokens, confidences)


def _slot_confidences(offers: Sequence[wire.SlotOffers], slots: int) -> NDArray[np.float64]:
    """Slots x experts, NaN where an expert gave none."""
    flat: list[float] = []
    for number, offer in enumerate(offers):
        given = offer.confidences
        if given and len(given) != slots:
            _numbers(given, slots, f"utterance.slots.offers[{number}].confidences")
        flat.extend(given or repeat(NAN, slots))
    confidences = np.array(flat).reshape(len(offers), slots)
    if np.isinf(confidences).any():
        raise Invalid(
            "utterance.slots.offers: an infinite confidence; send a finite number, or NaN for none",
            "utterance.slots.offers",
        )
    return confidences.T.copy()


def _none(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """No confidences."""
    table = np.empty(shape)
    table.fill(NAN)
    return table


def _uneven(message: wire.Slots) -> Invalid:
    counts = [len(offer.tokens) for offer in message.offers]
    if not counts[0]:
        return Invalid("utterance.slots.offers[0].tokens: no slots; send at least one", "utterance.slots")
    row = next(row for row, count in enumerate(counts) if count != counts[0])
    field = f"utterance.slots.offers[{row}].tokens"
    return Invalid(f"{field}: {counts[row]} tokens, but offers[0] has {counts[0]}", field)


def _slots_to_wire(network: Offers) -> wire.Slots:
    words = np.array(network.vocabulary, dtype=object)
    offers = []
    for column, expert in enumerate(network.experts):
        confidences = network.confidences[:, column]
        offers.append(
            wire.SlotOffers(
                expert=expert,
                tokens=words[network.tokens[:, column]].tolist(),
                confidences=[] if np.isnan(confidences).all() else confidences.tolist(),
            )
        )
    return wire.Slots(offers=offers)


def _named_from_wire(message: wire.NamedTokens) -> NamedTokens:
    names, field = list(message.names), "utterance.named_tokens"
    if len(names) != len(message.tokens):
        raise Invalid(f"{field}: {len(names)} names but {len(message.tokens)} tokens", field)
    tokens = dict(zip(names, message.tokens, strict=True))
    if len(tokens) != len(names):
        last = {name: number for number, name in enumerate(names)}
        twice = next(name for number, name in enumerate(names) if last[name] != number)
        raise Invalid(f"{field}.names: {twice!r} comes twice", f"{field}.names")
    return NamedTokens(tokens)


def _outputs_from_wire(
    message: wire.EngineOutputs, experts: Sequence[str], limits: Limits
) -> tuple[ExpertOutput, ...]:
    outputs, field = message.outputs, "utterance.outputs.outputs"
    check(limits, "experts", len(outputs), field)
    given = [output.expert for output in outputs]
    _check_experts(given, experts, field)
    return tuple(
        _output_from_wire(outputs[given.index(name)], f"{field}[{given.index(name)}]", limits)
        for name in experts
    )


def _output_from_wire(message: wire.ExpertOutput, field: str, limits: Limits) -> ExpertOutput:
    check(limits, "slots", len(message.words), f"{field}.words")
    if len(message.nbest) > HYPOTHESES:
        raise Invalid(
            f"{field}.nbest: {len(message.nbest)} hypotheses, at most {HYPOTHESES} are allowed", field
        )
    confidence = message.confidence if message.HasField("confidence") else None
    nbest = []
    for number, hypothesis in enumerate(message.nbest):
        where = f"{field}.nbest[{number}]"
        check(limits, "slots", len(hypothesis.words), f"{where}.words")
        words = _words_from_wire(hypothesis.words, hypothesis.confidences, (), (), where)
        score = hypothesis.score if hypothesis.HasField("score") else None
        nbest.append(Hypothesis(words, _finite(score, f"{where}.score")))
    return ExpertOutput(
        message.expert,
        _words_from_wire(message.words, message.confidences, message.starts, message.ends, field),
        _finite(confidence, f"{field}.confidence"),
        tuple(nbest),
        lattice_from_wire(message.lattice, f"{field}.lattice") if message.HasField("lattice") else None,
    )


def _output_to_wire(output: ExpertOutput) -> wire.ExpertOutput:
    return wire.ExpertOutput(
        expert=output.name,
        words=[word.text for word in output.words],
        confidences=_column(word.confidence for word in output.words),
        starts=_column(word.start for word in output.words),
        ends=_column(word.end for word in output.words),
        confidence=output.confidence,
        nbest=[
            wire.Hypothesis(
                words=[word.text for word in hypothesis.words],
                confidences=_column(word.confidence for word in hypothesis.words),
                score=hypothesis.score,
            )
            for hypothesis in output.nbest
        ],
        lattice=None if output.lattice is None else lattice_to_wire(output.lattice),
    )


def _words_from_wire(
    texts: Sequence[str],
    confidences: Sequence[float],
    starts: Sequence[float],
    ends: Sequence[float],
    field: str,
) -> tuple[Word, ...]:
    if not all(texts):
        raise Invalid(f"{field}.words[{list(texts).index('')}]: empty; leave out what was not said", field)
    count = len(texts)
    columns = [
        _numbers(values, count, f"{field}.{name}") if values else [NAN] * count
        for name, values in (("confidences", confidences), ("starts", starts), ("ends", ends))
    ]
    return tuple(
        Word(text, *(None if isnan(value) else value for value in row))
        for text, *row in zip(texts, *columns, strict=True)
    )


def _column(values: Iterable[float | None]) -> list[float]:
    """An optional number of each word as an array with NaN for none; empty when there is none at all."""
    column = [NAN if value is None else value for value in values]
    return [] if all(isnan(value) for value in column) else column


def _numbers(values: Sequence[float], count: int, field: str) -> list[float]:
    """As many numbers as there are tokens, NaN for none, none infinite."""
    if len(values) != count:
        raise Invalid(f"{field}: {len(values)} numbers for {count} tokens; send as many, or none", field)
    numbers = list(values)
    if any(map(isinf, numbers)):
        raise Invalid(f"{field}: infinite; send a finite number, or NaN for none", field)
    return numbers


def _finite(value: float | None, field: str) -> float | None:
    if value is not None and (isnan(value) or isinf(value)):
        raise Invalid(f"{field}: {value} is not a finite number; leave it out instead", field)
    return value
