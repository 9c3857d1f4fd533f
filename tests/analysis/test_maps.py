import numpy as np
import pytest
from scipy.spatial.distance import pdist

from fewbits.analysis.maps import map_codes
from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError

METHODS = ["classical", "smacof", "tsne"]


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    centres = rng.random((3, 64)) < 0.5
    bits = centres.repeat(15, axis=0) ^ (rng.random((45, 64)) < 0.05)
    return pack(bits), np.arange(3).repeat(15)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_stay_apart(clusters, method):
    codes, groups = clusters
    found = map_codes(codes, method=method)
    assert found.rows.tolist() == list(range(45))
    assert found.method == method
    np.testing.assert_allclose(found.coordinates.mean(axis=0), 0, atol=1e-4)
    centres = [found.coordinates[groups == group].mean(axis=0) for group in range(3)]
    nearest = [
        np.linalg.norm(centres - point, axis=1).argmin() for point in found.coordinates
    ]
    assert nearest == groups.tolist()
    again = map_codes(codes, method=method)
    assert (again.coordinates == found.coordinates).all()


def test_stress_is_the_least_over_all_scales(clusters):
    codes, _ = clusters
    found = map_codes(codes, method="classical")
    wanted = hamming_distances(codes, codes)[np.triu_indices(45, 1)]
    mapped = pdist(found.coordinates)
    scales = np.linspace(0.5, 2, 3001)[:, None]
    errors = np.square(wanted - scales * mapped).sum(axis=1) / np.square(wanted).sum()
    assert found.stress == pytest.approx(np.sqrt(errors.min()), abs=1e-6)


def test_smacof_lowers_the_stress(clusters):
    codes, _ = clusters
    classical, smacof = (map_codes(codes, method=m).stress for m in METHODS[:2])
    assert smacof < classical


def test_a_line_is_mapped_exactly():
    codes = pack(np.tri(9, 8, -1))  # 0, 1, 2, ... bits set
    for method in METHODS[:2]:
        found = map_codes(codes, method=method)
        assert found.stress == pytest.approx(0, abs=1e-3)
        assert np.ptp(found.coordinates[:, 0]) == pytest.approx(8, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_or_equal_codes(method, n):
    for codes in (np.zeros((n, 1), np.uint8), np.arange(n, dtype=np.uint8)[:, None]):
        found = map_codes(codes, method=method)
        assert found.coordinates.shape == (n, 2)
        assert np.isfinite(found.coordinates).all()
        assert 0 <= found.stress <= 1


def test_larger_collections_are_sampled():
    codes = np.random.default_rng(0).integers(0, 256, (500, 4), np.uint8)
    found = map_codes(codes, method="classical", max_items=40, random_state=1)
    assert found.coordinates.shape == (40, 2)
    assert (np.diff(found.rows) > 0).all()
    chosen = map_codes(codes[found.rows], method="classical")
    np.testing.assert_allclose(chosen.coordinates, found.coordinates)
    other = map_codes(codes, method="classical", max_items=40, random_state=2)
    assert (other.rows != found.rows).any()


def test_mistakes(clusters):
    codes, _ = clusters
    with pytest.raises(
        ArgumentError, match="one of smacof, classical, tsne, got 'umap'"
    ):
        map_codes(codes, method="umap")
    with pytest.raises(ArgumentError, match="at least one code"):
        map_codes(codes[:0])
    with pytest.raises(ArgumentError, match="at most 10000 items, got 10001"):
        map_codes(codes, max_items=10_001)
    with pytest.raises(ArgumentError, match="max_items must be at least 1"):
        map_codes(codes, max_items=0)
