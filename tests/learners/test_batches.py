"""Iterations that take some of the rows each."""

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import ArgumentError
from fewbits.learners import CCAITQ, ITQ, SparseProjections

X = np.random.default_rng(0).normal(size=(900, 16)) @ np.diag(np.geomspace(1, 5, 16))
Y = np.arange(900) % 5

batched = pytest.mark.parametrize(
    "learner",
    [
        ITQ(12, n_iter=30, random_state=0),
        ITQ(24, n_iter=30, random_state=0),
        SparseProjections(24, density=0.3, n_iter=30, random_state=0),
        CCAITQ(12, n_iter=30, random_state=0),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{learner.n_bits}",
)


@batched
@pytest.mark.parametrize("batch_size", [900, 10_000])
def test_one_batch_is_a_pass(learner, batch_size):
    whole = clone(learner).fit(X, Y)
    batches = clone(learner).set_params(batch_size=batch_size).fit(X, Y)
    assert batches.encoder_.fingerprint == whole.encoder_.fingerprint


@pytest.mark.parametrize("n_bits", [12, 24])
def test_batches_reach_nearly_what_passes_reach(n_bits):
    def loss(**parameters):
        itq = ITQ(n_bits, random_state=0, **parameters).fit(X)
        scores = itq.encoder_.project(X)
        return np.mean((np.abs(scores) - 1) ** 2)

    start, whole = loss(n_iter=1), loss(n_iter=30)
    batches = loss(n_iter=180, batch_size=100)  # twenty passes
    assert (start - batches) / (start - whole) > 0.95


@pytest.mark.parametrize("batch_size", [0, 2.5, "many"])
def test_batch_size_is_a_number_of_rows(batch_size):
    with pytest.raises(ArgumentError, match="batch_size must be"):
        ITQ(8, batch_size=batch_size).fit(X)


def test_batches_have_no_tolerance():
    with pytest.raises(ArgumentError, match=r"tol=0\.001 needs batch_size=None"):
        ITQ(8, batch_size=100, tol=1e-3).fit(X)


def test_batches_have_twice_as_many_rows_as_directions():
    """Of few rows, or of none of some directions, a rotation would be undetermined."""
    small, least = (
        ITQ(12, n_iter=9, batch_size=n, random_state=0).fit(X) for n in (1, 23)
    )
    assert small.encoder_.fingerprint == least.encoder_.fingerprint
    more = ITQ(12, n_iter=9, batch_size=60, random_state=0).fit(X)
    assert more.encoder_.fingerprint != least.encoder_.fingerprint
