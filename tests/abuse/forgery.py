"""Exported learners with forged content and a good checksum: anybody can compute one, so it proves nothing.

`forged` changes arrays, numbers and texts inside the container, also inside the containers that it holds, and
packs everything again as galloon would.
"""

import json
from random import Random
from typing import Any

import numpy as np

from galloon.learners.state import CHECKSUM_BYTES, MAGIC, _checksum

INTEGERS = (0, 1, -1, 2, 63, 2**31 - 1, -(2**31), 2**62, -(2**62))
REALS = (0.0, -1.0, 1e308, -1e308, float("nan"), float("inf"), -745.0, 1e-320)


def forged(data: bytes, random: Random) -> bytes:
    """One to three changes, all of them whole again."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = _forge(data, random)
    return data


def _forge(data: bytes, random: Random) -> bytes:
    start = len(MAGIC) + 4
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header, bodies, at = json.loads(data[start:end]), [], end
    for _, dtype, shape in header["arrays"]:
        size = int(np.dtype(dtype).itemsize * np.prod(shape, dtype=np.int64))
        bodies.append(data[at : at + size])
        at += size
    if random.random() < 0.25:
        header["meta"] = _value(header["meta"], random)
    else:
        place = random.randrange(len(bodies))
        header["arrays"][place], bodies[place] = _array(header["arrays"][place], bodies[place], random)
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *bodies])
    return body + _checksum(body)


def _array(entry: list[Any], body: bytes, random: Random) -> tuple[list[Any], bytes]:
    name, dtype, shape = entry
    if body.startswith(MAGIC) and len(body) > len(MAGIC) + CHECKSUM_BYTES:
        inner = _forge(body, random)
        return [name, dtype, [len(inner)]], inner
    values = np.frombuffer(body, dtype=dtype).copy()
    match random.choice(("value", "value", "value", "longer", "shorter", "other type", "noise")):
        case "value" if values.size:
            wanted = random.choice(REALS if values.dtype.kind == "f" else INTEGERS)
            with np.errstate(all="ignore"):
                values[random.randrange(values.size)] = np.array(wanted).astype(values.dtype)
        case "longer":
            values = np.concatenate([values, values, values[:1]])
        case "shorter":
            values = values[: values.size // 2]
        case "other type":
            return [name, "<f8", [values.size]], values.astype("<f8").tobytes()
        case _:
            return entry, random.randbytes(len(body))
    return [name, dtype, shape if values.size == np.prod(shape) else [values.size]], values.tobytes()


def _value(value: Any, random: Random) -> Any:
    """The JSON value with something changed in it."""
    match value:
        case dict() if value:
            key = random.choice(sorted(value))
            return {**value, key: _value(value[key], random)}
        case list() if value:
            place = random.randrange(len(value))
            return [*value[:place], _value(value[place], random), *value[place + 1 :]]
        case str() if value.startswith("{"):
            return json.dumps(_value(json.loads(value), random))
        case str():
            return random.choice(("", "\n", "x" * 2000, value + value, 'x"} 1'))
        case bool() | None:
            return 7
        case int() | float():
            return random.choice((*INTEGERS, 2**70, 1.5, "x", None, 1e308))
        case _:
            return random.choice(({}, [], None, 1, "x"))
