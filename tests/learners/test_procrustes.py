import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from fewbits.learners._linalg import _orthogonal
from fewbits.learners._linalg._orthogonal import polar, random_rotation


@pytest.fixture(params=[1, 10**9], ids=["gram", "svd"])
def route(request, monkeypatch):
    monkeypatch.setattr(_orthogonal, "_GRAM_FROM", request.param)


def matrix(k, b, condition):
    rng = np.random.RandomState(0)
    values = np.geomspace(1, 1 / condition, k)
    return (random_rotation(k, k, rng) * values) @ random_rotation(k, b, rng)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("condition", [1, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (40, 40), (40, 70), (40, 200)])
def test_rows_are_orthonormal_and_product_is_largest(shape, condition):
    C = matrix(*shape, condition)
    R = polar(C)
    np.testing.assert_allclose(R @ R.T, np.eye(len(C)), atol=1e-5)
    nuclear = np.linalg.svd(C, compute_uv=False).sum()
    assert np.vdot(R, C) == pytest.approx(nuclear, rel=1e-8)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("condition", [1, 1e3, 1e5])
def test_square_equals_scipy(condition):
    C = matrix(50, 50, condition)
    expected, _ = orthogonal_procrustes(np.eye(50), C)
    np.testing.assert_allclose(polar(C), expected, atol=1e-7)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("rank", [0, 1, 5])
def test_rank_deficient(rank):
    rng = np.random.default_rng(0)
    C = rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 12))
    R = polar(C)
    np.testing.assert_allclose(R @ R.T, np.eye(8), atol=1e-12)
    nuclear = np.linalg.svd(C, compute_uv=False).sum()
    assert np.vdot(R, C) == pytest.approx(nuclear)


def test_too_ill_conditioned_for_gram():
    assert _orthogonal._polar_by_gram(matrix(20, 30, 1e14)) is None


def test_random_rotations_differ_with_the_seed_only():
    first, again, other = (
        random_rotation(5, 9, np.random.RandomState(seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert abs(first - other).max() > 0.1


class TestByProducts:
    """The iteration for large matrices, and for those on a device."""

    @pytest.mark.parametrize("condition", [1, 1e3, 1e6])
    @pytest.mark.parametrize("shape", [(1, 7), (60, 60), (60, 130)])
    def test_equals_the_svd(self, shape, condition):
        C = 1e4 * matrix(*shape, condition)
        R = _orthogonal._polar_by_products(C, np.float64)
        np.testing.assert_allclose(R @ R.T, np.eye(len(C)), atol=1e-12)
        U, _, Vt = np.linalg.svd(C, full_matrices=False)
        np.testing.assert_allclose(R, U @ Vt, atol=1e-6)

    @pytest.mark.parametrize("condition", [1, 1e3, 1e8])
    def test_loses_nothing_in_single_precision(self, condition):
        C = matrix(60, 130, condition)
        R = _orthogonal._polar_by_products(C, np.float32)
        assert R.dtype == np.float32
        np.testing.assert_allclose(R @ R.T, np.eye(60), atol=1e-5)
        nuclear = np.linalg.svd(C, compute_uv=False).sum()
        assert np.vdot(R, C) == pytest.approx(nuclear, rel=1e-5)

    @pytest.mark.parametrize("C", [np.zeros((3, 5)), np.ones((3, 5))])
    def test_gives_up_where_there_is_no_limit(self, C):
        assert _orthogonal._polar_by_products(C, np.float32) is None

    def test_is_taken_for_large_matrices(self, monkeypatch):
        monkeypatch.setattr(_orthogonal, "_PRODUCTS_FROM", 20)
        monkeypatch.setattr(_orthogonal, "_GRAM_FROM", 10)
        C = matrix(30, 40, 1e3)
        assert polar(C).dtype == np.float32
        assert polar(C[:15]).dtype == np.float64
        C[0] = 0  # and what has no limit falls back
        np.testing.assert_allclose(polar(C) @ polar(C).T, np.eye(30), atol=1e-12)
