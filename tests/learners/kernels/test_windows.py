"""All windows at once do what one window after the other does, to the bit where it can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.automata.context import Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.slot_match import SlotMatch
from galloon.learners.kernels import windows
from tests.reference import windows as obvious

GAINS = st.sampled_from(
    [
        NgramGain(1),
        NgramGain(2),
        NgramGain(2, count_nulls=True),
        NgramGain(3),
        GappyGain(lengths=(2,), discount=0.5, max_gap=1),
        GappyGain(lengths=(1, 3), discount=0.25, max_gap=2),
        SlotMatch(),
    ]
)


@st.composite
def contexts(draw, gain=None):
    slots = draw(st.integers(3, 6))
    reach = gain.reach if gain else Reach(draw(st.integers(1, 2)), draw(st.integers(2, 3)))
    return EnsembleContext(
        Ensemble(draw(st.integers(1, 3)), slots), Reach(reach.shortest, min(reach.span, slots))
    )


@given(contexts(), st.integers(0, 2**63 - 1), st.integers(0, 2**40), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_draws_are_those_of_single_rounds(context, seed, first, count):
    scores = np.random.default_rng(seed % 1000).random(context.transition_count)
    pushed = context.push(0.7 * scores)
    edges = np.empty((count, context.longest_path), dtype=np.int32)
    paths, logs = np.empty((count, context.expert.slots), dtype=np.int32), np.empty(count)
    windows.draw(
        pushed.flows,
        scores,
        0.7,
        pushed.log_total,
        *context.layout,
        np.uint64(seed),
        np.uint64(first),
        edges,
        paths,
        logs,
    )
    wanted = obvious.draws(context, pushed.flows, scores, 0.7, pushed.log_total, seed, first, count)
    assert [row[:2] for row in wanted] == list(zip(edges.tolist(), paths.tolist(), strict=True))
    assert logs == pytest.approx([row[2] for row in wanted], abs=1e-12)


@given(contexts(), st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_marginals_are_sums_of_flows(context, seed):
    flows = context.push(np.random.default_rng(seed).normal(size=context.transition_count)).flows
    law = context.slot_marginals(flows)
    assert law == pytest.approx(obvious.marginals(context, flows), abs=1e-12)
    assert law.sum(axis=1) == pytest.approx(np.ones(len(law)))


@given(contexts(), st.data())
@settings(deadline=None, max_examples=60)
def test_only_paths_are_paths_and_sums_are_along_them(context, data):
    drawn = context.sample(
        context.push(np.zeros(context.transition_count)).flows, np.full(context.longest_path, 0.3)
    )
    edges = np.array([drawn, drawn], dtype=np.int32)
    place = data.draw(st.integers(0, edges.size - 1))
    edges.flat[place] = data.draw(st.integers(-2, context.transition_count + 1))
    ends, sink = context.source_targets(), context.state_count - 1
    wanted = all(obvious.is_path(row, *ends, sink) for row in edges.tolist())
    values, sums = np.random.default_rng(place).random((2, context.transition_count)), np.empty(2)
    assert windows.path_sums(values, edges, *ends, sink, sums) == wanted
    if wanted:
        assert sums.tolist() == [sum(row[path].tolist()) for row, path in zip(values, edges, strict=True)]
    assert not windows.path_sums(values, edges[:, :0].copy(), *ends, sink, sums)


@given(st.data(), GAINS)
@settings(deadline=None, max_examples=120)
def test_gains_of_windows_are_those_of_each_window(data, gain):
    context = data.draw(contexts(gain))
    slots, experts = context.expert.slots, context.expert.experts
    total = data.draw(st.integers(1, 3 * slots))
    words = st.integers(0, 3)
    tokens = np.array(
        data.draw(
            st.lists(st.lists(words, min_size=experts, max_size=experts), min_size=total, max_size=total)
        ),
        dtype=np.int32,
    )
    truth = np.array(data.draw(st.lists(st.integers(0, 5), min_size=total, max_size=total)), dtype=np.int32)
    count = -(-total // slots)
    gains, largest = gain.window_gains(context, tokens, truth, count)
    assert (gains == obvious.window_gains(gain, context, tokens, truth, count)).all()
    assert 0 <= gains.min() <= gains.max() <= largest


@given(contexts(), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_tokens_are_those_of_the_paths_with_all_who_offer_them(context, count, random):
    slots, r = context.expert.slots, context.expert.experts
    total = random.randint(1, count * slots)
    tokens = np.array([[random.randint(0, 2) for _ in range(r)] for _ in range(total)], dtype=np.int32)
    paths = np.array(
        [[s * r + random.randrange(r) for s in range(slots)] for _ in range(count)], dtype=np.int32
    )
    law = np.random.default_rng(total).random((slots, r))
    experts, chosen = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    mass = np.empty(total)
    windows.choose_tokens(paths, tokens, law, experts, chosen, mass)
    wanted = obvious.chosen(paths.ravel()[:total], tokens, law)
    assert list(zip(experts.tolist(), chosen.tolist(), mass.tolist(), strict=True)) == wanted


@given(st.integers(0, 9), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_matches_are_counted_by_expert(slots, experts, random):
    tokens = np.array([[random.randint(0, 2) for _ in range(experts)] for _ in range(slots)], dtype=np.int32)
    tokens = tokens.reshape(slots, experts)
    truth = np.array([random.randint(0, 2) for _ in range(slots)], dtype=np.int32)
    matches = np.empty(experts)
    windows.count_matches(tokens, truth, matches)
    assert matches.tolist() == [(column == truth).sum() for column in tokens.T]
