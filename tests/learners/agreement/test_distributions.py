"""Engines that offer distributions: heard by what they say in expectation, as the slow twin has it."""

from dataclasses import replace

import numpy as np
import pytest

from galloon.learners.agreement import AgreementModel
from galloon.learners.agreement.model import FIRST_NULL, FIRST_RATES
from galloon.learners.kernels.agreement import take_part
from galloon.learners.offers import Offers, TokenPosteriors
from galloon.learners.unit import WORD
from tests.learners.agreement.test_model import ENGINES, lines, offers
from tests.reference import agreement_model as slow

Heard = dict[tuple[int, str], dict[str, float]]


def with_distributions(line: Offers, heard: Heard) -> Offers:
    vocabulary = list(line.vocabulary)
    for chances in heard.values():
        vocabulary += [word for word in chances if word not in vocabulary]
    rows = sorted(
        (slot, line.experts.index(name), vocabulary.index(word), chance)
        for (slot, name), chances in heard.items()
        for word, chance in chances.items()
    )
    columns = [np.array(column, dtype=np.int32) for column in zip(*(row[:3] for row in rows), strict=True)]
    posteriors = TokenPosteriors(*columns, np.array([row[3] for row in rows]))
    return replace(line, vocabulary=tuple(vocabulary), posteriors=posteriors)


def test_the_kernel_hears_distributions_as_its_slow_twin_does() -> None:
    draw = np.random.default_rng(3)
    for plain in lines(40):
        heard: Heard = {}
        for slot in range(plain.slot_count):
            for name in draw.choice(ENGINES, 2, replace=False):
                own = plain.vocabulary[plain.tokens[slot, ENGINES.index(name)]]
                words = dict.fromkeys([own, "", str(draw.choice(plain.vocabulary)), "elsewhere"])
                shares = draw.dirichlet(np.ones(len(words) + 1))  # the last share is nobody's
                heard[slot, str(name)] = dict(zip(words, shares.tolist(), strict=False))
        line = with_distributions(plain, heard)
        model = AgreementModel(ENGINES, WORD)
        present = take_part(line.tokens, np.ones(4, dtype=np.bool_))
        slots = [
            {name: line.vocabulary[line.tokens[i, j]] for j, name in enumerate(ENGINES) if present[i, j]}
            for i in range(line.slot_count)
        ]
        weighed = model.weigh(line)
        ratios, log_ratios = {}, np.log(model._classes / model._classes.sum(axis=0))
        for number, text in enumerate(line.vocabulary):
            kind = weighed.line[5][number]
            if kind >= 0:
                ratios[text] = float(log_ratios[kind, 0] - log_ratios[kind, 1])
        rates = dict.fromkeys(ENGINES, FIRST_RATES.tolist())
        null = (float(FIRST_NULL[0]), float(FIRST_NULL[1]))
        expected = slow.posteriors(slots, rates, null, ratios, [{}] * len(slots), heard)
        for i, chances in enumerate(expected):
            for j in range(4):
                wanted = chances.get(line.vocabulary[line.tokens[i, j]], 0.0)
                assert weighed.posteriors[i, j] == pytest.approx(wanted, abs=1e-9)


def test_a_token_with_all_of_the_probability_is_one_token() -> None:
    for line in lines(20):
        plain = AgreementModel(ENGINES, WORD).weigh(line)
        said = {
            (slot, name): {line.vocabulary[line.tokens[slot, j]]: 1.0}
            for slot in range(line.slot_count)
            for j, name in enumerate(ENGINES)
        }
        heard = AgreementModel(ENGINES, WORD).weigh(with_distributions(line, said))
        np.testing.assert_allclose(heard.posteriors, plain.posteriors, atol=1e-12)


def test_one_who_doubts_yields_to_one_who_is_sure() -> None:
    line = offers([["same", "same"], ["cat", "cut"], ["same", "same"]], ("a", "b"))
    for sure, doubts in (("a", "b"), ("b", "a")):
        said = {"a": "cat", "b": "cut"}
        heard: Heard = {
            (1, sure): {said[sure]: 0.95, "": 0.0},
            (1, doubts): {said[doubts]: 0.5, said[sure]: 0.4, "": 0.0},
        }
        weighed = AgreementModel(("a", "b"), WORD).weigh(with_distributions(line, heard))
        assert line.vocabulary[weighed.best[1]] == said[sure]


def test_the_order_of_engines_does_not_matter() -> None:
    line = lines(1, seed=5)[0]
    heard: Heard = {(0, "a"): {"x": 0.6, "": 0.4}, (0, "c"): {"x": 0.1, "": 0.2}}
    given = with_distributions(line, heard)
    order = ("c", "a", "d", "b")
    columns = [ENGINES.index(name) for name in order]
    turned = with_distributions(
        replace(
            line, experts=order, tokens=line.tokens[:, columns], confidences=line.confidences[:, columns]
        ),
        heard,
    )
    one = AgreementModel(ENGINES, WORD).weigh(given).posteriors
    other = AgreementModel(order, WORD).weigh(turned).posteriors
    np.testing.assert_array_equal(one[:, columns], other)
