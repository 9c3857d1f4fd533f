"""Centres: what distances they promise, that all bits tell something, and bad input."""

from math import comb

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres import (
    balanced_centres,
    hadamard_centres,
    hierarchy_vectors,
    semantic_centres,
    separated_centres,
)

GENERATORS = [hadamard_centres, balanced_centres, separated_centres]
SIZES = [
    (1, 1), (1, 17), (2, 1), (2, 2), (2, 30), (3, 2), (3, 16), (4, 64), (5, 50),
    (10, 7), (10, 16), (21, 48), (32, 16), (33, 16), (100, 20), (128, 7), (150, 65),
]  # fmt: skip
every_size = pytest.mark.parametrize(("n_classes", "n_bits"), SIZES)
every_generator = pytest.mark.parametrize("generator", GENERATORS)


def distances(centres):
    signs = centres.astype(int)
    return ((signs.shape[1] - signs @ signs.T) // 2)[np.triu_indices(len(signs), 1)]


def gilbert_varshamov(n_classes, n_bits):
    """Return a distance that some code of so many words surely has."""
    volume, distance = 1, 1
    while n_classes * volume <= 2**n_bits and distance <= n_bits:
        volume += comb(n_bits, distance)
        distance += 1
    return distance - 1


def possible(generator, n_classes, n_bits):
    """Tell whether there are surely enough balanced codes, by some margin."""
    return generator is not balanced_centres or n_bits > 11 or n_classes <= n_bits // 3


@every_generator
@every_size
def test_a_code_of_its_own_for_each_class(generator, n_classes, n_bits):
    if not possible(generator, n_classes, n_bits):
        return
    found = [generator(n_classes, n_bits, random_state=seed) for seed in range(2)]
    for centres in found:
        assert centres.shape == (n_classes, n_bits)
        assert centres.dtype == np.int8
        assert set(np.unique(centres)) <= {-1, 1}
        assert len(np.unique(centres, axis=0)) == n_classes
    again = generator(n_classes, n_bits, random_state=0)
    assert np.array_equal(found[0], again)
    if n_classes > 2 and n_bits > 3:
        assert not np.array_equal(found[0], found[1])
    # Two odd codes of balanced bits share a bit.
    odd = generator is balanced_centres and n_bits % 2
    if n_classes > 1 and not odd:
        assert all((centres != centres[0]).any(axis=0).all() for centres in found)


class TestHadamard:
    @pytest.mark.parametrize("n_bits", [2, 4, 12, 16, 20, 48, 64])
    def test_half_of_the_bits_differ_or_all(self, n_bits):
        for n_classes in {2, 3, n_bits, n_bits + 1, 2 * n_bits}:
            if n_classes <= 2**n_bits:
                found = distances(hadamard_centres(n_classes, n_bits))
                assert set(found) <= {n_bits // 2, n_bits}

    def test_all_of_the_matrix_and_its_negative(self):
        centres = hadamard_centres(32, 16, random_state=3)
        assert (distances(centres) == 16).sum() == 16
        assert {row.tobytes() for row in centres} == {row.tobytes() for row in -centres}

    @pytest.mark.parametrize(
        ("n_classes", "n_bits"), [(65, 16), (17, 8), (10, 7), (10, 52)]
    )
    def test_elsewhere_separated(self, n_classes, n_bits):
        sizes = {"n_classes": n_classes, "n_bits": n_bits, "random_state": 5}
        assert np.array_equal(hadamard_centres(**sizes), separated_centres(**sizes))

    @pytest.mark.parametrize(
        ("n_classes", "n_bits"), [(33, 16), (64, 16), (80, 20), (100, 32)]
    )
    def test_more_rows_are_balanced(self, n_classes, n_bits):
        centres = hadamard_centres(n_classes, n_bits, random_state=1)
        products = centres.astype(int) @ centres.T
        from_each = np.isin(products, (0, n_bits, -n_bits))
        # Rows are half of the bits from each other, others from the signs of columns.
        assert (from_each.sum(axis=1) >= 2 * n_bits).sum() >= 2 * n_bits
        assert from_each.all(axis=1).any()
        again = hadamard_centres(n_classes, n_bits, random_state=1)
        assert np.array_equal(centres, again)

    def test_orders(self):
        for order in range(4, 89, 4):
            H = hadamard_centres(order, order).astype(int)
            orthogonal = np.array_equal(H @ H.T, order * np.eye(order))
            assert orthogonal == (order != 52)


class TestBalanced:
    @pytest.mark.parametrize("n_bits", [16, 17, 64])
    @pytest.mark.parametrize("n_classes", [1, 2, 3, 10, 100])
    def test_half_of_the_bits_are_set(self, n_classes, n_bits):
        centres = balanced_centres(n_classes, n_bits, random_state=1)
        assert ((centres > 0).sum(axis=1) == n_bits // 2).all()

    def test_all_that_there_are(self):
        assert len(balanced_centres(20, 6)) == 20
        with pytest.raises(ArgumentError, match="gave 20 balanced codes of 6 bits"):
            balanced_centres(21, 6)


class TestSeparated:
    @every_size
    def test_no_worse_than_the_bound(self, n_classes, n_bits):
        if n_classes > 1:
            found = distances(separated_centres(n_classes, n_bits))
            assert found.min() >= gilbert_varshamov(n_classes, n_bits)

    @pytest.mark.parametrize(
        ("n_classes", "n_bits", "least"),
        [(100, 16, 5), (100, 32, 11), (100, 64, 26), (1000, 32, 9), (16, 7, 3)],
    )
    def test_far_better_than_at_random(self, n_classes, n_bits, least):
        for seed in range(3):
            found = distances(separated_centres(n_classes, n_bits, random_state=seed))
            assert found.min() >= least
            random = balanced_centres if n_classes <= 100 and n_bits > 8 else None
            if random:
                other = distances(random(n_classes, n_bits, random_state=seed))
                assert found.min() > other.min()

    @pytest.mark.parametrize("n_bits", [64, 65, 300])
    def test_long_codes(self, n_bits):
        assert distances(separated_centres(20, n_bits)).min() > 0.4 * n_bits

    @pytest.mark.parametrize("n_bits", [17, 30, 64, 100, 128, 1000])
    def test_few_classes_are_as_far_apart_as_can_be(self, n_bits):
        assert distances(separated_centres(2, n_bits)).min() == n_bits
        for n_classes in (3, 4):  # pairs differ in two of three bits at best
            apart = distances(separated_centres(n_classes, n_bits)).min()
            assert apart == 2 * n_bits // 3


class TestSemantic:
    vectors = np.repeat(np.eye(4), 4, axis=0) + 0.1 * np.random.default_rng(0).normal(
        size=(16, 4)
    )

    def test_from_separated_ones(self):
        for seed in range(3):
            centres = semantic_centres(self.vectors, 12, random_state=seed)
            rng = np.random.RandomState(seed)
            plain = separated_centres(16 * 4, 12, random_state=rng)
            rows = {row.tobytes() for row in centres}
            assert len(rows) == 16
            assert rows <= {row.tobytes() for row in plain}

    def test_like_classes_are_nearer(self):
        group = np.arange(16) // 4
        same = (group[:, None] == group)[np.triu_indices(16, 1)]
        for seed in range(5):
            near = distances(semantic_centres(self.vectors, 12, random_state=seed))
            assert near[same].mean() < near[~same].mean() - 1.5
            assert near.min() >= 3

    def test_distances_are_those_of_classes(self):
        V = np.random.default_rng(0).normal(size=(40, 5))
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        wanted = np.linalg.norm(V[:, None] - V, axis=2)[np.triu_indices(40, 1)]
        found = distances(semantic_centres(V, 16))
        assert np.corrcoef(wanted, found)[0, 1] > 0.4

    @pytest.mark.parametrize("seed", range(10))
    def test_no_step_is_left(self, seed):
        """A class takes a code that is free, or exchanges its own: nothing fits better.

        Distances of classes are scaled to those of the codes to choose from.
        """
        V = np.random.default_rng(seed).normal(size=(6, 3))
        centres = semantic_centres(V, 8, random_state=seed)
        rng = np.random.RandomState(seed)
        codes = separated_centres(24, 8, random_state=rng).astype(int)
        D = (8 - codes @ codes.T) / 2
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        T = np.linalg.norm(V[:, None] - V, axis=2)
        (of_classes, of_codes) = (M[np.triu_indices(len(M), 1)] for M in (T, D))
        T = (T - of_classes.mean()) * of_codes.std() / of_classes.std()
        T = (T + of_codes.mean()) * (1 - np.eye(6))

        def misfit(rows):
            return ((T - D[np.ix_(rows, rows)]) ** 2).sum()

        rows = np.argmax((centres[:, None] == codes).all(axis=2), axis=1)
        for i in range(6):
            for code in range(12):
                other = rows.copy()
                other[other == code] = rows[i]
                other[i] = code
                assert misfit(other) >= misfit(rows) - 1e-6

    @pytest.mark.parametrize("n_classes", [1, 2, 3])
    def test_few_classes(self, n_classes):
        assert semantic_centres(np.eye(n_classes), 8).shape == (n_classes, 8)

    def test_classes_that_are_all_alike(self):
        assert len(np.unique(semantic_centres(np.ones((5, 2)), 8), axis=0)) == 5

    @pytest.mark.parametrize(
        "vectors", [np.zeros((3, 2)), [[1.0, np.nan]], [1.0, 2.0], [[1.0, np.inf]]]
    )
    def test_bad_vectors(self, vectors):
        with pytest.raises(ArgumentError, match="classes need a vector each, finite"):
            semantic_centres(vectors, 8)

    def test_too_many_classes(self):
        with pytest.raises(ArgumentError, match="9 classes need at least 4 bits"):
            semantic_centres(np.eye(9), 3)
        assert len(np.unique(semantic_centres(np.eye(8), 3), axis=0)) == 8


class TestHierarchy:
    def test_cosines_are_of_the_common_way(self):
        paths = [("A", "x", "1"), ["A", "x", "2"], ("A", "y"), ("B", "x")]
        V = hierarchy_vectors(paths)
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        expected = np.eye(4)
        expected[0, 1] = expected[1, 0] = 2 / 3
        expected[[0, 1, 2, 2], [2, 2, 0, 1]] = 1 / 6**0.5
        np.testing.assert_allclose(V @ V.T, expected, atol=1e-12)

    def test_codes_are_nearer_within_a_group(self):
        paths = [(str(i // 4), str(i)) for i in range(16)]
        codes = semantic_centres(hierarchy_vectors(paths), 16).astype(int)
        apart = (16 - codes @ codes.T) / 2
        group = np.arange(16) // 4
        same = (group[:, None] == group) & ~np.eye(16, dtype=bool)
        assert apart[same].mean() < apart[group[:, None] != group].mean() - 1

    @pytest.mark.parametrize("path", [(), "A10"])
    def test_bad_paths(self, path):
        with pytest.raises(ArgumentError, match="each class needs a path of at least"):
            hierarchy_vectors([("A",), path])


class TestBadInput:
    @every_generator
    @pytest.mark.parametrize(
        ("n_classes", "n_bits", "message"),
        [
            (5, 2, "5 classes need at least 3 bits to get codes of their own, got 2"),
            (65_537, 16, "65537 classes need at least 17 bits"),
            (0, 8, "n_classes must be"),
            (2.0, 8, "n_classes must be"),
            (True, 8, "n_classes must be"),
            (3, 0, "n_bits must be"),
            (3, 8.0, "n_bits must be"),
            (3, 65_537, "n_bits must be"),
        ],
    )
    def test_sizes(self, generator, n_classes, n_bits, message):
        with pytest.raises(ArgumentError, match=message):
            generator(n_classes, n_bits)
