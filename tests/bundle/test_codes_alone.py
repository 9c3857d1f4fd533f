"""Re-ranking from codes alone finds what an asymmetric scan of all codes finds."""

import numpy as np
import pytest

from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from tests.store._sizes import NIGHTLY

N, N_QUERIES, WIDTH, K = (100_000 if NIGHTLY else 4000), 60, 32, 10


def clustered(rng):
    """Return rows and queries; rounded, so that every sum of squares is exact."""
    centres = rng.normal(size=(N // 100, WIDTH))
    places = rng.integers(0, len(centres), N + N_QUERIES)
    X = centres[places] + 0.7 * rng.normal(size=(len(places), WIDTH))
    X = np.round(16 * X).astype(np.float32)
    return X[:N], X[N:]


def scan(scores, codes, k):
    """Return the k nearest rows by the sum of |score| over the bits that differ."""
    bits = np.unpackbits(codes, axis=1, count=scores.shape[1]).astype(np.float64)
    found = []
    for row in scores.astype(np.float64):
        cost = bits @ np.where(row > 0, -row, -row) + np.maximum(row, 0).sum()
        found.append(np.lexsort((np.arange(len(cost)), cost))[:k])
    return np.array(found)


def recall(found, truth):
    pairs = zip(found.tolist(), truth.tolist(), strict=True)
    return np.mean([len({*ids} & {*wanted}) / K for ids, wanted in pairs])


@pytest.mark.parametrize("n_bits", [64, 128])
def test_recall_is_that_of_a_full_asymmetric_scan(n_bits, tmp_path):
    rng = np.random.default_rng(0)
    X, queries = clustered(rng)
    weights = rng.integers(-9, 10, (WIDTH, n_bits)) / 16  # whose products are exact
    encoder = LinearEncoder(weights, np.zeros(n_bits))
    Bundle(encoder).with_items(X).save(tmp_path / "b")
    bundle = Bundle.load(tmp_path / "b")
    assert bundle.collection.vectors is None
    squares = (X * X).sum(axis=1) - 2 * queries @ X.T
    truth = np.argsort(squares, axis=1, kind="stable")[:, :K]
    full = recall(scan(queries @ weights, bundle.collection.codes, K), truth)
    hamming = recall(bundle.search(queries, K).ids, truth)
    reranked = recall(bundle.search_reranked(queries, K).ids, truth)
    assert reranked >= full - 0.01
    assert full > hamming + 0.03  # or there is nothing to win
