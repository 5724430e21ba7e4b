"""A learner as JSON: `brief` for lists (counts that are there anyway), `full` for its own view, `weights`."""

import asyncio
from typing import Any

from galloon.daemon.http.page.curves import Curve, curve_to_json
from galloon.daemon.http.page.numbers import number, percent
from galloon.daemon.learner.description import Description
from galloon.daemon.learner.learner import Learner
from galloon.learners.combiners.contract import Statistics
from galloon.learners.combiners.weight_table import WeightTable

WEIGHT_ROWS = 48


def brief(described: Description) -> dict[str, Any]:
    spec = described.spec
    return {
        "name": described.name,
        "algorithm": spec.algorithm,
        "setting": described.setting.value,
        "unit": spec.unit.name,
        "experts": list(spec.engines),
        "derived": list(described.derived),
        "automaton": bool(spec.automaton),
        "rounds": described.rounds_started,
        "lessons": described.lessons,
        "pending": described.rounds_pending,
        "expired": described.rounds_expired,
        "gain": number(described.total_gain),
        "answer": spec.answer,
        "out_of_service": described.out_of_service,
        "rates": rates(described),
    }


def mark(described: Description) -> tuple[int, ...]:
    """Changes whenever `brief` would."""
    counted = sum(rate.words.reference_length for rate in described.rates.values())
    return (described.rounds_started, described.lessons, described.rounds_expired, counted)


def rates(described: Description) -> dict[str, Any]:
    """Error rates of the history, in percent: each engine, derived expert, and `galloon`."""
    return {
        name: {
            "wer": percent(rate.words.errors, rate.words.reference_length),
            "cer": percent(rate.chars.errors, rate.chars.reference_length),
            "words": rate.words.reference_length,
            "corrections": rate.corrections,
        }
        for name, rate in described.rates.items()
    }


async def full(learner: Learner, curve: Curve, streams: int) -> dict[str, Any]:
    """Everything but utterances, weights and automata."""
    described, spec = learner.describe(), learner.spec
    statistics = None if described.out_of_service else await learner.statistics()
    return {
        **brief(described),
        "streams": streams,
        "spec": {
            "gain": dict(spec.gain),
            "window": None if spec.automaton else spec.window,
            "decide": spec.decide,
            "normalizer": spec.normalizer,
            "labels": list(spec.labels),
            "seed": spec.seed,
        },
        "statistics": None if statistics is None else _statistics(statistics),
        "store": stored(described),
        "curve": curve_to_json(curve, None if statistics is None else curve.sample(statistics)),
    }


async def latest_point(learner: Learner, curve: Curve) -> dict[str, Any]:
    """The end of the curve, as a curve of one sample."""
    return curve_to_json(Curve(learner), curve.sample(await learner.statistics()))


def stored(described: Description) -> dict[str, Any]:
    return {
        "name": described.name,
        "journal_entries": described.journal_entries,
        "snapshot_bytes": described.snapshot_bytes,
        "snapshot_age_s": number(described.snapshot_age_s, 4),
        "pending": described.rounds_pending,
    }


async def weights(learner: Learner) -> dict[str, Any]:
    """Whom it trusts where."""
    return await asyncio.to_thread(_table, await learner.weights(WEIGHT_ROWS))


def _table(table: WeightTable) -> dict[str, Any]:
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
        "changes": [
            {"engine": engine, "times": found["times"], "last_lesson": found["last_lesson"]}
            for engine, found in statistics.extra.get("changes", {}).items()
        ],
        "estimates": [
            {"engine": engine, **{name: _shown(value) for name, value in found.items()}}
            for engine, found in statistics.extra.get("estimates", {}).items()
        ],
    }


def _shown(value: Any) -> Any:
    return number(value, 4) if isinstance(value, float) else value
