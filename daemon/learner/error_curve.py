"""Error counts in the order in which corrections came: a bounded number of blocks, each a sum over as many.

`Rates` are sums over corrections; `ErrorCurve.entered` is the curve after one more of them, `removed` after one
less. When there are too many blocks, neighbours become one. A curve is a value: whoever reads it sees all of it.
From blocks come the curves of the page and, because every sum knows the learner's own errors in the same
corrections, paired differences with intervals (`comparison`).
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from galloon.learners.evaluation.error_rate import ErrorCounts

MOST_BLOCKS = 128


@dataclass(frozen=True, slots=True)
class Rates:
    """Sums over the corrections of rounds in which somebody spoke, and the learner's own errors in the same."""

    words: ErrorCounts = field(default_factory=ErrorCounts)
    chars: ErrorCounts = field(default_factory=ErrorCounts)
    own_word_errors: int = 0
    own_char_errors: int = 0
    corrections: int = 0

    def __add__(self, other: "Rates") -> "Rates":
        return Rates(
            self.words + other.words,
            self.chars + other.chars,
            self.own_word_errors + other.own_word_errors,
            self.own_char_errors + other.own_char_errors,
            self.corrections + other.corrections,
        )

    def __neg__(self) -> "Rates":
        numbers = [-number for number in self.to_json()]
        return Rates.from_json(numbers)

    def to_json(self) -> list[int]:
        own = (self.own_word_errors, self.own_char_errors, self.corrections)
        return [*astuple(self.words), *astuple(self.chars), *own]

    @classmethod
    def from_json(cls, numbers: list[int]) -> "Rates":
        return cls(ErrorCounts(*numbers[:4]), ErrorCounts(*numbers[4:8]), *numbers[8:11])


def added(sums: Mapping[str, Rates], more: Mapping[str, Rates]) -> dict[str, Rates]:
    """Sums by name, those that were there before in their order."""
    return {**sums, **{name: sums.get(name, Rates()) + rates for name, rates in more.items()}}


@dataclass(frozen=True, slots=True)
class Block:
    """Sums over neighbouring corrections; `last` is the place of the last of them in the journal."""

    last: int
    corrections: int
    sums: Mapping[str, Rates]


@dataclass(frozen=True, slots=True)
class ErrorCurve:
    """Blocks in the order of the journal, each of `stride` corrections but for the last."""

    blocks: tuple[Block, ...] = ()
    stride: int = 1

    def entered(self, counted: Mapping[str, Rates], place: int) -> "ErrorCurve":
        """With the correction that stands in this place of the journal, which is the last so far."""
        blocks = self.blocks
        if blocks and blocks[-1].corrections < self.stride:
            last = Block(place, blocks[-1].corrections + 1, added(blocks[-1].sums, counted))
            return replace(self, blocks=(*blocks[:-1], last))
        longer = ErrorCurve((*blocks, Block(place, 1, dict(counted))), self.stride)
        return longer if len(longer.blocks) <= MOST_BLOCKS else longer._halved()

    def removed(self, counted: Mapping[str, Rates], place: int) -> "ErrorCurve":
        """Without the correction that was entered in this place."""
        at = bisect_left(self.blocks, place, key=lambda block: block.last)
        if at == len(self.blocks):
            return self
        known = self.blocks[at]
        less = {name: -rates for name, rates in counted.items()}
        block = replace(
            known, sums=added(known.sums, less)
        )  # its place stays taken, so that others stay in theirs
        return replace(self, blocks=(*self.blocks[:at], block, *self.blocks[at + 1 :]))

    def _halved(self) -> "ErrorCurve":
        pairs = [self.blocks[at : at + 2] for at in range(0, len(self.blocks), 2)]
        return ErrorCurve(tuple(_joined(pair) for pair in pairs), 2 * self.stride)

    def to_json(self) -> dict[str, Any]:
        blocks = [
            [each.last, each.corrections, {name: rates.to_json() for name, rates in each.sums.items()}]
            for each in self.blocks
        ]
        return {"stride": self.stride, "blocks": blocks}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "ErrorCurve":
        blocks = (
            Block(last, corrections, {name: Rates.from_json(numbers) for name, numbers in sums.items()})
            for last, corrections, sums in found["blocks"]
        )
        return cls(tuple(blocks), found["stride"])


def _joined(blocks: Iterable[Block]) -> Block:
    first, *others = blocks
    for other in others:
        first = Block(other.last, first.corrections + other.corrections, added(first.sums, other.sums))
    return first
