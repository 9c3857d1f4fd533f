import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.analysis import matching
from fewbits.codes import pack
from fewbits.errors import ArgumentError, CodeError
from fewbits.index import FlatIndex


@given(seed=st.integers(0, 2**32), n=st.integers(0, 40), n_bits=st.integers(1, 30))
def test_equals_looking_at_every_bit(seed, n, n_bits):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, n_bits), np.uint8)
    chosen = rng.choice(n_bits, rng.integers(0, min(n_bits, 4) + 1), replace=False)
    conditions = {int(bit): int(rng.integers(2)) for bit in chosen}
    expected = [
        all(row[bit] == value for bit, value in conditions.items()) for row in bits
    ]
    found = matching(pack(bits), n_bits, conditions)
    assert found.dtype == np.bool_
    assert found.tolist() == expected


def test_restricts_a_search():
    codes = np.arange(256, dtype=np.uint8)[:, None]
    allowed = matching(codes, 8, {0: 1, 7: False})
    found = FlatIndex(codes).search(codes[:1], k=3, allowed=allowed).ids[0]
    assert found.tolist() == [0b10000000, 0b10000010, 0b10000100]


def test_mistakes():
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ArgumentError, match="no bit 8 in codes of 8 bits"):
        matching(codes, 8, {8: 1})
    with pytest.raises(ArgumentError, match="no bit -1 in"):
        matching(codes, 8, {-1: 1})
    with pytest.raises(ArgumentError, match="bit 2 can be 0 or 1, not 2"):
        matching(codes, 8, {2: 2})
    with pytest.raises(ArgumentError, match="whole number, got '3'"):
        matching(codes, 8, {"3": 1})
    with pytest.raises(CodeError, match="16 bits need 2 bytes"):
        matching(codes, 16, {3: 1})
