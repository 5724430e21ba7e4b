"""A path learner of the catalogue on utterances of any length, cut into windows of a fixed number of slots.

Each window is one round of the learner on the ensemble of experts (engines, then derived experts) times
slots; the last one is filled up with slots that gain nothing. One utterance, followed through the code:
`choose` aligns it (`_network`), draws a path for each window, and keeps what it will need in the memory;
`learn` aligns the truth to the same slots (`slot_target`) and gives each window's gains to the learner.
"""

import json
from dataclasses import dataclass, replace

import numpy as np

from galloon.learners import framing, state
from galloon.learners.alignment import AlignedTarget, align, derive, in_order
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
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
from galloon.learners.combiners.target import slot_target
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.combiners.writing import Writing
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.kernels import windows as kernel
from galloon.learners.observation import NamedTokens, Utterance
from galloon.learners.offers import Offers
from galloon.learners.paths.game import Game, PathRound
from galloon.learners.paths.protocol import FloatArray, Memories, Memory, Setting
from galloon.learners.written import WrittenForms

STATE_VERSION = 1
MOST_SLOTS = 4096  # of one utterance; its windows are numbered within the round
FILL_SHOWN, FILL_TRUE = "\0shown", "\0true"  # tokens that fill up a last window: they match nothing


@dataclass(frozen=True, slots=True)
class _Round:
    """What the memory of a choice holds, and the view of one."""

    network: Offers
    windows: Memories


class WindowCombiner(LearnsWhenTold):
    """Windows of an ensemble, learned by one path learner."""

    def __init__(self, spec: CombinerSpec, transition_budget: int, node_budget: int) -> None:
        self.spec = spec
        self.experts = spec.engines
        self.derived = spec.derived
        self._all_experts = (*spec.engines, *spec.derived)
        self._unit = spec.unit
        ensemble = Ensemble(len(self._all_experts), spec.window)
        self.game = Game(spec, ensemble, transition_budget, node_budget)
        self._writing = Writing(spec.engines, spec.unit, spec.normalizer)
        self._offers: FloatArray | None = None  # of `_offer_probabilities`, until something is learned

    # The contract.

    def choose(self, utterance: Utterance, round_number: int) -> Choice:
        network = self._network(utterance)
        choices = self.game.choose_many(round_number * MOST_SLOTS, self._window_count(network))
        slots, trust = network.slot_count, self._offer_probabilities()
        experts, chosen = np.empty(slots, dtype=np.int32), np.empty(slots, dtype=np.int32)
        mass = np.empty(slots)
        kernel.choose_tokens(
            choices.paths.reshape(-1, self.spec.window), network.tokens, trust, experts, chosen, mass
        )
        names, vocabulary = self._all_experts, network.vocabulary
        shown = [vocabulary[token] for token in chosen.tolist()]
        played = _Round(network, choices.memories)
        written = self._writing.write(network, chosen)
        return Choice(
            text=self._unit.join(shown if written is None else written),
            offers=network,
            shown=shown,
            credited=[names[expert] for expert in experts.tolist()],
            probabilities=mass.tolist(),
            trust=trust,
            log_probability=float(sum(choices.log_probabilities.tolist())),
            memory=_to_bytes(played),
            view=played,
            written=written,
        )

    def learn(self, memory: bytes, feedback: Feedback, view: object | None = None) -> Lesson:
        played = self._played(memory, view)
        if len(played.windows) != self._window_count(played.network):
            raise DamagedState("the memory of this round has another number of windows than its slots fill")
        match feedback:
            case TrueText() | TrueTokens():
                truth = slot_target(played.network, feedback, self._unit, self.spec.normalizer)
                gain = self.game.learn_windows(played.windows, played.network.tokens, truth.tokens)
                if gain is None:
                    gain = self.game.learn_target(self._windows(played, truth))
                if self.game.learner.setting is Setting.FULL:
                    self._writing.learn(played.network, truth, feedback)
                matches = np.empty(len(self._all_experts))
                kernel.count_matches(played.network.tokens, truth.tokens, matches)
                lesson = Lesson(gain, dict(zip(self._all_experts, matches.tolist(), strict=True)))
            case ShownGains(gains):
                lesson = Lesson(self.game.learn_shown(played.windows.rows(), gains))
            case Score() if not len(played.windows):
                lesson = Lesson(0.0)  # an utterance without slots has no windows and gains nothing
            case Score(value):
                lesson = Lesson(self.game.learn_score(_only_window(played), value))
        self._offers = None
        return lesson

    def statistics(self) -> Statistics:
        return self.game.statistics()

    def weights(self, most_rows: int) -> WeightTable:
        """The probability of each expert in each slot of a window."""
        rows = tuple(f"slot {slot + 1}" for slot in range(min(self.spec.window, most_rows)))
        return WeightTable("slot", rows, self._all_experts, self._offer_probabilities()[: len(rows)])

    def offers(self, memory: bytes) -> Offers:
        return self._played(memory, None).network

    def explain(self, memory: bytes, slots: range, view: object | None = None) -> tuple[WeighedSlot, ...]:
        """What was on offer in these slots of a round, and how far each expert is trusted at their places now."""
        network = self._played(memory, view).network
        law, window = self._offer_probabilities(), self.spec.window
        explained = []
        for slot in slots[: max(0, network.slot_count - slots.start)]:
            trust = law[slot % window].tolist()
            texts = [network.vocabulary[token] for token in network.tokens[slot].tolist()]
            known = np.isfinite(law[slot % window]).all()
            explained.append(
                WeighedSlot(
                    weighed_offers(self._all_experts, texts, trust),
                    dict(zip(self._all_experts, trust, strict=True)) if known else {},
                    (WeighedContext(f"slot {slot % window + 1} of window {slot // window + 1}", 1.0),),
                )
            )
        return tuple(explained)

    def to_bytes(self, observed: bytes = b"") -> bytes:  # noqa: ARG002 (nothing is observed)
        meta = {
            "spec": self.spec.to_json(),
            "game": self.game.meta(),
            "writing": self._writing.to_json(),
        }
        return state.pack("window_combiner", STATE_VERSION, meta, self.game.arrays())

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, "window_combiner", STATE_VERSION)
        self.game.restore(found.meta["game"], found.arrays)
        self._writing.restore(found.meta.get("writing"))
        self._offers = None

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    # Choosing.

    def _network(self, utterance: Utterance) -> Offers:
        """The slots, one column for each expert of the spec, derived ones last."""
        match utterance.said:
            case tuple():
                network = align(utterance, self._unit, self.spec.normalizer)
            case Offers() as network:
                pass
            case NamedTokens():
                raise InvalidInput(
                    "this learner takes slots or engines' outputs, not tokens by transition name"
                )
        if network.slot_count > MOST_SLOTS:
            raise InvalidInput(f"{network.slot_count} slots; an utterance may have {MOST_SLOTS}")
        network = in_order(network, self.experts)
        if len(network.experts) < len(self.experts):
            absent = next(name for name in self.experts if name not in network.experts)
            raise InvalidInput(
                f"engine {absent!r} is absent, and {self.spec.algorithm} plays all engines in every round",
                advice="take the algorithm tied, or send the engine with no words if it ran and said nothing",
            )
        if self.spec.derived:
            network = derive(network, self.spec.derived)
        tokens = np.ascontiguousarray(network.tokens, dtype=np.int32)  # as compiled code takes it
        return network if tokens is network.tokens else replace(network, tokens=tokens)

    def _played(self, memory: bytes, view: object | None) -> _Round:
        return (
            view
            if isinstance(view, _Round)
            else _from_bytes(memory, self._all_experts, len(self.spec.derived))
        )

    def _window_count(self, network: Offers) -> int:
        return -(-network.slot_count // self.spec.window)

    def _offer_probabilities(self) -> FloatArray:
        """The probability of each expert in each slot of a window; NaN where there is no cheap answer."""
        if self._offers is None:
            learner = self.game.learner
            if not self.game.capabilities.marginals:
                self._offers = np.full((self.spec.window, len(self._all_experts)), np.nan)
            else:
                context = learner.automaton
                assert isinstance(context, EnsembleContext)
                self._offers = context.slot_marginals(learner.marginals())
        return self._offers

    # Learning.

    def _windows(self, played: _Round, truth: AlignedTarget) -> list[PathRound]:
        """Each window: what the experts offered, in the order of A's transitions, and what was true."""
        size, experts, slots = self.spec.window, len(self._all_experts), played.network.slot_count
        whole = len(played.windows) * size
        # The last window is filled up with tokens that match nothing.
        vocabulary = (*truth.vocabulary, FILL_SHOWN, FILL_TRUE)
        outputs = np.full((whole, experts), len(vocabulary) - 2, dtype=np.int32)
        outputs[:slots] = played.network.tokens
        target = np.full(whole, len(vocabulary) - 1, dtype=np.int32)
        target[:slots] = truth.tokens
        return [
            PathRound(memory, outputs[first : first + size].ravel(), target[first : first + size], vocabulary)
            for memory, first in zip(played.windows.rows(), range(0, whole, size), strict=True)
        ]


def _only_window(played: _Round) -> Memory:
    if len(played.windows) == 1:
        return played.windows.rows()[0]
    raise InvalidInput(
        f"a score is the gain of one window and this utterance has {len(played.windows)}: use a window of at "
        f"least {played.network.slot_count} slots, or send the shown gains or the true text"
    )


def _to_bytes(played: _Round) -> bytes:
    network = played.network
    return framing.join(
        [
            framing.texts_as_json(network.vocabulary).encode(),
            network.tokens.astype("<i4", copy=False).tobytes(),
            played.windows.to_bytes(),
            *network.written.to_parts(),
        ]
    )


def _from_bytes(data: bytes, experts: tuple[str, ...], derived: int) -> _Round:
    """The inverse of `_to_bytes`. Refuses bytes that it did not write: an imported state may carry any."""
    try:
        spelled, tokens, windows, *parts = framing.split(data)
        vocabulary = tuple(json.loads(spelled))
        table = np.frombuffer(tokens, dtype="<i4").reshape(-1, len(experts)).astype(np.int32)
        written = WrittenForms.from_parts(parts, len(table), len(experts) - derived)
    except (ValueError, TypeError) as error:
        raise DamagedState("the memory of this round is damaged or foreign") from error
    if table.size and not 0 <= table.min() <= table.max() < len(vocabulary):
        raise DamagedState("the memory of this round offers tokens outside of its vocabulary")
    if not set(map(type, vocabulary)) <= {str}:
        raise DamagedState("the memory of this round has a vocabulary that is not of texts")
    # Confidences decide nothing once a path is chosen, so they are not remembered.
    unsure = np.full(table.shape, np.nan)
    network = Offers(experts, vocabulary, table, unsure, derived_count=derived, written=written)
    return _Round(network, Memories.from_bytes(windows))
