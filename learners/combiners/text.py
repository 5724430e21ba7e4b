"""Galloon's default for text: the tied learner over engines, votes and the learned offer model.

One utterance, followed through the code: `choose` aligns the outputs (`_network`), lets the derived experts
and the offer model add their offers, and the tied learner pick an expert in every slot. `learn` aligns the
true text to the same slots, or takes what was revealed of it, and teaches the offer model and the tied learner.
The gain is slot match: 1 where the shown token is the true one, null included.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.agreement import AgreementModel, Estimate, Weighed
from galloon.learners.alignment import AlignedTarget, in_order, offers_of_all
from galloon.learners.combiners.contract import (
    Choice,
    Feedback,
    Lesson,
    Score,
    ShownGains,
    Statistics,
    TrueText,
    TrueTokens,
)
from galloon.learners.combiners.error_streams import ErrorStreams
from galloon.learners.combiners.explanation import REASONS, WeighedContext, WeighedSlot, weighed_offers
from galloon.learners.combiners.lattice_texts import LatticeTexts
from galloon.learners.combiners.probation import (
    Probation,
    held_back,
    taught_tokens,
    trust_shown,
    untaught_tokens,
)
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.target import slot_target
from galloon.learners.combiners.text_network import text_network
from galloon.learners.combiners.text_round import TextRound
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.combiners.writing import Writing
from galloon.learners.errors import BoundExceeded, BudgetExceeded, DamagedState, InvalidInput
from galloon.learners.kernels.answers import answer, slot_gains
from galloon.learners.kernels.poisson_binomial import posteriors
from galloon.learners.lattices.decoding import Decoded
from galloon.learners.observation import NamedTokens, Utterance
from galloon.learners.offer_model import OfferModel, OfferModelSettings, ScoredOffers
from galloon.learners.offer_model.model import label_numbers
from galloon.learners.offers import Offers
from galloon.learners.paths.guarantee import as_played
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, SemiBanditFeedback, Setting
from galloon.learners.present import MANY
from galloon.learners.tied.contexts import context_name
from galloon.learners.tied.learner import SlotView, TiedLearner

STATE_VERSION = 1
SCORER = "scorer"
DEFAULT_DERIVED = ("vote", "frequency_vote")  # unless the spec names others
# Before anything is told the offer model answers by agreement, which is better than any vote.
SCORER_PRIOR, VOTE_PRIOR = 3 / 4, 1 / 8
TRUSTED = "trusted"  # the option that names an engine to be believed from the first line
SEATS_SHOWN = 8  # of a crowd, in a table for people
_NEARLY = 1e-6  # no token is certainly right


class _View(NamedTuple):
    """What a memory holds, and what the offer model saw of its slots: the view of a choice."""

    played: TextRound
    scored: ScoredOffers | None
    weighed: Weighed | None


class _Answered(NamedTuple):
    """The shown token of each slot, the engine that gives it, its probability; the log of the answer's chance."""

    tokens: NDArray[np.int32]
    givers: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    log_probability: float


class TextCombiner:
    """The default learner: tied learner, votes and offer model."""

    def __init__(self, spec: CombinerSpec) -> None:
        if spec.gain.get("kind", "slot_match") != "slot_match":
            raise InvalidInput(
                "the tied learner plays for slot match; other gains need another algorithm", field="gain"
            )
        for name in spec.options:
            if name != TRUSTED:
                raise InvalidInput(f"tied has no option {name!r}; it takes {TRUSTED!r}", field="options")
        self.spec = spec
        self.experts = spec.engines
        self._derived = spec.derived or DEFAULT_DERIVED
        self._unit = spec.unit
        self._setting = Setting(spec.setting) if spec.setting else Setting.FULL
        self.derived = (*self._derived, SCORER)
        self.game = None
        for name in self.derived:
            if name in spec.engines:
                raise InvalidInput(
                    f"this learner computes an expert {name!r}",
                    advice="name the engine otherwise",
                    field="engines",
                )
        self.begin(spec.engines)

    def begin(self, roster: tuple[str, ...], priors: NDArray[np.float64] | None = None) -> None:
        """Know nothing of these engines: those of the spec, and those that have left it, which never run again."""
        spec, self._roster = self.spec, roster
        self._places = {name: place for place, name in enumerate(roster)}
        # Of many engines few meet twice in the same slot: those who run take seats, the most trusted the first.
        self._crowd = len(roster) > MANY
        self._seats = tuple(f"engine {seat + 1} by trust" for seat in range(MANY)) if self._crowd else roster
        self._players = (*self._seats, *self.derived)
        self._offer_model = OfferModel(roster, self._unit, OfferModelSettings())
        self._agreement = AgreementModel(roster, self._unit, str(spec.options.get(TRUSTED, "")))
        self.priors = first_priors(self._players) if priors is None else priors
        self._tied = TiedLearner(self._players, self._setting, self.priors, spec.seed, spec.decide)
        self._writing = Writing(roster, self._unit, spec.normalizer)
        self._lattices = LatticeTexts(roster, self._unit, spec.normalizer)
        self._streams = ErrorStreams(len(roster))
        self._probation = Probation()
        # Of each player in the rounds in which it was there, and what was expected of the answers in these.
        self._expert_gains, self._expected_gains = np.zeros((2, len(self._players)))
        self._gain = 0.0
        self._rounds, self._rounds_where_known = 0, 0

    # The contract.

    def choose(self, utterance: Utterance, round_number: int) -> Choice:
        view = self._play(utterance, round_number)
        played, vocabulary = view.played, view.played.network.vocabulary
        trust = self._trust(played) if self._holding_back else played.played.probabilities
        answered = self._answered(played, trust)
        shown = [vocabulary[token] for token in answered.tokens.tolist()]
        written = self._writing.write(played.network, answered.tokens)
        return Choice(
            text=self._unit.join(shown if written is None else written),
            offers=played.offers(self.derived),
            shown=shown,
            credited=[played.network.experts[giver] for giver in answered.givers.tolist()],
            probabilities=answered.probabilities.tolist(),
            trust=trust,
            log_probability=answered.log_probability,
            memory=played.to_bytes(self._roster),
            view=view,
            written=written,
        )

    def observe(self, memory: bytes, view: object | None = None) -> None:
        seen = self._seen(memory, view)
        self._agreement.observe(seen.played.network, seen.weighed)

    def learn(self, memory: bytes, feedback: Feedback, view: object | None = None) -> Lesson:
        played, scored, _ = self._seen(memory, view)
        match feedback:
            case TrueText() | TrueTokens():
                truth = slot_target(played.network, feedback, self._unit, self.spec.normalizer)
                if self._setting is Setting.FULL:
                    self._writing.learn(played.network, truth, feedback)
                    self._lattices.learn(played.decoded, feedback)
                return self._learn_target(played, truth, scored)
            case ShownGains(gains):
                return self._learn_shown(played, np.array(gains, dtype=np.float64), scored)
            case Score(value):
                return self._learn_score(played, value)

    def statistics(self) -> Statistics:
        size = self._tied.size()
        known = self._rounds == self._rounds_where_known
        regrets = self._expert_gains - self._expected_gains
        best = int(regrets.argmax())
        promised = as_played(self._tied.promise(best), drawn=self.spec.decide == "sample")
        return Statistics(
            rounds_learned=self._rounds,
            gain=self._gain,
            regret=float(regrets[best]) if known else None,
            regret_estimate=None,
            bound=promised.bound,
            regret_limit=promised.limit,
            guarantee=promised.words,
            expert_states=2,
            expert_transitions=len(self._players),
            context_states=size.states,
            context_transitions=size.transitions,
            state_bytes=size.state_bytes + self._offer_model.state_bytes + self._agreement.state_bytes,
            extra={
                "best_expert": self._players[best] if known else "",
                "slots_where_experts_differed": self._tied.slots_learned,
                "changes": {
                    self._roster[place]: {"times": times, "last_lesson": lesson}
                    for place, times, lesson in self._streams.changes()
                    if self._roster[place] in self.experts
                },
                "lattice_scales": self._lattices.describe(),
                "estimates": {
                    found.expert: {
                        "error_rate": found.error_rate,
                        "low": found.low,
                        "high": found.high,
                        "dropping_costs": found.dropping_costs,
                        "repeats": found.repeats,
                        "lines": found.lines,
                    }
                    for found in sorted(self.estimates(), key=lambda found: -found.lines)[:MANY]
                },
            },
        )

    def estimates(self) -> tuple[Estimate, ...]:
        """Which engine is best, without any truth: of those that have run."""
        known = self._agreement.estimates()
        return tuple(found for found in known if found.lines and found.expert in self.experts)

    def weights(self, most_rows: int) -> WeightTable:
        met = self._tied.most_met(most_rows)
        names = tuple(
            context_name(int(key), int(level), int(pattern), self._seats)
            for key, level, pattern in zip(met.keys, met.levels, met.patterns, strict=True)
        )
        shown = [*range(min(len(self._seats), SEATS_SHOWN if self._crowd else MANY))]
        shown += range(len(self._seats), len(self._players))
        columns = tuple(self._players[j] for j in shown)
        return WeightTable("context", names, columns, met.trust[:, shown], tuple(met.visits.tolist()))

    def offers(self, memory: bytes) -> Offers:
        return self._seen(memory, None).played.offers(self.derived)

    def explain(self, memory: bytes, slots: range, view: object | None = None) -> tuple[WeighedSlot, ...]:
        """Why tokens of a round were chosen: trust as it was then, contexts and the features' parts as now."""
        played = self._seen(memory, view).played
        slots = slots[: max(0, played.network.slot_count - slots.start)]
        contexts = self._tied.explain(self._slot_view(played), slots, self._seats)
        experts = (*played.network.experts, *self.derived)
        scored = self._offer_model.explain(played.network, played.labels, slots, REASONS, _prior(played))
        trusted, explained = self._trust(played), []
        for slot, named, words in zip(slots, contexts, scored, strict=True):
            trust = trusted[slot].tolist()
            texts = [played.network.vocabulary[token] for token in played.tokens[slot].tolist()]
            # Contexts of different levels may have the same name: their weights are added up.
            weights: dict[str, float] = {}
            for name, weight in named:
                weights[name] = weights.get(name, 0.0) + weight
            heaviest = sorted(weights.items(), key=lambda context: -context[1])
            explained.append(
                WeighedSlot(
                    weighed_offers(experts, texts, trust, words.offers),
                    dict(zip(experts, trust, strict=True)),
                    tuple(WeighedContext(*context) for context in heaviest),
                )
            )
        return tuple(explained)

    def observed(self) -> bytes:
        return state.pack("observed", STATE_VERSION, {}, self._agreement.observed())

    def to_bytes(self, observed: bytes = b"") -> bytes:
        meta = {
            "spec": self.spec.to_json(),
            "tied": self._tied.meta(),
            "gain": self._gain.hex(),
            "rounds": self._rounds,
            "rounds_where_known": self._rounds_where_known,
            "writing": self._writing.to_json(),
        }
        arrays = {
            "expert_gains": self._expert_gains,
            "expected_gains": self._expected_gains,
            **self._tied.arrays(),
            **self._offer_model.arrays(),
            **self._agreement.arrays(),
            **self._streams.arrays(),
            **self._lattices.arrays(),
            **self._probation.arrays(),
        }
        if self._roster != self.experts:
            meta["roster"], arrays["priors"] = self._roster, self.priors
        if observed:
            arrays |= state.unpack(observed, "observed", STATE_VERSION).arrays
        return state.pack("text_combiner", STATE_VERSION, meta, arrays)

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, "text_combiner", STATE_VERSION)
        self._restore_roster(found)
        self._tied.restore(found.meta["tied"], found.arrays)
        self._offer_model.restore(found.arrays)
        self._writing.restore(found.meta.get("writing"))
        self._streams.restore(found.arrays)
        self._lattices.restore(found.arrays)
        self._probation.restore(found.arrays, self._tied.rounds_learned)
        if "agreement.runs" in found.arrays:  # else of a version that learned nothing from agreement
            self._agreement.restore(found.arrays)
        state.check_arrays(found.arrays, {"expert_gains": self._expert_gains})
        self._expert_gains = found.arrays["expert_gains"]
        if "expected_gains" in found.arrays:
            state.check_arrays(found.arrays, {"expected_gains": self._expected_gains})
            self._expected_gains = found.arrays["expected_gains"]
        else:  # of an older version, in which everybody ran in every round
            expected = state.real_in(found.meta, "expected_gain")
            self._expected_gains = np.full_like(self._expert_gains, expected)
        self._gain = state.real_in(found.meta, "gain")
        self._rounds = state.count_in(found.meta, "rounds")
        self._rounds_where_known = state.count_in(found.meta, "rounds_where_known")

    def _restore_roster(self, found: state.State) -> None:
        """Engines may have joined and left since this state's learner was made."""
        roster, priors = found.meta.get("roster"), found.arrays.get("priors")
        if roster is None:
            self.begin(self.experts)
            return
        known = isinstance(roster, list) and all(isinstance(name, str) for name in roster)
        if not known or len(set(roster)) < len(roster) or not set(self.experts) <= set(roster):
            raise DamagedState("the engines of this state are not those of its learner")
        players = len(roster) + len(self.derived)
        sound = len(roster) <= MANY and priors is not None and priors.dtype == np.float64
        if not sound or priors is None or priors.shape != (players,) or not (priors > 0).all():
            raise DamagedState("the priors of this state are not those of its engines")
        self.begin(tuple(roster), priors)

    @property
    def roster(self) -> tuple[str, ...]:
        """All engines that were ever of this learner, by their places in its state."""
        return self._roster

    def agreement_rows(self) -> Mapping[str, int]:
        """The row of each engine in what is known by agreement."""
        return self._agreement.rows

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    # Choosing.

    def _play(self, utterance: Utterance, round_number: int) -> _View:
        network, labels, decoded = self._network(utterance)
        # By agreement alone: what true texts say of engines the offer model learns itself, from there.
        weighed = self._agreement.weigh(network, with_told=False)
        scored = self._offer_model.score(network, labels, weighed.posteriors)
        tokens = offers_of_all(network, self._derived, scored.best)
        predicted = np.empty((0, tokens.shape[1]))
        if self._setting is Setting.BANDIT:
            columns = [self._offer_model.right_probabilities(scored, column) for column in tokens.T]
            predicted = np.column_stack(columns) if columns else predicted
        seen = SlotView(tokens, self._ids(network), len(self._seats), label_numbers(labels), predicted)
        choice = self._tied.choose(round_number, seen)
        played = TextRound(network, tokens, labels, predicted, choice.memory, weighed.posteriors, decoded)
        if self._holding_back:
            played = held_back(played)
        return _View(played, scored, weighed)

    @property
    def _holding_back(self) -> bool:
        """Whether what was taught is not shown yet."""
        return self._tried and self._probation.begun and not self._probation.passed

    def _trust(self, played: TextRound) -> NDArray[np.float64]:
        """How probable each expert's token is in each slot, as it is told."""
        return trust_shown(played) if self._tried else played.played.probabilities

    def _seen(self, memory: bytes, view: object | None) -> _View:
        if isinstance(view, _View):
            return view
        return _View(TextRound.from_bytes(memory, self._roster, len(self._derived) + 1), None, None)

    def _network(self, utterance: Utterance) -> tuple[Offers, dict[str, str], Mapping[str, Decoded]]:
        """The slots, one column for each engine, the labels that the learner may look at, and decoded lattices."""
        decoded: Mapping[str, Decoded] = {}
        match utterance.said:
            case tuple():
                present = self._present(tuple([output.name for output in utterance.outputs]))
                read, graphs, decoded = self._lattices.read(utterance)
                listened_to = self._listened_to(present)
                gluing = self._agreement.gluing(present)
                network = text_network(
                    read, present, listened_to, self._unit, self.spec.normalizer, gluing, graphs
                )
            case Offers() as given:
                network = in_order(given, self._present(given.experts))
            case NamedTokens():
                raise InvalidInput(
                    "this learner takes slots or engines' outputs, not tokens by transition name"
                )
        labels = {n: utterance.labels[n] for n in self.spec.labels if n in utterance.labels}
        return network, labels, decoded

    def _listened_to(self, present: tuple[str, ...]) -> frozenset[str]:
        """Those of these engines that are no noise; by agreement alone while what is taught is held back."""
        if self._holding_back:
            return self._agreement.heard(present, with_told=False) or frozenset(present)
        told = self._offer_model.listened_to(present)
        return (told & self._agreement.heard(present)) or told

    def _present(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """The engines that ran, in the order of the columns: as listed, or in a crowd the most trusted first."""
        if given == self.experts:
            return given
        if not given:
            raise InvalidInput(
                "no engine ran", advice="send an engine that ran and said nothing with no words"
            )
        for name in given:
            if name not in self._places:
                known = ", ".join(self.experts[:MANY])
                raise InvalidInput(f"unknown expert {name!r}; this learner knows {known}")
        if len(set(given)) < len(given):
            raise InvalidInput(f"two outputs of one utterance have the same expert name: {', '.join(given)}")
        if self._crowd:
            if len(given) > MANY:
                raise BudgetExceeded("outputs", len(given), MANY, "leave some engines out")
            return tuple(self._agreement.by_trust(given))
        return tuple(sorted(given, key=self._places.__getitem__))

    def _ids(self, network: Offers) -> NDArray[np.int64]:
        """The players in the columns of a round: the engines that ran, or their seats, and the derived ones."""
        count = len(network.experts)
        places = range(count) if self._crowd else map(self._places.__getitem__, network.experts)
        return np.array([*places, *range(len(self._seats), len(self._players))], dtype=np.int64)

    def _slot_view(self, played: TextRound) -> SlotView:
        ids = self._ids(played.network)
        return SlotView(played.tokens, ids, len(self._seats), label_numbers(played.labels), played.predicted)

    @property
    def _tried(self) -> bool:
        """Whether what is taught is tried before it is shown: draws have a theorem of their own."""
        return self._setting is Setting.FULL and self.spec.decide == "best"

    def _answered(self, played: TextRound, trust: NDArray[np.float64]) -> _Answered:
        slots = len(played.tokens)
        shown, givers, chances = np.empty(slots, np.int32), np.empty(slots, np.int64), np.empty(slots)
        log_probability = answer(
            played.tokens,
            trust,
            played.played.shown,
            len(played.network.experts),
            shown,
            givers,
            chances,
        )
        if played.network.posteriors.slots.size:
            _credit_lattices(played.network, shown, givers)
        return _Answered(shown, givers, chances, log_probability)

    # Learning.

    def _learn_target(self, played: TextRound, truth: AlignedTarget, scored: ScoredOffers | None) -> Lesson:
        """The target is known. The learner is told what its setting reveals; statistics use everything."""
        gains, expert_gains = np.empty(played.tokens.shape), np.empty(played.tokens.shape[1])
        shown_gains = np.empty(len(played.tokens))
        gained = slot_gains(
            played.tokens, played.played.shown, truth.tokens, gains, expert_gains, shown_gains
        )
        view = self._slot_view(played)
        if self._setting is Setting.FULL:
            self._tied.learn(played.played, view, FullFeedback(gains))
            self._offer_model.learn_target(played.network, played.labels, truth, scored, _prior(played))
            self._agreement.tell(played.network, truth.tokens)
            self._try(played, truth)
        else:
            self._teach_part(played, view, shown_gains, scored)
        drawn = self.spec.decide == "sample"
        expected = float((played.played.probabilities * gains).sum()) if drawn else gained
        self._expert_gains[view.ids] += expert_gains
        self._expected_gains[view.ids] += expected
        self._enter(gained)
        changed: tuple[str, ...] = ()
        if self._setting is Setting.FULL and len(played.tokens):
            changed = self._look_for_changes(played.network.experts, 1.0 - expert_gains / len(played.tokens))
        self._rounds_where_known += 1
        experts = (*played.network.experts, *self.derived)
        return Lesson(gained, dict(zip(experts, expert_gains.tolist(), strict=True)), changed)

    def _try(self, played: TextRound, truth: AlignedTarget) -> None:
        """Compare what was taught by then with the untaught answer."""
        taught = taught_tokens(played)
        untaught = untaught_tokens(played) if len(played.prior) else taught
        self._probation.judge(taught, untaught, truth.tokens, played.played.learned)

    def _look_for_changes(
        self, experts: tuple[str, ...], error_rates: NDArray[np.float64]
    ) -> tuple[str, ...]:
        """Engines whose errors have changed are learned anew, and the others are weighed against them anew."""
        places = [self._places[name] for name in experts]
        found = self._streams.see(places, error_rates[: len(places)].tolist(), self._rounds)
        changed = tuple(self._roster[place] for place in found)
        for name in changed:
            self._offer_model.begin_anew(name)
            self._agreement.begin_anew(name)
        return changed

    def _learn_shown(
        self, played: TextRound, gains: NDArray[np.float64], scored: ScoredOffers | None
    ) -> Lesson:
        if self._setting is Setting.FULL:
            raise InvalidInput(
                "this learner needs the truth", advice="send the true text, or create it with setting semi"
            )
        if len(gains) != played.network.slot_count:
            slots = played.network.slot_count
            raise InvalidInput(f"{len(gains)} shown gains for {slots} shown slots", advice="send one each")
        if gains.size and not (gains.min() >= 0.0 and gains.max() <= 1.0):
            raise BoundExceeded("shown gains of slot match lie between 0 and 1")
        view = self._slot_view(played)
        self._teach_part(played, view, gains, scored)
        self._enter(float(gains.sum()))
        return Lesson(float(gains.sum()))

    def _learn_score(self, played: TextRound, score: float) -> Lesson:
        if self._setting is not Setting.BANDIT:
            raise InvalidInput(
                "this learner needs more than a score",
                advice="create it with setting bandit to learn from it",
            )
        if not 0.0 <= score <= played.network.slot_count:
            raise BoundExceeded(
                f"a score is the number of right slots, from 0 to {played.network.slot_count} here, not {score}"
            )
        self._teach_score(played, self._slot_view(played), score)
        self._enter(score)
        return Lesson(score)

    def _teach_part(
        self, played: TextRound, view: SlotView, gains: NDArray[np.float64], scored: ScoredOffers | None
    ) -> None:
        if self._setting is Setting.BANDIT:
            self._teach_score(played, view, float(gains.sum()))
            return
        self._tied.learn(played.played, view, SemiBanditFeedback(gains))
        self._offer_model.learn_shown(
            played.network, played.labels, played.shown, gains, scored, _prior(played)
        )

    def _teach_score(self, played: TextRound, view: SlotView, score: float) -> None:
        """Learn from one score: the tied learner from an unbiased estimate, the offer model from the likelihood.

        The gradient of the log probability of the sum is that of the slots' outcomes, averaged over what they
        may have been given the sum (Fisher's identity): so the offer model learns from posterior gains.
        """
        self._tied.learn(played.played, view, BanditFeedback(score))
        scored = self._offer_model.score(played.network, played.labels, _prior(played))
        right = self._offer_model.right_probabilities(scored, played.shown)
        inferred = posteriors(np.clip(right, _NEARLY, 1 - _NEARLY), score)
        self._offer_model.learn_shown(
            played.network, played.labels, played.shown, inferred, scored, _prior(played)
        )

    def _enter(self, gain: float) -> None:
        self._rounds += 1
        self._gain += gain


def _prior(played: TextRound) -> NDArray[np.float64] | None:
    """What agreement found of a round; nothing in rounds of older versions."""
    return played.prior if len(played.prior) else None


def _credit_lattices(network: Offers, shown: NDArray[np.int32], givers: NDArray[np.int64]) -> None:
    """A token that no engine offers comes from the engine whose lattice finds it most probable."""
    heard = network.posteriors
    unsaid = (network.tokens != shown[:, None]).all(axis=1)
    rows = np.flatnonzero(unsaid[heard.slots] & (heard.tokens == shown[heard.slots]))
    rows = rows[np.argsort(heard.probabilities[rows], kind="stable")]
    givers[heard.slots[rows]] = heard.experts[rows]  # of several rows of a slot the last one wins


def first_priors(experts: tuple[str, ...]) -> NDArray[np.float64]:
    """What each expert counts for before anything is known."""
    special = {SCORER: SCORER_PRIOR, "vote": VOTE_PRIOR}
    left = 1.0 - sum(special.get(name, 0.0) for name in experts)
    ordinary = sum(1 for name in experts if name not in special)
    return np.array([special.get(name, left / max(1, ordinary)) for name in experts])
