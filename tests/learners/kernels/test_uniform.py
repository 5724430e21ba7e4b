"""The uniform kernel against its slow twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.kernels.uniform import uniforms
from tests.reference.uniform import mix
from tests.reference.uniform import uniforms as slow_uniforms

WORDS = st.integers(0, 2**64 - 1)


@settings(deadline=None, max_examples=200)
@given(WORDS, WORDS, st.integers(0, 20))
def test_the_kernel_draws_what_its_twin_draws(seed, number, count):
    assert uniforms(np.uint64(seed), np.uint64(number), count).tolist() == slow_uniforms(seed, number, count)


def test_the_mixer_is_splitmix64():
    """The first outputs of the published generator for seed 1234567."""
    golden = 0x9E3779B97F4A7C15
    outputs = [mix((1234567 + (i + 1) * golden) % 2**64) for i in range(3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]
