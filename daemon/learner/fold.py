"""From the store back to live learners: the snapshot, then the journal after it, event by event.

`recover` uses the same `apply` as the running daemon, so the state is the same to the bit. Damage stops it with an
error that names the learner. A learner whose own code fails (not its bytes) is kept out of service; others go on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import structlog

from galloon.daemon.errors import StoreDamaged, StoreError
from galloon.daemon.learner.events import from_entry
from galloon.daemon.learner.learner import LearnerHost
from galloon.daemon.learner.registry import Build
from galloon.daemon.limits import Limits
from galloon.daemon.store.protocol import Backend, StoredLearner
from galloon.daemon.store.sqlite_schema import ADVICE
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import DamagedState, LearnerError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Recovered:
    """A learner as it was, and its key in the store."""

    key: int
    host: LearnerHost


def recover(
    backend: Backend, build: Build, limits: Limits, clock: Callable[[], float]
) -> Iterator[Recovered]:
    """Every learner of the store."""
    for stored in backend.learners():
        started = perf_counter()
        try:
            spec = CombinerSpec.from_json(stored.spec)
            host = LearnerHost(stored.name, spec, build(spec, limits.transitions), limits, clock)
            if stored.snapshot is not None:
                host.restore(stored.snapshot)
        except DamagedState as error:
            raise StoreDamaged(f"the snapshot of learner {stored.name!r}: {error}; {ADVICE}") from error
        except LearnerError as error:
            raise StoreDamaged(
                f"learner {stored.name!r} cannot be built again: {error}; raise the limit that it names, "
                "or use the version of galloon that wrote the store"
            ) from error
        refused = _replay(backend, stored, host)
        log.info(
            "learner recovered",
            learner=stored.name,
            entries=host.seq - stored.seq,
            refused=refused,
            lessons=host.rounds.lessons,
            seconds=round(perf_counter() - started, 4),
        )
        yield Recovered(stored.key, host)


def _replay(backend: Backend, stored: StoredLearner, host: LearnerHost) -> int:
    """Apply the journal after the snapshot; returns how many feedbacks the combiner refused, as it did live."""
    refused = 0
    host.seq = host.snapshot_seq = stored.seq
    for entry in backend.journal(stored.key, stored.seq):
        host.seq = entry.seq
        event = from_entry(entry)
        if event is None or host.broken is not None:
            continue
        try:
            host.apply(event)
        except StoreError:
            raise
        except LearnerError:
            refused += 1
        except Exception as error:
            host.broken = error
            log.exception("learner out of service", learner=stored.name, entry=entry.seq)
    return refused
