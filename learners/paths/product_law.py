"""The law p(path) proportional to e**(rate * scores), kept up to date as cheaply as the change allows.

On an explicit automaton, when the rate stands still and a round touched only its own path, the backward half
of the push visits only states that can reach a touched transition; the bits are those of a full push. On an
ensemble nearly every state can, so it is pushed whole.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton, Pushed
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.paths.protocol import FloatArray, IntArray


class ProductLaw:
    """A pushed A', with the weights it was pushed with."""

    def __init__(self, context: ContextAutomaton) -> None:
        self._context = context
        self._log_weights: FloatArray = np.zeros(context.transition_count)
        self._distances: FloatArray | None = None  # of a GraphContext
        self._rate = 0.0
        self._pushed: Pushed | None = None
        self.states_visited = 0  # by the last backward pass

    def update(self, rate: float, scores: FloatArray, touched: list[IntArray] | None) -> None:
        """The scores moved: on `touched` transitions, or anywhere where it is None."""
        self._pushed = None
        if touched is None or rate != self._rate or self._distances is None:
            self._rate = rate
            self._log_weights = rate * scores
            self._distances = None
            return
        assert isinstance(self._context, GraphContext)
        edges = np.unique(np.concatenate(touched)) if touched else np.empty(0, dtype=np.int32)
        self._log_weights[edges] = rate * scores[edges]
        self.states_visited = self._context.redistances(self._log_weights, edges, self._distances)

    def pushed(self) -> Pushed:
        if self._pushed is None:
            if isinstance(self._context, GraphContext):
                if self._distances is None:
                    self._distances = self._context.distances(self._log_weights)
                    self.states_visited = self._context.state_count
                self._pushed = self._context.push_from(self._log_weights, self._distances)
            else:
                self._pushed = self._context.push(self._log_weights)
                self.states_visited = self._context.state_count
        return self._pushed

    def log_probability(self, edges: IntArray) -> float:
        return float(self._log_weights[edges].sum() - self.pushed().log_total)

    def most_probable(self) -> IntArray:
        return self._context.best_path(self._log_weights)[0]
