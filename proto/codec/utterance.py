"""Utterances: galloon.v1.Utterance to and from what a combiner sees.

`decode_utterance` reads what a client sent, `utterance_to_wire` writes it. `canonical_bytes` are the same for the
same content; `fingerprint` names them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from math import isinf, isnan, nan

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from galloon.codec.errors import InvalidMessage, SizeLimits, check_size
from galloon.codec.lattice import lattice_from_wire, lattice_to_wire
from galloon.learners.observation import ExpertOutput, Hypothesis, NamedTokens, Said, Utterance, Word
from galloon.learners.offers import Offers
from galloon.v1 import utterance_pb2 as wire

ID_BYTES = 256
LABELS = 16
LABEL_BYTES = 256
HYPOTHESES = 1000
FINGERPRINT_BYTES = 16
LISTED = 16  # names of engines in an error's advice


def decode_utterance(message: wire.Utterance, engines: Sequence[str], limits: SizeLimits | None) -> Utterance:
    """What the combiner of these engines sees; for an explicit automaton there are no engines."""
    check_id(message.id, "utterance.id")
    _check_labels(message.labels)
    said: Said
    match message.WhichOneof("said"):
        case "slots":
            said = _slots_from_wire(message.slots, engines, limits)
        case "outputs":
            said = _outputs_from_wire(message.outputs, engines, limits)
        case "named_tokens":
            said = _named_from_wire(message.named_tokens)
        case None:
            raise InvalidMessage("utterance", "give slots, outputs or named_tokens")
    return Utterance(message.id, said, None, dict(message.labels))


def utterance_to_wire(utterance: Utterance) -> wire.Utterance:
    match utterance.said:
        case tuple() as outputs:
            engines = [_output_to_wire(output) for output in outputs]
            message = wire.Utterance(outputs=wire.EngineOutputs(engines=engines))
        case Offers() as offers:
            message = wire.Utterance(slots=_slots_to_wire(offers))
        case NamedTokens(tokens):
            named = wire.NamedTokens(names=tokens.keys(), tokens=tokens.values())
            message = wire.Utterance(named_tokens=named)
    message.id = utterance.id
    message.labels.update(utterance.labels)
    return message


def with_late_outputs(known: wire.Utterance, late: wire.Utterance) -> wire.Utterance:
    """A whole utterance, with what engines said of it that it does not have yet."""
    whole = wire.Utterance()
    whole.CopyFrom(known)
    whole.late = False
    there = {said.engine for said in known.outputs.engines} | {offer.engine for offer in known.slots.offers}
    if known.HasField("slots"):
        whole.slots.offers.extend(offer for offer in late.slots.offers if offer.engine not in there)
    elif known.HasField("outputs"):
        whole.outputs.engines.extend(said for said in late.outputs.engines if said.engine not in there)
    return whole


def canonical_bytes(message: Message) -> bytes:
    """The same for the same content, however the sender ordered its maps."""
    return message.SerializeToString(deterministic=True)


def fingerprint(canonical: bytes) -> bytes:
    """Names the content of a message."""
    return blake2b(canonical, digest_size=FINGERPRINT_BYTES).digest()


def check_id(value: str, field: str) -> None:
    if not value:
        raise InvalidMessage(field, "missing", "give every utterance an id of its own")
    if len(value.encode()) > ID_BYTES:
        raise InvalidMessage(field, f"{len(value.encode())} bytes, at most {ID_BYTES} are allowed")


def _check_labels(labels: Mapping[str, str]) -> None:
    if len(labels) > LABELS:
        raise InvalidMessage("utterance.labels", f"{len(labels)} labels, at most {LABELS} are allowed")
    for name, value in labels.items():
        if not name or max(len(name.encode()), len(value.encode())) > LABEL_BYTES:
            raise InvalidMessage(
                "utterance.labels",
                f"names and values have at most {LABEL_BYTES} bytes, and no name is empty",
            )


def of_engines(message: wire.Utterance, engines: Sequence[str]) -> wire.Utterance:
    """The message without what others than these engines said: they have left the learner since."""
    known = _seats(tuple(engines))
    for offers in (message.outputs.engines, message.slots.offers):
        for place in reversed(range(len(offers))):
            if offers[place].engine not in known:
                del offers[place]
    return message


def _present(given: Sequence[str], engines: Sequence[str], field: str) -> list[int]:
    """Where the entry of each engine that ran stands among those given, in the learner's order of engines.

    Engines that are not among them are absent: they did not run.
    """
    if not engines:
        raise InvalidMessage(field, "this learner has an automaton: send named_tokens")
    if list(engines) == given:
        return list(range(len(given)))
    if not given:
        raise InvalidMessage(
            field, "nothing from any engine", "send an engine that ran and said nothing with no words"
        )
    seats = _seats(tuple(engines))
    for number, name in enumerate(given):
        where = f"{field}[{number}].engine"
        if name not in seats:
            known = ", ".join(engines[:LISTED]) + (", ..." if len(engines) > LISTED else "")
            raise InvalidMessage(where, f"{name!r} is not an engine of this learner", f"known are {known}")
        if name in given[:number]:
            raise InvalidMessage(where, f"{name!r} comes twice")
    return sorted(range(len(given)), key=lambda place: seats[given[place]])


@lru_cache(maxsize=64)
def _seats(engines: tuple[str, ...]) -> Mapping[str, int]:
    """The place of each engine in the learner's order."""
    return {name: seat for seat, name in enumerate(engines)}


def _slots_from_wire(message: wire.Slots, engines: Sequence[str], limits: SizeLimits | None) -> Offers:
    field = "utterance.slots.offers"
    offers: Sequence[wire.SlotOffers] = message.offers
    check_size(limits, "outputs", len(offers), field)
    given = [offer.engine for offer in offers]
    if not offers or given != list(engines):
        offers = [offers[place] for place in _present(given, engines, field)]
    slots = len(offers[0].tokens)
    check_size(limits, "slots", slots, f"{field}[0].tokens")
    if not slots or any(len(offer.tokens) != slots for offer in offers):
        raise _uneven(message)
    numbers = {"": 0}  # tokens, in the order in which they are met
    flat = [numbers.setdefault(token, len(numbers)) for offer in offers for token in offer.tokens]
    tokens = np.array(flat, np.int32).reshape(len(offers), slots).T.copy()
    names = tuple([offer.engine for offer in offers])
    return Offers(names, tuple(numbers), tokens, _slot_confidences(offers, slots))


def _slots_to_wire(offers: Offers) -> wire.Slots:
    words = offers.vocabulary
    return wire.Slots(
        offers=[
            wire.SlotOffers(
                engine=name,
                tokens=[words[token] for token in offers.tokens[:, column].tolist()],
                confidences=_column(offers.confidences[:, column].tolist()),
            )
            for column, name in enumerate(offers.experts)
        ]
    )


def _slot_confidences(offers: Sequence[wire.SlotOffers], slots: int) -> NDArray[np.float64]:
    """Slots x engines, NaN where an engine gave none."""
    if not any(offer.confidences for offer in offers):
        return np.full((slots, len(offers)), nan)
    flat: list[float] = []
    for number, offer in enumerate(offers):
        given = offer.confidences
        if given and len(given) != slots:
            _numbers(given, slots, f"utterance.slots.offers[{number}].confidences")
        flat.extend(given or repeat(nan, slots))
    confidences = np.array(flat).reshape(len(offers), slots)
    if np.isinf(confidences).any():
        raise InvalidMessage(
            "utterance.slots.offers", "an infinite confidence", "send a finite number, or NaN for none"
        )
    return confidences.T.copy()


def _uneven(message: wire.Slots) -> InvalidMessage:
    counts = [len(offer.tokens) for offer in message.offers]
    if not counts[0]:
        return InvalidMessage("utterance.slots.offers[0].tokens", "no slots", "send at least one")
    row = next(row for row, count in enumerate(counts) if count != counts[0])
    field = f"utterance.slots.offers[{row}].tokens"
    return InvalidMessage(field, f"{counts[row]} tokens, but offers[0] has {counts[0]}")


def _named_from_wire(message: wire.NamedTokens) -> NamedTokens:
    names, field = list(message.names), "utterance.named_tokens"
    if len(names) != len(message.tokens):
        raise InvalidMessage(field, f"{len(names)} names but {len(message.tokens)} tokens")
    tokens = dict(zip(names, message.tokens, strict=True))
    if len(tokens) != len(names):
        last = {name: number for number, name in enumerate(names)}
        twice = next(name for number, name in enumerate(names) if last[name] != number)
        raise InvalidMessage(f"{field}.names", f"{twice!r} comes twice")
    return NamedTokens(tokens)


def _outputs_from_wire(
    message: wire.EngineOutputs, engines: Sequence[str], limits: SizeLimits | None
) -> tuple[ExpertOutput, ...]:
    outputs, field = message.engines, "utterance.outputs.engines"
    check_size(limits, "outputs", len(outputs), field)
    given = [output.engine for output in outputs]
    return tuple(
        [
            _output_from_wire(outputs[place], f"{field}[{place}]", limits)
            for place in _present(given, engines, field)
        ]
    )


def _output_from_wire(message: wire.EngineOutput, field: str, limits: SizeLimits | None) -> ExpertOutput:
    check_size(limits, "slots", len(message.words), f"{field}.words")
    if len(message.nbest) > HYPOTHESES:
        raise InvalidMessage(
            f"{field}.nbest", f"{len(message.nbest)} hypotheses, at most {HYPOTHESES} are allowed"
        )
    confidence = message.confidence if message.HasField("confidence") else None
    nbest = []
    for number, hypothesis in enumerate(message.nbest):
        where = f"{field}.nbest[{number}]"
        check_size(limits, "slots", len(hypothesis.words), f"{where}.words")
        words = _words_from_wire(hypothesis.words, hypothesis.confidences, (), (), where)
        score = hypothesis.score if hypothesis.HasField("score") else None
        nbest.append(Hypothesis(words, _finite(score, f"{where}.score")))
    return ExpertOutput(
        message.engine,
        _words_from_wire(message.words, message.confidences, message.starts, message.ends, field),
        _finite(confidence, f"{field}.confidence"),
        tuple(nbest),
        lattice_from_wire(message.lattice, f"{field}.lattice") if message.HasField("lattice") else None,
    )


def _output_to_wire(output: ExpertOutput) -> wire.EngineOutput:
    return wire.EngineOutput(
        engine=output.name,
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
        raise InvalidMessage(
            f"{field}.words[{list(texts).index('')}]", "empty", "leave out what was not said"
        )
    count = len(texts)
    columns = [
        [None if isnan(value) else value for value in _numbers(values, count, f"{field}.{name}")]
        if values
        else repeat(None, count)
        for name, values in (("confidences", confidences), ("starts", starts), ("ends", ends))
    ]
    return tuple(map(Word, texts, *columns))


def _column(values: Iterable[float | None]) -> list[float]:
    """An optional number of each word as an array with NaN for none; empty when there is none at all."""
    column = [nan if value is None else value for value in values]
    return [] if all(isnan(value) for value in column) else column


def _numbers(values: Sequence[float], count: int, field: str) -> list[float]:
    """As many numbers as there are tokens, NaN for none, none infinite."""
    if len(values) != count:
        raise InvalidMessage(field, f"{len(values)} numbers for {count} tokens", "send as many, or none")
    numbers = list(values)
    if any(map(isinf, numbers)):
        raise InvalidMessage(field, "infinite", "send a finite number, or NaN for none")
    return numbers


def _finite(value: float | None, field: str) -> float | None:
    if value is not None and (isnan(value) or isinf(value)):
        raise InvalidMessage(field, f"{value} is not a finite number", "leave it out instead")
    return value
