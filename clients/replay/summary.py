"""The results of a replay as one JSON object: `summary`. Rates in percent, micro-averaged over utterances.

Beside what the contract names, it holds intervals ("interval", "vs_vote", "vs_best_engine"), the first and last
fifth of the file ("fifths"), rates by domain ("domains"), and the learner's spec and statistics ("learner").
"""

import json
import math
from typing import Any

from galloon.clients.commands.explanation_view import explanation_to_json
from galloon.clients.replay.curves import fifths
from galloon.clients.replay.names import GALLOON, MBR
from galloon.clients.replay.results import Results
from galloon.clients.scores.systems import SystemScores, difference_to_json, interval_to_json, rounded
from galloon.learners.evaluation.error_rate import total


def summary(results: Results, by: str, explained: str | None = None) -> dict[str, Any]:
    """`by` is the label that divides the utterances into domains, `explained` the id of an utterance."""
    main, unit, played = results.main, results.unit, results.played
    statistics, best = played.statistics, results.best_engine
    return {
        **_explanation(results, explained),
        "file": results.file,
        "utterances": len(results.utterances),
        "scored": len(results.scored),
        "unit": unit.name,
        "normalizer": results.normalizer,
        "engines": {name: system.as_json(unit) for name, system in results.engines.items()},
        "vote": results.vote.as_json(unit),
        "uniform": results.uniform.as_json(unit),
        **({MBR: _mbr(results)} if results.mbr else {}),
        "galloon": main.as_json(unit),
        "oracle_slot": results.oracle.rates(),
        **_more_on_offer(results),
        "gain": played.gain,
        "regret": _number(statistics.regret),
        "regret_estimate": _number(statistics.regret_estimate),
        "bound": _number(statistics.bound),
        "guarantee": statistics.guarantee,
        "seconds": round(played.seconds, 3),
        "utterances_per_s": round(len(played.rounds) / max(1e-9, played.seconds), 1),
        "interval": interval_to_json(main.interval(unit), unit),
        "vs_vote": difference_to_json(results.against(results.vote), unit),
        "vs_best_engine": {
            "engine": best.name,
            **difference_to_json(results.against(best), unit),
        },
        "fifths": {system.name: _fifths(system, results) for system in results.systems},
        "domains": domains(results, by),
        "also": {name: system.as_json(unit) for name, system in results.galloon.items() if name != GALLOON},
        "learner": {
            "spec": json.loads(played.opened.spec.to_json()),
            "lessons_before": played.opened.lessons,
            "gain": statistics.gain,
            "expert_transitions": statistics.expert_transitions,
            "context_transitions": statistics.context_transitions,
            "state_bytes": statistics.state_bytes,
            "extra": statistics.extra,
        },
    }


def _more_on_offer(results: Results) -> dict[str, Any]:
    """What the best token per slot comes to when lattices and n-best lists offer theirs too."""
    more = (results.oracle_with_alternatives, results.oracle_lattice)
    return {oracle.name: oracle.rates() for oracle in more if oracle is not None}


def _mbr(results: Results) -> dict[str, Any]:
    """Minimum Bayes risk of the lattices' union, with the difference to it, and of each lattice alone."""
    union = results.mbr[MBR]
    return {
        **union.as_json(results.unit),
        "galloon_against_it": difference_to_json(results.against(union), results.unit),
        "alone": {
            name.removeprefix(f"{MBR}, "): system.as_json(results.unit)
            for name, system in results.mbr.items()
            if name != MBR
        },
    }


def _explanation(results: Results, explained: str | None) -> dict[str, Any]:
    if explained is None:
        return {}
    told = explanation_to_json(results.explanation_of(explained))
    return {"explanation": {**told, "id": explained}}


def domains(results: Results, by: str) -> dict[str, dict[str, Any]]:
    """The error rate of every system in each domain, and how many utterances and tokens it has."""
    members: dict[str, list[int]] = {}
    for place, index in enumerate(results.scored):
        value = results.utterances[index].labels.get(by)
        if value is not None:
            members.setdefault(value, []).append(place)
    table = {}
    for value, places in sorted(members.items()):
        counts = {
            system.name: total([system.of(results.unit)[place] for place in places])
            for system in results.systems
        }
        first = next(iter(counts.values()))
        table[value] = {
            "utterances": len(places),
            "tokens": first.reference_length,
            results.metric: {name: rounded(errors.rate) for name, errors in counts.items()},
        }
    return table


def _fifths(system: SystemScores, results: Results) -> dict[str, float]:
    found = fifths(system.of(results.unit))
    return {"first": rounded(found.first), "last": rounded(found.last)}


def _number(value: float | None) -> float | None:
    """JSON knows no infinity: a bound that says nothing is not sent."""
    return None if value is None or not math.isfinite(value) else value
