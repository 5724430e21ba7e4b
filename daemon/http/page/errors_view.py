"""Error rates of a learner as JSON: the curves of its books, and how it compares with others."""

from dataclasses import asdict
from typing import Any

from galloon.codec.comparison import Comparison
from galloon.daemon.http.page.numbers import number, percent
from galloon.daemon.learner.books import COMBINED, Books
from galloon.daemon.learner.error_curve import Rates


def errors_to_json(books: Books, lessons: int) -> dict[str, Any]:
    """By columns: rates of all corrections up to the end of each block, null before somebody's first."""
    blocks, totals = books.curve.blocks, dict[str, Rates]()
    names = [*(name for name in books.rates if name != COMBINED), COMBINED]
    corrections, true_words = [], []
    columns: dict[str, dict[str, list[float | None]]] = {
        name: {"wer": [], "cer": []} for name in names if any(name in block.sums for block in blocks)
    }
    for block in blocks:
        for name, rates in block.sums.items():
            totals[name] = totals.get(name, Rates()) + rates
        own = totals.get(COMBINED, Rates())
        corrections.append(own.corrections)
        true_words.append(own.words.reference_length)
        for name, kinds in columns.items():
            so_far = totals.get(name, Rates())
            kinds["wer"].append(percent(so_far.words.errors, so_far.words.reference_length))
            kinds["cer"].append(percent(so_far.chars.errors, so_far.chars.reference_length))
    return {
        "counted": books.counted,
        "lessons": lessons,
        "corrections": corrections,
        "true_words": true_words,
        "rates": columns,
        "corrections_of": {name: rates.corrections for name, rates in books.rates.items()},
    }


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    found = asdict(comparison)
    for each in (found["learner"], *found["others"]):
        for name, value in each.items():
            if isinstance(value, float):
                each[name] = number(value)
    return found
