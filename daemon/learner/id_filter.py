"""A small filter of the ids that a learner has seen: whether to look for a round on disk at all.

`may_know` is never wrong when it says no; one new id in a hundred is looked for in vain. A Bloom filter in blocks,
each twice as large as the one before, of ten bits an id: 1.3 MB for a million. It is no state: after a start it is
`complete` once the keys of the history have been added, and says maybe to everything before.
"""

from collections.abc import Iterable

FIRST_BITS = 1 << 16
BITS_OF_A_KEY = 10
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
            bits = FIRST_BITS << len(self._blocks)
            self._blocks.append(bytearray(bits // 8))
            self._room = bits // BITS_OF_A_KEY
        self._room -= 1
        block = self._blocks[-1]
        for at in _places(key, len(block) * 8 - 1):
            block[at >> 3] |= 1 << (at & 7)

    def add_all(self, keys: Iterable[int]) -> None:
        for key in keys:
            self.add(key)

    def may_know(self, key: int) -> bool:
        if not self.complete:
            return True
        for block in reversed(self._blocks):
            if all(block[at >> 3] >> (at & 7) & 1 for at in _places(key, len(block) * 8 - 1)):
                return True
        return False

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(map(len, self._blocks))


def _places(key: int, mask: int) -> list[int]:
    """Keys are hashes already: their halves give all the places."""
    low, high = key & 0xFFFFFFFF, (key & _MASK) >> 32 | 1
    return [(low + probe * high) & mask for probe in range(PROBES)]
