"""The protocol of every gain.

A gain is defined by `utility`, a function of two token sequences. For the learners it is worth a number on
each transition of A', `edge_gains`, such that the sum along a path is the utility of the path's output
(the additivity theorems of the paper's sections 3 and 5). `path_gains` is what semi-bandit feedback reveals.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from galloon.learners.automata.context import ContextAutomaton, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.errors import InvalidInput
from galloon.learners.paths.protocol import FloatArray, IntArray


class Outputs(Protocol):
    """The token of each transition of A this round: a sequence, or a mapping of those that are known."""

    def __getitem__(self, edge: int, /) -> str: ...


class Gain(Protocol):
    """What the learners and the daemon need of a gain. All gains are at least 0."""

    @property
    def name(self) -> str: ...

    @property
    def reach(self) -> Reach:
        """How far back a transition of A' must remember for this gain to add up."""
        ...

    def utility(self, output: Sequence[str], target: Sequence[str]) -> float:
        """U by its definition: slow and obvious."""
        ...

    def edge_gains(
        self, context: ContextAutomaton, outputs: Sequence[str], target: Sequence[str]
    ) -> FloatArray:
        """The gain of every transition of A' [M]. outputs[e] is the token of transition e of A."""
        ...

    def numbered_edge_gains(
        self, context: ContextAutomaton, outputs: IntArray, target: IntArray, vocabulary: Sequence[str]
    ) -> FloatArray:
        """As `edge_gains`, with tokens as indices of a vocabulary; index 0 is null. Used where rounds are many."""
        ...

    def path_gains(
        self, context: ContextAutomaton, outputs: Outputs, target: Sequence[str], edges: IntArray
    ) -> FloatArray:
        """The gains of one whole path of A', in order. Reads only the outputs of that path."""
        ...

    def window_gains(
        self, context: EnsembleContext, tokens: IntArray, truth: IntArray, count: int
    ) -> tuple[FloatArray, float] | None:
        """`edge_gains` of all windows of an utterance [windows, M] in one call, and a bound on them all.

        None if this gain cannot do that.

        tokens [slots, experts] and truth [slots] are numbers, equal for equal tokens, 0 for null; what fills up
        the last window gains nothing.
        """
        ...

    def edge_bound(self, target_length: int) -> float:
        """B: no transition of A' gains more, for any target of at most this many tokens."""
        ...

    def path_bound(self, longest_path: int, target_length: int) -> float:
        """U: no path of at most `longest_path` transitions *of A* gains more, for any such target."""
        ...

    def spec(self) -> dict[str, Any]:
        """The gain as JSON values, from which `gain_from_spec` makes an equal one."""
        ...


def as_built(context: ContextAutomaton) -> EnsembleContext | GraphContext:
    """The context as one of the two kinds that gains know how to value."""
    if isinstance(context, EnsembleContext | GraphContext):
        return context
    raise InvalidInput(
        f"a gain can value an EnsembleContext or a GraphContext, not a {type(context).__name__}"
    )


def check_outputs(context: EnsembleContext | GraphContext, outputs: Sequence[str]) -> None:
    """One token for each transition of A, no more and no less."""
    if len(outputs) != context.expert.edge_count:
        raise InvalidInput(
            f"the expert automaton has {context.expert.edge_count} transitions and {len(outputs)} outputs "
            "were given: one token is needed for each"
        )


def check_reach(gain: Gain, context: EnsembleContext | GraphContext) -> None:
    """Refuse an A' that forgets tokens which this gain needs: the sums would be wrong."""
    needed, built = gain.reach, context.reach
    span = min(needed.span, context.expert.longest_path)
    if built.shortest > needed.shortest or built.span < span:
        raise InvalidInput(
            f"this A' was built for patterns of at least {built.shortest} tokens spanning at most "
            f"{built.span}; the gain {gain.name!r} needs {needed.shortest} and {span}: "
            "build A' with the gain's own reach"
        )
