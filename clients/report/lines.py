"""Every utterance slot by slot, as plain data for the page's script: `lines`.

A slot is a string where all agreed and were right. Else it is an object: `t` the true token (left out where it is
the chosen one), `x` the expert that the chosen token is credited to, `v` the vote's token, and `o` the offers,
the chosen one first: token, experts, probability. Experts are numbers, places in the list of names.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from galloon.clients.replay.results import Results
from galloon.clients.report.offers import SlotReason, explain
from galloon.learners.alignment import align_target, majority_vote
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import normalizer


@dataclass(frozen=True, slots=True)
class Lines:
    """The experts that tokens came from, and all utterances as JSON values, worst first."""

    experts: tuple[str, ...]
    records: tuple[dict[str, Any], ...]


def lines(results: Results, by: str) -> Lines:
    """The utterances with a true text; `by` is the label that they can be filtered by."""
    played, unit = results.played, results.unit
    names = {name: place for place, name in enumerate(played.opened.experts)}
    records: list[dict[str, Any]] = []
    for place, index in enumerate(results.scored):
        round_ = played.rounds[index]
        reasons = explain(round_.choice, played.opened.experts)
        for reason in reasons:  # a learner may credit experts of its own
            for name in (reason.expert, *(name for offer in reason.offers for name in offer.experts)):
                names.setdefault(name, len(names))
        present = tuple(output.name for output in round_.utterance.outputs)
        slots, between = _slots(reasons, present, results, place, names)
        records.append(
            {
                "id": round_.utterance.id,
                "by": round_.utterance.labels.get(by, ""),
                "true": results.references[place],
                "text": round_.choice.text,
                "errors": results.main.of(unit)[place].errors,
                "vote": results.vote.of(unit)[place].errors,
                "best": results.best_engine.of(unit)[place].errors,
                "length": results.main.of(unit)[place].reference_length,
                "round": index + 1,
                "between": between,
                "slots": slots,
            }
        )
    records.sort(key=lambda record: (-record["errors"], -record["errors"] / max(1, record["length"])))
    return Lines(tuple(names), tuple(records))


def _slots(
    reasons: tuple[SlotReason, ...],
    engines: tuple[str, ...],
    results: Results,
    place: int,
    names: dict[str, int],
) -> tuple[list[Any], int]:
    """The slots of one utterance, in which these engines ran, and how many true tokens fall between them."""
    network = _network(reasons, engines)
    truth = align_target(network, results.references[place], results.unit, normalizer(results.normalizer))
    vote = majority_vote(network).tokens.tolist()
    slots: list[Any] = []
    for reason, true_token, voted in zip(reasons, truth.texts, vote, strict=True):
        if reason.unanimous and reason.token == true_token:
            slots.append(reason.token)
            continue
        offers = [
            [offer.token, [names[name] for name in offer.experts], _permille(offer.probability)]
            for offer in reason.offers
        ]
        slot: dict[str, Any] = {"x": names[reason.expert], "v": network.vocabulary[voted], "o": offers}
        if true_token != reason.token:
            slot["t"] = true_token
        slots.append(slot)
    return slots, truth.unreachable


def _network(reasons: tuple[SlotReason, ...], engines: tuple[str, ...]) -> Offers:
    """What the engines offered, put together again from the daemon's answer."""
    vocabulary: dict[str, int] = {"": 0}
    column = {name: place for place, name in enumerate(engines)}
    tokens = np.zeros((len(reasons), len(engines)), dtype=np.int32)
    for slot, reason in enumerate(reasons):
        for offer in reason.offers:
            number = vocabulary.setdefault(offer.token, len(vocabulary))
            for name in offer.experts:
                if name in column:
                    tokens[slot, column[name]] = number
    return Offers(engines, tuple(vocabulary), tokens, np.full(tokens.shape, np.nan))


def _permille(probability: float | None) -> int | None:
    return None if probability is None else round(1000 * probability)
