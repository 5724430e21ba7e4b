"""The history behind the curve of regret: a bounded number of samples of each learner, by count of lessons.

`Curves.run` looks at the learners now and then and samples those that have learned enough since their last
sample; regret in hindsight costs a pass over the automaton, so it is computed then and not per round. When a curve
is full, every other sample goes and the next ones are taken twice as far apart: a long run costs no more than a
short one.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog

from galloon.daemon.http.page.numbers import number
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.learners.combiners.contract import Statistics

log = structlog.get_logger()
MOST_SAMPLES = 240
TICK_S = 0.25
SAMPLED_IN_A_TICK = 16  # learners, so that a thousand busy ones do not keep a core busy


@dataclass(frozen=True, slots=True)
class Sample:
    """Where a learner stood."""

    lessons: int
    gain: float
    regret: float | None
    regret_estimate: float | None
    bound: float | None


class Curve:
    """The samples of one learner."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.samples: list[Sample] = []
        self._stride = 1

    def is_due(self) -> bool:
        last = self.samples[-1].lessons if self.samples else 0
        return self.learner.rounds.lessons - last >= self._stride

    def add(self, sample: Sample) -> None:
        if len(self.samples) >= MOST_SAMPLES:
            del self.samples[::2]
            self._stride *= 2
        self.samples.append(sample)

    def sample(self, statistics: Statistics) -> Sample:
        """Where the learner stands now, not added."""
        return Sample(
            self.learner.rounds.lessons,
            statistics.gain,
            statistics.regret,
            statistics.regret_estimate,
            statistics.bound,
        )


class Curves:
    """The curves of the learners that were active last, at most `shown` of them."""

    def __init__(self, registry: Registry, shown: int) -> None:
        self._registry, self._shown = registry, shown
        self._curves: dict[str, Curve] = {}  # last sampled last

    def of(self, learner: Learner) -> Curve:
        known = self._curves.get(learner.name)
        return known if known is not None and known.learner is learner else Curve(learner)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                await self.sample_some()
            except Exception:
                log.exception("sampling for the page failed")

    async def sample_some(self) -> None:
        """One look at all learners."""
        learners = self._registry.learners()
        self._forget({learner.name for learner in learners})
        due = [learner for learner in learners if learner.broken is None and self.of(learner).is_due()]
        # Whoever waited longest comes first, so that every busy learner has its turn.
        due.sort(key=lambda learner: self._age(learner.name))
        for learner in due[:SAMPLED_IN_A_TICK]:
            curve = self.of(learner)
            curve.add(curve.sample(await learner.statistics()))
            self._curves.pop(learner.name, None)
            self._curves[learner.name] = curve
        while len(self._curves) > self._shown:
            del self._curves[next(iter(self._curves))]

    def _age(self, name: str) -> int:
        curve = self._curves.get(name)
        return (
            curve.samples[-1].lessons - curve.learner.rounds.lessons if curve and curve.samples else -(2**62)
        )

    def _forget(self, living: set[str]) -> None:
        for name in [name for name in self._curves if name not in living]:
            del self._curves[name]


def curve_to_json(curve: Curve, last: Sample | None) -> dict[str, Any]:
    """Columns of numbers, null where unknown; `last` is a fresh sample to end with."""
    samples = list(curve.samples)
    if last is not None and (not samples or last.lessons >= samples[-1].lessons):
        if samples and last.lessons == samples[-1].lessons:
            samples.pop()
        samples.append(last)
    return {
        "lessons": [sample.lessons for sample in samples],
        "gain": [number(sample.gain) for sample in samples],
        "regret": [number(sample.regret) for sample in samples],
        "regret_estimate": [number(sample.regret_estimate) for sample in samples],
        "bound": [number(sample.bound) for sample in samples],
    }
