"""Maps of codes by landmarks, and their trust."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from fewbits._kernels import set_num_threads
from fewbits.analysis.maps import fit_layout, map_trust
from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError, CodeError


def clusters(n_each, n_groups=4, n_bits=64, flips=0.08):
    rng = np.random.default_rng(0)
    centres = rng.random((n_groups, n_bits)) < 0.5
    bits = centres.repeat(n_each, axis=0)
    groups = np.arange(n_groups).repeat(n_each)
    return pack(bits ^ (rng.random(bits.shape) < flips)), groups


@pytest.fixture(scope="module")
def made():
    codes, groups = clusters(150)
    layout = fit_layout(codes, n_landmarks=200)
    return codes, groups, layout, layout.place(codes)


def test_clusters_are_recovered(made):
    _, groups, _, places = made
    centres = np.array([places[groups == each].mean(axis=0) for each in range(4)])
    apart = np.linalg.norm(places[:, None].astype(float) - centres, axis=2)
    assert (apart.argmin(axis=1) == groups).mean() > 0.95


@given(st.data())
def test_alone_as_in_a_batch(made, data):
    codes, _, layout, places = made
    rows = data.draw(st.lists(st.integers(0, len(codes) - 1), max_size=70))
    np.testing.assert_array_equal(layout.place(codes[rows]), places[rows])


def test_new_codes_alone_as_in_a_batch(made):
    _, _, layout, _ = made
    new = np.random.default_rng(3).integers(0, 256, (9000, 8), np.uint8)
    together = layout.place(new)
    for row in (0, 1, 4095, 8191, 8192, 8999):
        alone = layout.place(new[row : row + 1])
        np.testing.assert_array_equal(alone[0], together[row])


def test_threads_make_no_difference(made):
    codes, _, _, places = made
    for n in (1, 3):
        set_num_threads(n)
        try:
            with threadpool_limits(n):
                again = fit_layout(codes, n_landmarks=200).place(codes)
        finally:
            set_num_threads(None)
        np.testing.assert_array_equal(again, places)


def test_landmarks_land_on_themselves(made):
    _, _, layout, _ = made
    points = layout.place(layout.codes).astype(float)
    own = np.asarray(layout.points.T)
    scale = np.ptp(points, axis=0).max() / np.ptp(own, axis=0).max()
    moved = (own - own.mean(axis=0)) * scale - (points - points.mean(axis=0))
    assert np.abs(moved).max() < 2  # rounded to a grid


def test_all_of_the_grid_is_used(made):
    _, _, layout, _ = made
    points = layout.place(layout.codes).astype(float)
    assert np.ptp(points, axis=0).max() == pytest.approx(65_535 * 0.96, abs=2)
    assert points.min() >= 0


def test_neighbours_are_kept_as_by_another_t_sne():
    codes, _ = clusters(20, n_groups=3, n_bits=32, flips=0.2)
    codes = np.unique(codes, axis=0)
    places = fit_layout(codes).place(codes)
    distances = hamming_distances(codes, codes).astype(float)
    other = TSNE(metric="precomputed", init="random", perplexity=10, random_state=0)
    other.set_params(max_iter=500)
    points = other.fit_transform(np.sqrt(distances))
    points = (points - points.min()) / np.ptp(points) * 65_535
    ours = map_trust(codes, places).share
    assert ours > map_trust(codes, np.rint(points)).share - 0.05


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("equal", [True, False])
def test_few_or_equal_codes(n, equal):
    codes = np.zeros((n, 2), np.uint8)
    if not equal:
        codes[:, 0] = np.arange(n)
    layout = fit_layout(codes)
    assert len(layout) == (1 if equal else n)
    places = layout.place(codes)
    assert places.shape == (n, 2)
    assert len(np.unique(places, axis=0)) == len(layout)
    assert layout.place(np.full((3, 2), 255, np.uint8)).shape == (3, 2)
    assert layout.place(codes[:0]).shape == (0, 2)


def test_mistakes_of_layouts(made):
    codes, _, layout, _ = made
    with pytest.raises(CodeError):
        layout.place(codes[:, :-1])
    with pytest.raises(ArgumentError, match="600"):
        fit_layout(codes, classes=[1, 2, 3])


def test_progress_is_told(made):
    codes = made[0][:20]
    told = []
    layout = fit_layout(codes, progress=lambda *at: told.append(at))
    assert [done for done, _ in told] == list(range(1, told[0][1] + 1))
    placed = []
    layout.place(codes, lambda *at: placed.append(at))
    assert placed == [(20, 20)]


def test_landmarks_are_different_and_of_small_classes_too():
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 256, (2500, 4), np.uint8), axis=0)
    codes = np.concatenate([codes, codes])
    n = len(codes) // 2
    rare = np.arange(n) % 50 == 0
    classes = np.tile(np.where(rare, "rare", "frequent"), 2)
    landmarks = fit_layout(codes, n_landmarks=200, classes=classes).codes
    assert len(np.unique(landmarks, axis=0)) == len(landmarks) == 200
    rows = {code.tobytes(): row for row, code in enumerate(codes[:n])}
    chosen = [rows[code.tobytes()] for code in landmarks]
    # By size 4 of 200; by its power 3/4 about 10.
    assert np.count_nonzero(rare[chosen]) in range(6, 16)
    assert np.count_nonzero(np.array(chosen) < 200) < 50  # not the first ones


@settings(max_examples=8)
@given(
    groups=st.lists(st.integers(0, 6), min_size=1, max_size=60),
    n_landmarks=st.integers(1, 70),
)
def test_as_many_landmarks_as_there_may_be(groups, n_landmarks):
    codes = np.arange(len(groups), dtype=np.uint8)[:, None]
    layout = fit_layout(codes, n_landmarks=n_landmarks, classes=groups)
    assert len(layout) == min(n_landmarks, len(groups))


def brute_force_trust(codes, places, k):
    n = len(codes)
    bits = np.unpackbits(codes, axis=1).astype(int)
    kept = []
    for i in range(n):
        others = np.arange(n) != i
        far = np.abs(bits[others] - bits[i]).sum(axis=1)
        away = np.square(places[others].astype(int) - places[i]).sum(axis=1)
        both = (far <= np.sort(far)[k - 1]) & (away <= np.sort(away)[k - 1])
        kept.append(min(both.sum(), k) / k)
    return np.array(kept)


@given(st.data())
def test_trust_equals_brute_force(data):
    n = data.draw(st.integers(2, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    codes = rng.integers(0, data.draw(st.sampled_from([2, 16, 256])), (n, 2), np.uint8)
    side = data.draw(st.sampled_from([2, 5, 65_536]))
    places = rng.integers(0, side, (n, 2)).astype(np.uint16)
    k = data.draw(st.integers(1, n - 1))
    found = map_trust(codes, places, k=k)
    expected = brute_force_trust(codes, places, k)
    np.testing.assert_array_equal(found.shares, expected)
    assert found.share == pytest.approx(expected.mean())
    assert found.interval == pytest.approx((found.share, found.share))


def test_trust_of_a_sample_is_near_that_of_all(made):
    codes, _, _, places = made
    whole = map_trust(codes, places)
    part = map_trust(codes, places, max_items=200)
    low, high = part.interval
    assert low < part.share < high
    assert part.share == pytest.approx(whole.share, abs=0.1)
    np.testing.assert_array_equal(part.shares, whole.shares[part.rows])
    assert whole.by_chance == pytest.approx(10 / 599)


def test_trust_around_a_place():
    codes = pack(np.tri(40, 39, -1))  # a line
    places = np.zeros((40, 2), int)
    places[:20, 0] = np.arange(20)  # as it is
    places[20:, 0] = 1000 + np.random.default_rng(0).permutation(20)
    found = map_trust(codes, places, k=2)
    left, right = found.around([[5, 0], [1010, 0]])
    assert left == 1
    assert right < 0.6


def test_trust_of_one_item():
    assert map_trust(np.zeros((1, 1), np.uint8), [[7, 7]]).share == 1
