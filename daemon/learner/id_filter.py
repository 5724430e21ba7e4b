"""A small filter of the ids that a learner has seen: whether to look for a round on disk at all.

`may_know` is never wrong when it says no; one new id in a hundred is looked for in vain. A Bloom filter in blocks,
each twice as large as the one before, of sixteen bits an id, so that all blocks together are as rarely wrong as
that: 2 to 4 MB for a million. It is no state: after a start it is
`complete` once the keys of the history have been added, and says maybe to everything before.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FIRST_BITS = 1 << 16
BITS_OF_A_KEY = 16
PROBES = 5
_MASK = (1 << 64) - 1


class IdFilter:
    """By the keys of ids."""

    def __init__(self, complete: bool = True) -> None:
        self.complete = complete
        self._blocks: list[bytearray] = []
        self._room = 0  # keys that the last block still takes

    def add(self, key: int) -> None:
        if not self._room:
            self._grow()
        self._room -= 1
        block, (low, high) = self._blocks[-1], _halves(key)
        for probe in range(PROBES):
            at = (low + probe * high) & (len(block) * 8 - 1)
            block[at >> 3] |= 1 << (at & 7)

    def add_all(self, keys: Sequence[int]) -> None:
        """The same for many at once, in a tenth of the time."""
        halves = np.array(keys, dtype=np.int64).astype(np.uint64)
        while len(halves):
            if not self._room:
                self._grow()
            some, halves = halves[: self._room], halves[self._room :]
            self._room -= len(some)
            _set_places(np.frombuffer(self._blocks[-1], dtype=np.uint8), some)

    def _grow(self) -> None:
        bits = FIRST_BITS << len(self._blocks)
        self._blocks.append(bytearray(bits // 8))
        self._room = bits // BITS_OF_A_KEY

    def may_know(self, key: int) -> bool:
        if not self.complete:
            return True
        low, high = _halves(key)
        for block in reversed(self._blocks):
            mask, at = len(block) * 8 - 1, low
            for _ in range(PROBES):
                place = at & mask
                if not block[place >> 3] >> (place & 7) & 1:
                    break
                at += high
            else:
                return True
        return False

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(map(len, self._blocks))


def _halves(key: int) -> tuple[int, int]:
    """Keys are hashes already: where to look first, and how far apart."""
    return key & 0xFFFFFFFF, (key & _MASK) >> 32 | 1


def _set_places(block: NDArray[np.uint8], keys: NDArray[np.uint64]) -> None:
    """What `add` does with each key."""
    mask = np.uint64(len(block) * 8 - 1)
    low, high = keys & np.uint64(0xFFFFFFFF), keys >> np.uint64(32) | np.uint64(1)
    for probe in range(PROBES):
        at = (low + np.uint64(probe) * high) & mask
        np.bitwise_or.at(block, at >> np.uint64(3), (np.uint64(1) << (at & np.uint64(7))).astype(np.uint8))
