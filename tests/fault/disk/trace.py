"""What the faulty disk wrote down: `read_trace` gives the operations in order."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

HEAD = struct.Struct("<IIQQ")


class Kind(IntEnum):
    """As in faulty_disk.c."""

    CREATE = 1
    WRITE = 2
    TRUNCATE = 3
    SYNC = 4
    REMOVE = 5
    MARK = 6


@dataclass(frozen=True, slots=True)
class Operation:
    """One step. `name` is that of a file, or the text of a mark; `size` that of a truncation."""

    kind: Kind
    name: str
    offset: int = 0
    size: int = 0
    data: bytes = b""


def read_trace(path: Path) -> Iterator[Operation]:
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length, offset, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        name = data[at : at + length].decode()
        at += length
        body = data[at : at + size] if kind == Kind.WRITE else b""
        at += len(body)
        yield Operation(Kind(kind), name, offset, size, body)
