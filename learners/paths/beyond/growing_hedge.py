"""Expanded Hedge on an ensemble whose experts come and go and whose slots become more, while learning goes on.

`join`, `leave`, `append_slot` change the ensemble between two rounds. Who joins is treated as a specialist that
slept so far: where a window has a newcomer in it, it is given what the learner itself expected to gain in that
layer, so that a newcomer is neither behind nor ahead. Its bound runs from its first round. Who leaves takes its
paths along.

Letters: S sums of gains on A'; phi = ln(sum over paths of prior e**(eta S)) / eta, the potential; a jump is how
much a change of the ensemble raises it. The prior of a path is the product over its slots of 1 / seats, as many
seats in a slot as there have been experts at once: who leaves leaves a seat empty, which raises nothing.
"""

from dataclasses import dataclass

import numpy as np

from galloon.learners.automata.context import Pushed, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.growing import GONE, append_slot, places_in
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.protocol import FloatArray, IntArray

FIRST_RATE = 16.0  # times 1 / B, before anything was measured


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where an expert's own bound begins."""

    lead: float  # the potential at its first round, less the sums that its own path was given
    gaps: float  # measured before
    jumps: float


class GrowingHedge:
    """Full information; experts have names, and rates are by the measured gap."""

    def __init__(
        self, names: list[str], slots: int, reach: Reach, edge_bound: float = 1.0, seed: int = 0
    ) -> None:
        self.names, self.seed = list(names), seed
        self._seats = np.full(slots, len(names))
        self.context = EnsembleContext(Ensemble(len(names), slots), reach)
        self.scores: FloatArray = np.zeros(self.context.transition_count)
        self._layer_gains: FloatArray = np.zeros(self.context.longest_path)  # expected, added up
        self._first_gap = self._complexity * edge_bound / FIRST_RATE
        self._gaps = self._jumps = 0.0
        self._rate = FIRST_RATE / edge_bound
        self._arrivals = {name: Arrival(0.0, 0.0, 0.0) for name in names}
        self._pushed: Pushed | None = None

    @property
    def law(self) -> Pushed:
        if self._pushed is None:
            self._pushed = self.context.push(self._rate * self.scores)
        return self._pushed

    def draw(self, round_number: int) -> IntArray:
        """A path of A."""
        numbers = uniforms(self.seed, round_number, self.context.longest_path)
        return self.context.expert_path(self.context.sample(self.law.flows, numbers))

    def learn(self, gains: FloatArray) -> float:
        """One round's gain of each transition of A'; returns what the law expected to gain."""
        expected = np.add.reduceat(self.law.flows * gains, self.context.offsets[:-1])
        after = self.context.push(self._rate * (self.scores + gains)).log_total
        gained = float(expected.sum())
        self._gaps += max((after - self.law.log_total) / self._rate - gained, 0.0)
        self.scores, self._pushed = self.scores + gains, None
        self._layer_gains = self._layer_gains + expected
        self._slow_down()
        return gained

    def join(self, name: str) -> None:
        """One expert more, from the next round on."""
        if name in self.names:
            raise InvalidInput(f"{name!r} is there already")
        before, old = self._potential, self.context
        self.context = EnsembleContext(Ensemble(len(self.names) + 1, old.expert.slots), old.reach)
        scores = np.repeat(self._layer_gains, np.diff(self.context.offsets))
        scores[places_in(self.context, old, np.arange(len(self.names), dtype=np.int32))] = self.scores
        self.names.append(name)
        self._seats = np.maximum(self._seats, len(self.names))
        self._changed(scores, before)
        lead = self._potential - float(self._layer_gains.sum())
        self._arrivals[name] = Arrival(lead, self._gaps, self._jumps)

    def leave(self, name: str) -> None:
        """One expert less; the law on all other paths keeps its proportions."""
        if self.names == [name] or name not in self.names:
            raise InvalidInput(f"{name!r} is not there, or is the last")
        before, old = self._potential, self.context
        self.context = EnsembleContext(Ensemble(len(self.names) - 1, old.expert.slots), old.reach)
        numbers = np.array([GONE if other == name else 0 for other in self.names], dtype=np.int32)
        numbers[numbers != GONE] = np.arange(len(self.names) - 1)
        places = places_in(self.context, old, numbers)
        scores = np.empty(self.context.transition_count)
        scores[places[places != GONE]] = self.scores[places != GONE]
        self.names.remove(name)
        self._changed(scores, before)

    def append_slot(self) -> None:
        """One slot more at the end; what was learned of the others stays as it is, and so does the potential."""
        self.context, pushed = append_slot(self.context, self.law)
        new = self.context.transition_count - self.scores.size
        self.scores = np.concatenate([self.scores, np.zeros(new)])
        self._layer_gains = np.append(self._layer_gains, 0.0)
        self._seats = np.append(self._seats, len(self.names))
        self._pushed = pushed
        self._slow_down()

    def bound(self) -> float:
        """On the regret, over all rounds, to every path of experts that were there from the first one on."""
        return self._complexity / self._rate + self._gaps + self._jumps

    def bound_since(self, name: str) -> float:
        """On the regret to this expert alone, in all slots, from its first round on."""
        arrival = self._arrivals[name]
        since = self._gaps - arrival.gaps + self._jumps - arrival.jumps
        return arrival.lead + self._complexity / self._rate + since

    @property
    def _complexity(self) -> float:
        """ln 1/prior, the same for all paths."""
        return max(float(np.log(self._seats).sum()), 1e-12)

    @property
    def _potential(self) -> float:
        return (self.law.log_total - self._complexity) / self._rate

    def _changed(self, scores: FloatArray, potential: float) -> None:
        """Another ensemble: what that adds to the potential is paid by whoever was there before."""
        self.scores, self._pushed = scores, None
        self._jumps += max(self._potential - potential, 0.0)
        self._slow_down()

    def _slow_down(self) -> None:
        """The rate by the gaps so far; it never rises, though paths may become more."""
        rate = min(self._rate, self._complexity / (self._first_gap + self._gaps))
        if rate != self._rate:
            self._rate, self._pushed = rate, None
