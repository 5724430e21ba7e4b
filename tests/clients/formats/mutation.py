"""Damage for the fuzz tests: `mutate` makes a broken copy of a file, the same for the same generator."""

import random
import re

_NUMBERS = (
    b"0",
    b"-1",
    b"99999999999999999999",
    b"1e999",
    b"-1e308",
    b"NaN",
    b"inf",
    b"1_0",
    b"0x10",
    b"9" * 400,
)
_PIECES = (
    b"\x00", b"\xff\xfe", b"\xc3\x28", b'"', b"\\", b"\\ud800", b"<", b"&#0;", b"&lol;", b"<!DOCTYPE a [",
    b"]]>", b"[" * 200, b"{" * 200, b"<a>" * 200, b"\n\n", b"\t", b"=", b"(", b"|||", b"\xe2\x80\xa8",
    b"\x1f\x8b", b"(" * 500, b"null", b"[]", b"{}", b"true", b" " * 300,
)  # fmt: skip


def mutate(data: bytes, draw: random.Random) -> bytes:
    """One to four damages, one after another."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(_DAMAGES)(data, draw)
    return data


def _flip(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return data
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 20))):
        out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
    return bytes(out)


def _replace_byte(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _truncate(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _delete(data: bytes, draw: random.Random) -> bytes:
    at, length = _span(data, draw)
    return data[:at] + data[at + length :]


def _duplicate(data: bytes, draw: random.Random) -> bytes:
    at, length = _span(data, draw)
    times = draw.choice((2, 2, 3, 40))
    return data[:at] + data[at : at + length] * times + data[at + length :]


def _swap_tokens(data: bytes, draw: random.Random) -> bytes:
    tokens = list(re.finditer(rb"[\w.]+", data))
    if len(tokens) < 2:
        return data
    first, second = sorted(draw.sample(range(len(tokens)), 2))
    a, b = tokens[first], tokens[second]
    return data[: a.start()] + b[0] + data[a.end() : b.start()] + a[0] + data[b.end() :]


def _swap_lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _blow_up_number(data: bytes, draw: random.Random) -> bytes:
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not numbers:
        return data
    chosen = draw.choice(numbers)
    return data[: chosen.start()] + draw.choice(_NUMBERS) + data[chosen.end() :]


def _blow_up_binary(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(max(len(data) - 8, 1))
    number = draw.choice((-1, 0, 1, 2**31 - 1, 2**40, 2**62, 0x7FF80000, 0x7F800000))
    return data[:at] + number.to_bytes(8, "little", signed=True) + data[at + 8 :]


def _insert(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_PIECES) + data[at:]


def _span(data: bytes, draw: random.Random) -> tuple[int, int]:
    at = draw.randrange(len(data) + 1)
    return at, draw.randrange(1, draw.choice((4, 40, 400)))


_DAMAGES = (
    _flip, _replace_byte, _truncate, _delete, _duplicate, _swap_tokens, _swap_lines, _blow_up_number,
    _blow_up_number, _blow_up_binary, _insert,
)  # fmt: skip
