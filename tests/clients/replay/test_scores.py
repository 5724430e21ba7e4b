"""The numbers of a replay against slow and obvious ones, and against the figures that come with the sample."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.curve_plot import LABEL_GAP, label_places
from galloon.clients.replay.curves import Curve, LearningCurves, cumulative, fifths, rolling
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.evaluation.error_rate import ErrorCounts, total, word_errors
from galloon.learners.observation import ExpertOutput, Utterance, Word
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD
from tests.clients.replays import told

# WER and CER of every engine, as measured when the samples were made.
PUBLISHED = {
    ocr_sample: {
        "tess_eng": (7.49, 2.11), "tess_bin": (8.51, 3.01), "tess_deu": (11.77, 3.01), "rapidocr": (32.4, 8.6),
        "tess_legacy": (32.9, 22.1), "ocrad": (74.0, 40.4), "gocr": (80.4, 50.8),
    },
    asr_sample: {
        "moonshine_base": (20.1, 9.3), "moonshine_tiny": (27.3, 13.3), "ps_dom": (56.0, 33.4),
        "ps_gen": (58.3, 33.6), "ps_fast": (78.8, 54.3),
    },
}  # fmt: skip
COUNTS = st.lists(
    st.builds(
        ErrorCounts,
        st.integers(0, 5),
        st.integers(0, 5),
        st.integers(0, 5),
        reference_length=st.integers(0, 20),
    ),
    min_size=1,
    max_size=40,
)
TEXTS = st.lists(st.sampled_from("a b c d".split()), max_size=5)


@pytest.mark.parametrize("sample", PUBLISHED, ids=["ocr", "asr"])
def test_the_engines_have_the_error_rates_that_come_with_the_sample(sample):
    rule = "basic" if sample is ocr_sample else "basic-speech"
    systems = told("score", sample(), "--normalizer", rule)["systems"]
    for name, (wer, cer) in PUBLISHED[sample].items():
        digits = 0.006 if wer in {7.49, 8.51, 11.77} else 0.06
        assert systems[name]["wer"] == pytest.approx(wer, abs=digits)
        assert systems[name]["cer"] == pytest.approx(cer, abs=digits)


@settings(deadline=None, max_examples=60)
@given(COUNTS, st.integers(1, 50))
def test_curves_are_the_rates_of_what_they_look_back_on(counts, window):
    for at in range(len(counts)):
        assert cumulative(counts)[at] == pytest.approx(total(counts[: at + 1]).rate)
        assert rolling(counts, window)[at] == pytest.approx(
            total(counts[max(0, at + 1 - window) : at + 1]).rate
        )
    size = max(1, len(counts) // 5)
    assert fifths(counts).first == total(counts[:size]).rate
    assert fifths(counts).last == total(counts[-size:]).rate


@settings(deadline=None, max_examples=80)
@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_no_way_through_the_slots_is_closer_to_the_truth_than_the_oracle(said, target):
    outputs = tuple(ExpertOutput(f"e{j}", tuple(map(Word, words))) for j, words in enumerate(said))
    utterance = Utterance("u", outputs, " ".join(target))
    (found,) = baselines([utterance], WORD, normalizer("basic"), seed=1)
    best = word_errors(" ".join(target), found.oracle).errors
    for text in (found.vote, found.uniform, *(output.text for output in outputs)):
        assert best <= word_errors(" ".join(target), text).errors


def test_the_blind_choice_depends_on_its_seed_alone():
    outputs = tuple(ExpertOutput(f"e{j}", (Word(f"w{j}"),) * 9) for j in range(3))
    texts = [
        baselines([Utterance("u", outputs, "w0")], WORD, normalizer("none"), seed)[0].uniform
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, 20), min_size=1, max_size=9))
def test_names_beside_a_plot_keep_their_distance(ends):
    curves = tuple(Curve(f"c{n}", np.array([end]), np.array([end])) for n, end in enumerate(ends))
    drawn = LearningCurves(1, 0, 20.0, curves, {})
    places = [at for _, at in label_places(drawn, "rolling")]
    assert len(places) == len(ends)
    assert all(high - low >= LABEL_GAP * 20 - 1e-9 for low, high in pairwise(places))
