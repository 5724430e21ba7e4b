"""What a scrape of the metrics sees: the counters, and every learner's figures computed now."""

from collections.abc import Callable

from galloon.daemon.learner_host import LearnerHost
from galloon.daemon.limits import Ledger
from galloon.daemon.metrics import LearnerFigures, Metrics
from galloon.daemon.registry import Registry
from galloon.daemon.store import Store


async def scrape(
    registry: Registry, store: Store, ledger: Ledger, metrics: Metrics, clock: Callable[[], float], shown: int
) -> bytes:
    """All metrics, in the text format of Prometheus."""
    metrics.streams.set(ledger.streams)
    metrics.learners.set(len(registry))
    figures = [await _figures(host, clock) for host in registry.hosts()]
    return metrics.render(figures, shown, store.figures)


async def _figures(host: LearnerHost, clock: Callable[[], float]) -> LearnerFigures:
    rounds = host.rounds
    return LearnerFigures(
        name=host.name,
        statistics=await host.statistics(),
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
