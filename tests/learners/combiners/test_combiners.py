"""Combiners as a host sees them: windows of any utterance, explicit automata, every learner, every feedback."""

import json
import math
import re

import numpy as np
import pytest

from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import BoundExceeded, BudgetExceeded, InvalidInput, LearnerError
from galloon.learners.observation import ExpertOutput, NamedTokens, Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.paths.catalogue import NAMES

EXPERTS = ("ann", "ben", "cid")
GAINS = (
    {"kind": "slot_match"},
    {"kind": "ngram", "order": 2},
    {"kind": "patterns", "patterns": [{"tokens": ["w1"]}, {"tokens": ["w2", "w3"], "weight": 2.0}]},
    {"kind": "regex", "expression": "w1 (w2 | w3)?"},
    {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1},
)
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n1 2 e\n3 4 f\n3 4 g\n4\n"


def _spec(algorithm, gain=GAINS[0], **more):
    return CombinerSpec(engines=EXPERTS, algorithm=algorithm, gain=gain, window=4, **more)


def _network(slots, seed=0, right=1):
    """Slots in which expert `right` says the truth and the others something."""
    random = np.random.default_rng(seed)
    tokens = random.integers(0, 6, (slots, 3)).astype(np.int32)
    vocabulary = ("", *(f"w{i}" for i in range(1, 6)))
    truth = TrueTokens(tuple(vocabulary[t] for t in tokens[:, right]))
    return Offers(EXPERTS, vocabulary, tokens, np.full(tokens.shape, np.nan)), truth


def _utterance(texts, number="u1"):
    outputs = (ExpertOutput(n, tuple(Word(w) for w in t.split())) for n, t in texts.items())
    return Utterance(number, tuple(outputs))


@pytest.mark.parametrize("slots", [0, 1, 4, 5, 11])
@pytest.mark.parametrize("algorithm", NAMES)
def test_any_length_is_played_in_windows(algorithm, slots):
    """A choice has one token a slot, each from the expert it names; a state comes back to the same bits."""
    combiner = build(_spec(algorithm))
    network, truth = _network(slots)
    for number in range(6):
        decision = combiner.choose(Utterance("u1", network), number)
        assert len(decision.tokens) == slots
        for slot, token in enumerate(decision.tokens):
            offered = network.vocabulary[network.tokens[slot, EXPERTS.index(token.expert)]]
            assert token.text == offered
            others = {a.text for a in token.alternatives}
            assert others | {token.text} == {network.vocabulary[t] for t in network.tokens[slot]}
        lesson = combiner.learn(decision.memory, truth, decision.view)
        assert lesson.gain == sum(t.text == w for t, w in zip(decision.tokens, truth.tokens, strict=True))
        assert lesson.expert_gains["ben"] == slots
    twin = build(combiner.spec)
    twin.restore(combiner.to_bytes())
    assert twin.digest() == combiner.digest()
    assert (
        twin.choose(Utterance("u1", network), 99).memory
        == combiner.choose(Utterance("u1", network), 99).memory
    )


@pytest.mark.parametrize("gain", GAINS, ids=lambda gain: gain["kind"])
@pytest.mark.parametrize("algorithm", NAMES)
def test_every_gain_drives_every_learner(algorithm, gain):
    """What a lesson says was gained is the gain of the shown tokens, window by window, by the definition."""
    from galloon.learners.gains.spec import gain_from_spec

    combiner = build(_spec(algorithm, gain))
    for number in range(5):
        network, truth = _network(8, seed=number)
        decision = combiner.choose(Utterance("u1", network), number)
        lesson = combiner.learn(decision.memory, truth)
        shown = [token.text for token in decision.tokens]
        by_hand = sum(gain_from_spec(gain).utility(shown[w : w + 4], truth.tokens[w : w + 4]) for w in (0, 4))
        assert lesson.gain == pytest.approx(by_hand)
    assert combiner.statistics().rounds_learned == 10
    assert combiner.statistics().regret is not None


@pytest.mark.parametrize("algorithm", ["expanded_hedge", "component_hedge", "perturbed_leader"])
def test_the_best_expert_is_found(algorithm):
    combiner = build(_spec(algorithm))
    for number in range(150):
        network, truth = _network(8, seed=number)
        combiner.learn(combiner.choose(Utterance("u1", network), number).memory, truth)
    network, truth = _network(8, seed=1000)
    shown = [token.text for token in build_best(combiner).choose(Utterance("u1", network), 1).tokens]
    assert shown == list(truth.tokens)


def build_best(combiner):
    """The same learner, but deciding for the most probable path."""
    spec = json.loads(combiner.spec.to_json()) | {"decide": "best"}
    twin = build(CombinerSpec.from_json(json.dumps(spec)))
    twin.restore(combiner.to_bytes())
    return twin


def test_engines_outputs_are_aligned_and_so_is_the_truth():
    combiner = build(_spec("expanded_hedge", derived=("vote",), decide="best", normalizer="basic"))
    texts = {"ann": "call me ishmael", "ben": "call ishmael", "cid": "Call me fishmael"}
    for number in range(30):
        decision = combiner.choose(_utterance(texts), number)
        lesson = combiner.learn(decision.memory, TrueText("Call me Ishmael"))
    assert decision.text == "Call me ishmael"  # the truth has capitals, and somebody wrote this one
    assert lesson.expert_gains == {"ann": 3, "ben": 2, "cid": 2, "vote": 3}


def test_learners_on_windows_want_to_hear_of_every_engine():
    """Silence is an output; absence is refused with the learner that takes it."""
    combiner = build(_spec("expanded_hedge"))
    with pytest.raises(InvalidInput, match=r"'ben' is absent, .* take the algorithm tied"):
        combiner.choose(_utterance({"cid": "a b", "ann": "a b"}), 0)
    assert combiner.choose(_utterance({"cid": "a b", "ben": "", "ann": "a b"}), 0).text


@pytest.mark.parametrize("algorithm", NAMES)
def test_feedback_of_the_wrong_kind_is_refused_and_changes_nothing(algorithm):
    combiner = build(_spec(algorithm))
    network, _ = _network(8)
    decision = combiner.choose(Utterance("u1", network), 0)
    before = combiner.digest()
    wrong = [
        TrueTokens(("w1",)),
        ShownGains((1.0,)),
        Score(float("nan")),
        Score(1e9),
        ShownGains((-1.0,) * 8),
    ]
    for feedback in wrong:
        with pytest.raises(LearnerError):
            combiner.learn(decision.memory, feedback)
    assert combiner.digest() == before


def test_partial_feedback_teaches_those_that_take_it():
    network, _ = _network(4)
    for algorithm in ("semi_bandit", "com_band", "exp3_paths"):
        combiner = build(_spec(algorithm))
        decision = combiner.choose(Utterance("u1", network), 0)
        assert combiner.learn(decision.memory, ShownGains((1.0, 0.0, 1.0, 0.0))).gain == 2.0
        assert combiner.statistics().regret is None
    bandit = build(_spec("com_band"))
    assert bandit.learn(bandit.choose(Utterance("u1", network), 0).memory, Score(3.0)).gain == 3.0
    assert bandit.statistics().regret_estimate is not None
    with pytest.raises(BoundExceeded):
        bandit.learn(bandit.choose(Utterance("u1", network), 0).memory, Score(4.5))


def test_a_score_for_several_windows_is_refused_with_advice():
    combiner = build(_spec("com_band"))
    with pytest.raises(InvalidInput, match="window of at least 8 slots"):
        combiner.learn(combiner.choose(Utterance("u1", _network(8)[0]), 0).memory, Score(1.0))


def test_an_arbitrary_gain_is_a_score():
    combiner = build(_spec("exp3_paths", {"kind": "arbitrary", "bound": 10.0}))
    network, truth = _network(4)
    decision = combiner.choose(Utterance("u1", network), 0)
    assert combiner.learn(decision.memory, Score(7.0)).gain == 7.0
    with pytest.raises(InvalidInput, match="score"):
        combiner.learn(decision.memory, truth)
    with pytest.raises(InvalidInput, match="arbitrary"):
        build(_spec("com_band", {"kind": "arbitrary"}))


@pytest.mark.parametrize("algorithm", NAMES)
def test_an_explicit_automaton_takes_tokens_by_name(algorithm):
    spec = CombinerSpec(automaton=AUTOMATON, algorithm=algorithm, gain={"kind": "ngram", "order": 2})
    combiner = build(spec)
    tokens = NamedTokens({name: name.upper() for name in "abcdefg"})
    for number in range(10):
        decision = combiner.choose(Utterance("u1", tokens), number)
        names = "".join(token.expert for token in decision.tokens)
        assert names in {"acf", "acg", "bdf", "bdg", "aedf", "aedg"}
        lesson = combiner.learn(decision.memory, TrueTokens(("A", "C", "F")))
        assert lesson.gain == {"acf": 2, "acg": 1}.get(names, 0)
    twin = build(spec)
    twin.restore(combiner.to_bytes())
    assert (
        twin.choose(Utterance("u1", tokens), 5).memory == combiner.choose(Utterance("u1", tokens), 5).memory
    )
    if algorithm not in {"exp3_paths", "perturbed_leader"}:
        ending = combiner.game.learner.context.edge_marginals(combiner.game.learner.marginals())[[5, 6]]
        assert ending.sum() == pytest.approx(1.0)  # f and g are the two ways to end
    assert math.isfinite(combiner.statistics().gain)


def test_wrong_observations_say_what_is_needed():
    automaton = build(CombinerSpec(automaton=AUTOMATON, algorithm="expanded_hedge", gain=GAINS[1]))
    with pytest.raises(InvalidInput, match="'g' has no token"):
        automaton.choose(Utterance("u1", NamedTokens(dict.fromkeys("abcdef", "x"))), 0)
    with pytest.raises(InvalidInput, match="no transition 'h'"):
        automaton.choose(Utterance("u1", NamedTokens(dict.fromkeys("abcdefgh", "x"))), 0)
    with pytest.raises(InvalidInput, match="by transition name"):
        automaton.choose(Utterance("u1", _network(4)[0]), 0)
    ensemble = build(_spec("expanded_hedge"))
    with pytest.raises(InvalidInput, match="unknown expert 'zoe'"):
        ensemble.choose(_utterance({"zoe": "x"}), 0)
    with pytest.raises(InvalidInput, match="not tokens by transition name"):
        ensemble.choose(Utterance("u1", NamedTokens({})), 0)


def test_a_forged_memory_is_refused():
    """Of a state that somebody imported: nothing but a LearnerError may come of it."""
    combiner = build(_spec("expanded_hedge"))
    network, truth = _network(4)
    good = combiner.choose(Utterance("u1", network), 0).memory
    before = combiner.digest()
    for forged in (b"", b"x", good[:-1], good[:30], good.replace(b"w1", b"\xff1"), good[4:], good + b"\0"):
        with pytest.raises(LearnerError):
            combiner.learn(forged, truth)
    assert combiner.digest() == before


def test_bombs_are_refused_before_anything_is_built():
    with pytest.raises(BudgetExceeded, match="transitions of A'"):
        build(
            CombinerSpec(
                engines=tuple(f"e{i}" for i in range(64)),
                algorithm="expanded_hedge",
                gain={"kind": "ngram", "order": 40},
                window=4096,
            )
        )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"algorithm": "x"}, "algorithm: 'x' is not one of"),
        ({"engines": []}, "engines: name at least one"),
        ({"engines": ["a", "a"]}, "engines: names must be different"),
        ({"engines": "a"}, "engines: must be a list of strings"),
        ({"window": 0}, "window: 0 slots"),
        ({"window": 1.5}, "window: must be a whole number"),
        ({"learning_rate": -1}, "learning_rate: -1.0 is not a number from 0 to 1000"),
        ({"colour": 1}, "colour: unknown field"),
        ({"setting": "bandit"}, "setting: expanded_hedge learns from full feedback"),
        ({"options": {"bias": 1}}, "options: expanded_hedge has no option 'bias'; it takes tuning"),
        ({"gain": {"kind": "ngram", "order": -1}}, "gain.order"),
    ],
)
def test_a_wrong_spec_names_its_field(wrong, says):
    values = {"engines": ["a", "b"], "algorithm": "expanded_hedge"} | wrong
    with pytest.raises(InvalidInput, match=says.replace(".", r"\.").replace("'", "'")):
        build(CombinerSpec.from_json(json.dumps(values)))


@pytest.mark.parametrize("algorithm", ["expanded_hedge", "exp3_paths"])
@pytest.mark.parametrize("automaton", [False, True])
def test_a_forged_memory_is_not_explained(algorithm, automaton):
    """Whatever the bytes say: an explanation or a sentence, and the state stays as it was."""
    if automaton:
        combiner = build(CombinerSpec(algorithm=algorithm, automaton=AUTOMATON))
        decision = combiner.choose(
            Utterance("u1", NamedTokens({name: name.upper() for name in combiner.experts})), 0
        )
    else:
        combiner = build(_spec(algorithm))
        decision = combiner.choose(Utterance("u1", _network(9)[0]), 0)
    before, random = combiner.digest(), np.random.default_rng(0)
    assert len(combiner.explain(decision.memory, range(99))) == len(decision.tokens)
    refused = 0
    for _ in range(300):
        forged = bytearray(decision.memory)
        forged[int(random.integers(len(forged)))] ^= int(random.integers(1, 256))
        try:
            combiner.explain(bytes(forged), range(99))
        except LearnerError:
            refused += 1
    assert refused > 0
    with pytest.raises(LearnerError):
        combiner.explain(b"", range(1))
    assert combiner.digest() == before


@pytest.mark.parametrize("algorithm", NAMES)
def test_a_window_teaches_the_same_with_its_view_or_read_again(algorithm):
    """The view of a choice saves reading its memory: nothing that is learned or explained depends on it."""
    warm, cold = build(_spec(algorithm)), build(_spec(algorithm))
    for number in range(6):
        network, truth = _network(9)
        choice, same = (
            warm.choose(Utterance("u1", network), number),
            cold.choose(Utterance("u1", network), number),
        )
        assert choice.memory == same.memory
        assert repr(warm.explain(choice.memory, range(9), choice.view)) == repr(
            cold.explain(same.memory, range(9))
        )
        assert warm.learn(choice.memory, truth, choice.view) == cold.learn(same.memory, truth)
    assert warm.digest() == cold.digest()


HEAVY = {"tokens": ["a"], "weight": 1.7e308}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("gain_bound", {"gain_bound": 1e18}),
        ("learning_rate", {"learning_rate": 1e4}),
        ("gain.patterns[0].weight", {"gain": {"kind": "patterns", "patterns": [HEAVY]}}),
        ("gain.bound", {"gain": {"kind": "arbitrary", "bound": 1e200}, "algorithm": "exp3_paths"}),
    ],
)
def test_numbers_that_could_overflow_over_a_life_are_refused(field, values):
    """What a learner would add up must stay finite: else its snapshot could not be read again."""
    with pytest.raises(InvalidInput, match=re.escape(field)):
        build(CombinerSpec(("a", "b"), **{"algorithm": "expanded_hedge", "window": 3, **values}))
