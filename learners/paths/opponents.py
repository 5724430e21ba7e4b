"""Opponents of a simulation: in each round, the token of every expert and the target.

`stochastic`: in each slot one expert is right more often than the others, always the same one. `drifting`:
which one it is changes a few times. `adversarial`: in each slot the expert is right that the learner trusts
least at this moment, the worst that an adaptive opponent can do with one right expert a slot.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.paths.protocol import FloatArray, IntArray

TRUST_NEEDED = frozenset({"adversarial"})


@dataclass(frozen=True, slots=True)
class Table:
    """The shape of a game: experts, slots, tokens, rounds, and how often a good and a bad expert is right."""

    experts: int
    slots: int
    rounds: int
    alphabet: int = 8
    good: float = 0.8
    bad: float = 0.5


@dataclass(frozen=True, slots=True)
class Deal:
    """One round: `outputs[slot, expert]` and `target[slot]` as numbers of tokens."""

    outputs: IntArray
    target: IntArray


Opponent = Callable[[Table, np.random.Generator, int, FloatArray | None], Deal]


def _deal(table: Table, random: np.random.Generator, right: FloatArray) -> Deal:
    """Experts are right with these probabilities, else they say any other token."""
    target = random.integers(0, table.alphabet, table.slots)
    wrong = (
        target[:, None] + random.integers(1, table.alphabet, (table.slots, table.experts))
    ) % table.alphabet
    hit = random.random((table.slots, table.experts)) < right
    return Deal(np.where(hit, target[:, None], wrong).astype(np.int32), target.astype(np.int32))


def _planted(table: Table, which: NDArray[np.integer[Any]]) -> FloatArray:
    right = np.full((table.slots, table.experts), table.bad)
    right[np.arange(table.slots), which] = table.good
    return right


def _stochastic(table: Table, random: np.random.Generator, number: int, trust: FloatArray | None) -> Deal:
    del number, trust
    return _deal(table, random, _planted(table, np.arange(table.slots) * 7 % table.experts))


def _drifting(table: Table, random: np.random.Generator, number: int, trust: FloatArray | None) -> Deal:
    del trust
    epoch = 4 * number // max(table.rounds, 1)
    return _deal(table, random, _planted(table, (np.arange(table.slots) * 7 + epoch) % table.experts))


def _adversarial(table: Table, random: np.random.Generator, number: int, trust: FloatArray | None) -> Deal:
    del number
    assert trust is not None
    right = np.zeros((table.slots, table.experts))
    right[np.arange(table.slots), trust.argmin(axis=1)] = 1.0
    return _deal(table, random, right)


OPPONENTS: Mapping[str, Opponent] = {
    "stochastic": _stochastic,
    "drifting": _drifting,
    "adversarial": _adversarial,
}
