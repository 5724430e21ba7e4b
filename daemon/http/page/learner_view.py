"""A learner as JSON: `brief` for lists (counts that are there anyway), `full` for its own view, `weights`."""

from collections.abc import Callable
from typing import Any

from galloon.daemon.http.page.curves import Curve, curve_to_json
from galloon.daemon.http.page.numbers import number, percent
from galloon.daemon.learner.learner import LearnerHost
from galloon.learners.combiners.contract import Statistics
from galloon.learners.combiners.weight_table import ShowsWeights, WeightTable

WEIGHT_ROWS = 48


def brief(host: LearnerHost) -> dict[str, Any]:
    spec, rounds = host.spec, host.rounds
    return {
        "name": host.name,
        "algorithm": spec.algorithm,
        "setting": host.setting.value,
        "unit": spec.unit.name,
        "experts": list(spec.experts),
        "derived": derived_experts(host),
        "automaton": bool(spec.automaton),
        "rounds": rounds.started,
        "lessons": rounds.lessons,
        "pending": len(rounds.pending),
        "expired": rounds.expired_count,
        "gain": number(rounds.total_gain),
        "out_of_service": host.broken is not None,
        "rates": rates(host),
    }


def derived_experts(host: LearnerHost) -> list[str]:
    """Those that the combiner computes from the engines; it may have more than its spec names."""
    everybody = getattr(host._combiner, "all_experts", host.experts)
    return [name for name in everybody if name not in host.spec.experts]


def mark(host: LearnerHost) -> tuple[int, ...]:
    """Changes whenever `brief` would."""
    counted = sum(rate.words.reference_length for rate in list(host.scoreboard.rates.values()))
    return (host.rounds.started, host.rounds.lessons, host.rounds.expired_count, counted)


def rates(host: LearnerHost) -> dict[str, Any]:
    """Error rates since the daemon started, in percent: each engine, derived expert, and `galloon`."""
    return {
        name: {
            "wer": percent(rate.words.errors, rate.words.reference_length),
            "cer": percent(rate.chars.errors, rate.chars.reference_length),
            "words": rate.words.reference_length,
        }
        for name, rate in dict(host.scoreboard.rates).items()
    }


async def full(host: LearnerHost, curve: Curve, streams: int, clock: Callable[[], float]) -> dict[str, Any]:
    """Everything but utterances, weights and automata."""
    statistics = None if host.broken is not None else await host.statistics()
    return {
        **brief(host),
        "streams": streams,
        "spec": {
            "gain": dict(host.spec.gain),
            "window": None if host.spec.automaton else host.spec.window,
            "decide": host.spec.decide,
            "normalizer": host.spec.normalizer,
            "labels": list(host.spec.labels),
            "seed": host.spec.seed,
        },
        "statistics": None if statistics is None else _statistics(statistics),
        "store": stored(host, clock),
        "curve": curve_to_json(curve, None if statistics is None else curve.sample(statistics)),
    }


async def latest_point(host: LearnerHost, curve: Curve) -> dict[str, Any]:
    """The end of the curve, as a curve of one sample."""
    return curve_to_json(_without_samples(curve), curve.sample(await host.statistics()))


def stored(host: LearnerHost, clock: Callable[[], float]) -> dict[str, Any]:
    age = None if host.snapshot_time is None else clock() - host.snapshot_time
    return {
        "name": host.name,
        "journal_entries": host.journal_entries,
        "snapshot_bytes": host.snapshot_bytes,
        "snapshot_age_s": number(age, 4),
        "pending": len(host.rounds.pending),
    }


async def weights(host: LearnerHost) -> dict[str, Any] | None:
    """What the combiner offers to show; null where it offers nothing."""
    combiner = host._combiner
    if not isinstance(combiner, ShowsWeights):
        return None
    table: WeightTable = await host.lane.run(("weights", 0), lambda: combiner.weights(WEIGHT_ROWS))
    return {
        "row_kind": table.row_kind,
        "rows": list(table.rows),
        "columns": list(table.columns),
        "probabilities": [[number(value, 4) for value in row] for row in table.probabilities.tolist()],
        "counts": None if table.counts is None else list(table.counts),
    }


def _statistics(statistics: Statistics) -> dict[str, Any]:
    return {
        "gain": number(statistics.gain),
        "regret": number(statistics.regret),
        "regret_estimate": number(statistics.regret_estimate),
        "bound": number(statistics.bound),
        "guarantee": statistics.guarantee,
        "expert_states": statistics.expert_states,
        "expert_transitions": statistics.expert_transitions,
        "context_states": statistics.context_states,
        "context_transitions": statistics.context_transitions,
        "state_bytes": statistics.state_bytes,
    }


def _without_samples(curve: Curve) -> Curve:
    bare = Curve(curve.host)
    bare.names = curve.names
    return bare
