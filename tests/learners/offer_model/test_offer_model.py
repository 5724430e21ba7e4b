"""The scorer: its features and its steps are those of plain dictionaries, and it learns who is right."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.alignment.target import AlignedTarget
from galloon.learners.kernels.offer_features import (
    Language,
    all_offers,
    describe_tokens,
    new_sheet,
    offer_room,
    slot_features,
)
from galloon.learners.offer_model import OfferModel
from galloon.learners.offer_model.characters import CLASSES
from galloon.learners.offer_model.letters import letters_of
from galloon.learners.offer_model.model import OfferModelSettings, label_hashes
from galloon.learners.offers import Offers, TokenPosteriors
from galloon.learners.unit import CHAR, WORD
from tests.reference import offer_features as twin
from tests.reference.offer_model import Model

EXPERTS = ("a", "b", "c")
WORDS = ["", "the", "tho", "them", "cat", "cat.", "c4t", "é|", "catt", "no"]
ROWS = st.lists(st.tuples(*[st.sampled_from(WORDS)] * 3), min_size=1, max_size=5)
LETTERS = ["", "a", "b", ".", " ", "|"]
CHARACTER_ROWS = st.lists(st.tuples(*[st.sampled_from(LETTERS)] * 3), min_size=1, max_size=6)


def network_of(rows, confidences=None, heard=()):
    """heard: for each slot what lattices say of it, {expert: {token: posterior}}."""
    said = {token for slot in heard for tokens in slot.values() for token in tokens}
    vocabulary = ("", *sorted({token for row in rows for token in row if token} | said - {""}))
    ids = {text: i for i, text in enumerate(vocabulary)}
    tokens = np.array([[ids[token] for token in row] for row in rows], dtype=np.int32).reshape(
        -1, len(EXPERTS)
    )
    given_confidences = np.full(tokens.shape, np.nan) if confidences is None else confidences
    network = Offers(EXPERTS, vocabulary, tokens, given_confidences)
    lines = sorted(
        (slot, expert, ids[token], posterior)
        for slot, by_expert in enumerate(heard)
        for expert, said_there in by_expert.items()
        for token, posterior in said_there.items()
    )
    if not lines:
        return network
    *places, posteriors = zip(*lines, strict=True)
    columns = (np.array(column, dtype=np.int32) for column in places)
    return replace(network, posteriors=TokenPosteriors(*columns, np.array(posteriors)))


def heard_of(slots, words):
    """Strategy: what the lattices of experts say of each slot, always of null too, tokens in order."""
    said = st.dictionaries(st.sampled_from(words), st.floats(0, 1), max_size=3)
    complete = said.map(lambda tokens: dict(sorted({"": 0.25, **tokens}.items())))
    by_expert = st.dictionaries(st.integers(0, 2), complete, max_size=2)
    return st.lists(by_expert.map(lambda d: dict(sorted(d.items()))), min_size=slots, max_size=slots)


def target_of(network, texts):
    ids = {text: i for i, text in enumerate(network.vocabulary)}
    numbers = np.array([ids.setdefault(text, len(ids)) for text in texts], dtype=np.int32)
    return AlignedTarget(numbers, tuple(ids), 0, 0, sum(1 for text in texts if text))


def kernel_features(scorer, network, labels, slot):
    page = scorer._page(network, labels, letters_of(network.vocabulary))
    assert page.ids.tolist() == [0, 1, 2]
    room = offer_room(page)
    offers, support = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    count = all_offers(page, slot, offers, support)
    sheet = new_sheet(page)
    language = Language(*scorer._language.view)
    traits, spelled = describe_tokens(page, language, CLASSES)
    slot_features(page, language, CLASSES, traits, spelled, slot, offers, support, count, sheet)
    found = [
        [
            (*sheet.features[n].tolist(), float(sheet.values[n]))
            for n in range(sheet.ends[o], sheet.ends[o + 1])
        ]
        for o in range(count)
    ]
    return [network.vocabulary[token] for token in offers[:count]], found, page


@pytest.mark.parametrize("unit", [WORD, CHAR])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_features_are_those_of_plain_strings(unit, data):
    rows_of = ROWS if unit is WORD else CHARACTER_ROWS
    scorer, reader = OfferModel(EXPERTS, unit), twin.Reader(unit)
    for rows in data.draw(st.lists(rows_of, max_size=3)):
        network = network_of(rows)
        texts = [row[0] for row in rows]
        scorer.learn_target(network, {}, target_of(network, texts))
        reader.read([text for text in texts if text])
    rows = data.draw(rows_of)
    labels = data.draw(st.sampled_from([{}, {"domain": "fax"}]))
    heard = data.draw(heard_of(len(rows), WORDS if unit is WORD else LETTERS))
    network = network_of(rows, heard=heard)
    for slot in range(len(rows)):
        if len(set(rows[slot])) == 1:
            continue
        offers, found, page = kernel_features(scorer, network, labels, slot)
        expected_offers, expected = twin.features(
            rows,
            slot,
            page.buckets.tolist(),
            page.trust.tolist(),
            list(label_hashes(labels)),
            reader,
            heard[slot],
        )
        assert offers == expected_offers
        for mine, theirs in zip(found, expected, strict=True):
            mine_by = {feature[:3]: feature[3] for feature in mine}
            theirs_by = {feature[:3]: feature[3] for feature in theirs}
            assert len(mine) == len(mine_by)
            assert mine_by.keys() == theirs_by.keys()
            for key, value in theirs_by.items():
                assert mine_by[key] == pytest.approx(value, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(rounds=st.lists(st.tuples(ROWS, st.integers(0, 2), st.sampled_from(["truth", "shown"])), max_size=6))
def test_steps_are_those_of_plain_dictionaries(rounds):
    """Scores, gradient steps and the mixture of rates, for the truth as for part of it."""
    scorer = OfferModel(EXPERTS, WORD)
    model = Model(OfferModelSettings().rates)
    for rows, teacher, kind in rounds:
        network = network_of(rows)
        scored = scorer.score(network, {})
        sheets = {}
        for slot, row in enumerate(rows):
            if len(set(row)) > 1:
                _, found, _ = kernel_features(scorer, network, {}, slot)
                sheets[slot] = found
                assert scored.probabilities[slot, : len(found)] == pytest.approx(
                    model.probabilities(found), rel=1e-4
                )
            else:
                assert scored.probabilities[slot].tolist() == [1.0, 0.0, 0.0]
        texts = [row[teacher] for row in rows]
        target = target_of(network, texts)
        if kind == "truth":
            scorer.learn_target(network, {}, target)
        else:
            gains = np.array([(slot % 3) / 2 for slot in range(len(rows))])
            scorer.learn_shown(network, {}, target.tokens, gains)
        for slot, found in sheets.items():
            which = twin.offers_of(rows[slot]).index(texts[slot])
            model.learn(found, which, 1.0 if kind == "truth" else (slot % 3) / 2)


def test_a_token_nobody_offers_teaches_nothing_but_its_spelling():
    scorer = OfferModel(EXPERTS, WORD)
    network = network_of([("cat", "the", "no")])
    before = scorer.score(network, {}).probabilities.copy()
    scorer.learn_target(network, {}, target_of(network, ["unheard"]))
    weights = scorer._features.columns["weights"]
    assert not weights.any()
    assert before.argmax() == scorer.score(network, {}).probabilities.argmax()


def test_it_begins_as_a_vote():
    scored = OfferModel(EXPERTS, WORD).score(network_of([("cat", "the", "the"), ("", "no", "")]), {})
    assert [int(token) for token in scored.best] == [3, 0]


@pytest.mark.parametrize("kind", ["truth", "shown"])
def test_it_learns_whom_to_trust(kind):
    """Expert c is always right, against two that agree; after a while it is believed."""
    scorer = OfferModel(EXPERTS, WORD)
    rng = np.random.default_rng(1)
    right = 0
    for round_number in range(200):
        wrong, true = rng.choice(WORDS[1:], 2, replace=False)
        network = network_of([(wrong, wrong, true)])
        best = scorer.score(network, {}).best
        if round_number >= 100:
            right += network.vocabulary[best[0]] == true
        if kind == "truth":
            scorer.learn_target(network, {}, target_of(network, [true]))
        else:
            gain = float(network.vocabulary[best[0]] == true)
            scorer.learn_shown(network, {}, best, np.array([gain]))
    assert right >= 95


def test_confidences_are_compared_with_the_same_experts_alone():
    """Expert a is right when its confidence is high for it, whatever the scale."""
    scorer = OfferModel(EXPERTS, WORD)
    rng = np.random.default_rng(2)
    right = 0
    for round_number in range(600):
        sure = rng.random()
        true, wrong = ("cat", "the") if sure > 0.5 else ("the", "cat")
        confidences = np.array([[1000 + sure, np.nan, 0.3]])
        network = network_of([("cat", "the", "the")], confidences)
        best = network.vocabulary[scorer.score(network, {}).best[0]]
        right += round_number >= 300 and best == true
        assert wrong != true
        scorer.learn_target(network, {}, target_of(network, [true]))
    assert right >= 260


NOISE = ["".join(np.random.default_rng(n).choice(list("qxzwk"), 4)) for n in range(40)]


@pytest.mark.parametrize("kind", ["copy", "silent", "noise"])
def test_who_adds_nothing_is_left_out_and_comes_back(kind):
    """The third expert repeats the first, or says nothing, or is never right; later it is always right."""
    rng = np.random.default_rng(8)
    scorer = OfferModel(EXPERTS, WORD)

    def teach(third_is_right):
        one, two, true = rng.choice(WORDS[1:], 3, replace=False)
        useless = {"copy": one, "silent": "", "noise": rng.choice(NOISE)}[kind]
        network = network_of([(one, two, true if third_is_right else useless)])
        truth = true if third_is_right else (one, two)[rng.integers(2)]
        scorer.learn_target(network, {}, target_of(network, [truth]))
        return scorer.score(network, {}).columns.tolist()

    assert teach(third_is_right=False) == [0, 1, 2]
    for _ in range(200):
        listened_to = teach(third_is_right=False)
    assert listened_to == [0, 1]
    for _ in range(20):
        listened_to = teach(third_is_right=True)
    assert listened_to == [0, 1, 2]


def test_labels_tell_apart():
    scorer = OfferModel(EXPERTS, WORD)
    network = network_of([("cat", "the", "")])
    for _ in range(50):
        scorer.learn_target(network, {"domain": "fax"}, target_of(network, ["cat"]))
        scorer.learn_target(network, {"domain": "print"}, target_of(network, ["the"]))
    assert network.vocabulary[scorer.score(network, {"domain": "fax"}).best[0]] == "cat"
    assert network.vocabulary[scorer.score(network, {"domain": "print"}).best[0]] == "the"


def test_state_goes_out_and_in_to_the_bit():
    one, other = OfferModel(EXPERTS, WORD), OfferModel(EXPERTS, WORD)
    rng = np.random.default_rng(3)
    for _ in range(60):
        network = network_of([tuple(rng.choice(WORDS, 3)) for _ in range(4)], rng.random((4, 3)))
        one.learn_target(
            network, {}, target_of(network, [network.vocabulary[t] for t in network.tokens[:, 1]])
        )
    other.restore(one.arrays())
    for _ in range(5):
        network = network_of([tuple(rng.choice(WORDS, 3)) for _ in range(4)], rng.random((4, 3)))
        assert (
            one.score(network, {}).probabilities.tolist() == other.score(network, {}).probabilities.tolist()
        )
        target = target_of(network, [network.vocabulary[t] for t in network.tokens[:, 0]])
        one.learn_target(network, {}, target)
        other.learn_target(network, {}, target)
    for name, array in one.arrays().items():
        assert array.tobytes() == other.arrays()[name].tobytes(), name


def test_tables_stay_within_their_limits_and_go_on_working():
    scorer = OfferModel(EXPERTS, WORD, OfferModelSettings(feature_limit=256, language_limit=256))
    rng = np.random.default_rng(4)
    for _ in range(300):
        words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(3)]
        network = network_of([tuple(words)])
        scorer.learn_target(network, {}, target_of(network, words[:1]))
        assert np.isfinite(scorer.score(network, {}).probabilities).all()
    assert scorer.state_bytes <= 256 * (4 + 32) + 256 * (4 + 8)


def test_explanation_adds_up_and_speaks():
    scorer = OfferModel(EXPERTS, WORD)
    network = network_of([("cat", "c4t", ""), ("no", "no", "no")])
    for _ in range(5):
        scorer.learn_target(network, {"domain": "fax"}, target_of(network, ["cat", "no"]))
    slot, agreed = scorer.explain(network, {"domain": "fax"}, range(2), 999)
    assert [(offer.text, offer.reasons) for offer in agreed.offers] == [("no", ())]
    best = slot.offers[0]
    assert best.text == "cat"
    assert best.experts == ("a",)
    assert best.score == pytest.approx(sum(reason.part for reason in best.reasons))
    (few,) = scorer.explain(network, {"domain": "fax"}, range(1), 3)
    assert (few.offers[0].score, few.offers[0].reasons) == (best.score, best.reasons[:3])
    parts = [abs(reason.part) for reason in best.reasons]
    assert parts == sorted(parts, reverse=True)
    phrases = " ".join(reason.phrase for offer in slot.offers for reason in offer.reasons)
    for phrase in (
        "offered by {a}",
        "a is for",
        "domain=fax",
        "best spelled offer",
        "'a' instead of '4'",
        "shape a9a",
    ):
        assert phrase in phrases
