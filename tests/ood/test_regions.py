"""The share of the code space near class codes, and the radius of what is novel."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError, CodeError
from fewbits.ood import acceptance_region, novelty_radius


def random_codes(n, n_bits, seed=0):
    return pack(np.random.default_rng(seed).random((n, n_bits)) < 0.5)


def share(codes, n_bits, radius):
    return acceptance_region(codes, n_bits, radius).predicted_rate


@given(seed=st.integers(0, 1000), n_codes=st.integers(1, 6), radius=st.integers(0, 9))
def test_share_is_the_count_over_all_codes(seed, n_codes, radius):
    codes = random_codes(n_codes, 8, seed)
    every = np.array(list(product([0, 1], repeat=8)))
    near = hamming_distances(pack(every), codes).min(axis=1) <= radius
    assert share(codes, 8, radius) == pytest.approx(near.mean(), abs=1e-12)


def test_disjoint_balls_are_a_formula():
    codes = pack(np.repeat(np.eye(4, dtype=int), 16, axis=1))  # 32 bits apart
    for radius in (0, 1, 5, 15):
        volume = sum(comb(64, d) for d in range(radius + 1))
        expected = 4 * volume / 2**64
        assert share(codes, 64, radius) == pytest.approx(expected, rel=1e-12)


def test_published_examples():
    """METHODS 2.7: 20 bits and 1,000 classes, and 10 bits and 100."""
    codes = np.unique(random_codes(1100, 20), axis=0)[:1000]
    assert share(codes, 20, 0) == pytest.approx(0.00095, abs=0.00001)
    assert 0.015 < share(codes, 20, 1) < 0.02
    codes = np.unique(random_codes(200, 10), axis=0)[:100]
    assert share(codes, 10, 0) == pytest.approx(0.098, abs=0.0005)


@pytest.mark.parametrize("radius", [0, 1, 2, 4, 12])
def test_overlaps_of_long_codes_are_bounded(radius):
    """Codes of 21 bits that share the last: those of 20 bits, in half of the space."""
    codes = np.random.default_rng(0).random((40, 20)) < 0.3
    exact = share(pack(codes), 20, radius) / 2
    assert exact <= share(pack(np.pad(codes, ((0, 0), (0, 1)))), 21, radius) <= 1


def test_codes_that_occur_twice_count_once():
    codes = random_codes(5, 16)
    twice = np.vstack([codes, codes[::-1]])
    assert share(twice, 16, 1) == share(codes, 16, 1)
    assert len(acceptance_region(twice, 16).class_codes) == 5


def test_region_of_a_radius():
    codes = random_codes(20, 20)
    tests = random_codes(500, 20, seed=1)
    nearest = hamming_distances(tests, codes).min(axis=1)
    for radius in (0, 1, 4):
        region = acceptance_region(codes, 20, radius)
        assert (region.accepts(tests) == (nearest <= radius)).all()
    assert acceptance_region(codes, 20).accepts(codes).all()


@pytest.mark.parametrize("n_bits", [16, 20])
def test_random_codes_are_accepted_as_often_as_predicted(n_bits):
    codes = random_codes(30, n_bits)
    region = acceptance_region(codes, n_bits, 2)
    unknown = random_codes(40_000, n_bits, seed=1)
    accepted = region.accepts(unknown).mean()
    assert accepted == pytest.approx(region.predicted_rate, abs=0.005)


def test_the_rate_is_1_where_the_space_is_full():
    full = np.arange(256, dtype=np.uint8)[:, None]
    assert share(full, 8, 0) == share(full, 8, 3) == 1


def test_mistakes():
    codes = random_codes(5, 12)
    with pytest.raises(ArgumentError, match="radius must be at least 0, got -1"):
        acceptance_region(codes, 12, -1)
    with pytest.raises(ArgumentError, match=r"radius must be a whole number, got 0\.5"):
        acceptance_region(codes, 12, 0.5)
    with pytest.raises(CodeError, match="at least one class code"):
        acceptance_region(codes[:0], 12)
    with pytest.raises(CodeError, match="beyond their 9"):
        acceptance_region(codes, 9)
    with pytest.raises(CodeError, match="20 bits need 3 bytes"):
        acceptance_region(codes, 20)
    with pytest.raises(CodeError, match="12 bits need 2 bytes"):
        acceptance_region(codes, 12).accepts(np.zeros((1, 1), np.uint8))


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


def test_novelty_grows_with_coverage(clustered):
    radii = [novelty_radius(*clustered, coverage=c) for c in (0.5, 0.9, 0.99)]
    assert radii == sorted(radii)


def test_mistakes_about_novelty(clustered):
    codes, groups = clustered
    with pytest.raises(ArgumentError, match="one label for each of 600 items"):
        novelty_radius(codes, groups[:3])
    with pytest.raises(ArgumentError, match="at least 2 groups, got 1"):
        novelty_radius(codes, np.zeros(600))
    with pytest.raises(ArgumentError, match="below 1, got 95"):
        novelty_radius(codes, groups, coverage=95)
    with pytest.raises(
        ArgumentError, match="groups must be classes, but are missing in 300"
    ):
        novelty_radius(codes, ["a", None] * 300)
