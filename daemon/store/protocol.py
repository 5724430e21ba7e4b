"""What the daemon needs of a store: a journal per learner, one snapshot per learner, and nothing lost.

`append` never waits: entries are written in order, many with one sync, and each entry's `settled` is then
called on the event loop. Everything else is awaited and durable when it returns. The store knows nothing of
what the bytes mean. SQLite is the one implementation; a shared store can follow behind the same verbs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from galloon.daemon.errors import StoreError

VOID = 0  # kind of an entry that changes nothing


@dataclass(slots=True)
class Entry:
    """One event on its way into the journal. `seq` counts the learner's entries from 1, without gaps.

    `settled` is called once, on the event loop: with None when the entry is durable, else with the error. An
    entry without it is kept and tried again when the disk is full; one with it is given up, and a void
    entry takes its place in the sequence.
    """

    learner: int
    seq: int
    kind: int
    body: bytes
    settled: Callable[[StoreError | None], None] | None = None


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


@dataclass(slots=True)
class CommitFigures:
    """What metrics show of the store, counted since it was opened."""

    commits: int = 0
    entries: int = 0
    bytes: int = 0
    seconds: float = 0.0
    failures: int = 0


class Store(Protocol):
    """Durable learners."""

    figures: CommitFigures

    def learners(self) -> Iterator[StoredLearner]:
        """All learners, on start; checks that each is whole."""
        ...

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        """The entries of a learner after a sequence number, on start; checks that none is missing."""
        ...

    def start(self, observe: Callable[[float, int], None], failed: Callable[[StoreError], None]) -> None:
        """Begin to write. `observe` gets seconds and entries of each commit, `failed` the end if it comes."""
        ...

    def append(self, entry: Entry) -> None:
        """Queue an entry; may be called from any thread."""
        ...

    def has_room(self) -> bool:
        """Whether the queue takes more."""
        ...

    def lags(self, learner: int) -> bool:
        """Whether more of this learner waits than should: read no more requests for a moment.

        Never while the disk is full: choices go on then, for as long as there is room.
        """
        ...

    async def create(self, name: str, spec: str, snapshot: bytes | None) -> int:
        """A new learner, perhaps with a first snapshot; returns its key."""
        ...

    async def delete(self, learner: int) -> None: ...

    async def save_snapshot(self, learner: int, seq: int, snapshot: bytes) -> int:
        """Replace the learner's snapshot and drop the journal that it covers; returns the entries dropped."""
        ...

    async def close(self) -> None:
        """Write everything that is queued, then let go."""
        ...
