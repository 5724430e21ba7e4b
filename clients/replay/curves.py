"""Error rates over time: `learning_curves` of all systems, cumulative and rolling; `fifths` for a file's two ends.

A picture of them should show the systems that compete: one that is far off says so by its number, and does not
press all others into a line at the bottom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.clients.replay.names import GALLOON, UNIFORM, VOTE
from galloon.clients.replay.results import Results
from galloon.learners.evaluation.error_rate import ErrorCounts, as_table, total

SHARE_OF_FILE = 10  # a rolling rate looks back over this part of the file ...
LEAST_WINDOW = 20  # ... but never over fewer utterances
COMPETING = 2.0  # times the rate of the vote, of galloon or of the best engine still belongs into the picture


@dataclass(frozen=True, slots=True)
class Curve:
    """One system after each scored utterance: the rate of all so far, and of the last few, percent."""

    name: str
    cumulative: NDArray[np.float64]
    rolling: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """Curves that fit into one picture up to `top`, and the final rates of those that do not."""

    window: int  # utterances that a rolling rate looks back over
    start: int  # the first utterance worth drawing: before it, rates are of too few
    top: float
    curves: tuple[Curve, ...]
    off_scale: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fifths:
    """The error rate in the first and in the last fifth of a file, percent."""

    first: float
    last: float


def learning_curves(results: Results) -> LearningCurves:
    """Curves of every system on its unit's metric."""
    count = len(results.scored)
    window = rolling_window(count)
    start = min(window, count) - 1
    systems = {system.name: system.of(results.unit) for system in results.systems}
    rates = {name: total(counts).rate for name, counts in systems.items()}
    competing = max(rates[VOTE], rates[GALLOON], results.best_engine.total(results.unit).rate)
    shown = [name for name, rate in rates.items() if rate <= COMPETING * competing]
    if UNIFORM not in shown and any(played.told_little for played in results.runs.values()):
        shown.append(UNIFORM)  # where a learner that is told little begins
    curves = [Curve(name, cumulative(systems[name]), rolling(systems[name], window)) for name in shown]
    top = max(float(max(curve.rolling[start:].max(), curve.cumulative[start:].max())) for curve in curves)
    off = {name: rate for name, rate in rates.items() if name not in shown}
    return LearningCurves(window, start, 1.05 * top or 1.0, tuple(curves), off)


def cumulative(counts: Sequence[ErrorCounts]) -> NDArray[np.float64]:
    """After each utterance: the rate of all so far, percent."""
    errors, lengths = _sums(counts)
    return np.asarray(100.0 * errors / np.maximum(1, lengths))


def rolling(counts: Sequence[ErrorCounts], window: int) -> NDArray[np.float64]:
    """After each utterance: the rate of the last `window` ones, fewer at the beginning."""
    errors, lengths = _sums(counts)
    recent = lengths - _shifted(lengths, window)
    return np.asarray(100.0 * (errors - _shifted(errors, window)) / np.maximum(1, recent))


def rolling_window(utterances: int) -> int:
    return min(utterances, max(LEAST_WINDOW, utterances // SHARE_OF_FILE))


def fifths(counts: Sequence[ErrorCounts]) -> Fifths:
    size = max(1, len(counts) // 5)
    return Fifths(total(counts[:size]).rate, total(counts[-size:]).rate)


def _sums(counts: Sequence[ErrorCounts]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = as_table(counts)
    return table[:, :3].sum(axis=1).cumsum(), table[:, 3].cumsum()


def _shifted(sums: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(window, dtype=np.int64), sums])[: sums.size]
