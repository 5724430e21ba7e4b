"""Specs: to the wire and back gives the same values, and every name of the library has a number."""

from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.codec import spec as codec
from galloon.codec.spec import given_to_wire, spec_from_wire, spec_to_wire
from galloon.daemon.limits import Limits
from galloon.learners.combiners.spec import ALGORITHMS, DECISIONS, DERIVED_NAMES, CombinerSpec
from galloon.learners.unit import UNITS
from tests.codec.strategies import doubles, names, texts, words

LIMITS = Limits()
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
    engines=names.map(tuple),
    algorithm=st.sampled_from(sorted(ALGORITHMS)),
    gain=gains,
    setting=st.sampled_from(["", "full", "semi", "bandit"]),
    unit=st.sampled_from(sorted(UNITS)),
    normalizer=words,
    window=st.integers(1, 4096),
    automaton=texts,
    derived=st.lists(st.sampled_from(DERIVED_NAMES), max_size=2, unique=True).map(tuple),
    labels=st.lists(words, max_size=2).map(tuple),
    horizon=st.integers(0, 2**53),
    learning_rate=st.floats(0, 1e3),
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
    assert set(codec.ALGORITHMS.values()) == set(ALGORITHMS)
    assert set(codec.UNITS.values()) == set(UNITS)
    assert set(codec.DECISIONS.values()) == {"", *DECISIONS}


def test_what_was_given_survives_the_wire_and_nothing_else_is_set():
    """Also where what was given is the default; so a learner that exists is compared with what a client meant."""
    given = CombinerSpec(engines=("a", "b"), algorithm="tied", seed=0)
    message = given_to_wire(given)
    assert {field.name for field, _ in message.ListFields()} == {"engines", "algorithm", "seed"}
    assert spec_from_wire(message).given == given.given == {"engines", "algorithm", "seed"}
    full = spec_from_wire(spec_to_wire(given))
    assert full == given
    assert given.differences(CombinerSpec(engines=("a", "b"), seed=1, window=3)) == ["seed"]


def test_a_learner_with_nothing_but_its_engines_decides_best():
    """It is told everything; one that is told little must explore."""
    assert CombinerSpec(engines=("a", "b")).decide == "best"
    assert CombinerSpec(engines=("a", "b"), setting="bandit").decide == "sample"
    assert CombinerSpec(engines=("a", "b"), algorithm="expanded_hedge").decide == "sample"
