"""The slow, obvious way to weigh a line by agreement: `posteriors` of one line, and `events` that follow."""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

WRONG_WORDS = 30.0
LINE_WEIGHT = 15.0
RIGHT, SUBSTITUTED, MISSED, SILENT, INSERTED = range(5)


def event(truth: str, said: str) -> int:
    """What an engine did that said this where that was true; nothing is the empty string."""
    if truth:
        return RIGHT if said == truth else SUBSTITUTED if said else MISSED
    return INSERTED if said else SILENT


def cannot_write(said: str, word: str, written: str) -> bool:
    """Whether an engine can say no more of a word: letters that it has never written become one or two."""
    parts = ["..?" if ord(c) >= 128 and c not in written else re.escape(c) for c in word]
    parts = [f"(?:{part}|{re.escape(c)})" for part, c in zip(parts, word, strict=True)]
    return re.fullmatch("".join(parts), said) is not None


def posteriors(
    slots: Sequence[Mapping[str, str]],
    rates: Mapping[str, Sequence[float]],
    null: tuple[float, float],
    ratios: Mapping[str, float],
    sureness: Sequence[Mapping[str, float]],
    heard: Mapping[tuple[int, str], Mapping[str, float]] = MappingProxyType({}),
) -> list[dict[str, float]]:
    """Of each token on offer in each slot. Slots map who takes part to what it said; ratios are of words.

    heard: the distributions that engines offer in slots; an engine without one offers what it said.
    """

    def of_slots(own: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
        return [
            _of_slot(
                slot, own, null, ratios, sure, {name: heard[i, name] for name in slot if (i, name) in heard}
            )
            for i, (slot, sure) in enumerate(zip(slots, sureness, strict=True))
        ]

    first = of_slots(rates)
    here = {
        name: [
            count * LINE_WEIGHT / (sum(own[:SILENT]) if kind < SILENT else sum(own[SILENT:]))
            for kind, count in enumerate(own)
        ]
        for name, own in rates.items()
    }
    moved = events(slots, first, here)
    return of_slots(moved)


def decided_borders(
    slots: Sequence[Mapping[str, str]], found: Sequence[Mapping[str, float]], most: int = 4
) -> list[dict[str, float]]:
    """The posteriors with what engines say in the same letters weighed as wholes; everybody takes part."""
    result = [dict(chances) for chances in found]
    first = 0
    while first < len(slots) - 1:
        end = next(
            (b for b in range(first + 2, min(len(slots), first + most) + 1) if _same(slots[first:b])), 0
        )
        if end:
            ways = {tuple(slot[name] for slot in slots[first:end]) for name in slots[first]}
            weights = {way: math.prod(found[first + i][said] for i, said in enumerate(way)) for way in ways}
            total = sum(weights.values())
            for i in range(first, end):
                for said in result[i]:
                    through = (weight for way, weight in weights.items() if way[i - first] == said)
                    result[i][said] = sum(through) / total
        first = end or first + 1
    return result


def _same(slots: Sequence[Mapping[str, str]]) -> bool:
    """Whether two engines say the same letters in another number of words, and differ at both ends."""
    for a in slots[0]:
        for b in slots[0]:
            one, other = [slot[a] for slot in slots], [slot[b] for slot in slots]
            apart = one[0] != other[0] and one[-1] != other[-1]
            if apart and "".join(one) == "".join(other) and one.count("") != other.count(""):
                return True
    return False


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
    heard: Mapping[str, Mapping[str, float]],
) -> dict[str, float]:
    offers = set(slot.values())
    scores = {}
    for truth in offers:
        chance = null[1] / sum(null) / WRONG_WORDS if truth else null[0] / sum(null)
        score = math.log(chance) + (ratios.get(truth, 0.0) if len(offers) > 1 else 0.0)
        for name, said in slot.items():
            offered = dict(heard.get(name, {said: 1.0}))
            elsewhere = "nobody's word" if truth != "nobody's word" else "another"
            offered[elsewhere] = 1.0 - sum(offered.values())
            for word, chance in offered.items():
                score += chance * _log_chance(event(truth, word), rates[name])
            if event(truth, said) == RIGHT:
                score += sureness.get(name, 0.0)
        scores[truth] = score
    total = sum(math.exp(score) for score in scores.values())
    return {truth: math.exp(score) / total for truth, score in scores.items()}


def _log_chance(kind: int, own: Sequence[float]) -> float:
    given = own[:SILENT] if kind < SILENT else own[SILENT:]
    wrong = math.log(WRONG_WORDS) if kind in {SUBSTITUTED, INSERTED} else 0.0
    return math.log(own[kind] / sum(given)) - wrong
