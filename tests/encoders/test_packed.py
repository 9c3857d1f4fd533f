"""What holds for all encoders, of one whose features are the codes themselves."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import n_bytes, pack
from fewbits.encoders import PackedEncoder, load
from fewbits.errors import ArgumentError, FeatureError

BITS = np.random.default_rng(0).integers(0, 2, (60, 37))
CODES = np.packbits(BITS, axis=1)
ENCODER = PackedEncoder(37)


@given(n_bits=st.integers(1, 70), rows=st.integers(0, 5), seed=st.integers(0, 99))
def test_codes_come_back_as_they_are(n_bits, rows, seed):
    bits = np.random.default_rng(seed).integers(0, 2, (rows, n_bits))
    codes, encoder = pack(bits), PackedEncoder(n_bits)
    scores = encoder.project(codes)
    assert (encoder.n_features, encoder.n_bits) == (n_bytes(n_bits), n_bits)
    np.testing.assert_array_equal(scores, 2 * bits - 1)
    np.testing.assert_array_equal(encoder.encode(codes), codes)
    np.testing.assert_array_equal(pack(scores > 0), codes)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "u2", "i8"])
def test_bytes_of_any_real_dtype(dtype):
    np.testing.assert_array_equal(ENCODER.encode(CODES.astype(dtype)), CODES)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (CODES[:, :4], "expected 5 features, got 4"),
        (CODES + 0.5, "whole numbers from 0 to 255, got"),
        (CODES.astype(int) + 256, "whole numbers from 0 to 255, got"),
        (CODES.astype(int) - 256, "whole numbers from 0 to 255, got -"),
        (CODES | 1, "the last 3 bits of codes of 37 bits must be 0"),
        (CODES * np.nan, "finite"),
        (CODES[0], "2 dimensions"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_packed_codes(codes, said):
    for method in (ENCODER.encode, ENCODER.project):
        with pytest.raises(FeatureError, match=said):
            method(codes)


@pytest.mark.parametrize("n_bits", [1, 8, 9, 36, 37])
def test_prefixes_take_whole_codes_and_no_others(n_bits, tmp_path):
    short = ENCODER.prefix(n_bits)
    short.save(tmp_path / "e")
    codes = np.packbits(BITS[:, :n_bits], axis=1)
    for encoder in (short, load(tmp_path / "e"), PackedEncoder(n_bits, 37)):
        np.testing.assert_array_equal(encoder.encode(CODES), codes)
        np.testing.assert_array_equal(encoder.project(CODES), 2 * BITS[:, :n_bits] - 1)
        assert encoder.fingerprint == short.fingerprint
    assert (short.fingerprint == ENCODER.fingerprint) == (n_bits == 37)
    assert short.prefix(1).encode(CODES).ravel().tolist() == (128 * BITS[:, 0]).tolist()
    if n_bytes(n_bits) < n_bytes(37):
        with pytest.raises(FeatureError, match="expected 5 features"):
            short.encode(codes)


@pytest.mark.parametrize("n_bits", [0, -1, 65_537, 2.5, "a", None])
def test_lengths_that_are_none(n_bits):
    with pytest.raises((ArgumentError, FeatureError)):
        PackedEncoder(n_bits)
    with pytest.raises(ArgumentError):
        ENCODER.prefix(n_bits)


def test_file(tmp_path):
    ENCODER.save(tmp_path / "e")
    loaded = load(tmp_path / "e")
    assert loaded.fingerprint == ENCODER.fingerprint
    assert repr(loaded) == "PackedEncoder(37 bits)"
    np.testing.assert_array_equal(loaded.encode(CODES), CODES)


def test_copies_are_immutable():
    for again in (pickle.loads(pickle.dumps(ENCODER)), copy.deepcopy(ENCODER)):
        assert again.fingerprint == ENCODER.fingerprint
        with pytest.raises(AttributeError, match="immutable"):
            again.n_bits = 8
