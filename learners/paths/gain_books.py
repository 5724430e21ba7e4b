"""Sums of gains, for regret: what was gained, and what the best fixed path would have gained.

Where the truth is known, the gains of all transitions of A' are added up, so that the best path in hindsight
can be found whenever somebody asks. Where only part is revealed, the learner's own estimates are used, and the
result is called an estimate.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths.protocol import FloatArray
from galloon.learners.state import check_arrays, count_in, real_in

BOOKS_BUDGET = 1_000_000  # transitions of A' up to which the sums are kept


class GainBooks:
    """Gains so far, of the learner and of all transitions."""

    def __init__(self, context: ContextAutomaton | None) -> None:
        small = context is not None and context.transition_count <= BOOKS_BUDGET
        self._context = context if small else None
        self.edge_gains: FloatArray = np.zeros(context.transition_count if context and small else 0)
        self.gain = 0.0
        self.gain_where_known = 0.0
        self.rounds = 0
        self.rounds_where_known = 0

    @property
    def wants_edge_gains(self) -> bool:
        return self._context is not None

    def add(self, gain: float, edge_gains: FloatArray | None) -> None:
        """Add one round: its gain and, where known, the gain of every transition."""
        self.rounds += 1
        self.gain += gain
        if edge_gains is not None and self._context is not None:
            self.rounds_where_known += 1
            self.gain_where_known += gain
            self.edge_gains += edge_gains

    def regret(self) -> float | None:
        """Against the best path in hindsight, if the truth was known in every round."""
        if self._context is None or self.rounds_where_known < self.rounds:
            return None
        return self._context.best_path(self.edge_gains)[1] - self.gain

    def regret_estimate(self, scores: FloatArray | None) -> float | None:
        """The same with a learner's estimated gains."""
        if self._context is None or scores is None:
            return None
        return self._context.best_path(scores)[1] - self.gain

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"edge_gain_sums": self.edge_gains}

    def meta(self) -> dict[str, Any]:
        return {
            "gain": self.gain.hex(),
            "gain_where_known": self.gain_where_known.hex(),
            "rounds": self.rounds,
            "rounds_where_known": self.rounds_where_known,
        }

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        check_arrays(arrays, self.arrays())
        self.edge_gains = arrays["edge_gain_sums"]
        self.gain = real_in(meta, "gain")
        self.gain_where_known = real_in(meta, "gain_where_known")
        self.rounds = count_in(meta, "rounds")
        self.rounds_where_known = count_in(meta, "rounds_where_known")
