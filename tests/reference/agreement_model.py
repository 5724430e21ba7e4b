"""The slow, obvious way to weigh a line by agreement: `posteriors` of one line, and `events` that follow."""

import math
from collections.abc import Mapping, Sequence

WRONG_WORDS = 30.0
LINE_WEIGHT = 15.0
RIGHT, SUBSTITUTED, MISSED, SILENT, INSERTED = range(5)


def event(truth: str, said: str) -> int:
    """What an engine did that said this where that was true; nothing is the empty string."""
    if truth:
        return RIGHT if said == truth else SUBSTITUTED if said else MISSED
    return INSERTED if said else SILENT


def posteriors(
    slots: Sequence[Mapping[str, str]],
    rates: Mapping[str, Sequence[float]],
    null: tuple[float, float],
    ratios: Mapping[str, float],
    sureness: Sequence[Mapping[str, float]],
) -> list[dict[str, float]]:
    """Of each token on offer in each slot. Slots map who takes part to what it said; ratios are of words."""
    first = [_of_slot(slot, rates, null, ratios, sure) for slot, sure in zip(slots, sureness, strict=True)]
    here = {
        name: [
            count * LINE_WEIGHT / (sum(own[:SILENT]) if kind < SILENT else sum(own[SILENT:]))
            for kind, count in enumerate(own)
        ]
        for name, own in rates.items()
    }
    moved = events(slots, first, here)
    return [_of_slot(slot, moved, null, ratios, sure) for slot, sure in zip(slots, sureness, strict=True)]


def events(
    slots: Sequence[Mapping[str, str]],
    found: Sequence[Mapping[str, float]],
    counted: Mapping[str, Sequence[float]],
) -> dict[str, list[float]]:
    """The counts with each engine's expected events of these slots added."""
    more = {name: list(own) for name, own in counted.items()}
    for slot, chances in zip(slots, found, strict=True):
        for truth, chance in chances.items():
            for name, said in slot.items():
                more[name][event(truth, said)] += chance
    return more


def _of_slot(
    slot: Mapping[str, str],
    rates: Mapping[str, Sequence[float]],
    null: tuple[float, float],
    ratios: Mapping[str, float],
    sureness: Mapping[str, float],
) -> dict[str, float]:
    offers = set(slot.values())
    scores = {}
    for truth in offers:
        chance = null[1] / sum(null) / WRONG_WORDS if truth else null[0] / sum(null)
        score = math.log(chance) + (ratios.get(truth, 0.0) if len(offers) > 1 else 0.0)
        for name, said in slot.items():
            kind, own = event(truth, said), rates[name]
            given = own[:SILENT] if truth else own[SILENT:]
            score += math.log(own[kind] / sum(given))
            if kind in {SUBSTITUTED, INSERTED}:
                score -= math.log(WRONG_WORDS)
            if kind == RIGHT:
                score += sureness.get(name, 0.0)
        scores[truth] = score
    total = sum(math.exp(score) for score in scores.values())
    return {truth: math.exp(score) / total for truth, score in scores.items()}
