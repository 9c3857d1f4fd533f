"""Iterations that take some of the rows each."""

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import ArgumentError
from fewbits.learners import CCAITQ, ITQ, SparseProjections
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._orthogonal import principal_axes
from fewbits.learners._itq import sign_products
from fewbits.learners._linalg._sign_products import OfBatches

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


@pytest.fixture
def V():
    return Rows(X, principal_axes(X).mean)


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


def test_a_pass_takes_every_row_once(V, monkeypatch):
    seen = []

    def some(rows):
        seen.append(rows)
        yield X[rows]

    monkeypatch.setattr(V, "some", some)
    batches, memory = OfBatches(250, seed=3), ()
    for _ in range(8):
        _, memory = batches(V, np.eye(16), memory)
    first, second = np.concatenate(seen[:4]), np.concatenate(seen[4:])
    assert [len(rows) for rows in seen] == [225] * 8
    assert all((np.diff(rows) > 0).all() for rows in seen)  # in the order of the file
    for turn in (first, second):
        np.testing.assert_array_equal(np.sort(turn), np.arange(900))
    assert (first != second).any()


def test_a_first_pass_with_one_matrix_averages_to_the_whole(V):
    batches, memory = OfBatches(100, seed=0), ()
    for _ in range(9):
        C, memory = batches(V, np.eye(16), memory)
    np.testing.assert_allclose(C, sign_products(V, np.eye(16)))


def test_batches_of_projected_rows_that_are_not_kept():
    axes = principal_axes(X)
    kept, not_kept = (
        Rows(X, axes.mean, axes.directions[:, :5], keep=keep) for keep in (True, False)
    )
    rows = np.arange(0, 900, 7)
    (one,), (other,) = kept.some(rows), not_kept.some(rows)
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("batch_size", [0, 2.5, "many"])
def test_batch_size_is_a_number_of_rows(batch_size):
    with pytest.raises(ArgumentError, match="batch_size must be an integer"):
        ITQ(8, batch_size=batch_size).fit(X)


def test_batches_have_twice_as_many_rows_as_directions(V, monkeypatch):
    seen = []
    monkeypatch.setattr(V, "some", lambda rows: seen.append(rows) or iter(()))
    OfBatches(5, seed=0)(V, np.eye(16), ())
    assert len(seen[0]) >= 32


def test_batches_have_no_tolerance():
    with pytest.raises(ArgumentError, match=r"tol=0\.001 needs batch_size=None"):
        ITQ(8, batch_size=100, tol=1e-3).fit(X)
