"""A backend that keeps everything in a dictionary: what any backend must do, in the fewest lines.

The model that real backends are compared with, and what the journal writes to in its own tests. `error` makes
every write fail.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from galloon.daemon.errors import StoreConflict, StoreError
from galloon.daemon.store.protocol import (
    Create,
    Delete,
    Entry,
    Operation,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
)


@dataclass
class MemoryBackend:
    stored: dict[int, StoredLearner] = field(default_factory=dict)
    entries: dict[int, list[StoredEntry]] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)  # sizes
    error: StoreError | None = None
    last_key: int = 0
    closed: bool = False

    def learners(self) -> Iterator[StoredLearner]:
        yield from self.stored.values()

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        yield from (entry for entry in self.entries.get(learner, []) if entry.seq > after)

    def write(self, batch: Sequence[Entry]) -> None:
        self._check(*(entry.learner for entry in batch))
        self.batches.append(len(batch))
        for entry in batch:
            self.entries[entry.learner].append(StoredEntry(entry.seq, entry.kind, entry.body))

    def transact(self, operation: Operation) -> int:
        match operation:
            case Create(name, spec, snapshot):
                self._check()
                if any(learner.name == name for learner in self.stored.values()):
                    raise StoreConflict(name)
                self.last_key += 1
                self.stored[self.last_key] = StoredLearner(self.last_key, name, spec, 0, snapshot)
                self.entries[self.last_key] = []
                return self.last_key
            case Delete(learner):
                self._check(learner)
                del self.stored[learner]
                return len(self.entries.pop(learner))
            case SaveSnapshot(learner, seq, body):
                self._check(learner)
                known = self.stored[learner]
                if known.snapshot is not None and known.seq > seq:
                    return 0
                self.stored[learner] = StoredLearner(learner, known.name, known.spec, seq, body)
                before = len(self.entries[learner])
                self.entries[learner] = [entry for entry in self.entries[learner] if entry.seq > seq]
                return before - len(self.entries[learner])

    def close(self) -> None:
        self.closed = True

    def _check(self, *learners: int) -> None:
        if self.error is not None:
            raise self.error
        for learner in learners:
            if learner not in self.stored:
                raise StoreConflict(f"learner {learner} does not exist")
