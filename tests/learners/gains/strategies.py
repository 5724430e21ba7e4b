"""Random gains, tokens and rounds for property tests."""

from hypothesis import strategies as st

from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.patterns import PatternGain
from galloon.learners.gains.regex import RegexGain

TOKENS = st.sampled_from(["a", "b", "c", ""])
PATTERNS = st.dictionaries(
    st.lists(TOKENS, min_size=1, max_size=3).map(tuple),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    min_size=1,
    max_size=6,
)
DISCOUNTS = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
LENGTHS = st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True).map(tuple)
EXPRESSIONS = ["a", "a b | b a", "a (b|c){1,2}", 'a? b{2} | ""', "(a b){1,2} c?"]

count_gains = st.one_of(
    st.builds(NgramGain, st.integers(1, 4), st.booleans()),
    st.builds(PatternGain, PATTERNS, st.booleans()),
    st.builds(RegexGain, st.sampled_from(EXPRESSIONS), st.sampled_from([1.0, 2.0]), st.booleans()),
    st.builds(
        GappyGain, lengths=LENGTHS, discount=DISCOUNTS, max_gap=st.integers(0, 2), count_nulls=st.booleans()
    ),
    st.builds(
        GappyGain, patterns=PATTERNS, discount=DISCOUNTS, max_gap=st.integers(0, 2), count_nulls=st.booleans()
    ),
)


def sequences(longest=6):
    return st.lists(TOKENS, max_size=longest)


def outputs_of(expert):
    return st.lists(TOKENS, min_size=expert.edge_count, max_size=expert.edge_count)
