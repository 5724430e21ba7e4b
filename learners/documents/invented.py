"""Lines that an engine made up (bleed-through, specks, rules): `invented` names them.

A line is confirmed where the letters of two engines are half alike. One that stands alone is believed if its
letters are nearly as usual, by the trigrams of what is confirmed on this page, as those of its engine's other
lines. Less is needed to doubt a line of which its engine is much less sure than of others. Numbers are always
believed, for pages and verses have them, and marks alone never.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from rapidfuzz.distance import Indel

from galloon.learners.documents.resemblance import LetterModel, most_typical

_ALIKE = 0.5
_UNUSUAL = 0.9  # nats a letter below the engine's median
_DOUBTED, _UNUSUAL_IF_DOUBTED = 0.85, 0.2  # of the engine's usual confidence
_FEWEST = 3  # confirmed lines; with fewer nothing is known of the page


def invented(
    lines: Sequence[Mapping[str, str]], confidences: Sequence[Mapping[str, float | None]]
) -> list[bool]:
    """For each line, given as the letters of each engine that has it and its confidence, whether it is made up."""
    confirmed = [_is_confirmed(list(line.values())) for line in lines]
    if sum(confirmed) < _FEWEST:
        return [False] * len(lines)
    sure_lines = [line for line, sure in zip(lines, confirmed, strict=True) if sure]
    # Each half of the confirmed lines is judged by the other: a text is more usual to a model that has seen it.
    models = [
        LetterModel(most_typical(list(line.values())) for line in sure_lines[half::2]) for half in (0, 1)
    ]
    usual: dict[str, list[float]] = {}
    for number, line in enumerate(sure_lines):
        for engine, text in line.items():
            usual.setdefault(engine, []).append(models[1 - number % 2].score(text))
    sureness: dict[str, list[float]] = {}
    for sure, known in zip(confirmed, confidences, strict=True):
        for engine, value in known.items() if sure else ():
            if value is not None:
                sureness.setdefault(engine, []).append(value)
    usually = {engine: median(scores) for engine, scores in usual.items()}
    everyone = median(usually.values())

    def unusual(engine: str, text: str, confidence: float | None) -> bool:
        if text.isdecimal():  # a number of a page, which letters say nothing about
            return False
        best = max(model.score(text) for model in models)
        doubted = confidence is not None and confidence < _DOUBTED * median(
            sureness.get(engine, [confidence])
        )
        bar = max(usually.get(engine, everyone), everyone) - (_UNUSUAL_IF_DOUBTED if doubted else _UNUSUAL)
        return not any(map(str.isalnum, text)) or best < bar

    return [
        not sure and all(unusual(engine, text, known.get(engine)) for engine, text in line.items())
        for line, known, sure in zip(lines, confidences, confirmed, strict=True)
    ]


def _is_confirmed(texts: Sequence[str]) -> bool:
    texts = [text for text in texts if 2 * sum(map(str.isalnum, text)) > len(text)]
    return any(
        Indel.normalized_similarity(first, second) >= _ALIKE
        for place, first in enumerate(texts)
        for second in texts[:place]
    )
