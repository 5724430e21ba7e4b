"""The A' of an ensemble: nothing is stored but the layers' sizes, everything else is index arithmetic.

Layer i (slots `shortest` to l) has r^min(i, span) transitions; the code of a transition is the number whose
digits in base r are the experts of its window, the oldest as the lowest digit (see `kernels.layered`).
"""

from functools import cached_property

import numpy as np

from galloon.learners.automata.context import TRANSITION_BUDGET, IndexArray, Pushed, Reach, check_budget
from galloon.learners.automata.expert import Ensemble
from galloon.learners.errors import InvalidInput
from galloon.learners.kernels import layered, windows
from galloon.learners.paths.protocol import FloatArray, IntArray


class EnsembleContext:
    """The context-dependent automaton of an ensemble."""

    def __init__(self, expert: Ensemble, reach: Reach, budget: int = TRANSITION_BUDGET) -> None:
        r, l = expert.experts, expert.slots
        if reach.shortest > l:
            raise InvalidInput(
                f"patterns of {reach.shortest} tokens never fit into {l} slots: every gain would be zero; "
                "use more slots or shorter patterns"
            )
        reach = Reach(reach.shortest, min(reach.span, l))
        heads = sum(r**i for i in range(reach.shortest, reach.span))
        check_budget(heads + r**reach.span * (l - reach.span + 1), budget)
        slots = range(reach.shortest, l + 1)
        sizes = np.array([r ** min(i, reach.span) for i in slots], dtype=np.int64)
        self.expert = expert
        self.reach = reach
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.drops = np.array([r if i >= reach.span else 1 for i in slots], dtype=np.int64)
        self.sources = np.concatenate([[1], (sizes // self.drops)[:-1]]).astype(np.int64)
        self.layout = (self.offsets, self.sources, self.drops, r, reach.shortest)  # as kernels take it

    @property
    def state_count(self) -> int:
        return int(self.sources.sum()) + 1  # all last transitions enter one final state

    @property
    def transition_count(self) -> int:
        return int(self.offsets[-1])

    @property
    def longest_path(self) -> int:
        return int(self.sources.size)

    @property
    def path_count(self) -> int:
        return self.expert.path_count

    @property
    def equal_lengths(self) -> bool:
        return True

    def push(self, log_weights: FloatArray) -> Pushed:
        flows = np.empty(self.transition_count)
        log_total = layered.push(log_weights, self.offsets, self.sources, self.drops, flows)
        return Pushed(flows, float(log_total))

    def sample(self, flows: FloatArray, uniforms: FloatArray) -> IntArray:
        path: IntArray = layered.sample(flows, self.offsets, self.sources, self.drops, uniforms)
        return path

    def best_path(self, values: FloatArray) -> tuple[IntArray, float]:
        path, value = layered.best_path(values, self.offsets, self.sources, self.drops)
        return path, float(value)

    def context_path(self, path: IntArray) -> IntArray:
        expert = self.expert
        whole = np.asarray(path, dtype=np.int32)
        edges: IntArray = np.empty(0, dtype=np.int32)
        if whole.size == expert.slots:
            edges = layered.context_path(
                whole, self.offsets, self.sources, self.drops, expert.experts, self.reach.shortest
            )
        if edges.size == 0:
            raise InvalidInput(
                f"this is not a path of the ensemble: {expert.slots} transitions, one of each slot, make one"
            )
        return edges

    def expert_path(self, edges: IntArray) -> IntArray:
        path: IntArray = layered.expert_path(
            edges, self.offsets, self.sources, self.expert.experts, self.reach.shortest
        )
        return path

    def is_path(self, edges: IntArray) -> bool:
        return bool(layered.is_path(edges, self.offsets, self.sources, self.drops))

    def window(self, edge: int) -> tuple[int, ...]:
        r = self.expert.experts
        layer = int(np.searchsorted(self.offsets, edge, side="right")) - 1
        slot = self.reach.shortest + layer  # the window's last slot, counted from 1
        width = min(slot, self.reach.span)
        code = edge - int(self.offsets[layer])
        return tuple((slot - width + k) * r + code // r**k % r for k in range(width))

    def emitted(self, edges: IntArray) -> IntArray:
        """How many transitions of A each transition of this path of A' adds to the path of A."""
        emitted = np.ones(len(edges), dtype=np.int32)
        emitted[:1] = self.reach.shortest
        return emitted

    def newest(self) -> IntArray:
        """The last transition of A in each transition's window."""
        r, layers = self.expert.experts, []
        for j in range(self.longest_path):
            expert = np.repeat(np.arange(r), (self.offsets[j + 1] - self.offsets[j]) // r)
            layers.append((self.reach.shortest + j - 1) * r + expert)
        return np.concatenate(layers).astype(np.int32)

    def slot_marginals(self, flows: FloatArray) -> FloatArray:
        """The probability of each expert in each slot [slots, experts]."""
        law = np.empty((self.expert.slots, self.expert.experts))
        windows.marginals(flows, self.offsets, self.expert.experts, self.reach.shortest, law)
        return law

    def entering(self, edges: IntArray) -> tuple[IntArray, IndexArray]:
        layers = np.searchsorted(self.offsets, edges, side="right") - 1
        drops = self.drops[layers]
        firsts = self.offsets[layers] + (edges - self.offsets[layers]) // drops * drops
        starts = np.cumsum(drops) - drops
        members = np.arange(drops.sum()) + np.repeat(firsts - starts, drops)
        return members.astype(np.int32), starts

    def state_flows(self, flows: FloatArray) -> FloatArray:
        _, targets = self.source_targets()
        through = np.bincount(targets, weights=flows, minlength=self.state_count).astype(np.float64)
        through[0] = 1.0
        return through

    def source_targets(self) -> tuple[IntArray, IntArray]:
        return self._ends

    def layers(self) -> tuple[IndexArray, IndexArray]:
        return self.offsets, np.concatenate([[0], np.cumsum(self.sources)]).astype(np.int64)

    @cached_property
    def _ends(self) -> tuple[IntArray, IntArray]:
        sources = np.empty(self.transition_count, dtype=np.int32)
        targets = np.empty(self.transition_count, dtype=np.int32)
        base = 0  # the number of the layer's first source state
        for j in range(self.longest_path):
            codes = np.arange(self.offsets[j + 1] - self.offsets[j])
            layer = slice(self.offsets[j], self.offsets[j + 1])
            sources[layer] = base + codes % self.sources[j]
            base += int(self.sources[j])
            last = j == self.longest_path - 1
            targets[layer] = base if last else base + codes // self.drops[j]
        return sources, targets
