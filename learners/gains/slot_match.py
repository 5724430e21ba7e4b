"""The slot-match gain: 1 where the chosen token equals the target's token of that slot, null included.

The additive gain that follows the edit distance once the target is aligned to the slots; the default for
text. In an explicit automaton, which has no slots, the position along the path is the slot, so that
every way to a state must be equally long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from galloon.learners.automata.context import ContextAutomaton, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.gains.gain import Outputs, as_built, check_outputs, check_reach
from galloon.learners.paths.protocol import FloatArray, IntArray


@dataclass(frozen=True)
class SlotMatch:
    """How many slots have the target's token."""

    @property
    def name(self) -> str:
        return "slot match"

    @property
    def reach(self) -> Reach:
        return Reach(1, 1)

    def utility(self, output: Sequence[str], target: Sequence[str]) -> float:
        if len(output) > len(target):
            raise InvalidInput(
                f"the output has {len(output)} tokens and the target {len(target)}: one a slot is needed"
            )
        return float(sum(token == wanted for token, wanted in zip(output, target, strict=False)))

    def edge_gains(
        self, context: ContextAutomaton, outputs: Sequence[str], target: Sequence[str]
    ) -> FloatArray:
        built = as_built(context)
        check_reach(self, built)
        check_outputs(built, outputs)
        _check_target(built, target)
        slots = built.expert.edge_slots
        match = np.fromiter(
            (token == target[slot] for token, slot in zip(outputs, slots.tolist(), strict=True)),
            np.float64,
            len(slots),
        )
        if isinstance(built, EnsembleContext):
            return match if built.reach.span == 1 else match[built.newest()]
        newest = built.windows[:, -1]
        return np.where(newest >= 0, match[newest], 0.0)

    def numbered_edge_gains(
        self, context: ContextAutomaton, outputs: IntArray, target: IntArray, vocabulary: Sequence[str]
    ) -> FloatArray:
        if not isinstance(context, EnsembleContext):
            return self.edge_gains(
                context, [vocabulary[t] for t in outputs.tolist()], [vocabulary[t] for t in target.tolist()]
            )
        _check_target(context, target)
        same = outputs.reshape(context.expert.slots, -1) == target[:, None]
        match: FloatArray = same.ravel().astype(np.float64)
        return match if context.reach.span == 1 else match[context.newest()]

    def path_gains(
        self, context: ContextAutomaton, outputs: Outputs, target: Sequence[str], edges: IntArray
    ) -> FloatArray:
        built = as_built(context)
        check_reach(self, built)
        _check_target(built, target)
        slots = built.expert.edge_slots
        match = [float(outputs[edge] == target[slots[edge]]) for edge in built.expert_path(edges).tolist()]
        gains = np.zeros(len(edges))
        gains[built.emitted(edges) > 0] = match
        return gains

    def window_gains(
        self, context: EnsembleContext, tokens: IntArray, truth: IntArray, count: int
    ) -> tuple[FloatArray, float] | None:
        check_reach(self, context)
        slots, experts = context.expert.slots, context.expert.experts
        match = np.zeros((count * slots, experts))
        np.equal(tokens, truth[:, None], out=match[: len(truth)], casting="unsafe")
        gains = match.reshape(count, slots * experts)
        return (gains if context.reach.span == 1 else gains[:, context.newest()]), 1.0

    def edge_bound(self, target_length: int) -> float:
        return float(target_length > 0)

    def path_bound(self, longest_path: int, target_length: int) -> float:
        return float(min(longest_path, target_length))

    def spec(self) -> dict[str, Any]:
        return {"kind": "slot_match"}


def _check_target(context: EnsembleContext | GraphContext, target: Sequence[str] | IntArray) -> None:
    if len(target) != context.expert.longest_path:
        raise InvalidInput(
            f"the target has {len(target)} tokens for {context.expert.longest_path} slots: slot match needs "
            "one token a slot, with the empty string for null; align the target to the slots first"
        )
