"""What the daemon needs of a store: a journal per learner, one snapshot per learner, and nothing lost.

A `Backend` is where the bytes lie; it knows nothing of what they mean. Its operations are values (`Create`,
`Delete`, `SaveSnapshot`), so that any database can carry them out. `write` and `transact` are durable when they
return; each is done as a whole or not at all. SQLite is the one implementation (`sqlite`); `journal` is the queue
in front of it. Every backend passes `tests/daemon/store/test_backend.py`.

What a backend raises decides what follows:

    StoreFull      nothing was written; the same may succeed later
    StoreConflict  nothing was written; this request contradicts what is stored, others go on
    StoreFailed    nobody knows what was written: the daemon ends, and recovery finds out
    StoreDamaged   on reading: bytes that are not what was written
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from galloon.daemon.errors import StoreError

VOID = 0  # kind of an entry that changes nothing
OnDurable = Callable[[StoreError | None], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One event on its way into the journal. `seq` counts the learner's entries from 1, without gaps.

    `on_durable` is called once, on the event loop: with None when the entry is durable, else with the error. An
    entry without it is kept and tried again when the disk is full; one with it is given up, and a void
    entry takes its place in the sequence. Backends do not look at it.
    """

    learner: int
    seq: int
    kind: int
    body: bytes
    on_durable: OnDurable | None = None


@dataclass(frozen=True, slots=True)
class StoredLearner:
    """A learner as it lies in the store. `snapshot` covers the journal up to `seq`."""

    key: int
    name: str
    spec: str
    seq: int
    snapshot: bytes | None


@dataclass(frozen=True, slots=True)
class StoredEntry:
    seq: int
    kind: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """A new learner, perhaps with a first snapshot; gives its key, which no other learner ever gets."""

    name: str
    spec: str
    snapshot: bytes | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A learner goes, with its journal and snapshot; gives the number of entries that went."""

    learner: int


@dataclass(frozen=True, slots=True)
class SaveSnapshot:
    """Replaces the learner's snapshot and drops the journal that it covers; gives the number of entries dropped.

    A snapshot that covers less than the one that is stored changes nothing.
    """

    learner: int
    seq: int
    body: bytes


Operation = Create | Delete | SaveSnapshot


class Backend(Protocol):
    """Durable learners. Used by one thread at a time."""

    def learners(self) -> Iterator[StoredLearner]:
        """All learners by key, on start; checks that each is whole."""
        ...

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        """The entries of a learner after a sequence number, on start; checks that none is missing."""
        ...

    def write(self, batch: Sequence[Entry]) -> None:
        """Entries of any learners, in order. A conflict if one of these learners does not exist."""
        ...

    def transact(self, operation: Operation) -> int:
        """One operation. A conflict if a name is taken, or if the learner does not exist."""
        ...

    def close(self) -> None: ...
