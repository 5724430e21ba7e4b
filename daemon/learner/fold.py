"""From the store back to live learners: a learner, and the entries that made it what it was, one after the other.

`fold` applies entries with the same `apply` as the running daemon, so the state is the same to the bit; stop the
entries earlier, or fold them into a learner of another spec, and it is the state as of then, or as it would have
been. `recover` folds the journal after the snapshot of every learner. Damaged bytes stop it with an error that
names the learner: the disk cannot be trusted. A learner whose bytes are as they were written and that cannot be
brought back all the same goes into quarantine, one whose code fails on replay is out of service; others go on.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter

import structlog

from galloon.daemon.errors import StoreError
from galloon.daemon.learner.events import Applied, Event, Taught, TaughtAtOnce, from_entry, key_of
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Build, Learner
from galloon.daemon.learner.registry import Quarantined
from galloon.daemon.limits import Limits
from galloon.daemon.store.protocol import Backend, StoredEntry, StoredLearner
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Recovered:
    """A learner as it was, and its key in the store."""

    key: int
    learner: Learner


def fold(learner: Learner, entries: Iterable[StoredEntry], unapplied: Iterable[StoredEntry] = ()) -> int:
    """Apply entries in order; returns how many feedbacks the combiner refused, as it did live.

    `unapplied` are entries from before with feedback that is not in the learner's state.
    """
    folding = Fold(learner)
    for entry in unapplied:
        folding.wait(from_entry(entry))
    for entry in entries:
        folding.take(entry)
    folding.finish()
    return folding.refused


class Fold:
    """Entries into a learner, one by one.

    Feedback is applied where the journal says that it was, not where it was written; what it does not say so of
    was cut off by a crash, and comes last.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._waiting: dict[str, Taught] = {}
        self.refused = 0  # feedbacks, by the combiner
        self.applied = 0  # feedbacks

    def take(self, entry: StoredEntry) -> None:
        learner, event = self._learner, from_entry(entry)
        learner.seq, learner.replaying = entry.seq, True
        if event is None or learner.broken is not None:
            return
        if isinstance(event, Applied):
            self._apply(self._waiting.pop(event.id, None))
            learner.place(event, entry.seq)
        elif not self.wait(event):
            self._apply(event)
            learner.place(event, entry.seq)

    def wait(self, event: Event | None) -> bool:
        """Keep feedback until it is said to be applied; False for any other event."""
        if not isinstance(event, Taught) or isinstance(event, TaughtAtOnce):
            return False
        self._waiting[event.id] = event
        return True

    def finish(self) -> None:
        """Apply what no entry says to be applied; the journal hears of it when the learner goes live."""
        self._learner.replaying = False
        for taught in self._waiting.values():
            self._learner.unrecorded.append(Applied(taught.id, self._apply(taught)))
        self._waiting = {}

    def _apply(self, event: Event | None) -> bytes:
        learner = self._learner
        if event is None or learner.broken is not None:
            return b""
        try:
            answer = learner.apply(event)
        except StoreError:
            raise
        except LearnerError:
            self.refused += 1
            return b""
        except Exception as error:
            learner.broken = error
            log.exception("learner out of service", learner=learner.name, entry=learner.seq)
            return b""
        self.applied += isinstance(event, Taught)
        return answer


def recover(
    backend: Backend, build: Build, limits: Limits, clock: Callable[[], float]
) -> Iterator[Recovered | Quarantined]:
    """Every learner of the store."""
    for stored in backend.learners():
        yield recover_one(backend, stored, build, limits, clock)


def recover_one(
    backend: Backend, stored: StoredLearner, build: Build, limits: Limits, clock: Callable[[], float]
) -> Recovered | Quarantined:
    started = perf_counter()
    try:
        learner, unapplied = _from_snapshot(stored, build, limits, clock)
    except LearnerError as error:
        log.error("learner in quarantine", learner=stored.name, error=str(error))  # noqa: TRY400  # a sentence
        return Quarantined(stored.key, stored.name, str(error))
    learner.seq = learner.snapshot_seq = stored.seq
    learner.read_from(History(backend, stored.key))
    refused = fold(learner, backend.journal(stored.key, stored.seq), _entries(backend, stored, unapplied))
    log.info(
        "learner recovered",
        learner=stored.name,
        entries=learner.seq - stored.seq,
        refused=refused,
        lessons=learner.rounds.lessons,
        seconds=round(perf_counter() - started, 4),
    )
    return Recovered(stored.key, learner)


def _from_snapshot(
    stored: StoredLearner, build: Build, limits: Limits, clock: Callable[[], float]
) -> tuple[Learner, tuple[tuple[str, int], ...]]:
    """And the places of feedback that is not in it.

    Whatever its bytes make the learners' code do is a `LearnerError`: a client chose them.
    """
    try:
        learner = Learner(stored.name, CombinerSpec.from_json(stored.spec), build, limits, clock)
        unapplied = () if stored.snapshot is None else learner.restore(stored.snapshot)
        if "books" in learner.beside_found:
            learner.books.restore(learner.beside_found["books"])
    except LearnerError:
        raise
    except Exception as error:
        log.exception("learner cannot be restored", learner=stored.name)
        raise LearnerError("a defect of the daemon, which has logged why") from error
    return learner, unapplied


def _entries(
    backend: Backend, stored: StoredLearner, places: tuple[tuple[str, int], ...]
) -> Iterator[StoredEntry]:
    """The entries of these ids in these places, before the snapshot."""
    for utterance_id, seq in places:
        for entry in backend.find(stored.key, key_of(utterance_id)):
            if entry.seq == seq:
                yield entry
