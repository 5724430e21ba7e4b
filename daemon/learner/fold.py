"""From the store back to live learners: a learner, and the entries that made it what it was, one after the other.

`fold` applies entries with the same `apply` as the running daemon, so the state is the same to the bit; stop the
entries earlier, or fold them into a learner of another spec, and it is the state as of then, or as it would have
been. `recover` folds the journal after the snapshot of every learner. Damage stops it with an error that names the
learner. A learner whose own code fails (not its bytes) is kept out of service; others go on.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter

import structlog

from galloon.daemon.errors import StoreDamaged, StoreError
from galloon.daemon.learner.events import from_entry
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Build
from galloon.daemon.limits import Limits
from galloon.daemon.store.protocol import Backend, StoredEntry, StoredLearner
from galloon.daemon.store.sqlite_schema import ADVICE
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState, LearnerError

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
) -> Iterator[Recovered]:
    """Every learner of the store."""
    for stored in backend.learners():
        started = perf_counter()
        learner = _from_snapshot(stored, build, limits, clock)
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
    try:
        spec = CombinerSpec.from_json(stored.spec)
        learner = Learner(stored.name, spec, build(spec, limits.transitions), limits, clock)
        if stored.snapshot is not None:
            learner.restore(stored.snapshot)
    except DamagedState as error:
        raise StoreDamaged(f"the snapshot of learner {stored.name!r}: {error}; {ADVICE}") from error
    except LearnerError as error:
        raise StoreDamaged(
            f"learner {stored.name!r} cannot be built again: {error}; raise the limit that it names, "
            "or use the version of galloon that wrote the store"
        ) from error
    return learner
