import numpy as np
import pytest

from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError
from fewbits.ood import novelty_radius


@pytest.fixture
def clustered():
    rng = np.random.default_rng(0)
    centres = rng.random((20, 64)) < 0.5
    bits = centres.repeat(30, axis=0) ^ (rng.random((600, 64)) < 0.05)
    return pack(bits), np.arange(20).repeat(30)


def test_covers_the_asked_share_of_hidden_groups(clustered):
    codes, groups = clustered
    distances = hamming_distances(codes, codes)
    distances[groups[:, None] == groups] = 64
    nearest = distances.min(axis=1)
    radius = novelty_radius(codes, groups, coverage=0.9)
    assert (nearest <= radius).mean() >= 0.9
    assert (nearest < radius).mean() < 0.9


def test_grows_with_coverage(clustered):
    radii = [novelty_radius(*clustered, coverage=c) for c in (0.5, 0.9, 0.99)]
    assert radii == sorted(radii)


def test_is_reproducible(clustered):
    first = novelty_radius(*clustered, n_samples=50, random_state=3)
    assert first == novelty_radius(*clustered, n_samples=50, random_state=3)


def test_mistakes(clustered):
    codes, groups = clustered
    with pytest.raises(ArgumentError, match="one label for each of 600 items"):
        novelty_radius(codes, groups[:3])
    with pytest.raises(ArgumentError, match="at least 2 groups, got 1"):
        novelty_radius(codes, np.zeros(600))
    with pytest.raises(ArgumentError, match="between 0 and 1, got 95"):
        novelty_radius(codes, groups, coverage=95)
    with pytest.raises(
        ArgumentError, match="groups must be classes, but are missing in 300"
    ):
        novelty_radius(codes, ["a", None] * 300)
    with pytest.raises(ArgumentError, match="n_samples must be at least 1, got 0"):
        novelty_radius(codes, groups, n_samples=0)
    with pytest.raises(ArgumentError, match="random_state is not a seed"):
        novelty_radius(codes, groups, random_state=-1)
