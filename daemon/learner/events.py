"""The events of a learner, as they lie in the journal. Played again in order they rebuild its state to the bit.

All little-endian; a time is 8 bytes, seconds of Unix; a text or blob is a 4-byte length and its bytes.

    4 Chose      8 bytes round number, time, text id, 16 bytes fingerprint of the utterance, blob utterance
                 (a galloon.v1.Utterance), blob memory, blob answer
    5 Taught     time, text id, 16 bytes fingerprint of the feedback, blob feedback (a galloon.v1.Feedback)
    6 Applied    text id, blob answer: the feedback was applied here; refused by the combiner where it is empty
    7 Amended    as Taught, then blob answer: feedback that takes the place of the one before; none if empty
    8 Kept       a round of formats 1 and 2, as it stood when the store was brought to format 3: 8 bytes round
                 number, 1 byte whether expired, text id, 16 bytes fingerprint, blobs memory, answer, fingerprint
                 of the feedback, lesson
    9 Exchanged  time, text why: a state that was rebuilt took the place of the one before
   10 Updated    time, text spec before, text spec after, 1 byte whether what was learned was carried over: another
                 spec took the place of the one before
   11 Erased     time, 8 bytes rounds begun so far, 8 bytes how many of those after the base were erased, a text id
                 for each: nothing of these rounds is left but their ids
   16 Revised    as Chose: outputs came late, and this takes the place of what the round was

`Taught` is what is acknowledged, once it is durable; `Applied` is the moment at which the learner took it in, in
between choices. Formats 1 and 2 had kinds 1 (Chose without time and utterance), 2 (Taught without time, applied
where it stands) and 3 (Expired: a text id for each round). Kind 0 is void: a place in the sequence that changes
nothing. All entries of a round have the key `key_of(id)`.
"""

import struct
from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar

from galloon.codec.utterance import FINGERPRINT_BYTES
from galloon.daemon.errors import StoreDamaged
from galloon.daemon.store.compression import unpacked
from galloon.daemon.store.protocol import NO_KEY, VOID, StoredEntry

_LENGTH = struct.Struct("<I")
_ROUND = struct.Struct("<Q")
_TIME = struct.Struct("<d")


def key_of(utterance_id: str) -> int:
    """By which the entries of a round are found: a number of 63 bits; two ids may have the same."""
    digest = blake2b(utterance_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 or 1


@dataclass(frozen=True, slots=True)
class Chose:
    """A round began: what was said, what the learner must remember of it, and the answer that the client got."""

    kind: ClassVar[int] = 4
    round_number: int
    id: str
    fingerprint: bytes
    memory: bytes
    answer: bytes
    utterance: bytes = b""  # empty in format 1 and 2
    time: float = 0.0

    @property
    def key(self) -> int:
        return key_of(self.id)

    def to_bytes(self) -> bytes:
        name = self.id.encode()
        return b"".join(
            (
                _ROUND.pack(self.round_number),
                _TIME.pack(self.time),
                _LENGTH.pack(len(name)),
                name,
                self.fingerprint,
                _LENGTH.pack(len(self.utterance)),
                self.utterance,
                _LENGTH.pack(len(self.memory)),
                self.memory,
                _LENGTH.pack(len(self.answer)),
                self.answer,
            )
        )


@dataclass(frozen=True, slots=True)
class Revised(Chose):
    """Outputs came later than the answer of their round: what it is with them."""

    kind: ClassVar[int] = 16


@dataclass(frozen=True, slots=True)
class Taught:
    """Feedback came, as bytes of the wire."""

    kind: ClassVar[int] = 5
    id: str
    fingerprint: bytes
    feedback: bytes
    time: float = 0.0

    @property
    def key(self) -> int:
        return key_of(self.id)

    def to_bytes(self) -> bytes:
        return _TIME.pack(self.time) + _blob(self.id.encode()) + self.fingerprint + _blob(self.feedback)


@dataclass(frozen=True, slots=True)
class TaughtAtOnce(Taught):
    """Of formats 1 and 2: applied where it stands."""

    kind: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Applied:
    """The learner took feedback in, between what stands before this and what follows."""

    kind: ClassVar[int] = 6
    id: str
    answer: bytes

    @property
    def key(self) -> int:
        return key_of(self.id)

    def to_bytes(self) -> bytes:
        return _blob(self.id.encode()) + _blob(self.answer)


@dataclass(frozen=True, slots=True)
class Amended:
    """Other feedback, or none, takes the place of what a round was taught; and the answer to it."""

    kind: ClassVar[int] = 7
    id: str
    fingerprint: bytes
    feedback: bytes
    answer: bytes
    time: float = 0.0

    @property
    def key(self) -> int:
        return key_of(self.id)

    def to_bytes(self) -> bytes:
        head = _TIME.pack(self.time) + _blob(self.id.encode()) + self.fingerprint
        return head + _blob(self.feedback) + _blob(self.answer)


@dataclass(frozen=True, slots=True)
class Kept:
    """A round of formats 1 and 2."""

    kind: ClassVar[int] = 8
    round_number: int
    id: str
    fingerprint: bytes
    memory: bytes
    answer: bytes
    feedback: bytes
    lesson: bytes
    expired: bool

    @property
    def key(self) -> int:
        return key_of(self.id)

    def to_bytes(self) -> bytes:
        blobs = (self.memory, self.answer, self.feedback, self.lesson)
        head = _ROUND.pack(self.round_number) + bytes([self.expired]) + _blob(self.id.encode())
        return b"".join((head, self.fingerprint, *map(_blob, blobs)))


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A rebuilt state took the place of the one before; a snapshot stands at this entry."""

    kind: ClassVar[int] = 9
    key: ClassVar[int] = NO_KEY
    time: float
    why: str

    def to_bytes(self) -> bytes:
        return _TIME.pack(self.time) + _blob(self.why.encode())


@dataclass(frozen=True, slots=True)
class Updated:
    """Another spec took the place of the one before; a snapshot stands at this entry."""

    kind: ClassVar[int] = 10
    key: ClassVar[int] = NO_KEY
    time: float
    before: str
    after: str
    carried: bool

    def to_bytes(self) -> bytes:
        specs = _blob(self.before.encode()) + _blob(self.after.encode())
        return _TIME.pack(self.time) + specs + bytes([self.carried])


@dataclass(frozen=True, slots=True)
class Erased:
    """Rounds were erased: which, and when, but not what they said; a snapshot stands at this entry."""

    kind: ClassVar[int] = 11
    key: ClassVar[int] = NO_KEY
    time: float
    started: int  # rounds that had begun
    rounds: int  # of them, those that were erased and began after the base
    ids: tuple[str, ...]

    def to_bytes(self) -> bytes:
        head = _TIME.pack(self.time) + _ROUND.pack(self.started) + _ROUND.pack(self.rounds)
        return head + b"".join(_blob(name.encode()) for name in self.ids)


@dataclass(frozen=True, slots=True)
class Expired:
    """Of formats 1 and 2: rounds waited too long for feedback."""

    kind: ClassVar[int] = 3
    key: ClassVar[int] = NO_KEY
    ids: tuple[str, ...]

    def to_bytes(self) -> bytes:
        return b"".join(_blob(name.encode()) for name in self.ids)


Event = Chose | Taught | Applied | Amended | Kept | Exchanged | Updated | Erased | Expired


def from_entry(entry: StoredEntry) -> Event | None:
    """The event of a journal entry; None where it is void."""
    if entry.kind == VOID:
        return None
    kind, body = unpacked(entry.kind, entry.body)
    try:
        return _event(kind, _Reader(body), entry.seq)
    except (struct.error, UnicodeDecodeError) as error:
        raise StoreDamaged(f"journal entry {entry.seq} of kind {kind} cannot be read: {error}") from error


def _event(kind: int, reader: "_Reader", seq: int) -> Event:
    match kind:
        case Chose.kind | Revised.kind:
            number, time, name = reader.number(), reader.time(), reader.text()
            fingerprint, utterance = reader.take(FINGERPRINT_BYTES), reader.blob()
            made = Chose if kind == Chose.kind else Revised
            return made(number, name, fingerprint, reader.blob(), reader.blob(), utterance, time)
        case Taught.kind:
            time, name, fingerprint = reader.time(), reader.text(), reader.take(FINGERPRINT_BYTES)
            return Taught(name, fingerprint, reader.blob(), time)
        case Amended.kind:
            time, name, fingerprint = reader.time(), reader.text(), reader.take(FINGERPRINT_BYTES)
            return Amended(name, fingerprint, reader.blob(), reader.blob(), time)
        case Applied.kind:
            return Applied(reader.text(), reader.blob())
        case Kept.kind:
            number, expired, name = reader.number(), reader.take(1) != b"\0", reader.text()
            fingerprint = reader.take(FINGERPRINT_BYTES)
            memory, answer, feedback, lesson = (reader.blob() for _ in range(4))
            return Kept(number, name, fingerprint, memory, answer, feedback, lesson, expired)
        case Exchanged.kind:
            return Exchanged(reader.time(), reader.text())
        case Updated.kind:
            return Updated(reader.time(), reader.text(), reader.text(), reader.take(1) != b"\0")
        case Erased.kind:
            time, started, rounds = reader.time(), reader.number(), reader.number()
            return Erased(time, started, rounds, tuple(blob.decode() for blob in reader.rest()))
        case 1:
            number, name, fingerprint = reader.number(), reader.text(), reader.take(FINGERPRINT_BYTES)
            return Chose(number, name, fingerprint, reader.blob(), reader.blob())
        case TaughtAtOnce.kind:
            name, fingerprint = reader.text(), reader.take(FINGERPRINT_BYTES)
            return TaughtAtOnce(name, fingerprint, reader.blob())
        case Expired.kind:
            return Expired(tuple(blob.decode() for blob in reader.rest()))
        case _:
            raise StoreDamaged(f"journal entry {seq} is of the unknown kind {kind}: upgrade galloon")


def _blob(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


class _Reader:
    """Takes bytes off the front; running out of them is a struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise struct.error(f"{len(self._data)} bytes end too soon")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self) -> int:
        return int(_ROUND.unpack(self.take(_ROUND.size))[0])

    def time(self) -> float:
        return float(_TIME.unpack(self.take(_TIME.size))[0])

    def blob(self) -> bytes:
        (size,) = _LENGTH.unpack(self.take(_LENGTH.size))
        return self.take(size)

    def text(self) -> str:
        return self.blob().decode()

    def rest(self) -> list[bytes]:
        blobs = []
        while self._at < len(self._data):
            blobs.append(self.blob())
        return blobs
