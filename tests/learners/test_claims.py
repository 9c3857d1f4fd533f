"""What the papers claim, on real data as small as scikit-learn's digits.

Numbers are means over two seeds; margins are about half of what was measured.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.learners import CCAITQ, ITQ, LSH, SparseProjections
from tests.learners._made import made

SEEDS = range(2)


@cache
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def average_precision(learner, n_queries=200):
    """Return mean average precision by class, ties broken at random."""
    X, y = digits()
    queries, base = slice(n_queries), slice(n_queries, None)
    learner.fit(X[base], y[base])
    signs = [learner.transform(X[part]) * 2.0 - 1 for part in (queries, base)]
    noise = np.random.default_rng(0).random((n_queries, len(signs[1])))
    order = np.argsort(noise / 2 - signs[0] @ signs[1].T, axis=1)
    relevant = y[base][order] == y[queries, None]
    precision = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    return np.mean((precision * relevant).sum(axis=1) / relevant.sum(axis=1))


@cache
def score(make, n_bits, **_):
    return np.mean([average_precision(make(n_bits, seed)) for seed in SEEDS])


def lsh(b, seed):
    return LSH(b, random_state=seed)


def itq(b, seed):
    return ITQ(b, random_state=seed)


def random_rotation(b, seed):
    return ITQ(b, n_iter=0, random_state=seed)


def cca_itq(b, seed):
    return CCAITQ(b, random_state=seed)


def one_step(b, seed):
    return SparseProjections(b, density=0.1, random_state=seed)


def iterative(b, seed):
    return made(SparseProjections, b, density=0.1, kind="iterative", random_state=seed)


def every_weight(b, seed):
    return SparseProjections(b, density=1, random_state=seed)


@pytest.mark.parametrize("n_bits", [16, 64])
def test_itq_beats_lsh_and_a_random_rotation(n_bits):
    assert score(itq, n_bits) > score(lsh, n_bits) + 0.04
    assert score(itq, n_bits) > score(random_rotation, n_bits) + 0.04


@pytest.mark.parametrize("n_bits", [16, 64])
def test_labels_help(n_bits):
    assert score(cca_itq, n_bits) > score(itq, n_bits) + 0.08


@pytest.mark.parametrize("n_bits", [32, 64])
def test_s1_sparse_projections_are_no_worse_than_lsh(n_bits):
    assert score(one_step, n_bits) > score(lsh, n_bits) - 0.01


@pytest.mark.parametrize("n_bits", [32])
def test_s2_one_step_is_as_good_as_iterative(n_bits):
    assert score(one_step, n_bits) == pytest.approx(score(iterative, n_bits), abs=0.03)


@pytest.mark.parametrize("n_bits", [32, 64])
def test_s2_itq_is_the_case_of_every_weight(n_bits):
    assert score(every_weight, n_bits) == pytest.approx(score(itq, n_bits), abs=0.02)


@pytest.mark.parametrize("make", [itq, one_step])
def test_s3_more_bits_than_features_help(make):
    scores = [score(make, n_bits) for n_bits in (32, 64, 128)]
    assert scores == sorted(scores)
