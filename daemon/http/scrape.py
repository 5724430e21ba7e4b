"""What a scrape of the metrics sees: the counters, and the learners' figures computed now.

Only learners that are shown by name are asked for their statistics, which cost a pass over the automaton; one that
is too busy to answer in time, or out of service, is shown without them.
"""

import asyncio
from collections.abc import Callable

import structlog

from galloon.daemon.http.metrics import LearnerFigures, Metrics
from galloon.daemon.learner.learner import LearnerHost
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Ledger
from galloon.daemon.store.journal import Journal
from galloon.learners.combiners.contract import Statistics

log = structlog.get_logger()
MaySee = Callable[[str], bool]  # the learners that a caller may know by name
PATIENCE_S = 2.0  # Prometheus gives a scrape ten seconds


async def scrape(
    registry: Registry,
    journal: Journal,
    ledger: Ledger,
    metrics: Metrics,
    clock: Callable[[], float],
    shown: int,
    may_see: MaySee,
) -> bytes:
    """All metrics, in the text format of Prometheus: sums over all learners, names of those the caller may see."""
    metrics.streams.set(ledger.streams)
    metrics.learners.set(len(registry))
    hosts = sorted(registry.hosts(), key=lambda host: not may_see(host.name))
    shown = min(shown, sum(may_see(host.name) for host in hosts))
    asked = await asyncio.gather(*(_statistics(host) for host in hosts[:shown]))
    statistics = [*asked, *[None] * (len(hosts) - len(asked))]
    figures = [_figures(host, known, clock) for host, known in zip(hosts, statistics, strict=True)]
    return metrics.render(figures, shown, journal.figures)


async def _statistics(host: LearnerHost) -> Statistics | None:
    if host.broken is not None:
        return None
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await host.statistics()
    except TimeoutError:
        log.info("learner too busy for a scrape", learner=host.name)
        return None


def _figures(host: LearnerHost, statistics: Statistics | None, clock: Callable[[], float]) -> LearnerFigures:
    rounds = host.rounds
    return LearnerFigures(
        name=host.name,
        statistics=statistics,
        rounds_started=rounds.started,
        lessons=rounds.lessons,
        rounds_pending=len(rounds.pending),
        rounds_expired=rounds.expired_count,
        total_gain=rounds.total_gain,
        journal_entries=host.journal_entries,
        snapshot_bytes=host.snapshot_bytes,
        snapshot_age_s=None if host.snapshot_time is None else clock() - host.snapshot_time,
        error_rates=dict(host.scoreboard.rates),
    )
