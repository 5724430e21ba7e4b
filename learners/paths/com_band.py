"""CDCB, Context-dependent ComBand: only the gain of the shown path is revealed (section 4.3 of the paper).

After Cesa-Bianchi and Lugosi (2012), with the sign of the paper's update corrected. The played law is the
Markov walk with the flows f = (1 - gamma) f_p + gamma f_mu, p proportional to e**(eta * scores), mu even over
all paths: the paper's mixture has the same flows, so the same expected gain, but only for a Markov law is
E[v v^T] inverted in closed form. Instead of a pseudo-inverse of an M x M matrix, the estimate of the
transitions' gains takes, for the chosen path alone, gain times

    y(e) = [e on the path] / f(e) - [e enters an inner state s of the path] / f(s).

Checked against the pseudo-inverse in the tests; docs/algorithms.md has the proof.
"""

import numpy as np

from galloon.learners.automata.context import ContextAutomaton
from galloon.learners.paths.expanded_hedge import log_count
from galloon.learners.paths.path_learner import Gains, PathLearner, check_bound
from galloon.learners.paths.product_law import ProductLaw
from galloon.learners.paths.protocol import BanditFeedback, Feedback, FloatArray, IntArray, Memory, Setting
from galloon.learners.paths.tuning import Rate


class ComBand(PathLearner):
    """ComBand on A', without a matrix."""

    name = "com_band"
    setting = Setting.BANDIT

    def __init__(
        self,
        context: ContextAutomaton,
        edge_bound: float,
        *,
        horizon: int = 0,
        learning_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        check_bound(edge_bound, "transition")
        path_bound = edge_bound * context.longest_path
        roughness = 2 * path_bound**2 * context.transition_count
        rate = Rate(log_count(context.path_count), roughness, horizon, learning_rate)
        super().__init__(context, edge_bound, rate, seed)
        self._even = context.push(np.zeros(context.transition_count)).flows
        self._product = ProductLaw(context)
        self._product.update(self._step_size, self.scores, None)
        self._mixed: FloatArray | None = None

    @property
    def exploration(self) -> float:
        """The share gamma = eta U M, at most 1/2."""
        return min(0.5, self.learning_rate * self.path_bound * self.context.transition_count)

    @property
    def _step_size(self) -> float:
        """The rate, held where gamma is capped: an estimate times it must stay below 1."""
        return self.exploration / (self.path_bound * self.context.transition_count)

    def marginals(self) -> FloatArray:
        """The flows of the played walk."""
        if self._mixed is None:
            gamma = self.exploration
            self._mixed = self._product.pushed().flows * (1 - gamma)
            self._mixed += gamma * self._even
        return self._mixed

    def _draw(self, round_number: int) -> IntArray:
        return self.context.sample(self.marginals(), self._uniforms(round_number))

    def _log_probability(self, edges: IntArray) -> float:
        return float(np.log(self.marginals()[edges]).sum() - np.log(self._through_inner(edges)).sum())

    def _most_probable(self) -> IntArray:
        sources, _ = self.context.source_targets()
        flows = self.marginals()
        return self.context.best_path(np.log(flows / self.context.state_flows(flows)[sources]))[0]

    def _through_inner(self, edges: IntArray) -> FloatArray:
        """The flow through each state that the path passes between its ends."""
        if edges.size < 2:
            return np.empty(0)
        entering, starts = self.context.entering(edges[:-1])
        return np.add.reduceat(self.marginals()[entering], starts)

    def _numbers(self, edges: IntArray) -> FloatArray:
        """The flows to divide by: of the path's transitions, then of its inner states."""
        return np.concatenate([self.marginals()[edges], self._through_inner(edges)])

    def _number_count(self, path_length: int) -> int:
        return 2 * path_length - 1

    def _increment(self, memory: Memory, feedback: Feedback) -> Gains:
        assert isinstance(feedback, BanditFeedback)
        path = memory.edges
        on_path, through = memory.numbers[: path.size], memory.numbers[path.size :]
        entering, starts = self.context.entering(path[:-1])
        group_sizes = np.diff(np.append(starts, entering.size))
        edges = np.append(entering, path[-1:])  # each transition once: the states of a path differ
        y = np.append(np.repeat(-1.0 / through, group_sizes), 0.0)
        y[edges == np.append(np.repeat(path[:-1], group_sizes), path[-1:])] += 1.0 / on_path
        return Gains(feedback.gain * y, edges)

    def _scores_changed(self, touched: list[IntArray] | None) -> None:
        self._product.update(self._step_size, self.scores, touched)
        self._mixed = None
