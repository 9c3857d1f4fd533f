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


def test_itq_beats_lsh_and_a_random_rotation():
    assert score(itq, 32) > score(lsh, 32) + 0.04
    assert score(itq, 32) > score(random_rotation, 32) + 0.04


def test_labels_help():
    assert score(cca_itq, 32) > score(itq, 32) + 0.08


def test_s1_sparse_projections_are_no_worse_than_lsh():
    assert score(one_step, 32) > score(lsh, 32) - 0.01


def test_s2_one_step_is_as_good_as_iterative():
    assert score(one_step, 32) == pytest.approx(score(iterative, 32), abs=0.03)


def test_s2_itq_is_the_case_of_every_weight():
    assert score(every_weight, 32) == pytest.approx(score(itq, 32), abs=0.02)


@pytest.mark.parametrize("make", [itq, one_step])
def test_s3_more_bits_than_features_help(make):
    assert score(make, 128) > score(make, 32) + 0.02
