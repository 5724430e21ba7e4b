"""The codec: to the wire and back gives the same values; fingerprints name content."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.codec import answers
from galloon.daemon.codec import spec as spec_codec
from galloon.daemon.codec.feedback import feedback_from_wire, feedback_to_wire
from galloon.daemon.codec.spec import spec_from_wire, spec_to_wire
from galloon.daemon.codec.utterance import fingerprint, observation_from_wire, observation_to_wire
from galloon.daemon.errors import Invalid
from galloon.daemon.limits import Limits
from galloon.learners.combiners.contract import (
    NamedTokens,
    Score,
    ShownGains,
    Statistics,
    TrueText,
    TrueTokens,
)
from galloon.learners.combiners.spec import ALGORITHMS, DECISIONS, DERIVED, CombinerSpec
from galloon.learners.observation import ExpertOutput, Hypothesis, Lattice, Utterance, Word
from galloon.learners.offers import Offers
from galloon.learners.unit import UNITS
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

LIMITS = Limits()
# Texts as the wire carries them: no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
doubles = st.floats(allow_nan=False, allow_infinity=False)
names = st.lists(
    words.filter(lambda name: name.isprintable() and name not in DERIVED), min_size=1, max_size=4, unique=True
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
    lambda score, word, times: Lattice(
        3,
        0,
        (2,),
        np.array([0, 1], np.int32),
        np.array([1, 2], np.int32),
        (word, ""),
        np.array([score, 0.0]),
        times,
    ),
    doubles,
    texts,
    st.none() | st.lists(doubles, min_size=3, max_size=3).map(np.array),
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


@settings(deadline=None, max_examples=60)
@given(networks())
def test_slots_survive_the_wire(network):
    """Also when the offers come in another order than the experts."""
    message = observation_to_wire(network, "id")
    assert same(observation_from_wire(message, network.experts, LIMITS), network)
    message.slots.offers.sort(key=lambda offer: offer.expert)
    back = observation_from_wire(message, network.experts, LIMITS)
    assert same(back, network)


@settings(deadline=None, max_examples=60)
@given(utterances())
def test_engines_outputs_survive_the_wire(utterance):
    """Words, n-best lists, lattices, labels; a number that was not given is not given after."""
    experts = tuple(output.name for output in utterance.outputs)
    back = observation_from_wire(observation_to_wire(utterance, "id"), experts, LIMITS)
    assert same(back, utterance)


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(words, texts, max_size=5))
def test_tokens_by_name_survive_the_wire(tokens):
    """In whatever order."""
    named = NamedTokens(tokens)
    assert observation_from_wire(observation_to_wire(named, "id"), (), LIMITS) == named


@settings(deadline=None, max_examples=60)
@given(
    st.builds(TrueText, texts)
    | st.builds(TrueTokens, st.lists(texts).map(tuple))
    | st.builds(ShownGains, st.lists(doubles).map(tuple))
    | st.builds(Score, doubles)
)
def test_feedback_survives_the_wire(feedback):
    """All four kinds, to the bit."""
    assert feedback_from_wire(feedback_to_wire(feedback, "id")) == feedback


patterns = st.lists(
    st.fixed_dictionaries({"tokens": st.lists(texts, min_size=1, max_size=3)}, optional={"weight": doubles}),
    min_size=1,
    max_size=3,
)
nulls = {"count_nulls": st.just(True)}
gains = st.one_of(
    st.just({"kind": "slot_match"}),
    st.fixed_dictionaries({"kind": st.just("ngram"), "order": st.integers(1, 9)}, optional=nulls),
    st.fixed_dictionaries({"kind": st.just("patterns"), "patterns": patterns}, optional=nulls),
    st.fixed_dictionaries(
        {"kind": st.just("regex"), "expression": texts}, optional={"weight": doubles, **nulls}
    ),
    st.fixed_dictionaries(
        {"kind": st.just("gappy"), "lengths": st.lists(st.integers(1, 5), min_size=1, max_size=2)},
        optional={"discount": doubles, "max_gap": st.integers(0, 9), **nulls},
    ),
    st.fixed_dictionaries({"kind": st.just("arbitrary")}, optional={"bound": doubles}),
)
positive = st.floats(0, 1e6)
specs = st.builds(
    CombinerSpec,
    experts=names.map(tuple),
    algorithm=st.sampled_from(sorted(ALGORITHMS)),
    gain=gains,
    setting=st.sampled_from(["", "full", "semi", "bandit"]),
    unit=st.sampled_from(sorted(UNITS)),
    normalizer=words,
    window=st.integers(1, 4096),
    automaton=texts,
    derived=st.lists(st.sampled_from(DERIVED), max_size=2, unique=True).map(tuple),
    labels=st.lists(words, max_size=2).map(tuple),
    horizon=st.integers(0, 2**63 - 1),
    learning_rate=positive,
    gain_bound=positive,
    decide=st.sampled_from(DECISIONS),
    seed=st.integers(0, 2**63 - 1),
    options=st.dictionaries(words, doubles | texts, max_size=3),
)


@settings(deadline=None, max_examples=100)
@given(specs)
def test_specs_survive_the_wire(spec):
    """Every field, every gain, with defaults filled in once and then the same."""
    assert spec_from_wire(spec_to_wire(spec), LIMITS, "spec") == spec


def test_every_name_of_the_library_has_a_number_on_the_wire():
    """An algorithm that the library gains must get one, or this fails."""
    assert set(spec_codec.ALGORITHMS.values()) == set(ALGORITHMS)
    assert set(spec_codec.UNITS.values()) == set(UNITS)
    assert set(spec_codec.DECISIONS.values()) == set(DECISIONS)


def test_fingerprints_follow_content_not_order():
    """The same labels in another order are the same utterance; another token is another one."""
    labels = {f"l{number}": str(number) for number in range(10)}
    one = utterance_pb2.Utterance(id="x", labels=labels)
    two = utterance_pb2.Utterance(id="x", labels=dict(reversed(labels.items())))
    assert fingerprint(one) == fingerprint(two)
    assert fingerprint(one) != fingerprint(utterance_pb2.Utterance(id="x", labels={**labels, "l0": "1"}))


def test_a_repeated_answer_says_so_and_is_otherwise_the_same():
    """For both kinds of answer."""
    for answer in (
        wire.CombineResponse(choice=wire.Choice(id="x", text="a")),
        wire.CombineResponse(learned=wire.Learned(id="x", gain=1)),
    ):
        again = wire.CombineResponse.FromString(answers.repeated(answer.SerializeToString()))
        part = again.choice if again.HasField("choice") else again.learned
        assert part.repeated_answer
        part.repeated_answer = False
        assert again == answer


def test_statistics_carry_whatever_an_algorithm_shows():
    """Nested numbers, texts and lists travel as a struct; numpy numbers too."""
    extra = {
        "weights": {"a": np.float64(0.5)},
        "names": ("x", "y"),
        "none": None,
        "flag": True,
        "count": np.int64(3),
    }
    shown = answers.statistics_to_wire(
        Statistics(1, 2.0, None, 3.0, None, 1, 2, 3, 4, 5, "none: why", extra=extra)
    )
    assert not shown.HasField("regret")
    assert shown.regret_estimate == 3.0
    assert shown.extra["weights"]["a"] == 0.5
    assert list(shown.extra["names"]) == ["x", "y"]
    assert shown.extra["count"] == 3


@pytest.mark.parametrize("kind", ["true_text", "true_tokens", "shown_gains", "score"])
def test_every_kind_of_feedback_is_in_the_table_of_settings(kind):
    """The bandit setting takes them all."""
    from galloon.daemon.codec.feedback import TAKEN
    from galloon.learners.paths.protocol import Setting

    assert kind in TAKEN[Setting.BANDIT]


def field(number: int, kind: int, body: bytes) -> bytes:
    """A field of the wire, small enough for one byte of each number."""
    return bytes([number << 3 | kind]) + body


unknown = st.sampled_from(
    [
        field(9, 0, b"\xff\xff\x01"),
        field(9, 1, b"\x12\x01a\x12\x01b\x12\x00"),
        field(9, 2, b"\x03\x12\x01a"),
        field(9, 3, field(2, 2, b"\x01a") + field(8, 3, field(8, 4, b"")) + field(9, 4, b"")),
        field(9, 5, b"\x12\x01a\x12"),
    ]
)


@given(networks(), st.lists(unknown, max_size=3), st.lists(unknown, max_size=3))
def test_tokens_are_numbered_in_the_order_in_which_they_are_met(network, among, after):
    """Also beside fields that only a later version knows."""
    message = observation_to_wire(network, "id")
    data = b""
    for offer in message.slots.offers:
        body = b"".join(among) + offer.SerializeToString() + b"".join(among)
        data += b"\x0a" + _varint(len(body)) + body
    message.slots.ParseFromString(data + b"".join(after))
    read = observation_from_wire(message, network.experts, LIMITS)
    numbers: dict[str, int] = {"": 0}
    for column, offer in enumerate(message.slots.offers):
        met = [numbers.setdefault(token, len(numbers)) for token in offer.tokens]
        assert read.tokens[:, column].tolist() == met
    assert read.vocabulary == tuple(numbers)


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def test_many_different_tokens_are_numbered():
    tokens = [f"{number:05d}" for number in range(4096)]
    offers = [
        utterance_pb2.SlotOffers(expert="a", tokens=tokens),
        utterance_pb2.SlotOffers(expert="b", tokens=reversed(tokens)),
    ]
    message = utterance_pb2.Utterance(id="id", slots=utterance_pb2.Slots(offers=offers))
    read = observation_from_wire(message, ("a", "b"), LIMITS)
    assert read.vocabulary == ("", *tokens)
    assert (read.tokens[:, 0] == read.tokens[::-1, 1]).all()


@pytest.mark.parametrize("lengths", [(2, 1), (1, 2), (0, 1), (1, 0), (0, 0)])
def test_offers_of_other_lengths_are_refused(lengths):
    offers = [
        utterance_pb2.SlotOffers(expert=name, tokens=["x"] * length)
        for name, length in zip("ab", lengths, strict=True)
    ]
    message = utterance_pb2.Utterance(id="id", slots=utterance_pb2.Slots(offers=offers))
    with pytest.raises(Invalid, match=r"offers\[\d\].tokens"):
        observation_from_wire(message, ("a", "b"), LIMITS)
