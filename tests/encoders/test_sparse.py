"""A sparse encoder equals the dense one of the same weights; bad CSR is refused."""

import copy
import pickle

import numpy as np
import pytest

from fewbits.encoders import LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError

GOOD = {
    "indptr": [0, 2, 2, 3],
    "indices": [0, 4, 1],
    "values": [1.0, 2.0, 3.0],
    "bias": [0.0, 0.0, 0.0],
    "n_features": 5,
}


def test_the_good_one_is_good():
    encoder = SparseEncoder(**GOOD)
    assert encoder.project([[1, 1, 1, 1, 1]]).tolist() == [[3, 0, 3]]
    assert encoder.density == 0.2


@pytest.mark.parametrize("density", [0.0, 0.05, 0.5, 1.0])
def test_codes_equal_those_of_the_dense_map(density):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(50, 70)) * (rng.random((50, 70)) < density)
    X, bias = rng.normal(size=(100, 50)), rng.normal(size=70)
    dense, sparse = (
        LinearEncoder(weights, bias),
        SparseEncoder.from_dense(weights, bias),
    )
    np.testing.assert_array_equal(sparse.project(X), dense.project(X))
    np.testing.assert_array_equal(sparse.encode(X), dense.encode(X))


def test_copies_of_a_used_encoder_give_the_same_codes():
    encoder = SparseEncoder(**GOOD)
    codes = encoder.encode([[1, -1, 1, 1, 1]])
    for again in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
        assert again.fingerprint == encoder.fingerprint
        np.testing.assert_array_equal(again.encode([[1, -1, 1, 1, 1]]), codes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": [1, 2, 2, 3]}, "rise from 0"),
        ({"indptr": [0, 2, 1, 3]}, "rise from 0"),
        ({"indptr": [0, 2, 2, 4]}, "rise from 0"),
        ({"indptr": [0, 2, 3]}, "one bias per bit"),
        ({"indptr": []}, "one bias per bit"),
        ({"indptr": [[0, 2, 2, 3]]}, "need vectors"),
        ({"indices": [0, 5, 1]}, "between 0 and 4"),
        ({"indices": [-1, 4, 1]}, "between 0 and 4"),
        ({"indices": [4, 4, 1]}, "rise strictly"),
        ({"indices": [4, 0, 1]}, "rise strictly"),
        ({"indices": [0, 4]}, "one index per value"),
        ({"indices": [0, 4 + 2**32, 1]}, "too large for int32"),
        ({"indices": [0.5, 4, 1]}, "whole numbers, got dtype float64"),
        ({"values": [1, 2, np.nan]}, "finite"),
        ({"bias": [0.0]}, "one bias per bit"),
        ({"n_features": 0}, "at least one feature"),
    ],
)
def test_bad_csr_is_refused(change, message):
    with pytest.raises(ArgumentError, match=message):
        SparseEncoder(**{**GOOD, **change})


def test_from_dense_refuses_what_is_no_matrix():
    with pytest.raises(ArgumentError, match="need weights"):
        SparseEncoder.from_dense([1.0, 2.0], [0.0])
    with pytest.raises(ArgumentError, match="finite"):
        SparseEncoder.from_dense([[np.nan]], [0.0])
