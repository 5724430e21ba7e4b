"""How much an engine's scores are worth: `Scale`, and `Scales`, which learns from truths which suits an engine.

With a language score l, an acoustic score a and w words a path scores

    temperature * (l + acoustic * a + word_penalty * w)

Language weight and acoustic scale say the same thing up to the temperature, so one of them is enough. Posteriors
as recognisers write them lean on the language model; a tenth of the acoustic score is what everybody decodes with,
and there we start. Where a lattice has nothing but probabilities we start from these.

Which scale is best differs from engine to engine. Each is an expert of a game with full information: when the true
text is known, its loss is the error rate of the text that it would have given, between 0 and 1. The engine's own
1-best is one more expert, so an engine cannot become worse than its 1-best by more than the regret. AdaHedge (de
Rooij, van Erven, Grunwald, Koolen 2014) weighs them. With eta = ln K / D, where D grows by the mixability gap of
each round from `FIRST_GAP` on, the expected loss exceeds that of any scale k by at most

    (D - FIRST_GAP) + D ln(1 / prior of k) / ln K
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.errors import DamagedState
from galloon.learners.observation import ArcScores


class Scale(NamedTuple):
    temperature: float
    acoustic: float
    word_penalty: float


def scaled_scores(
    scale: Scale | None, log_scores: NDArray[np.float64], parts: ArcScores | None, spoken: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The scores of arcs at a scale; `spoken` are those that end a word. As they are without one."""
    if scale is None:
        return log_scores
    scores = log_scores
    if parts is not None and parts.acoustic is not None:
        acoustic, language = parts.scales_used
        scores = (log_scores - acoustic * parts.acoustic) / language + scale.acoustic * parts.acoustic
    return np.asarray(scale.temperature * (scores + scale.word_penalty * spoken), dtype=np.float64)


OWN = None  # not a scale: the engine's own 1-best
# Where acoustic scores are known, and where all that is known are probabilities. The first is where we start; a
# star around it, for the more experts there are the longer it takes to tell them apart.
ACOUSTIC: tuple[Scale | None, ...] = (
    Scale(1.0, 0.1, -1.0),
    OWN,
    Scale(1.0, 0.1, -2.0),
    Scale(1.0, 0.1, 0.0),
    Scale(1.0, 0.075, -1.0),
    Scale(1.0, 0.15, -2.0),
    Scale(0.7, 0.1, -2.0),
    Scale(1.5, 0.1, -1.0),
)
PLAIN: tuple[Scale | None, ...] = (
    Scale(1.0, 0.0, 0.0),
    OWN,
    Scale(0.5, 0.0, 0.0),
    Scale(2.0, 0.0, 0.0),
    Scale(1.0, 0.0, -1.0),
    Scale(1.0, 0.0, 1.0),
    Scale(0.5, 0.0, -1.0),
    Scale(0.5, 0.0, 1.0),
)
GRIDS = (PLAIN, ACOUSTIC)
COUNT = len(PLAIN)
START = 0
FIRST_PRIOR = 0.5  # of the start; the others share the rest
FIRST_GAP = 1.0  # as if so much had been lost already: few truths do not decide


def grid_of(parts: ArcScores | None) -> int:
    """Which of the grids a lattice with these scores has."""
    return int(parts is not None and parts.acoustic is not None)


SCALES_BY_PLACE = ("scales.losses", "scales.gaps")


def fresh_scales(engine_count: int) -> dict[str, NDArray[Any]]:
    """The arrays of engines of which nothing is known."""
    losses = np.zeros((engine_count, len(GRIDS), COUNT))
    return dict(zip(SCALES_BY_PLACE, (losses, np.full(losses.shape[:2], FIRST_GAP)), strict=True))


class Scales:
    """The weights of all scales for each engine, by its place, and each grid."""

    def __init__(self, engine_count: int) -> None:
        self._losses, self._gaps = fresh_scales(engine_count).values()

    def weights(self, place: int, grid: int) -> NDArray[np.float64]:
        """How much each scale is trusted; they sum to 1."""
        losses = self._losses[place, grid]
        weights = _PRIOR * np.exp(-self._rate(place, grid) * (losses - losses.min()))
        return np.asarray(weights / weights.sum())

    def best(self, place: int, grid: int) -> int:
        """The scale that is trusted most."""
        return int(self.weights(place, grid).argmax())

    def learn(self, place: int, grid: int, losses: Sequence[float]) -> None:
        """What each scale would have lost in a round, from 0 to 1."""
        weights, rate = self.weights(place, grid), self._rate(place, grid)
        lost = np.array(losses)
        mixed = -float(np.log(weights @ np.exp(-rate * lost))) / rate
        self._gaps[place, grid] += max(0.0, float(weights @ lost) - mixed)
        self._losses[place, grid] += lost

    def bound(self, place: int, grid: int, scale: int) -> float:
        """By how much the expected loss may exceed that of one scale."""
        gap = float(self._gaps[place, grid])
        return gap - FIRST_GAP + gap * float(np.log(1.0 / _PRIOR[scale]) / np.log(COUNT))

    def learned(self) -> list[tuple[int, int]]:
        """Places and grids of which truths have said something."""
        return [(int(place), int(grid)) for place, grid in np.argwhere(self._gaps > FIRST_GAP)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing before anything was learned: most learners never see a lattice."""
        found = dict(zip(SCALES_BY_PLACE, (self._losses, self._gaps), strict=True))
        return found if self._losses.any() else {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if SCALES_BY_PLACE[0] in arrays:
            like = dict(zip(SCALES_BY_PLACE, (self._losses, self._gaps), strict=True))
            state.check_arrays(arrays, like)
            losses, gaps = (arrays[name] for name in SCALES_BY_PLACE)
            if losses.min() < 0 or gaps.min() < FIRST_GAP:
                raise DamagedState("the scales of this state lost what cannot be lost")
            self._losses, self._gaps = losses, gaps

    def _rate(self, place: int, grid: int) -> float:
        return float(np.log(COUNT) / self._gaps[place, grid])


_PRIOR = np.full(COUNT, (1.0 - FIRST_PRIOR) / (COUNT - 1))
_PRIOR[START] = FIRST_PRIOR
