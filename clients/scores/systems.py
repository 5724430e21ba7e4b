"""How good texts are against the truth, system by system: `score_texts`, then rates, intervals and differences.

A *system* is anything that gives a text for each utterance: an engine, the vote, galloon. All systems of a
comparison are scored on the same utterances in the same order, so that differences can be paired. An engine that
is absent in an utterance is not scored on it, and compared with others only where it ran.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from galloon.learners.evaluation.bootstrap import Interval, paired_difference, rate_interval
from galloon.learners.evaluation.error_rate import ErrorCounts, char_errors, total, word_errors
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import CHAR, WORD, Unit

_NOTHING = ErrorCounts()


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The errors of one system, utterance by utterance, over words and over characters."""

    name: str
    words: tuple[ErrorCounts, ...]  # empty counts where it was absent
    chars: tuple[ErrorCounts, ...]
    absent: frozenset[int] = frozenset()  # places of the utterances in which it did not run

    @property
    def runs(self) -> int:
        """Utterances in which it ran."""
        return len(self.words) - len(self.absent)

    def of(self, unit: Unit) -> tuple[ErrorCounts, ...]:
        return self.words if unit.metric == "wer" else self.chars

    def total(self, unit: Unit) -> ErrorCounts:
        return total(self.of(unit))

    @property
    def wer(self) -> float:
        return self.total(WORD).rate

    @property
    def cer(self) -> float:
        return self.total(CHAR).rate

    def interval(self, unit: Unit) -> Interval:
        return _interval(_without(self.of(unit), self.absent))

    def rates(self) -> dict[str, Any]:
        return {"wer": rounded(self.wer), "cer": rounded(self.cer)}

    def as_json(self, unit: Unit) -> dict[str, Any]:
        """Rates in percent; insertions, deletions and substitutions as counts, in the unit."""
        errors = self.total(unit)
        absent = {"absent": len(self.absent)} if self.absent else {}
        return {
            **self.rates(),
            **absent,
            "ins": errors.insertions,
            "del": errors.deletions,
            "sub": errors.substitutions,
            "interval": interval_to_json(self.interval(unit), unit),
        }


def score_texts(
    name: str, references: Sequence[str], texts: Iterable[str | None], normalize: Normalizer
) -> SystemScores:
    """The scores of these texts, None where the system did not run; references are normalised already."""
    words, chars, absent = [], [], set()
    for place, (reference, text) in enumerate(zip(references, texts, strict=True)):
        if text is None:
            absent.add(place)
            words.append(_NOTHING)
            chars.append(_NOTHING)
            continue
        said = normalize(text)
        words.append(word_errors(reference, said))
        chars.append(char_errors(reference, said))
    return SystemScores(name, tuple(words), tuple(chars), frozenset(absent))


def difference(first: SystemScores, second: SystemScores, unit: Unit) -> Interval:
    """First minus second, paired where both ran: negative when the first makes fewer errors."""
    absent = first.absent | second.absent
    return _difference(_without(first.of(unit), absent), _without(second.of(unit), absent))


def _without(counts: tuple[ErrorCounts, ...], absent: frozenset[int]) -> tuple[ErrorCounts, ...]:
    if not absent:
        return counts
    return tuple(count for place, count in enumerate(counts) if place not in absent)


# The same interval is shown in several places, and thousands of resamples are not free.
@lru_cache(maxsize=256)
def _interval(counts: tuple[ErrorCounts, ...]) -> Interval:
    return rate_interval(counts)


@lru_cache(maxsize=256)
def _difference(first: tuple[ErrorCounts, ...], second: tuple[ErrorCounts, ...]) -> Interval:
    return paired_difference(first, second)


def interval_to_json(interval: Interval, unit: Unit) -> dict[str, Any]:
    return {
        "metric": unit.metric,
        "low": rounded(interval.low),
        "high": rounded(interval.high),
        "confidence": interval.confidence,
    }


def difference_to_json(interval: Interval, unit: Unit) -> dict[str, Any]:
    return {
        **interval_to_json(interval, unit),
        "difference": rounded(interval.value),
        "excludes_zero": interval.excludes_zero,
    }


def rounded(value: float) -> float:
    """Percent to a thousandth: more digits than the data can carry, few enough to read."""
    return round(value, 3)
