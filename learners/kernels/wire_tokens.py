"""Tokens of pre-aligned slots, numbered where they lie: in the bytes of a galloon.v1.Slots.

Of a hundred tokens most are said by several experts. So only the different ones become texts, each once; making a
text of every token took longer than choosing among them. The bytes must be well-formed: a serialiser wrote them.

    Slots: 1 offers (SlotOffers) ...    SlotOffers: 1 expert, 2 token ..., 3 confidences
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import power_above

OFFERS, TOKEN, CONFIDENCES = 1, 2, 3  # numbers of fields
VARINT, EIGHT_BYTES, SIZED, GROUP, GROUP_END = 0, 1, 2, 3, 4  # kinds of fields; the one left has four bytes
UNEVEN = -1


@njit(cache=True, inline="always")
def _varint(data, at):
    """A number, and where it ends."""
    value, shift = np.int64(data[at] & 0x7F), 7
    while data[at] >= 0x80:
        at += 1
        value |= np.int64(data[at] & 0x7F) << shift
        shift += 7
    return value, at + 1


@njit(cache=True)
def _skipped(data, at, kind):
    """The end of a field that nobody here knows."""
    groups = 0
    while True:
        if kind == VARINT:
            at = _varint(data, at)[1]
        elif kind == EIGHT_BYTES:
            at += 8
        elif kind == SIZED:
            size, at = _varint(data, at)
            at += size
        elif kind == GROUP:
            groups += 1
        elif kind == GROUP_END:
            groups -= 1
        else:
            at += 4
        if groups == 0:
            return at
        key, at = _varint(data, at)
        kind = key & 7


@njit(cache=True, inline="always")
def _hash(data, start, end, secret):
    """Different for every secret, so that nobody can send tokens that all fall into one place."""
    mixed = secret ^ np.uint64(end - start)
    for at in range(start, end):
        mixed = (mixed ^ np.uint64(data[at])) * (secret | np.uint64(1))
        mixed ^= mixed >> np.uint64(29)
    return mixed * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)


@njit(cache=True, inline="always")
def _same(data, start, other, size):
    for offset in range(size):
        if data[start + offset] != data[other + offset]:
            return False
    return True


@njit(cache=True)
def number_tokens(data, secret, tokens, spans):
    """Fill tokens [l, r], a column for each offer in order, with numbers in the order in which tokens are met.

    0 is the empty token; spans[k] is where token k > 0 starts and ends. Returns how many numbers there are, or
    UNEVEN where an offer has another number of tokens than l; and whether there are any confidences.
    """
    slots = tokens.shape[0]
    places = power_above(2 * tokens.size)
    table = np.zeros(places, dtype=np.int32)
    count, expert, confident, at = 1, 0, False, 0
    while at < data.size:
        key, at = _varint(data, at)
        if key != OFFERS << 3 | SIZED:
            at = _skipped(data, at, key & 7)
            continue
        size, at = _varint(data, at)
        end, slot = at + size, 0
        while at < end:
            key, at = _varint(data, at)
            if key >> 3 == CONFIDENCES:
                confident = True
            if key != TOKEN << 3 | SIZED:
                at = _skipped(data, at, key & 7)
                continue
            size, at = _varint(data, at)
            if slot == slots:
                return UNEVEN, confident
            number = 0
            if size > 0:
                place = np.int64(_hash(data, at, at + size, secret)) & (places - 1)
                while table[place] > 0:
                    known = table[place]
                    if spans[known, 1] - spans[known, 0] == size and _same(data, at, spans[known, 0], size):
                        break
                    place = (place + 1) & (places - 1)
                if table[place] == 0:
                    table[place] = count
                    spans[count, 0], spans[count, 1] = at, at + size
                    count += 1
                number = table[place]
            tokens[slot, expert] = number
            slot += 1
            at += size
        if slot < slots:
            return UNEVEN, confident
        expert += 1
    return count, confident


def warm_up() -> None:
    offer = b"\x12\x01a\x12\x00"
    data = np.frombuffer(b"\x0a" + bytes([len(offer)]) + offer, dtype=np.uint8)
    number_tokens(data, np.uint64(1), np.empty((2, 1), dtype=np.int32), np.empty((3, 2), dtype=np.int32))
