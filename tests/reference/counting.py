"""Counting with weighted transducers: count-based gains as rational kernels (OpenFst, log semiring).

`counting_transducer` T maps a sequence x to each pattern in it, with the discounted number of times it
occurs there, so that x o T o W o T^-1 o y, summed over all paths, is the sum over patterns of
weight * Theta(x) * Theta(y). `kernel_value` computes it. Slow, and a second opinion on the compiled gains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import pynini
import pywrapfst

from galloon.learners.errors import BudgetExceeded

STATE_BUDGET = 1_000_000
FLOAT = "log64"  # OpenFst's log semiring in double precision: weights are -log of the numbers


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Tokens as OpenFst labels, from 1 on: 0 is epsilon."""

    labels: Mapping[str, int]

    @classmethod
    def of(cls, *sequences: Sequence[str]) -> "Alphabet":
        tokens = dict.fromkeys(token for sequence in sequences for token in sequence)
        return cls({token: label for label, token in enumerate(tokens, start=1)})

    def string(self, sequence: Sequence[str]) -> pynini.Fst:
        """The acceptor of one sequence."""
        machine = _machine(len(sequence) + 1)
        for i, token in enumerate(sequence):
            _arc(machine, i, self.labels[token], self.labels[token], 1.0, i + 1)
        machine.set_final(len(sequence))
        return machine


def counting_transducer(
    alphabet: Alphabet, lengths: Sequence[int], discount: float, max_gap: int
) -> pynini.Fst:
    """Reads any sequence and writes one pattern of it, with the weight of that occurrence.

    States are (tokens written, tokens skipped since the first); before the first and after the last token of
    the pattern everything is read and nothing written.
    """
    longest = max(lengths)
    number = {(0, 0): 0}
    for written in range(1, longest):
        for skipped in range(max_gap + 1):
            number[written, skipped] = len(number)
    end = len(number)
    machine = _machine(end + 1)
    machine.set_final(end)
    for label in alphabet.labels.values():
        _arc(machine, 0, label, 0, 1.0, 0)
        _arc(machine, end, label, 0, 1.0, end)
        for (written, skipped), state in number.items():
            if written + 1 in lengths:
                _arc(machine, state, label, label, 1.0, end)
            if written + 1 < longest:
                _arc(machine, state, label, label, 1.0, number[written + 1, skipped])
            if written > 0 and skipped < max_gap:
                _arc(machine, state, label, 0, discount, number[written, skipped + 1])
    return machine


def slot_transducer(alphabet: Alphabet, slots: int) -> pynini.Fst:
    """Reads a sequence of at most `slots` tokens and writes one of them, marked with its place."""
    machine = _machine(slots + 2)
    end = slots + 1
    machine.set_final(end)
    for token, label in enumerate(alphabet.labels.values()):
        _arc(machine, end, label, 0, 1.0, end)
        for slot in range(slots):
            _arc(machine, slot, label, 0, 1.0, slot + 1)
            _arc(machine, slot, label, 1 + slot * len(alphabet.labels) + token, 1.0, end)
    return machine


def weighting_of(alphabet: Alphabet, weights: Mapping[tuple[str, ...], float]) -> pynini.Fst:
    """W for given patterns: accepts each with its weight."""
    machine = _machine(1)
    for pattern, weight in weights.items():
        state = 0
        for i, token in enumerate(pattern):
            label = alphabet.labels[token]
            onward = machine.add_state()
            _arc(machine, state, label, label, weight if i == 0 else 1.0, onward)
            state = onward
        machine.set_final(state)
    return machine


def weighting_of_all(alphabet: Alphabet, null: str | None) -> pynini.Fst:
    """W for all n-grams: accepts every pattern, but those made of nulls alone if the null is named."""
    machine = _machine(2)
    machine.set_final(1)
    if null is None:
        machine.set_final(0)
    for token, label in alphabet.labels.items():
        _arc(machine, 0, label, label, 1.0, 0 if token == null else 1)
        _arc(machine, 1, label, label, 1.0, 1)
    return machine


def kernel_value(
    x: pynini.Fst, y: pynini.Fst, counting: pynini.Fst, weighting: pynini.Fst | None = None
) -> float:
    """The sum of the weights of all paths of x o T o W o T^-1 o y."""
    needed = x.num_states() * counting.num_states() ** 2 * y.num_states()
    if needed > STATE_BUDGET:
        raise BudgetExceeded("states of the rational kernel", needed, STATE_BUDGET, "use shorter sequences")
    left = _patterns_in(x, counting)
    if weighting is not None:
        left = pynini.compose(left, weighting.copy().arcsort("ilabel"))
    product = pynini.compose(left, _patterns_in(y, counting))
    if product.start() == pywrapfst.NO_STATE_ID:
        return 0.0
    return exp(-float(pywrapfst.shortestdistance(product, reverse=True)[product.start()]))


def _patterns_in(sequence: pynini.Fst, counting: pynini.Fst) -> pynini.Fst:
    counted = pynini.compose(sequence, counting.copy().arcsort("ilabel"))
    patterns: pynini.Fst = counted.project("output").rmepsilon().arcsort("ilabel")
    return patterns


def _machine(states: int) -> pynini.Fst:
    machine = pynini.Fst(FLOAT)
    for _ in range(states):
        machine.add_state()
    machine.set_start(0)
    return machine


def _arc(machine: pynini.Fst, source: int, read: int, written: int, number: float, target: int) -> None:
    if number > 0.0:
        machine.add_arc(source, pywrapfst.Arc(read, written, pywrapfst.Weight(FLOAT, -log(number)), target))
