"""Damage for messages of the wire: `mutated` makes a broken copy, the same for the same generator.

Half of the damages are to bytes; the others know the encoding, and change a varint, a length or a field number, or
splice a field of another message in, so that most of them get past the parser and reach the code behind it.
"""

from random import Random

VARINTS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
FLOATS = (
    b"\x00" * 7 + b"\xf0\x7f",
    b"\x00" * 6 + b"\xf8\x7f",
    b"\xff" * 8,
    b"\x00" * 8,
    b"\x00" * 7 + b"\x80",
)
TEXTS = (
    b"",
    b"\xff",
    b"\xed\xa0\x80",
    b"\x00",
    b"\n\r\t",
    b"'\"\\",
    b"a" * 300,
    "\u202e\ufdfa".encode(),
    b"%s%n{0}",
)


def mutated(data: bytes, other: bytes, random: Random) -> bytes:
    """One to four damages; `other` is a message to take parts from."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(DAMAGES)(data, other, random)
    return data[:4096]


def _flip(data: bytes, _: bytes, random: Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _count in range(random.choice((1, 1, 3, 10))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(data: bytes, _: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeat(data: bytes, _: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:end] * random.choice((1, 2, 30)) + data[end:]


def _splice(data: bytes, other: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(other) + 1) for _ in range(2))
    at = random.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _number(data: bytes, _: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + _varint(random.choice(VARINTS)) + data[at + 1 :]


def _float(data: bytes, _: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(FLOATS) + data[at + 8 :]


def _field(data: bytes, _: bytes, random: Random) -> bytes:
    """A whole new field: a number and a kind, and a value that fits the kind."""
    number, kind = random.randint(1, 20), random.choice((0, 1, 2, 5))
    text = random.choice(TEXTS)
    value = {
        0: _varint(random.choice(VARINTS)),
        1: random.choice(FLOATS)[:8],
        2: _varint(len(text)) + text,
        5: b"\xff" * 4,
    }
    return data + _varint(number << 3 | kind) + value[kind]


def _text(data: bytes, _: bytes, random: Random) -> bytes:
    """A text in the place of another one, where a byte looks like its length."""
    places = [at for at, byte in enumerate(data[:-1]) if 0 < byte < 30 and at + byte < len(data)]
    if not places:
        return data
    at, text = random.choice(places), random.choice(TEXTS)
    return data[:at] + _varint(len(text)) + text + data[at + 1 + data[at] :]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


DAMAGES = (_flip, _cut, _repeat, _splice, _number, _float, _field, _text)
