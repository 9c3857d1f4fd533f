import numpy as np
import pytest

from fewbits.errors import FeatureError
from fewbits.learners._core import _rows
from fewbits.learners._core._rows import Rows, column_means, line_spans
from fewbits.learners._linalg._orthogonal import principal_axes


@pytest.fixture(params=[(80, 12), (12, 12), (9, 30), (2, 5)], ids=str)
def X(request):
    return np.random.default_rng(0).normal(size=request.param).astype("f4") + 5


def test_axes_are_those_of_the_svd(X):
    axes = principal_axes(X)
    centred = X.astype(float) - X.mean(axis=0, dtype=float)
    _, values, Vt = np.linalg.svd(centred, full_matrices=False)
    rank = min(len(X) - 1, X.shape[1])
    assert axes.rank == rank
    np.testing.assert_allclose(axes.scatter, values[:rank] ** 2)
    overlap = np.abs(np.sum(axes.directions * Vt[:rank].T, axis=0))
    np.testing.assert_allclose(overlap, 1)
    np.testing.assert_allclose(
        axes.directions.T @ axes.directions, np.eye(rank), atol=1e-12
    )


def test_signs_are_fixed(X):
    directions = principal_axes(X).directions
    largest = np.abs(directions).argmax(axis=0)
    assert (directions[largest, np.arange(directions.shape[1])] > 0).all()


@pytest.mark.parametrize("n", [50, 5])
def test_constant_features_have_no_part(n):
    X = np.random.default_rng(0).normal(size=(n, 8))
    X[:, [2, 5]] = 0.1, -1e6
    directions = principal_axes(X).directions
    assert (directions[[2, 5]] == 0).all()


def test_duplicated_features_lower_the_rank():
    X = np.random.default_rng(0).normal(size=(50, 4))
    assert principal_axes(np.hstack([X, X, X.sum(axis=1, keepdims=True)])).rank == 4


def test_no_variance():
    with pytest.raises(FeatureError, match="every row that is learnt from"):
        principal_axes(np.full((7, 3), 0.1))


@pytest.mark.parametrize("width", [1, 3, 10**7])
def test_spans_cover_everything_once(width):
    covered = [i for span in line_spans(5000, width) for i in range(5000)[span]]
    assert covered == list(range(5000))


@pytest.mark.parametrize("keep", [True, False])
def test_rows_are_centred_and_projected(X, keep, monkeypatch):
    monkeypatch.setattr(_rows, "_MIN_ROWS", 5)
    monkeypatch.setattr(_rows, "_BLOCK_ENTRIES", 1)
    P = np.random.default_rng(1).normal(size=(X.shape[1], 2))
    rows = Rows(X, column_means(X), P, keep=keep)
    expected = (X - X.mean(axis=0, dtype=float)) @ P
    blocks = list(rows)
    assert all(len(block) <= 5 for block in blocks)
    np.testing.assert_allclose(np.concatenate(blocks), expected, atol=1e-12)
    assert rows.shape == expected.shape
