"""The arbitrary gain: no structure at all, one number for each shown path, given by the client.

Only EXP3-AG can learn from it: there are no gains of transitions, and asking for them is an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from galloon.learners.automata.context import ContextAutomaton, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.errors import InvalidInput
from galloon.learners.gains.gain import Outputs
from galloon.learners.paths.protocol import FloatArray, IntArray


@dataclass(frozen=True)
class ArbitraryGain:
    """A score from 0 to `bound` that the client gives for what it was shown."""

    bound: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.bound < float("inf"):
            raise InvalidInput(
                f"{self.bound} is not a positive number; scores lie between 0 and the bound", field="bound"
            )

    @property
    def name(self) -> str:
        return "arbitrary"

    @property
    def reach(self) -> Reach:
        return Reach(1, 1)

    def utility(self, output: Sequence[str], target: Sequence[str]) -> float:
        del output, target
        _refuse("be computed from an output and a target")

    def edge_gains(
        self, context: ContextAutomaton, outputs: Sequence[str], target: Sequence[str]
    ) -> FloatArray:
        del context, outputs, target
        _refuse("be split over transitions")

    def numbered_edge_gains(
        self, context: ContextAutomaton, outputs: IntArray, target: IntArray, vocabulary: Sequence[str]
    ) -> FloatArray:
        del context, outputs, target, vocabulary
        _refuse("be split over transitions")

    def path_gains(
        self, context: ContextAutomaton, outputs: Outputs, target: Sequence[str], edges: IntArray
    ) -> FloatArray:
        del context, outputs, target, edges
        _refuse("be split over transitions")

    def window_gains(
        self, context: EnsembleContext, tokens: IntArray, truth: IntArray, count: int
    ) -> tuple[FloatArray, float] | None:
        del context, tokens, truth, count
        _refuse("be split over transitions")

    def edge_bound(self, target_length: int) -> float:
        del target_length
        _refuse("be split over transitions")

    def path_bound(self, longest_path: int, target_length: int) -> float:
        del longest_path, target_length
        return self.bound

    def spec(self) -> dict[str, Any]:
        return {"kind": "arbitrary", "bound": self.bound}


def _refuse(what: str) -> NoReturn:
    raise InvalidInput(
        f"an arbitrary gain cannot {what}: it is one score for the shown path, which the client gives; "
        "use bandit feedback (EXP3-AG), or a gain that counts"
    )
