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
from galloon.daemon.learner.events import from_entry
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


def fold(learner: Learner, entries: Iterable[StoredEntry]) -> int:
    """Apply entries in order; returns how many feedbacks the combiner refused, as it did live."""
    refused = 0
    for entry in entries:
        learner.seq = entry.seq
        event = from_entry(entry)
        if event is None or learner.broken is not None:
            continue
        try:
            learner.apply(event)
        except StoreError:
            raise
        except LearnerError:
            refused += 1
        except Exception as error:
            learner.broken = error
            log.exception("learner out of service", learner=learner.name, entry=entry.seq)
    return refused


def recover(
    backend: Backend, build: Build, limits: Limits, clock: Callable[[], float]
) -> Iterator[Recovered | Quarantined]:
    """Every learner of the store."""
    for stored in backend.learners():
        started = perf_counter()
        try:
            learner = _from_snapshot(stored, build, limits, clock)
        except LearnerError as error:
            log.error("learner in quarantine", learner=stored.name, error=str(error))  # noqa: TRY400  # a sentence
            yield Quarantined(stored.key, stored.name, str(error))
            continue
        learner.seq = learner.snapshot_seq = stored.seq
        refused = fold(learner, backend.journal(stored.key, stored.seq))
        log.info(
            "learner recovered",
            learner=stored.name,
            entries=learner.seq - stored.seq,
            refused=refused,
            lessons=learner.rounds.lessons,
            seconds=round(perf_counter() - started, 4),
        )
        yield Recovered(stored.key, learner)


def _from_snapshot(
    stored: StoredLearner, build: Build, limits: Limits, clock: Callable[[], float]
) -> Learner:
    """Whatever its bytes make the learners' code do is a `LearnerError`: a client chose them."""
    try:
        learner = Learner(stored.name, CombinerSpec.from_json(stored.spec), build, limits, clock)
        if stored.snapshot is not None:
            learner.restore(stored.snapshot)
    except LearnerError:
        raise
    except Exception as error:
        log.exception("learner cannot be restored", learner=stored.name)
        raise LearnerError("a defect of the daemon, which has logged why") from error
    return learner
