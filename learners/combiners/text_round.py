"""What the text combiner remembers of a round: `TextRound`, to bytes and back.

A memory may come back from a file that somebody else has written, so everything in it is checked before it
reaches compiled code.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners import framing
from galloon.learners.errors import DamagedState
from galloon.learners.lattices.decoding import Decoded
from galloon.learners.lattices.scales import COUNT, GRIDS
from galloon.learners.offers import Offers, TokenPosteriors
from galloon.learners.tied.learner import TiedMemory
from galloon.learners.written import WrittenForms

MOST_GLUED = 1 << 20


@dataclass(frozen=True, slots=True)
class TextRound:
    """One utterance as it was seen and answered."""

    network: Offers  # the engines alone
    tokens: NDArray[np.int32]  # the offers of all experts, slots x experts; the offer model is the last
    labels: dict[str, str]
    predicted: NDArray[np.float64]  # slots x experts: how probably each would gain
    played: TiedMemory
    prior: NDArray[np.float64]  # slots x engines: how probable agreement found each one's token; or no rows
    decoded: Mapping[str, Decoded] = field(default_factory=dict)  # what lattices say at each scale, by engine

    @property
    def shown(self) -> NDArray[np.int32]:
        """The token shown in each slot."""
        return self.tokens[np.arange(len(self.tokens)), self.played.shown]

    def offers(self, derived: tuple[str, ...]) -> Offers:
        """The offers of all experts: the engines that ran, then the derived ones."""
        network = self.network
        confidences = np.full(self.tokens.shape, np.nan)
        confidences[:, : len(network.experts)] = network.confidences
        return Offers(
            (*network.experts, *derived),
            network.vocabulary,
            self.tokens,
            confidences,
            posteriors=network.posteriors,
            derived_count=len(derived),
            written=network.written,
        )

    def to_bytes(self, engines: tuple[str, ...]) -> bytes:
        """For a combiner of these engines; those that ran are known by their places among them."""
        return framing.join(
            [
                _words(self.network, self.labels, self.decoded),
                self.tokens.astype("<i4", copy=False).tobytes(),
                self.network.confidences.astype("<f8", copy=False).tobytes(),
                self.predicted.astype("<f8", copy=False).tobytes(),
                *_packed(self.network.posteriors),
                self.played.to_bytes(),
                self.prior.astype("<f8", copy=False).tobytes(),
                _numbers(engines, self.network.experts),
                *self.network.written.to_parts(),
            ]
        )

    @classmethod
    def from_bytes(cls, data: bytes, engines: tuple[str, ...], derived_count: int) -> "TextRound":
        """The round in these bytes, for a combiner of these engines and so many derived experts."""
        try:
            parts = framing.split(data)
            # Rounds of older versions have no prior, and all engines.
            words, tokens, confidences, predicted, heard, posteriors, played, *more = parts
            prior, present, *written = (more[0], b"", *more[1:]) if len(more) % 2 else more or (b"", b"")
            if present:
                engines = _named(engines, np.frombuffer(present, "<i4"))
            told: list[Any] = json.loads(words)
            told += [(), {}, ()][len(told) - 2 :]  # of older versions, and where nobody did
            vocabulary, labels, glued, decoded, looped = told
            experts = len(engines) + derived_count
            offers = np.frombuffer(tokens, "<i4").astype(np.int32).reshape(-1, experts)
            "".join((*vocabulary, *labels, *labels.values()))  # a TypeError unless all are strings
            found = cls(
                Offers(
                    engines,
                    tuple(vocabulary),
                    np.ascontiguousarray(offers[:, : len(engines)]),
                    np.frombuffer(confidences, "<f8").astype(np.float64).reshape(-1, len(engines)),
                    posteriors=_unpacked(heard, posteriors),
                    written=WrittenForms.from_parts(written, offers.shape[0], len(engines)),
                    glued=tuple(glued),
                    looped=tuple(looped),
                ),
                offers,
                dict(labels),
                np.frombuffer(predicted, "<f8").astype(np.float64).reshape(-1, experts),
                TiedMemory.from_bytes(played, experts),
                np.frombuffer(prior, "<f8").astype(np.float64).reshape(-1, len(engines)),
                {engines[int(place)]: _decoded(found) for place, found in decoded.items()},
            )
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise DamagedState("this memory is not one of a text combiner with these experts") from error
        found._check()
        return found

    def _check(self) -> None:
        size, slots = len(self.network.vocabulary), self.network.slot_count
        texts = self.network.vocabulary
        sound = (
            size > 0
            and texts[0] == ""
            and all(texts[1:])
            and slots == len(self.played.shown)
            and len(self.predicted) in {0, slots}
            and len(self.prior) in {0, slots}
            and bool(((self.prior >= 0.0) & (self.prior <= 1.0 + 1e-9)).all())
            and self.network.confidences.shape == self.network.tokens.shape
        )
        for habits, most in ((self.network.glued, MOST_GLUED), (self.network.looped, 2)):
            sound = sound and len(habits) in {0, len(self.network.experts)}
            sound = sound and all(type(count) is int and 0 <= count < most for count in habits)
        heard = self.network.posteriors
        sound = sound and all(
            ((column >= 0) & (column < limit)).all() and column.shape == heard.probabilities.shape
            for column, limit in (
                (heard.slots, slots),
                (heard.experts, len(self.network.experts)),
                (heard.tokens, size),
            )
        )
        # Compiled code looks for a slot's rows side by side.
        sound = sound and bool((np.diff(heard.slots) >= 0).all())
        if not sound or not ((self.tokens >= 0) & (self.tokens < size)).all():
            raise DamagedState("this memory of a text combiner is damaged")


def _numbers(engines: tuple[str, ...], present: tuple[str, ...]) -> bytes:
    """The places of those present among the engines."""
    places = {name: place for place, name in enumerate(engines)}
    return np.array([places[name] for name in present], dtype="<i4").tobytes()


def _named(engines: tuple[str, ...], places: NDArray[np.int32]) -> tuple[str, ...]:
    if places.min() < 0 or places.max() >= len(engines) or len(np.unique(places)) < len(places):
        raise ValueError("not engines of this learner")
    return tuple(engines[place] for place in places.tolist())


def _words(network: Offers, labels: dict[str, str], decoded: Mapping[str, Decoded]) -> bytes:
    """A list of these as JSON: who left out blanks, what lattices say, who looped; where anybody did."""
    more = ""
    if network.glued or decoded:
        lattices = {
            str(network.experts.index(name)): [found.grid, found.texts, found.numbers]
            for name, found in decoded.items()
        }
        more = f", {json.dumps(network.glued)}, {json.dumps(lattices, ensure_ascii=False)}"
    if any(network.looped):
        more += f", {json.dumps(network.looped)}"
    told = framing.texts_as_json(network.vocabulary)
    return f"[{told}, {json.dumps(labels) if labels else {}}{more}]".encode()


def _decoded(values: list[Any]) -> Decoded:
    grid, texts, numbers = values
    found = Decoded(grid, tuple(tuple(text) for text in texts), tuple(numbers))
    "".join(token for text in found.texts for token in text)  # a TypeError unless all are strings
    if grid not in range(len(GRIDS)) or len(numbers) != COUNT or not set(numbers) <= set(range(len(texts))):
        raise ValueError("not what a lattice says at each scale")
    return found


def _packed(heard: TokenPosteriors) -> list[bytes]:
    if not heard.slots.size:
        return [b"", b""]
    places = np.stack([heard.slots, heard.experts, heard.tokens])
    return [
        places.astype("<i4", copy=False).tobytes(),
        heard.probabilities.astype("<f8", copy=False).tobytes(),
    ]


def _unpacked(places: bytes, posteriors: bytes) -> TokenPosteriors:
    slots, experts, tokens = np.frombuffer(places, "<i4").astype(np.int32).reshape(3, -1)
    return TokenPosteriors(slots, experts, tokens, np.frombuffer(posteriors, "<f8").astype(np.float64))
