"""Blocks are a dense map with zeros outside them, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.encoders import BlockDiagonalEncoder, LinearEncoder
from fewbits.errors import ArgumentError

TWO = [([0, 2], np.ones((2, 3))), ([1], np.ones((1, 2)))]


@st.composite
def maps(draw):
    """Blocks of some features each, and the dense weights that they stand for."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, 80))
    shapes = draw(
        st.lists(
            st.tuples(st.integers(1, d), st.integers(1, 70)), min_size=1, max_size=5
        )
    )
    n_bits, dense, blocks = 0, np.zeros((d, sum(b for _, b in shapes))), []
    for n, b in shapes:
        features = np.sort(rng.choice(d, n, replace=False))
        weights = rng.normal(size=(n, b)).astype(np.float32)
        dense[features, n_bits : n_bits + b] = weights
        blocks.append((features, weights))
        n_bits += b
    X = rng.normal(size=(draw(st.integers(0, 40)), d)).astype(np.float32)
    return blocks, dense, rng.normal(size=n_bits).astype(np.float32), X


@given(made=maps(), zero_bit=st.integers(0, 1))
def test_scores_and_codes_are_those_of_a_dense_map(made, zero_bit):
    blocks, dense, bias, X = made
    encoder = BlockDiagonalEncoder.from_blocks(
        blocks, bias, len(dense), zero_bit=zero_bit
    )
    same = LinearEncoder(dense, bias, zero_bit=zero_bit)
    np.testing.assert_array_equal(encoder.project(X), same.project(X))
    np.testing.assert_array_equal(encoder.encode(X), same.encode(X))
    n = 1 + len(bias) // 2
    np.testing.assert_array_equal(encoder.prefix(n).encode(X), same.prefix(n).encode(X))
    assert encoder.density == sum(w.size for _, w in blocks) / dense.size


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": [0, 3, 1]}, "between 0 and 2"),
        ({"features": [0, -1, 1]}, "between 0 and 2"),
        ({"features": [2, 0, 1]}, "rise strictly"),
        ({"feature_starts": [0, 3]}, "as many starts"),
        ({"feature_starts": [0, 0, 3]}, "strictly from 0 to 3"),
        ({"bit_starts": [0, 3, 6]}, "strictly from 0 to 5"),
        ({"bit_starts": [[0, 3, 5]]}, "strictly from 0 to 5"),
        ({"weights": np.ones(7)}, "these blocks have 8 weights"),
        ({"weights": np.full(8, np.nan)}, "finite"),
    ],
)
def test_what_kernels_would_read_wrongly_is_refused(changed, message):
    right = BlockDiagonalEncoder.from_blocks(TWO, np.zeros(5), 3).tensors()
    with pytest.raises(ArgumentError, match=message):
        BlockDiagonalEncoder(**{**right, **changed})


def test_weights_must_be_of_the_features_of_their_block():
    with pytest.raises(ArgumentError, match="features, bits"):
        BlockDiagonalEncoder.from_blocks([([0, 1], np.ones((3, 2)))], np.zeros(2), 3)
