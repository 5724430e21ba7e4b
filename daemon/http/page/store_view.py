"""The store's health as JSON: commits, their latency and sizes, the journal, snapshots, the disk."""

import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prometheus_client import Histogram

from galloon.daemon.http.metrics import Metrics
from galloon.daemon.http.page.learner_view import stored
from galloon.daemon.http.page.numbers import number
from galloon.daemon.learner.description import Description
from galloon.daemon.store.cluster_figures import ClusterFigures
from galloon.daemon.store.journal import Journal


def health(
    journal: Journal,
    metrics: Metrics,
    data_dir: Path | None,
    cluster: ClusterFigures | None,
    learners: Iterable[Description],
) -> dict[str, Any]:
    """Of this node; where daemons share a store, its files are the database's own business."""
    figures, shown = journal.figures, [stored(described) for described in learners]
    return {
        "commits": figures.commits,
        "entries": figures.entries,
        "journaled_bytes": figures.bytes,
        "failures": figures.failures,
        "takes_more": journal.has_room(),
        "mean_commit_s": number(figures.seconds / figures.commits) if figures.commits else None,
        "commit_seconds": histogram(metrics.commit_seconds),
        "commit_entries": histogram(metrics.commit_entries),
        "journal_entries": sum(learner["journal_entries"] for learner in shown),
        "file_bytes": None if data_dir is None else sum(map(_size, data_dir.iterdir())),
        "disk_free_bytes": None if data_dir is None else shutil.disk_usage(data_dir).free,
        "cluster": None if cluster is None else asdict(cluster),
        "learners": shown,
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a file of SQLite's that came and went
        return 0


def histogram(found: Histogram) -> list[dict[str, Any]]:
    """How many observations fell into each bucket, up to and including its bound; null is no bound."""
    buckets, below = [], 0.0
    for sample in next(iter(found.collect())).samples:
        if sample.name.endswith("_bucket"):
            bound = float(sample.labels["le"])
            buckets.append({"up_to": number(bound), "count": int(sample.value - below)})
            below = sample.value
    return buckets
