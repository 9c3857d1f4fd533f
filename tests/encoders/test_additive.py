"""Codes that stand for sums: distances are those to what codes stand for."""

from itertools import product

import numpy as np
import pytest

from fewbits import Collection
from fewbits.codes import pack
from fewbits.encoders import AdditiveEncoder, load
from fewbits.errors import ArgumentError
from fewbits.index import FlatIndex
from fewbits.learners import AdditiveCodes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 12)).astype(np.float32) + 3
N_BITS = 21


@pytest.fixture(scope="module")
def encoder():
    return AdditiveCodes(N_BITS, random_state=0).fit(X).encoder_


def test_decodes_to_the_sum_of_signed_vectors(encoder):
    bits = RNG.integers(0, 2, (30, N_BITS)).astype(np.uint8)
    expected = (2.0 * bits - 1) @ encoder.weights.T.astype(np.float64)
    np.testing.assert_allclose(encoder.decode(pack(bits)), expected, atol=1e-5)
    lengths = np.square(expected).sum(axis=1) / 4
    # Products of vectors are rounded to steps of a 127th of the largest.
    gram = np.triu(encoder.weights.T.astype(np.float64) @ encoder.weights, 1)
    atol = N_BITS * (N_BITS - 1) / 4 * np.abs(gram).max() / 254
    np.testing.assert_allclose(encoder.offsets(pack(bits)), lengths, atol=atol, rtol=0)


def test_ranks_by_the_distance_to_what_codes_stand_for(encoder):
    codes, queries = encoder.encode(X), X[:20] + 0.1
    index = FlatIndex(codes)
    found = index.search_reranked(
        encoder.encode(queries),
        10,
        scores=encoder.query_scores(queries),
        offsets=encoder.offsets,
        shortlist=len(X),
    )
    mean = X.mean(axis=0, dtype=np.float64)
    away = queries[:, None] - mean - encoder.decode(codes).astype(np.float64)
    distances = np.square(away).sum(axis=2)
    nearest = np.sort(distances, axis=1)[:, :10]
    np.testing.assert_allclose(
        np.take_along_axis(distances, found.ids, 1), nearest, rtol=1e-4
    )


def test_finds_the_nearest_sum_of_few_vectors():
    encoder = AdditiveEncoder(np.eye(4) * [1, 2, 4, 8], np.zeros(4))
    rows = np.array(list(product([-1.0, 1.0], repeat=4))) * [1, 2, 4, 8]
    np.testing.assert_array_equal(encoder.decode(encoder.encode(rows)), rows)


def test_prefix_stands_for_a_shorter_sum(encoder, tmp_path):
    short = encoder.prefix(9)
    short.save(tmp_path / "short.safetensors")
    again = load(tmp_path / "short.safetensors")
    codes = again.encode(X)
    np.testing.assert_array_equal(codes, short.encode(X))
    expected = (np.unpackbits(codes, axis=1)[:, :9] * 2.0 - 1) @ encoder.weights[
        :, :9
    ].T
    np.testing.assert_allclose(again.decode(codes), expected, atol=1e-5)


def test_a_collection_ranks_by_offsets(encoder):
    collection = Collection.create(None, X, encoder=encoder)
    found = collection.search(X[:5], k=3, rerank=True)
    codes = encoder.encode(X)
    expected = FlatIndex(codes).search_reranked(
        codes[:5],
        3,
        scores=encoder.query_scores(X[:5]),
        offsets=encoder.offsets,
    )
    np.testing.assert_array_equal(found.ids, expected.ids)


@pytest.mark.parametrize("n_kept", [0, 4])
def test_refuses_a_wrong_number_of_bits(n_kept):
    with pytest.raises(ArgumentError, match="n_kept must be between 1 and 3"):
        AdditiveEncoder(np.ones((2, 3)), np.zeros(3), n_kept=n_kept)


def test_refuses_weights_whose_products_overflow():
    with pytest.raises(ArgumentError, match="too large for float32"):
        AdditiveEncoder(np.full((2, 3), 1e30), np.zeros(3))


@pytest.fixture(scope="module")
def correcting():
    return AdditiveCodes(N_BITS, correction=True, random_state=0).fit(X).encoder_


def corrected(encoder, X, queries):
    """Return estimates of a quarter of squared distances, by the definition."""
    mean = encoder.tensors()["mean"].astype(np.float64)
    rows, asked = X - mean, queries - mean
    sums = encoder.decode(encoder.encode(X)).astype(np.float64)
    squares = np.square(rows).sum(axis=1)
    along = (rows * sums).sum(axis=1)
    lengths = np.square(sums).sum(axis=1)
    factors = np.sqrt(squares / along) * (squares / lengths) ** 0.25
    return squares / 4 - factors * (asked @ sums.T) / 2


def test_corrections_are_those_of_the_definition(correcting):
    queries = X[:20] + 0.1
    index = FlatIndex(correcting.encode(X))
    scores = correcting.query_scores(queries)
    found = index.search_reranked(
        correcting.encode(queries),
        len(X),
        scores=scores,
        offsets=correcting.corrections(X, index.codes),
        shortlist=len(X),
    )
    half = np.abs(scores).sum(axis=1, keepdims=True) / 2
    expected = corrected(correcting, X, queries) + half
    given = np.take_along_axis(expected, found.ids, 1)
    # Ratios of neighbouring bytes are 1.02 here.
    np.testing.assert_allclose(found.distances, given, atol=0.02 * expected.max())
    away = np.square(queries[:, None] - X).sum(axis=2)
    exact = [set(row) for row in np.argsort(away, axis=1)[:, :10]]
    plain = index.search_reranked(
        correcting.encode(queries),
        10,
        scores=scores,
        offsets=correcting.offsets,
        shortlist=len(X),
    )

    def recall(ids):
        return np.mean([len(set(a) & b) for a, b in zip(ids, exact, strict=True)])

    assert recall(found.ids[:, :10]) > recall(plain.ids)


def test_corrections_do_not_depend_on_the_batch(correcting, tmp_path):
    codes = correcting.encode(X)
    whole = correcting.corrections(X, codes)
    one = np.vstack(
        [
            correcting.corrections(X[i : i + 1], codes[i : i + 1]).values
            for i in range(30)
        ]
    )
    np.testing.assert_array_equal(one, whole.values[:30])
    correcting.save(tmp_path / "encoder.safetensors")
    again = load(tmp_path / "encoder.safetensors")
    np.testing.assert_array_equal(again.corrections(X, codes).values, whole.values)
    assert correcting.prefix(9).corrections(X, codes) is None


def test_takes_rows_unlike_those_learnt_from(correcting):
    rows = np.stack([correcting.tensors()["mean"], X[0] * 1e6])
    found = correcting.corrections(rows, correcting.encode(rows))
    assert found.values[0, 1] == 0
    assert found.values[1, 1] == 255


def test_corrections_need_both_of_their_tensors():
    with pytest.raises(ArgumentError, match="both mean and table"):
        AdditiveEncoder(np.ones((2, 3)), np.zeros(3), mean=np.zeros(2))
    with pytest.raises(ArgumentError, match="finite numbers of shape"):
        AdditiveEncoder(
            np.ones((2, 3)), np.zeros(3), mean=[0, 0], table=np.ones((9, 2))
        )
