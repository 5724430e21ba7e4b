"""What a scrape of the metrics sees: the counters, and the learners' figures computed now.

Only learners that are shown by name are asked for their statistics, which cost a pass over the automaton; one that
is too busy to answer in time, or out of service, is shown without them.
"""

import asyncio
from collections.abc import Callable

import structlog

from galloon.daemon.http.metrics import LearnerFigures, Metrics
from galloon.daemon.learner.books import MOST_CURVES
from galloon.daemon.learner.description import Description
from galloon.daemon.learner.error_curve import Rates
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.rpc.quota import Quota
from galloon.daemon.store.cluster_figures import ALONE, ClusterFigures
from galloon.daemon.store.journal import Journal
from galloon.learners.combiners.contract import Statistics

log = structlog.get_logger()
MaySee = Callable[[str], bool]  # the learners that a caller may know by name
PATIENCE_S = 2.0  # Prometheus gives a scrape ten seconds


async def scrape(
    registry: Registry,
    journal: Journal,
    quota: Quota,
    metrics: Metrics,
    shown: int,
    cluster: Callable[[], ClusterFigures | None],
    may_see: MaySee,
) -> bytes:
    """All metrics, in the text format of Prometheus: sums over all learners, names of those the caller may see."""
    metrics.streams.set(quota.streams)
    metrics.learners.set(len(registry))
    metrics.out_of_service.set(len(registry.out_of_service(lambda _: True)))
    learners = sorted(registry.learners(), key=lambda learner: not may_see(learner.name))
    shown = min(shown, sum(may_see(learner.name) for learner in learners))
    asked = await asyncio.gather(*(_statistics(learner) for learner in learners[:shown]))
    statistics = [*asked, *[None] * (len(learners) - len(asked))]
    figures = [_figures(learner, known) for learner, known in zip(learners, statistics, strict=True)]
    return metrics.render(figures, shown, journal.figures, cluster() or ALONE)


async def _statistics(learner: Learner) -> Statistics | None:
    if learner.broken is not None:
        return None
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await learner.statistics()
    except TimeoutError:
        log.info("learner too busy for a scrape", learner=learner.name)
        return None


def _figures(learner: Learner, statistics: Statistics | None) -> LearnerFigures:
    described = learner.describe()
    return LearnerFigures(
        name=described.name,
        statistics=statistics,
        rounds_started=described.rounds_started,
        lessons=described.lessons,
        rounds_pending=described.rounds_pending,
        rounds_expired=described.rounds_expired,
        total_gain=described.total_gain,
        journal_entries=described.journal_entries,
        snapshot_bytes=described.snapshot_bytes,
        snapshot_age_s=described.snapshot_age_s,
        error_rates=_of_the_first(described),
    )


def _of_the_first(described: Description) -> dict[str, Rates]:
    """Error rates of the first engines alone: those of thousands would hold the event loop for a second."""
    left_out = frozenset(described.spec.engines[MOST_CURVES:])
    return {name: rates for name, rates in described.rates.items() if name not in left_out}
