"""The events of a learner, as they lie in the journal. Applied in order they rebuild its state to the bit.

All little-endian; a text or blob is a 4-byte length and its bytes.

    1 Chose    8 bytes round number, text id, 16 bytes fingerprint of the utterance, blob memory, blob answer
    2 Taught   text id, 16 bytes fingerprint of the feedback, blob feedback (a galloon.v1.Feedback)
    3 Expired  a text id for each round

Kind 0 is void: a place in the sequence that changes nothing.
"""

import struct
from dataclasses import dataclass
from typing import ClassVar

from galloon.codec.utterance import FINGERPRINT_BYTES
from galloon.daemon.errors import StoreDamaged
from galloon.daemon.store.protocol import VOID, StoredEntry

_LENGTH = struct.Struct("<I")
_ROUND = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Chose:
    """A round began: what the learner must remember of it, and the answer that the client got."""

    kind: ClassVar[int] = 1
    round_number: int
    id: str
    fingerprint: bytes
    memory: bytes
    answer: bytes

    def to_bytes(self) -> bytes:
        name = self.id.encode()
        return b"".join(
            (
                _ROUND.pack(self.round_number),
                _LENGTH.pack(len(name)),
                name,
                self.fingerprint,
                _LENGTH.pack(len(self.memory)),
                self.memory,
                _LENGTH.pack(len(self.answer)),
                self.answer,
            )
        )


@dataclass(frozen=True, slots=True)
class Taught:
    """Feedback came, as bytes of the wire."""

    kind: ClassVar[int] = 2
    id: str
    fingerprint: bytes
    feedback: bytes

    def to_bytes(self) -> bytes:
        name = self.id.encode()
        parts = (
            _LENGTH.pack(len(name)),
            name,
            self.fingerprint,
            _LENGTH.pack(len(self.feedback)),
            self.feedback,
        )
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Expired:
    """Rounds waited too long for feedback."""

    kind: ClassVar[int] = 3
    ids: tuple[str, ...]

    def to_bytes(self) -> bytes:
        return b"".join(_LENGTH.pack(len(name)) + name for name in (i.encode() for i in self.ids))


Event = Chose | Taught | Expired


def from_entry(entry: StoredEntry) -> Event | None:
    """The event of a journal entry; None where it is void."""
    reader = _Reader(entry.body)
    try:
        match entry.kind:
            case _ if entry.kind == VOID:
                return None
            case Chose.kind:
                (number,) = _ROUND.unpack(reader.take(8))
                name, fingerprint = reader.blob().decode(), reader.take(FINGERPRINT_BYTES)
                return Chose(number, name, fingerprint, reader.blob(), reader.blob())
            case Taught.kind:
                name, fingerprint = reader.blob().decode(), reader.take(FINGERPRINT_BYTES)
                return Taught(name, fingerprint, reader.blob())
            case Expired.kind:
                return Expired(tuple(blob.decode() for blob in reader.rest()))
            case _:
                raise StoreDamaged(
                    f"journal entry {entry.seq} is of the unknown kind {entry.kind}: upgrade galloon"
                )
    except (struct.error, UnicodeDecodeError) as error:
        raise StoreDamaged(
            f"journal entry {entry.seq} of kind {entry.kind} cannot be read: {error}"
        ) from error


class _Reader:
    """Takes bytes off the front; running out of them is a struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise struct.error(f"{len(self._data)} bytes end too soon")
        self._at += size
        return self._data[self._at - size : self._at]

    def blob(self) -> bytes:
        (size,) = _LENGTH.unpack(self.take(_LENGTH.size))
        return self.take(size)

    def rest(self) -> list[bytes]:
        blobs = []
        while self._at < len(self._data):
            blobs.append(self.blob())
        return blobs
