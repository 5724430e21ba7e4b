"""The values that travel through a path learner: choices, memories, feedback, sizes.

One round: `choose(round_number)` gives a `PathChoice`; later, or never, `learn(choice.memory, feedback)`.
Nothing else changes a learner. `choose` changes nothing: it is a function of the state and of the round
number, which keys the counter-based generator. So a replay of the same calls gives the same bits.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Setting(StrEnum):
    """What feedback reveals."""

    FULL = "full"
    SEMI_BANDIT = "semi"
    BANDIT = "bandit"


_SIZES = struct.Struct("<qq")
_SHAPE = struct.Struct("<qqq")


@dataclass(frozen=True, slots=True)
class Memory:
    """What an estimator needs of a round when its feedback comes: stored at choice, never recomputed.

    `edges` are the chosen transitions (of A', or of A for EXP3-AG) in order; `numbers` is the learner's
    own: flows to divide by, an estimator's coefficients, a log probability.
    """

    edges: IntArray
    numbers: FloatArray

    def to_bytes(self) -> bytes:
        head = _SIZES.pack(self.edges.size, self.numbers.size)
        return head + self.edges.astype("<i4").tobytes() + self.numbers.astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Memory":
        edge_count, number_count = _SIZES.unpack(data[:16].ljust(16, b"\0"))
        if min(edge_count, number_count) < 0 or len(data) != 16 + 4 * edge_count + 8 * number_count:
            raise DamagedState(f"these {len(data)} bytes are not the memory of a round")
        edges = np.frombuffer(data, dtype="<i4", count=edge_count, offset=16).astype(np.int32)
        if not number_count:
            return cls(edges, np.empty(0))
        numbers = np.frombuffer(data, dtype="<f8", count=number_count, offset=16 + 4 * edge_count)
        return cls(edges, numbers.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Memories:
    """The memories of several rounds on one automaton whose paths are equally long: a row for each."""

    edges: IntArray  # [rounds, transitions of a path]
    numbers: FloatArray  # [rounds, numbers of a memory]

    @classmethod
    def of(cls, rows: Sequence[Memory]) -> "Memories":
        if not rows:
            return cls(np.empty((0, 0), dtype=np.int32), np.empty((0, 0)))
        return cls(np.array([row.edges for row in rows]), np.array([row.numbers for row in rows]))

    def __len__(self) -> int:
        return int(self.edges.shape[0])

    def rows(self) -> list[Memory]:
        return [Memory(edges, numbers) for edges, numbers in zip(self.edges, self.numbers, strict=True)]

    def to_bytes(self) -> bytes:
        head = _SHAPE.pack(*self.edges.shape, self.numbers.shape[1])
        edges, numbers = self.edges.astype("<i4", copy=False), self.numbers.astype("<f8", copy=False)
        return head + edges.tobytes() + numbers.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Memories":
        count, edges, numbers = _SHAPE.unpack(data[: _SHAPE.size].ljust(_SHAPE.size, b"\0"))
        if min(count, edges, numbers) < 0 or len(data) != _SHAPE.size + count * (4 * edges + 8 * numbers):
            raise DamagedState(f"these {len(data)} bytes are not the memories of rounds")
        split = _SHAPE.size + 4 * count * edges
        return cls(
            np.frombuffer(data[_SHAPE.size : split], dtype="<i4").astype(np.int32).reshape(count, edges),
            np.frombuffer(data[split:], dtype="<f8").astype(np.float64).reshape(count, numbers),
        )


def check_memory(memory: Memory, is_path: bool, number_count: int) -> None:
    """Refuse a memory that no choice on this automaton can have left: it may come from an imported state."""
    numbers = memory.numbers
    if not (is_path and numbers.size == number_count and (not number_count or np.isfinite(numbers).all())):
        raise foreign_memory()


def foreign_memory() -> DamagedState:
    return DamagedState("the memory of this round is not one of this learner's: it is damaged or foreign")


@dataclass(frozen=True, slots=True)
class PathChoice:
    """A chosen path of the expert automaton: its transitions, its probability, and what to remember.

    The probability is NaN where the law has no closed form (the perturbed leader).
    """

    path: IntArray
    log_probability: float
    memory: Memory


@dataclass(frozen=True, slots=True)
class PathChoices:
    """The choices of several rounds, a row for each."""

    paths: IntArray
    log_probabilities: FloatArray
    memories: Memories

    @classmethod
    def of(cls, rows: Sequence[PathChoice]) -> "PathChoices":
        return cls(
            np.array([row.path for row in rows], dtype=np.int32),
            np.array([row.log_probability for row in rows]),
            Memories.of([row.memory for row in rows]),
        )


@dataclass(frozen=True, slots=True)
class FullFeedback:
    """The gain of every transition of A'."""

    edge_gains: FloatArray


@dataclass(frozen=True, slots=True)
class SemiBanditFeedback:
    """The gains of the chosen path's transitions in A', in order."""

    path_gains: FloatArray


@dataclass(frozen=True, slots=True)
class BanditFeedback:
    """One number: the gain of the chosen path."""

    gain: float


Feedback = FullFeedback | SemiBanditFeedback | BanditFeedback


@dataclass(frozen=True, slots=True)
class Size:
    """How large a learner is."""

    states: int
    transitions: int
    state_bytes: int
