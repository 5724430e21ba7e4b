"""All metrics, declared here and nowhere else. Label values come from closed sets that an operator controls.

`Metrics` counts what happens; `learner_families` makes the figures of learners when somebody scrapes, because
regret in hindsight costs a pass over the automaton. Only so many learners are shown by name; sums cover all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from galloon.daemon.errors import CODES
from galloon.daemon.http.counters import Spread, Tally, counter
from galloon.daemon.learner.error_curve import Rates
from galloon.daemon.store.cluster_figures import ClusterFigures
from galloon.daemon.store.journal import CommitFigures
from galloon.learners.combiners.contract import Statistics

SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
ENTRIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
TASKS = ("challengers", "housekeeping", "kernels", "listener")
FEEDBACK_KINDS = ("true_text", "true_tokens", "shown_gains", "score", "withdrawn")


class Metrics:
    """What happened since the daemon started."""

    def __init__(self) -> None:
        disable_created_metrics()  # a second series for each one, which nobody looks at
        self.registry = own = CollectorRegistry()
        self.streams = Gauge("galloon_streams", "Open streams.", registry=own)
        self.streams_opened = Counter("galloon_streams_opened_total", "Streams opened.", registry=own)
        self.learners = Gauge("galloon_learners", "Learners.", registry=own)
        self.out_of_service = Gauge(
            "galloon_learners_out_of_service",
            "Learners that could not be restored, or that a defect has stopped.",
            registry=own,
        )
        self.choices = Tally()
        self.feedback = {kind: Tally() for kind in FEEDBACK_KINDS}
        self.choose_seconds, self.learn_seconds = Spread(SECONDS), Spread(SECONDS)
        rejects = Counter("galloon_rejects_total", "Requests refused, by reason.", ["reason"], registry=own)
        self.commit_seconds = Histogram(
            "galloon_store_commit_seconds", "One commit, sync included.", buckets=SECONDS, registry=own
        )
        self.commit_entries = Histogram(
            "galloon_store_commit_entries", "Journal entries in one commit.", buckets=ENTRIES, registry=own
        )
        self.rebuilds = Counter(
            "galloon_rebuilds_total", "Learners made again from their history.", registry=own
        )
        self.snapshots = Counter("galloon_snapshots_total", "Snapshots written.", registry=own)
        failures = Counter(
            "galloon_task_failures_total",
            "Failures of background tasks, which start again.",
            ["task"],
            registry=own,
        )
        # Every label value exists from the start, so that a rate over it is never missing.
        self.rejects = {error: rejects.labels(_snake(error.__name__)) for error in CODES}
        self.task_failures = {task: failures.labels(task) for task in TASKS}

    def commit(self, seconds: float, entries: int) -> None:
        self.commit_seconds.observe(seconds)
        self.commit_entries.observe(entries)

    def render(
        self, learners: Iterable["LearnerFigures"], shown: int, store: CommitFigures, cluster: ClusterFigures
    ) -> bytes:
        """Everything in the text format of Prometheus."""
        families = [*self._request_families(), *learner_families(learners, shown), *_store_families(store)]
        families += _cluster_families(cluster)
        collector = _Now(families)
        self.registry.register(collector)
        try:
            return generate_latest(self.registry)
        finally:
            self.registry.unregister(collector)

    def _request_families(self) -> Iterable[Metric]:
        yield CounterMetricFamily("galloon_choices", "Utterances answered with a choice.", self.choices.count)
        yield counter("galloon_feedback", "Feedback acknowledged, by kind.", "kind", self.feedback)
        yield self.choose_seconds.family(
            "galloon_choose_seconds", "From an utterance's arrival to its choice."
        )
        yield self.learn_seconds.family(
            "galloon_learn_seconds", "From a feedback's arrival to its acknowledgement, sync included."
        )


@dataclass(frozen=True, slots=True)
class LearnerFigures:
    """One learner at the time of a scrape."""

    name: str
    statistics: Statistics | None  # only of learners that are shown by name
    rounds_started: int
    lessons: int
    rounds_pending: int
    rounds_expired: int
    total_gain: float
    journal_entries: int
    snapshot_bytes: int
    snapshot_age_s: float | None
    error_rates: Mapping[str, Rates]


def learner_families(learners: Iterable[LearnerFigures], shown: int) -> Iterable[Metric]:
    """The figures of learners: sums over all, then one by one up to the cap."""
    figures = sorted(learners, key=lambda figure: figure.name)
    yield _sum("galloon_rounds", "Rounds started, over all learners.", figures, "rounds_started")
    yield _sum("galloon_pending_rounds", "Rounds that wait for feedback.", figures, "rounds_pending")
    yield _sum("galloon_expired_rounds", "Rounds that expired.", figures, "rounds_expired")
    by_learner = {
        "rounds_started": ("galloon_learner_rounds", "Rounds started."),
        "lessons": ("galloon_learner_lessons", "Lessons taken in."),
        "rounds_pending": ("galloon_learner_pending_rounds", "Rounds that wait for feedback."),
        "rounds_expired": ("galloon_learner_expired_rounds", "Rounds whose feedback did not come in time."),
        "total_gain": ("galloon_learner_gain", "Sum of the gains of all lessons."),
        "journal_entries": ("galloon_learner_journal_entries", "Journal entries since the last snapshot."),
        "snapshot_bytes": ("galloon_learner_snapshot_bytes", "Size of the last snapshot."),
        "snapshot_age_s": ("galloon_learner_snapshot_age_seconds", "Age of the last snapshot."),
        "statistics.regret": (
            "galloon_learner_regret",
            "Gain of the best fixed path in hindsight minus the gain; only where it is known.",
        ),
        "statistics.regret_estimate": (
            "galloon_learner_regret_estimate",
            "The same from the estimators, where it is not known.",
        ),
        "statistics.bound": (
            "galloon_learner_regret_bound",
            "What a theorem promises for the expected regret; absent where none holds.",
        ),
        "statistics.regret_limit": (
            "galloon_learner_regret_limit",
            "What the regret of drawn paths stays below in all but one learner in a million; absent if unknown.",
        ),
        "statistics.expert_states": ("galloon_learner_expert_states", "States of the expert automaton A."),
        "statistics.expert_transitions": ("galloon_learner_expert_transitions", "Transitions of A."),
        "statistics.context_states": (
            "galloon_learner_context_states",
            "States of the context automaton A' (nodes of the tree, for EXP3-AG).",
        ),
        "statistics.context_transitions": ("galloon_learner_context_transitions", "Transitions of A'."),
        "statistics.state_bytes": ("galloon_learner_state_bytes", "Size of the state in memory."),
    }
    for path, (name, text) in by_learner.items():
        family = GaugeMetricFamily(name, text, labels=["learner"])
        for figure in figures[:shown]:
            value = _value(figure, path)
            if value is not None:
                family.add_metric([figure.name], value)
        yield family
    yield from _error_families(figures[:shown])
    yield _changes(figures[:shown])
    yield from _estimates(figures[:shown])


def _changes(figures: list[LearnerFigures]) -> Metric:
    """How often the errors of an engine changed, by upgrade or by accident; of those that did."""
    family = CounterMetricFamily(
        "galloon_engine_changes",
        "How often the error rate of an engine was seen to change.",
        labels=["learner", "engine"],
    )
    for figure in figures:
        changes = {} if figure.statistics is None else figure.statistics.extra.get("changes", {})
        for engine, found in changes.items():
            family.add_metric([figure.name, engine], found["times"])
    return family


def _estimates(figures: list[LearnerFigures]) -> Iterable[Metric]:
    """What is thought of each engine without any truth, of those that have run."""
    for ending, field, text in (
        ("", "error_rate", "Errors of an engine as a share of words, estimated by agreement alone."),
        ("_low", "low", "The lower end of its interval of 95 percent."),
        ("_high", "high", "The upper end of its interval of 95 percent."),
    ):
        name = f"galloon_engine_estimated_error_ratio{ending}"
        family = GaugeMetricFamily(name, text, labels=["learner", "engine"])
        for figure in figures:
            known = {} if figure.statistics is None else figure.statistics.extra.get("estimates", {})
            for engine, found in known.items():
                family.add_metric([figure.name, engine], found[field] / 100)
        yield family


def _store_families(figures: CommitFigures) -> Iterable[Metric]:
    yield CounterMetricFamily("galloon_store_journaled_bytes", "Bytes journaled.", figures.bytes)
    yield CounterMetricFamily("galloon_store_failures", "Commits that failed.", figures.failures)


def _cluster_families(figures: ClusterFigures) -> Iterable[Metric]:
    """What this node sees; a daemon that has its store to itself sees one member that lacks nothing."""
    for name, text, value in (
        ("members", "Daemons that serve the store, as this one sees them.", figures.members),
        ("shards_owned", "Shards of learners that are this daemon's.", figures.shards_owned),
        ("shards_without_owner", "Shards that no daemon has.", figures.shards_without_owner),
        ("lease_used_ratio", "Of the lease, since it was last renewed; 1 is its end.", figures.lease_used),
    ):
        yield GaugeMetricFamily(f"galloon_cluster_{name}", text, value)
    yield CounterMetricFamily(
        "galloon_cluster_fenced", "Daemons that this one has fenced and taken over from.", figures.fenced
    )


def _error_families(figures: list[LearnerFigures]) -> Iterable[Metric]:
    for unit in ("word", "char"):
        edits = CounterMetricFamily(
            f"galloon_{unit}_edits",
            f"{unit.capitalize()} edits against true texts, by expert; the combination is 'galloon'.",
            labels=["learner", "expert"],
        )
        length = CounterMetricFamily(
            f"galloon_true_{unit}s", f"{unit.capitalize()}s of true texts.", labels=["learner", "expert"]
        )
        for figure in figures:
            for expert, rates in figure.error_rates.items():
                counts = rates.words if unit == "word" else rates.chars
                edits.add_metric([figure.name, expert], counts.errors)
                length.add_metric([figure.name, expert], counts.reference_length)
        yield edits
        yield length
    corrections = CounterMetricFamily(
        "galloon_corrections",
        "Corrections that were counted, by expert; fewer than lessons where it did not run or they tell no text.",
        labels=["learner", "expert"],
    )
    for figure in figures:
        for expert, rates in figure.error_rates.items():
            corrections.add_metric([figure.name, expert], rates.corrections)
    yield corrections


class _Now:
    """A collector of figures that are already there."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _value(figure: LearnerFigures, path: str) -> float | None:
    value: Any = figure
    for part in path.split("."):
        value = None if value is None else getattr(value, part)
    return None if value is None else float(value)


def _sum(name: str, text: str, figures: list[LearnerFigures], field: str) -> Metric:
    family = GaugeMetricFamily(name, text)
    family.add_metric([], sum(getattr(figure, field) for figure in figures))
    return family


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
