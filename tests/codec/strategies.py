"""Values that the wire carries, and their comparison."""

import numpy as np
from hypothesis import strategies as st

from galloon.codec.lattice import LARGEST
from galloon.learners.combiners.spec import DERIVED_NAMES
from galloon.learners.observation import ArcScores, ExpertOutput, Hypothesis, Lattice, Utterance, Word
from galloon.learners.offers import Offers

# Texts as the wire carries them: no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
doubles = st.floats(allow_nan=False, allow_infinity=False)
of_lattices = st.floats(-LARGEST, LARGEST)  # what is beyond comes back as the limit
names = st.lists(
    words.filter(lambda name: name.isprintable() and name not in DERIVED_NAMES),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def networks(draw):
    experts = tuple(draw(names))
    slots = draw(st.integers(1, 5))
    columns = [[draw(texts) for _ in range(slots)] for _ in experts]
    vocabulary = tuple(dict.fromkeys(["", *(token for column in columns for token in column)]))
    tokens = np.array(
        [[vocabulary.index(token) for token in row] for row in zip(*columns, strict=True)], np.int32
    )
    confidences = np.full(tokens.shape, np.nan)
    for column in range(len(experts)):
        if draw(st.booleans()):
            confidences[:, column] = [draw(floats | st.just(float("nan"))) for _ in range(slots)]
    return Offers(experts, vocabulary, tokens, confidences)


@st.composite
def spoken(draw):
    timed = draw(st.tuples(st.booleans(), st.booleans()))
    return Word(
        draw(words),
        draw(st.none() | floats),
        draw(floats) if timed[0] else None,
        draw(floats) if timed[1] else None,
    )


lattices = st.builds(
    lambda score, word, times, parts: Lattice(
        3,
        0,
        (2,),
        np.array([0, 1], np.int32),
        np.array([1, 2], np.int32),
        (word, ""),
        np.array([score, 0.0]),
        times,
        parts,
    ),
    of_lattices,
    texts,
    st.none() | st.lists(of_lattices, min_size=3, max_size=3).map(np.array),
    st.none()
    | st.builds(
        lambda acoustic, acoustic_scale, language_scale: ArcScores(
            np.array(acoustic), acoustic_scale=acoustic_scale, language_scale=language_scale
        ),
        st.lists(of_lattices, min_size=2, max_size=2),
        st.floats(1e-6, 1e6),
        st.floats(1e-6, 1e6),
    ),
)
hypotheses = st.builds(
    Hypothesis,
    st.lists(st.builds(Word, words, st.none() | floats), max_size=3).map(tuple),
    st.none() | doubles,
)


@st.composite
def utterances(draw):
    outputs = tuple(
        ExpertOutput(
            name,
            tuple(draw(st.lists(spoken(), max_size=3))),
            draw(st.none() | floats),
            tuple(draw(st.lists(hypotheses, max_size=2))),
            draw(st.none() | lattices),
        )
        for name in draw(names)
    )
    labels = draw(st.dictionaries(words, texts, max_size=3))
    return Utterance("id", outputs, None, labels)


def same(a, b):
    """Equality that looks into arrays, where NaN equals itself."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    if hasattr(a, "__slots__") and not isinstance(a, str):
        return type(a) is type(b) and all(same(getattr(a, n), getattr(b, n)) for n in a.__slots__)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b
