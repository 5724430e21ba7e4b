"""What the daemon needs of a store: the history of each learner, snapshots of its state, and nothing lost.

A `Backend` is where the bytes lie; it knows nothing of what they mean. The journal of a learner is its history: a
snapshot deletes none of it, `Forget` (retention) does. Operations are values, so that any database can carry them
out. `write` and `transact` are durable when they return; each is done as a whole or not at all. SQLite is the one
implementation (`sqlite`); `journal` is the queue in front of it. Every backend passes
`tests/daemon/store/test_backend.py`.

    entry      one event of one learner; all entries of one round have the same `key`, and `find` finds them by it
    snapshot   the state after all entries up to its seq; the newest is where recovery begins, older ones are where
               a rebuild may begin, and where retention may cut
    base       retention has cut here: entries after it are there without a gap, and a snapshot of exactly this seq
               (unless it is 0); of those before it only entries of rounds that have one after it

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
NO_KEY = 0  # of an entry that belongs to no round
OnDurable = Callable[[StoreError | None], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One event on its way into the journal. `seq` counts the learner's entries from 1, without gaps.

    `key` is a signed number of 64 bits. `on_durable` is called once, on the event loop: with None when the entry
    is durable, else with the error. An entry without it is kept and tried again when the disk is full; one with it
    is given up, and a void entry takes its place in the sequence. Backends do not look at it.
    """

    learner: int
    seq: int
    kind: int
    body: bytes
    on_durable: OnDurable | None = None
    key: int = NO_KEY


@dataclass(frozen=True, slots=True)
class StoredLearner:
    """A learner as it lies in the store. `snapshot` is the newest, and covers the journal up to `seq`."""

    key: int
    name: str
    spec: str
    seq: int
    snapshot: bytes | None
    base: int = 0


@dataclass(frozen=True, slots=True)
class StoredEntry:
    seq: int
    kind: int
    body: bytes
    key: int = NO_KEY


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """What is known of a snapshot without reading it; `time` in seconds of Unix."""

    seq: int
    time: float
    size: int


@dataclass(frozen=True, slots=True)
class Create:
    """A new learner, perhaps with a first snapshot; gives its key, which no other learner ever gets."""

    name: str
    spec: str
    snapshot: bytes | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A learner goes, with its journal and snapshots; gives the number of entries that went."""

    learner: int


@dataclass(frozen=True, slots=True)
class SaveSnapshot:
    """A new snapshot; those of `replaced` go. Gives how many went.

    A snapshot that covers less than the newest one changes nothing. The base is never replaced.
    """

    learner: int
    seq: int
    body: bytes
    time: float = 0.0
    replaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Forget:
    """Retention: `seq`, which a snapshot has, becomes the base. Gives the number of entries that went.

    Snapshots before it go, and entries up to it but for those of rounds that have an entry after it.
    """

    learner: int
    seq: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """Another state takes the place of the present one: an entry that says so, and a snapshot of exactly its seq.

    Snapshots from `since` on go: they hold what the new state does not. A new spec takes the place of the old one,
    if given. Entries with one of the keys in `erased` become void, in their places. `base` is another state for
    the snapshot at the base, if there is one. Gives how many became void.
    """

    learner: int
    seq: int
    kind: int
    entry: bytes
    snapshot: bytes
    time: float
    since: int
    spec: str | None = None
    erased: tuple[int, ...] = ()
    base: bytes | None = None


@dataclass(frozen=True, slots=True)
class Vacuum:
    """Nothing that was deleted stays readable in the files of the store, and they shrink. Gives 0."""


Operation = Create | Delete | SaveSnapshot | Forget | Exchange | Vacuum


class Backend(Protocol):
    """Durable learners. One thread at a time writes; any thread may read meanwhile what is durable."""

    def learners(self) -> Iterator[StoredLearner]:
        """All learners by key, on start; checks that each is whole."""
        ...

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        """The entries of a learner after a sequence number, not below its base; checks that none is missing."""
        ...

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        """The entries with this key, in order."""
        ...

    def base(self, learner: int) -> int:
        """Where retention has cut; 0 where it has not."""
        ...

    def keys(self, learner: int) -> Iterator[list[int]]:
        """Every key of a learner's entries, some at a time."""
        ...

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        """The oldest first."""
        ...

    def snapshot(self, learner: int, seq: int) -> bytes:
        """A conflict if there is none of this seq."""
        ...

    def size(self) -> int:
        """Bytes that all learners together take."""
        ...

    def write(self, batch: Sequence[Entry]) -> None:
        """Entries of any learners, in order. A conflict if one of these learners does not exist."""
        ...

    def transact(self, operation: Operation) -> int:
        """One operation. A conflict if a name is taken, or if the learner or snapshot does not exist."""
        ...

    def close(self) -> None: ...
