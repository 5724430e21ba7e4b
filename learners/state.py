r"""State as bytes: a versioned, checksummed container of named arrays, and the digest of one.

Layout, all little-endian:

    8 bytes   b"GALLOON\0"
    4 bytes   length of the header in bytes
    header    canonical JSON: {"kind", "version", "meta", "arrays": [[name, dtype, shape], ...]}
    arrays    raw bytes, one after the other, in the header's order (sorted by name)
    32 bytes  blake2b of everything before

`pack` and `unpack` are inverse to the bit; equal states give equal bytes, so a digest proves equality.
Nothing in here is executed on reading, whatever the bytes say; and since anybody can compute a checksum,
`check_like` and `check_arrays` compare what was found with what is needed before compiled code, which trusts its
arrays, sees it; `count_in` and `real_in` read scalars that no life could have made otherwise.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState

MAGIC = b"GALLOON\0"
CHECKSUM_BYTES = 32
MOST_COUNTED = 2**40  # more than any life counts, and far from where counting in floats or 64 bits goes wrong
DTYPES = frozenset({"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"})


@dataclass(frozen=True, slots=True)
class State:
    """What `unpack` found: scalars in `meta` (JSON values), numbers in `arrays`."""

    kind: str
    version: int
    meta: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def pack(kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Bytes that `unpack` turns back into the same values, bit for bit."""
    listing, bodies = [], []
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if little.dtype.str not in DTYPES:
            raise TypeError(f"array {name!r} has dtype {array.dtype}, which states do not hold")
        listing.append([name, little.dtype.str, list(array.shape)])
        bodies.append(little.tobytes())
    header = json.dumps(
        {"kind": kind, "version": version, "meta": dict(meta), "arrays": listing},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    ).encode()
    body = b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *bodies])
    return body + _checksum(body)


def unpack(data: bytes, kind: str, newest_version: int) -> State:
    """The state in these bytes, refused when damaged, of another kind, or from a newer version."""
    if len(data) < len(MAGIC) + 4 + CHECKSUM_BYTES or not data.startswith(MAGIC):
        raise DamagedState(f"these {len(data)} bytes are not a galloon state; expected one of kind {kind!r}")
    body, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if _checksum(body) != checksum:
        raise DamagedState(
            f"the checksum of this {kind!r} state is wrong: the bytes are damaged or cut short"
        )
    start = len(MAGIC) + 4
    header_end = start + int.from_bytes(body[len(MAGIC) : start], "little")
    header = _header(body[start:header_end], kind)
    if header["kind"] != kind:
        raise DamagedState(f"this is a state of kind {header['kind']!r}, not {kind!r}")
    if header["version"] > newest_version:
        raise DamagedState(
            f"this {kind!r} state has format {header['version']}, this galloon reads up to {newest_version}: "
            "upgrade galloon to read it"
        )
    arrays, offset = {}, header_end
    for name, dtype, shape in header["arrays"]:
        if dtype not in DTYPES:
            raise DamagedState(f"array {name!r} of this {kind!r} state has the unknown dtype {dtype!r}")
        count = math.prod(shape)
        if min(shape, default=0) < 0 or count * np.dtype(dtype).itemsize > len(body) - offset:
            raise DamagedState(f"array {name!r} of this {kind!r} state does not fit into its bytes")
        array = np.frombuffer(body, dtype=dtype, count=count, offset=offset).reshape(shape)
        offset += array.nbytes
        arrays[name] = array.astype(array.dtype.newbyteorder("="))  # a writable copy of its own
    return State(header["kind"], header["version"], header["meta"], arrays)


def check_like(found: State, like: Mapping[str, NDArray[Any]]) -> None:
    """Refuse a state whose arrays differ from these in name, type or shape, or are not finite."""
    if found.arrays.keys() != like.keys():
        raise DamagedState(f"a {found.kind!r} state holds {sorted(like)}, this one {sorted(found.arrays)}")
    check_arrays(found.arrays, like)


def check_arrays(found: Mapping[str, NDArray[Any]], like: Mapping[str, NDArray[Any]]) -> None:
    """The same for some of the arrays of a state."""
    for name, needed in like.items():
        array = found.get(name)
        if array is None:
            raise DamagedState(f"this state has no array {name!r}")
        if array.dtype != needed.dtype or array.shape != needed.shape:
            raise DamagedState(
                f"array {name!r} of this state is {array.dtype} {array.shape}, "
                f"not {needed.dtype} {needed.shape}"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DamagedState(f"array {name!r} of this state holds a number that is not finite")


def count_in(meta: Mapping[str, Any], name: str) -> int:
    """A count among the scalars of a state."""
    count = meta.get(name)
    if type(count) is not int or not 0 <= count < MOST_COUNTED:
        raise DamagedState(f"{name!r} of this state is not a count that a learner can reach")
    return count


def real_in(meta: Mapping[str, Any], name: str) -> float:
    """A finite number, written as hexadecimal digits, among the scalars of a state."""
    try:
        number = float.fromhex(meta[name])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedState(f"{name!r} of this state is not a number") from error
    if not math.isfinite(number):
        raise DamagedState(f"{name!r} of this state is not finite")
    return number


def digest(data: bytes) -> str:
    """A short name for a state: equal digests mean equal states."""
    return blake2b(data, digest_size=16).hexdigest()


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()


def _header(text: bytes, kind: str) -> dict[str, Any]:
    """The header, of the right form whatever wrote it."""
    try:
        header: dict[str, Any] = json.loads(text)
        json.dumps(header, ensure_ascii=False).encode()  # a lone surrogate could never be written again
        well_formed = (
            isinstance(header["kind"], str)
            and isinstance(header["version"], int)
            and isinstance(header["meta"], dict)
            and all(
                isinstance(name, str) and isinstance(dtype, str) and all(isinstance(n, int) for n in shape)
                for name, dtype, shape in header["arrays"]
            )
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedState(f"the header of this {kind!r} state cannot be read") from error
    if not well_formed:
        raise DamagedState(f"the header of this {kind!r} state is not one that galloon writes")
    return header
