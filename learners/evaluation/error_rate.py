"""Word and character error rates as counts that add up: substitutions, deletions, insertions.

`word_errors` and `char_errors` compare two texts that are already normalised; `count_errors` any two
sequences. Counts of utterances add to the micro-averaged rate. `as_table` lays the counts of many
utterances out as an array for the bootstrap.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """The edits of a shortest way from the reference to the hypothesis."""

    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    reference_length: int = 0

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Percent. Against an empty reference each insertion counts as 100, for want of a length."""
        return 100.0 * self.errors / max(1, self.reference_length)

    def __add__(self, other: "ErrorCounts") -> "ErrorCounts":
        return ErrorCounts(
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
            self.reference_length + other.reference_length,
        )


def word_errors(reference: str, hypothesis: str) -> ErrorCounts:
    """Errors over white-space tokens."""
    return count_errors(reference.split(), hypothesis.split())


def char_errors(reference: str, hypothesis: str) -> ErrorCounts:
    """Errors over characters, spaces included."""
    return count_errors(reference, hypothesis)


def count_errors(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> ErrorCounts:
    """Errors over the items of two sequences."""
    if reference == hypothesis:
        return ErrorCounts(reference_length=len(reference))
    substitutions = deletions = insertions = 0
    for tag, _, _ in Levenshtein.editops(reference, hypothesis).as_list():
        if tag == "replace":
            substitutions += 1
        elif tag == "delete":
            deletions += 1
        else:
            insertions += 1
    return ErrorCounts(substitutions, deletions, insertions, len(reference))


def total(counts: Iterable[ErrorCounts]) -> ErrorCounts:
    """The sum: its rate is the micro-average."""
    table = as_table(counts)
    return ErrorCounts(*(int(n) for n in table.sum(axis=0)))


def as_table(counts: Iterable[ErrorCounts]) -> NDArray[np.int64]:
    """One row an utterance: substitutions, deletions, insertions, reference length."""
    rows = [(c.substitutions, c.deletions, c.insertions, c.reference_length) for c in counts]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 4)
