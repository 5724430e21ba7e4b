"""A backend that keeps everything in a dictionary: what any backend must do, in the fewest lines.

The model that real backends are compared with, and what the journal writes to in its own tests. `error` makes
every write fail.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from galloon.daemon.errors import StoreConflict, StoreError
from galloon.daemon.store.protocol import (
    VOID,
    Create,
    Delete,
    Entry,
    Exchange,
    Forget,
    Operation,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
    StoredSnapshot,
    Vacuum,
)


@dataclass
class Kept:
    """One learner."""

    name: str
    spec: str
    base: int = 0
    entries: list[StoredEntry] = field(default_factory=list)
    snapshots: dict[int, tuple[float, bytes]] = field(default_factory=dict)  # by what they cover


@dataclass
class MemoryBackend:
    kept: dict[int, Kept] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)  # sizes
    error: StoreError | None = None
    last_key: int = 0
    closed: bool = False

    def learners(self) -> Iterator[StoredLearner]:
        for key, learner in self.kept.items():
            seq = max(learner.snapshots, default=0)
            body = learner.snapshots[seq][1] if learner.snapshots else None
            yield StoredLearner(key, learner.name, learner.spec, seq, body, learner.base)

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        kept = self.kept.get(learner, Kept("", ""))
        yield from (entry for entry in kept.entries if entry.seq > max(after, kept.base))

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        entries = self.kept[learner].entries if learner in self.kept else []
        return [entry for entry in entries if key and entry.key == key]

    def base(self, learner: int) -> int:
        return self.kept[learner].base if learner in self.kept else 0

    def keys(self, learner: int) -> Iterator[list[int]]:
        yield sorted({entry.key for entry in self.kept[learner].entries if entry.key})

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        known = self.kept[learner].snapshots if learner in self.kept else {}
        return [StoredSnapshot(seq, time, len(body)) for seq, (time, body) in sorted(known.items())]

    def snapshot(self, learner: int, seq: int) -> bytes:
        if learner not in self.kept or seq not in self.kept[learner].snapshots:
            raise StoreConflict(f"no snapshot at {seq}")
        return self.kept[learner].snapshots[seq][1]

    def size(self) -> int:
        return sum(len(entry.body) for learner in self.kept.values() for entry in learner.entries)

    def write(self, batch: Sequence[Entry]) -> None:
        self._check(*(entry.learner for entry in batch))
        self.batches.append(len(batch))
        for entry in batch:
            self.kept[entry.learner].entries.append(StoredEntry(entry.seq, entry.kind, entry.body, entry.key))

    def transact(self, operation: Operation) -> int:
        match operation:
            case Create(name, spec, snapshot):
                self._check()
                if any(learner.name == name for learner in self.kept.values()):
                    raise StoreConflict(name)
                self.last_key += 1
                snapshots = {} if snapshot is None else {0: (0.0, snapshot)}
                self.kept[self.last_key] = Kept(name, spec, snapshots=snapshots)
                return self.last_key
            case Delete(learner):
                self._check(learner)
                return len(self.kept.pop(learner).entries)
            case SaveSnapshot(learner, seq, body, time, replaced):
                self._check(learner)
                kept = self.kept[learner]
                if max(kept.snapshots, default=0) > seq:
                    return 0
                gone = [old for old in kept.snapshots if old in replaced and old not in (kept.base, seq)]
                for old in gone:
                    del kept.snapshots[old]
                kept.snapshots[seq] = (time, body)
                return len(gone)
            case Forget():
                return self._forget(operation)
            case Exchange():
                return self._exchange(operation)
            case Vacuum():
                self._check()
                return 0

    def _forget(self, cut: Forget) -> int:
        self._check(cut.learner)
        kept = self.kept[cut.learner]
        if cut.seq not in kept.snapshots or cut.seq < kept.base:
            raise StoreConflict(f"no snapshot at {cut.seq}")
        later = {entry.key for entry in kept.entries if entry.seq > cut.seq and entry.key}
        left = [entry for entry in kept.entries if entry.seq > cut.seq or entry.key in later]
        gone = len(kept.entries) - len(left)
        kept.entries, kept.base = left, cut.seq
        kept.snapshots = {seq: snapshot for seq, snapshot in kept.snapshots.items() if seq >= cut.seq}
        return gone

    def _exchange(self, new: Exchange) -> int:
        self._check(new.learner)
        kept = self.kept[new.learner]
        void = sum(entry.key in new.erased for entry in kept.entries)
        kept.entries = [
            StoredEntry(entry.seq, VOID, b"") if entry.key in new.erased else entry for entry in kept.entries
        ]
        kept.entries.append(StoredEntry(new.seq, new.kind, new.entry))
        kept.snapshots = {seq: snapshot for seq, snapshot in kept.snapshots.items() if seq < new.since}
        kept.snapshots[new.seq] = (new.time, new.snapshot)
        if new.base is not None and kept.base in kept.snapshots:
            kept.snapshots[kept.base] = (kept.snapshots[kept.base][0], new.base)
        self.kept[new.learner] = kept if new.spec is None else replace(kept, spec=new.spec)
        return void

    def close(self) -> None:
        self.closed = True

    def _check(self, *learners: int) -> None:
        if self.error is not None:
            raise self.error
        for learner in learners:
            if learner not in self.kept:
                raise StoreConflict(f"learner {learner} does not exist")
