"""States travel as bytes: to the bit and back, with every damage noticed and no dishonest array let in."""

import json
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from galloon.learners import state
from galloon.learners.errors import DamagedState

DTYPES = [np.dtype(name) for name in sorted(state.DTYPES)]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
META = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SMALL = state.pack("kind", 3, {"n": 1}, {"x": np.arange(3.0), "y": np.array([1], dtype=np.int32)})


@settings(deadline=None, max_examples=100)
@given(
    st.text(), st.dictionaries(st.text(), META, max_size=3), st.dictionaries(st.text(), ARRAYS, max_size=3)
)
def test_unpack_is_the_inverse_of_pack_to_the_bit(kind, meta, values):
    data = state.pack(kind, 1, meta, values)
    found = state.unpack(data, kind, 1)
    assert found.meta == meta
    assert found.arrays.keys() == values.keys()
    for name, array in values.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert found.arrays[name].tobytes() == array.tobytes()
        assert found.arrays[name].flags.writeable
    assert state.pack(kind, 1, found.meta, found.arrays) == data


def test_equal_states_give_equal_bytes_whatever_the_order_and_memory_layout():
    x = np.arange(12.0).reshape(3, 4)
    one = state.pack("k", 1, {"a": 1, "b": 2}, {"x": x, "y": x[0]})
    two = state.pack("k", 1, {"b": 2, "a": 1}, {"y": x[0], "x": np.asfortranarray(x)})
    assert one == two
    assert state.digest(one) == state.digest(two)
    assert state.digest(one) != state.digest(state.pack("k", 1, {"a": 1, "b": 3}, {"x": x, "y": x[0]}))


def test_big_endian_arrays_are_kept_as_their_values():
    data = state.pack("k", 1, {}, {"x": np.array([1.5, -2.0], dtype=">f8")})
    assert state.unpack(data, "k", 1).arrays["x"].tolist() == [1.5, -2.0]


def test_every_flipped_bit_is_noticed():
    for place in range(len(SMALL)):
        for bit in range(8):
            damaged = bytearray(SMALL)
            damaged[place] ^= 1 << bit
            with pytest.raises(DamagedState):
                state.unpack(bytes(damaged), "kind", 3)


def test_every_cut_and_every_addition_is_noticed():
    for length in range(len(SMALL)):
        with pytest.raises(DamagedState):
            state.unpack(SMALL[:length], "kind", 3)
    with pytest.raises(DamagedState, match="damaged"):
        state.unpack(SMALL + b"\0", "kind", 3)


def test_another_kind_and_a_newer_version_are_refused_by_name():
    with pytest.raises(DamagedState, match="kind 'kind', not 'other'"):
        state.unpack(SMALL, "other", 3)
    with pytest.raises(DamagedState, match="format 3, this galloon reads up to 2: upgrade"):
        state.unpack(SMALL, "kind", 2)
    assert state.unpack(SMALL, "kind", 9).version == 3


def test_objects_and_numbers_that_json_lacks_are_not_packed():
    with pytest.raises(TypeError, match="dtype object"):
        state.pack("k", 1, {}, {"x": np.array([None])})
    with pytest.raises(ValueError, match="JSON"):
        state.pack("k", 1, {"x": float("nan")}, {})


def forged(header, body=b""):
    """Bytes with a good checksum around any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = state.MAGIC + len(text).to_bytes(4, "little") + text + body
    return whole + blake2b(whole, digest_size=state.CHECKSUM_BYTES).digest()


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b"[" * 100_000,
        b"\xff\xfe",
        [],
        {},
        {"kind": "k", "version": 1, "meta": {}},
        {"kind": "k", "version": "1", "meta": {}, "arrays": []},
        {"kind": 7, "version": 1, "meta": {}, "arrays": []},
        {"kind": "k", "version": 1, "meta": [], "arrays": []},
        {"kind": "k", "version": 1, "meta": {}, "arrays": 3},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "<f8"]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "<f8", ["2"]]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "<f8", [2]]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "<f8", [-1]]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "<f8", [2**40, 2**40]]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", "|O", [1]]]},
        {"kind": "k", "version": 1, "meta": {}, "arrays": [["x", ["<f8"], [1]]]},
    ],
)
def test_a_forged_header_is_refused_though_its_checksum_is_right(header):
    with pytest.raises(DamagedState):
        state.unpack(forged(header, bytes(8)), "k", 1)


def test_a_header_longer_than_the_bytes_is_refused():
    whole = state.MAGIC + (2**32 - 1).to_bytes(4, "little") + b"{}"
    with pytest.raises(DamagedState):
        state.unpack(whole + blake2b(whole, digest_size=state.CHECKSUM_BYTES).digest(), "k", 1)


def test_arrays_unlike_those_needed_are_refused():
    like = {"x": np.zeros(3)}
    state.check_like(state.State("k", 1, {}, {"x": np.ones(3)}), like)
    for values, why in (
        ({}, "holds"),
        ({"x": np.ones(3), "y": np.ones(3)}, "holds"),
        ({"x": np.ones(4)}, "not float64"),
        ({"x": np.ones((3, 1))}, "not float64"),
        ({"x": np.ones(3, dtype=np.float32)}, "not float64"),
        ({"x": np.array([1.0, np.inf, 0.0])}, "not finite"),
    ):
        with pytest.raises(DamagedState, match=why):
            state.check_like(state.State("k", 1, {}, values), like)


def test_a_lone_surrogate_is_no_text_of_a_state():
    """JSON can spell it and UTF-8 cannot: whoever let it in could never write it again."""
    for meta in ({"id": "u\ud800"}, {"ids": [["\udfff"]]}, {"\ud800": 1}):
        with pytest.raises(DamagedState, match="cannot be read"):
            state.unpack(state.pack("kind", 1, meta, {}), "kind", 1)


@pytest.mark.parametrize("count", [-1, 2**40, 2**53 - 1, 2**70, 1.0, "1", None, True])
def test_counts_are_those_that_a_life_can_reach(count):
    with pytest.raises(DamagedState, match="not a count"):
        state.count_in({"rounds": count}, "rounds")
    assert state.count_in({"rounds": 2**40 - 1}, "rounds") == 2**40 - 1


@pytest.mark.parametrize("written", ["inf", "nan", "-inf", "x", None, 3, "0x1p+99999"])
def test_numbers_of_a_state_are_finite(written):
    with pytest.raises(DamagedState, match="'gain' of this state is not"):
        state.real_in({"gain": written}, "gain")
    assert state.real_in({"gain": (-2.5).hex()}, "gain") == -2.5
