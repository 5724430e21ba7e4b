"""How the tokens on offer were written: `WrittenForms`. A normaliser decides what is equal, not what is shown."""

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.framing import texts_as_json

CONTINUED = -1  # written together with the expert's token before


@dataclass(frozen=True, slots=True)
class WrittenForms:
    """`numbers[i, j]` says how engine j wrote its token in slot i: 0 as it is, CONTINUED, or an index of `texts`.

    No rows at all where every token is written as it is.
    """

    texts: tuple[str, ...]  # the first stands for the token itself
    numbers: NDArray[np.int32]  # slots x engines

    def __bool__(self) -> bool:
        return bool(self.numbers.size)

    def to_parts(self) -> list[bytes]:
        """Two byte strings, or none where every token is written as it is."""
        if not self:
            return []
        return [texts_as_json(self.texts).encode(), self.numbers.astype("<i4", copy=False).tobytes()]

    @classmethod
    def from_parts(cls, parts: list[bytes], slots: int, engines: int) -> "WrittenForms":
        """The inverse of `to_parts`; a ValueError or TypeError for bytes that it did not write."""
        if not parts:
            return AS_TOKENS
        texts, numbers = parts
        found = cls(tuple(json.loads(texts)), np.frombuffer(numbers, "<i4").astype(np.int32))
        "".join(found.texts)  # a TypeError unless all are strings
        if not ((found.numbers >= CONTINUED) & (found.numbers < len(found.texts))).all():
            raise ValueError("forms that nobody wrote")
        return cls(found.texts, found.numbers.reshape(slots, engines))

    def of_engines(self, columns: list[int]) -> "WrittenForms":
        """The columns of these engines."""
        return WrittenForms(self.texts, np.ascontiguousarray(self.numbers[:, columns])) if self else self


AS_TOKENS = WrittenForms(("",), np.zeros((0, 0), dtype=np.int32))
