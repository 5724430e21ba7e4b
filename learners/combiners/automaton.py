"""A path learner of the catalogue on an explicit automaton: each utterance is one round.

`choose` draws a path of the automaton and reads the tokens along it; `learn` values the path, or all of A',
against the true tokens.
"""

import json

import numpy as np

from galloon.learners import framing, state
from galloon.learners.automata.att_text import read_text
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.combiners.contract import (
    Choice,
    Feedback,
    LearnsWhenTold,
    Lesson,
    Score,
    ShownGains,
    Statistics,
    TrueText,
    TrueTokens,
)
from galloon.learners.combiners.explanation import WeighedContext, WeighedSlot, weighed_offers
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.observation import NamedTokens, Utterance
from galloon.learners.offers import Offers, no_offers
from galloon.learners.paths.game import Game, path_round
from galloon.learners.paths.protocol import FloatArray, Memory

STATE_VERSION = 1


class AutomatonCombiner(LearnsWhenTold):
    """One explicit automaton, learned by one path learner."""

    def __init__(self, spec: CombinerSpec, transition_budget: int, node_budget: int) -> None:
        if spec.derived:
            raise InvalidInput("an explicit automaton has no slots to derive experts from", field="derived")
        self.spec = spec
        try:
            self.automaton = read_text(spec.automaton)
        except InvalidInput as error:
            raise error.under("automaton") from error
        self.experts = self.automaton.names
        self.derived: tuple[str, ...] = ()
        self.game = Game(spec, self.automaton, transition_budget, node_budget)
        self._used: FloatArray | None = None  # of `_edge_probabilities`, until something is learned

    def choose(self, utterance: Utterance, round_number: int) -> Choice:
        if not isinstance(utterance.said, NamedTokens):
            raise InvalidInput(
                "this learner has an automaton of its own", advice="send tokens by transition name"
            )
        outputs = self._outputs(utterance.said)
        choice = self.game.choose(round_number)
        path = choice.path.tolist()
        shown = [outputs[edge] for edge in path]
        return Choice(
            text=" ".join(filter(None, shown)),
            offers=no_offers(len(path)),
            shown=shown,
            credited=[self.automaton.names[edge] for edge in path],
            probabilities=[float("nan")] * len(path),
            trust=np.empty((0, 0)),
            log_probability=choice.log_probability,
            memory=framing.join([json.dumps(outputs).encode(), choice.memory.to_bytes()]),
        )

    def learn(self, memory: bytes, feedback: Feedback, view: object | None = None) -> Lesson:
        del view  # unused: reading the memory is cheap
        outputs, remembered = self._remembered(memory)
        match feedback:
            case TrueText() | TrueTokens():
                target = feedback.text.split() if isinstance(feedback, TrueText) else feedback.tokens
                played = path_round(remembered, outputs, target)
                gain = self.game.learn_target([played])
            case ShownGains(gains):
                gain = self.game.learn_shown([remembered], gains)
            case Score(value):
                gain = self.game.learn_score(remembered, value)
        self._used = None
        return Lesson(gain)

    def statistics(self) -> Statistics:
        return self.game.statistics()

    def weights(self, most_rows: int) -> WeightTable:
        """The probability that a path uses each transition."""
        used = self._edge_probabilities()[:most_rows, None]
        return WeightTable("transition", self.automaton.names[:most_rows], ("used",), used)

    def offers(self, memory: bytes) -> Offers:  # noqa: ARG002 (transitions are no experts)
        return no_offers(0)

    def explain(self, memory: bytes, slots: range, view: object | None = None) -> tuple[WeighedSlot, ...]:
        """At these steps of the path: the transitions that leave its state, and how often paths use each now."""
        del view
        outputs, remembered = self._remembered(memory)
        path, used = self.game.checked_path(remembered), self._edge_probabilities()
        explained = []
        for edge in path[slots.start : slots.stop].tolist():
            source = int(self.automaton.sources[edge])
            leaving = np.flatnonzero(self.automaton.sources == source).tolist()
            names = [self.automaton.names[each] for each in leaving]
            trust = used[leaving].tolist()
            explained.append(
                WeighedSlot(
                    weighed_offers(names, [outputs[each] for each in leaving], trust),
                    dict(zip(names, trust, strict=True)) if np.isfinite(trust).all() else {},
                    (WeighedContext(f"state {source}", 1.0),),
                )
            )
        return tuple(explained)

    def to_bytes(self, observed: bytes = b"") -> bytes:  # noqa: ARG002 (nothing is observed)
        meta = {"spec": self.spec.to_json(), "game": self.game.meta()}
        return state.pack("automaton_combiner", STATE_VERSION, meta, self.game.arrays())

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, "automaton_combiner", STATE_VERSION)
        self.game.restore(found.meta["game"], found.arrays)
        self._used = None

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    def _edge_probabilities(self) -> FloatArray:
        """The probability that a path uses each transition; NaN where there is no cheap answer."""
        if self._used is None:
            learner = self.game.learner
            if not self.game.capabilities.marginals:
                self._used = np.full(self.automaton.edge_count, np.nan)
            else:
                context = learner.automaton
                assert isinstance(context, GraphContext)
                self._used = context.edge_marginals(learner.marginals())
        return self._used

    def _remembered(self, memory: bytes) -> tuple[list[str], Memory]:
        """The token of each transition, and the learner's memory. The bytes may be damaged or foreign."""
        try:
            packed_outputs, packed_memory = framing.split(memory)
            outputs = json.loads(packed_outputs)
        except ValueError as error:
            raise DamagedState("the memory of this round is damaged or foreign") from error
        known = isinstance(outputs, list) and set(map(type, outputs)) <= {str}
        if not known or len(outputs) != self.automaton.edge_count:
            raise DamagedState("the memory of this round is of another automaton")
        return outputs, Memory.from_bytes(packed_memory)

    def _outputs(self, said: NamedTokens) -> list[str]:
        """The token of each transition, in the automaton's order."""
        missing = [name for name in self.automaton.names if name not in said.tokens]
        if missing:
            raise InvalidInput(
                f"transition {missing[0]!r} has no token; each of {len(self.experts)} needs one"
            )
        if len(said.tokens) > len(self.experts):
            extra = next(name for name in said.tokens if name not in set(self.experts))
            raise InvalidInput(f"the automaton has no transition {extra!r}")
        return [said.tokens[name] for name in self.automaton.names]
