"""Codes for classes from what is known of them, and equal ones made different."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError
from fewbits.learners.deep.codebooks import (
    cca_codebook,
    random_codebook,
    svd_codebook,
    unique,
    widen,
)

rng = np.random.default_rng(0)


class TestRandom:
    @pytest.mark.parametrize(("n_classes", "n_bits"), [(1, 1), (2, 1), (64, 6), (9, 9)])
    def test_all_different(self, n_classes, n_bits):
        C = random_codebook(n_classes, n_bits, random_state=0)
        assert C.shape == (n_classes, n_bits)
        assert len(np.unique(C > 0, axis=0)) == n_classes
        assert np.array_equal(C, random_codebook(n_classes, n_bits, random_state=0))

    def test_normal_but_for_signs(self):
        C = random_codebook(1000, 12, random_state=0)
        assert abs(C.mean()) < 0.02
        assert C.std() == pytest.approx(1, abs=0.02)

    def test_too_many(self):
        with pytest.raises(ArgumentError, match="5 classes need at least 3 bits"):
            random_codebook(5, 2)


class TestWiden:
    def test_own_columns_come_first_and_others_are_as_large(self):
        C = 5 * rng.normal(size=(200, 4))
        found = widen(C, 12)
        assert np.array_equal(found[:, :4], C)
        assert found[:, 4:].std() == pytest.approx(5, rel=0.1)
        assert np.array_equal(found, widen(C, 12))

    def test_enough_already_and_none_at_all(self):
        assert np.array_equal(widen(np.eye(3), 2), np.eye(3)[:, :2])
        assert np.isfinite(widen(np.empty((3, 0)), 2)).all()


class TestSVD:
    W = rng.normal(size=(12, 30))

    def test_directions_of_the_centred_rows(self):
        found = svd_codebook(self.W, 5)
        centred = self.W - self.W.mean(axis=0)
        values = np.linalg.eigvalsh(centred @ centred.T)[::-1]
        for k in range(5):
            v = found[:, k]
            np.testing.assert_allclose(centred @ centred.T @ v, values[k] * v)
            assert v @ v == pytest.approx(1)

    def test_what_changes_no_decision_changes_nothing(self):
        np.testing.assert_allclose(
            svd_codebook(self.W + rng.normal(size=30), 11), svd_codebook(self.W, 11)
        )

    def test_signs_do_not_depend_on_the_solver(self):
        found = svd_codebook(self.W, 5)
        largest = found[np.abs(found).argmax(axis=0), range(5)]
        assert (largest > 0).all()

    @pytest.mark.parametrize(("shape", "most"), [((12, 30), 11), ((12, 4), 4)])
    def test_no_more_bits_than_directions(self, shape, most):
        W = rng.normal(size=shape)
        assert svd_codebook(W, most).shape == (12, most)
        assert np.array_equal(svd_codebook(W), svd_codebook(W, most))
        with pytest.raises(ArgumentError, match=f"has {most} directions, too few for"):
            svd_codebook(W, most + 1)

    @pytest.mark.parametrize("W", [np.ones(3), np.full((3, 3), np.nan)])
    def test_bad_weights(self, W):
        with pytest.raises(ArgumentError, match="weights must be a matrix of finite"):
            svd_codebook(W, 1)

    def test_bad_length(self):
        with pytest.raises(ArgumentError, match="n_bits must be an integer"):
            svd_codebook(self.W, 0)


class TestCCA:
    y = np.concatenate([np.arange(6), rng.integers(6, size=200)])
    X = rng.normal(size=(6, 8))[y] + rng.normal(size=(206, 8))
    counts = np.bincount(y)
    means = np.eye(6)[y].T @ X / counts[:, None]
    scatter = np.cov(X, rowvar=False, bias=True)

    @pytest.mark.parametrize("reg", [1e-6, 1.0])
    def test_textbook(self, reg):
        """The labels' side of CCA with one-hot labels, each class's value in it."""
        Y = np.eye(6)[self.y]
        Y, X = Y - Y.mean(axis=0), self.X - self.X.mean(axis=0)
        Syy, Sxy = Y.T @ Y / len(Y), X.T @ Y / len(Y)
        Sxx = self.scatter + reg * np.trace(self.scatter) / 8 * np.eye(8)
        values, E = np.linalg.eigh(Syy)
        root = (E[:, 1:] / np.sqrt(values[1:])) @ E[:, 1:].T
        _, V = np.linalg.eigh(root @ Sxy.T @ np.linalg.solve(Sxx, Sxy) @ root)
        expected = root @ V[:, ::-1][:, :5]
        p = self.counts / self.counts.sum()
        expected -= p @ expected  # a constant for all classes is free
        found = cca_codebook(self.means, self.counts, self.scatter, 5, reg)
        for k in range(5):
            v = expected[:, k] * np.sign(expected[:, k] @ found[:, k])
            np.testing.assert_allclose(found[:, k], v, atol=1e-7)

    def several(self):
        """Return labels, of which an item has one, more or none, and features."""
        Y = np.eye(6)[self.y] + (rng.random((206, 6)) < 0.06 * np.arange(6)) > 0
        Y[0] = False
        return Y.astype(float), self.X - self.X.mean(axis=0)

    def test_several_labels(self):
        Y, X = self.several()
        means = Y.T @ X / Y.sum(axis=0)[:, None]
        found = cca_codebook(means, Y.sum(axis=0), self.scatter, reg=0.1, labels=Y)
        Sxx = self.scatter + 0.1 * np.trace(self.scatter) / 8 * np.eye(8)
        Syy, Sxy = np.cov(Y, rowvar=False, bias=True), X.T @ Y / len(Y)
        values, V = np.linalg.eig(
            np.linalg.solve(Syy, Sxy.T @ np.linalg.solve(Sxx, Sxy))
        )
        V = V[:, np.argsort(-values)]
        expected = V / np.sqrt(np.diag(V.T @ Syy @ V))
        expected -= Y.mean(axis=0) @ expected  # where an item of one label is
        assert found.shape == (6, 6)
        signs = np.sign(np.sum(expected * found, axis=0))
        np.testing.assert_allclose(found, expected * signs, atol=1e-6)

    def test_labels_that_are_always_together(self):
        Y, X = self.several()
        Y[:, 5] = Y[:, 4]
        means = Y.T @ X / Y.sum(axis=0)[:, None]
        found = cca_codebook(means, Y.sum(axis=0), self.scatter, labels=Y)
        assert found.shape == (6, 5)
        np.testing.assert_allclose(found[4], found[5])
        with pytest.raises(ArgumentError, match="has 5 directions, too few for 6 bits"):
            cca_codebook(means, Y.sum(axis=0), self.scatter, 6, labels=Y)

    def test_one_label_each_is_no_special_case(self):
        one_hot, X = np.eye(6)[self.y], self.X - self.X.mean(axis=0)
        means = one_hot.T @ X / self.counts[:, None]
        known = means, self.counts, self.scatter
        for n_bits in (3, None):
            np.testing.assert_allclose(
                cca_codebook(*known, n_bits, labels=one_hot),
                cca_codebook(*known, n_bits),
                atol=1e-7,
            )

    def test_constant_features_and_no_regulariser(self):
        means = np.column_stack([self.means, np.ones(6)])
        scatter = np.pad(self.scatter, (0, 1))
        found = cca_codebook(means, self.counts, scatter, 5, reg=0.0)
        plain = cca_codebook(self.means, self.counts, self.scatter, 5, reg=0.0)
        np.testing.assert_allclose(found, plain, atol=1e-6)

    def test_no_more_bits_than_directions(self):
        with pytest.raises(ArgumentError, match="has 5 directions, too few for 6 bits"):
            cca_codebook(self.means, self.counts, self.scatter, 6)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"counts": [1, 2]}, r"scatter of shape \(8, 8\), got \(2,\) and \(8, 8\)"),
            ({"counts": [0, 1, 1, 1, 1, 1]}, "a positive count for each class"),
            ({"scatter": np.eye(7)}, r"got \(6,\) and \(7, 7\)"),
            ({"means": np.full((6, 8), np.inf)}, "means must be a matrix of finite"),
            ({"labels": np.eye(5)}, r"6 classes need as many labels, got \(5, 5\)"),
        ],
    )
    def test_bad_statistics(self, change, message):
        given_ = {"means": self.means, "counts": self.counts, "scatter": self.scatter}
        with pytest.raises(ArgumentError, match=message):
            cca_codebook(**{**given_, **change}, n_bits=2)


class TestUnique:
    @given(st.integers(1, 5), st.integers(0, 10_000), st.data())
    def test_different_and_changed_no_more_than_needed(self, n_bits, seed, data):
        n_classes = data.draw(st.integers(1, 2**n_bits))
        r = np.random.default_rng(seed)
        C = r.normal(size=(n_classes, n_bits)) + 0.7
        codes, n_changed = unique(C)
        signs = np.where(C >= 0, 1, -1)
        assert len(np.unique(codes, axis=0)) == n_classes
        kept = (codes == signs).all(axis=1)
        assert n_changed == (~kept).sum() == n_classes - len(np.unique(signs, axis=0))
        for i in np.flatnonzero(~kept):  # the surest of equals keeps its code
            equals = (signs == signs[i]).all(axis=1)
            (keeper,) = np.flatnonzero(equals & kept)
            assert np.abs(C[keeper]).min() >= np.abs(C[i]).min()

    @given(st.integers(2, 5), st.integers(0, 10_000))
    def test_flips_cost_least(self, n_bits, seed):
        """The second of two equals gets the cheapest code that is not taken."""
        r = np.random.default_rng(seed)
        others = r.permutation(2**n_bits)[: r.integers(1, 2**n_bits)]
        book = 10.0 * (2 * (others[:, None] >> np.arange(n_bits) & 1) - 1)
        weak = np.sign(book[0]) * r.random(n_bits)
        codes, n_changed = unique(np.vstack([book, weak]))
        taken = {tuple(row) for row in np.sign(book)}
        costs = {
            code: np.abs(weak)[np.sign(weak) != code].sum()
            for code in product((-1, 1), repeat=n_bits)
            if code not in taken
        }
        assert n_changed == 1
        assert costs[tuple(codes[-1])] == pytest.approx(min(costs.values()))

    @given(st.integers(0, 10_000))
    def test_every_prefix_from_a_length_on(self, seed):
        C = np.random.default_rng(seed).normal(size=(60, 16))
        codes, n_changed = unique(C, 6)
        signs = np.where(C >= 0, 1, -1)
        for length in (6, 8, 10, 16):
            assert len(np.unique(codes[:, :length], axis=0)) == 60
        assert np.array_equal(codes[:, 6:], signs[:, 6:])
        assert n_changed == 60 - len(np.unique(signs[:, :6], axis=0))

    def test_zero_counts_as_positive(self):
        assert unique([[0.0, -0.0]]).codes.tolist() == [[1, 1]]

    def test_a_full_space(self):
        codes, n_changed = unique(np.ones((2**8, 8)))
        assert len(np.unique(codes, axis=0)) == 2**8
        assert n_changed == 2**8 - 1

    def test_input_is_left_alone(self):
        C = np.ones((3, 4))
        unique(C)
        assert (C == 1).all()

    @pytest.mark.parametrize(
        ("C", "message"),
        [
            (
                np.ones((5, 2)),
                "5 classes need at least 3 bits to get codes",
            ),
            (np.ones(3), r"C must be a matrix of finite numbers, got shape \(3,\)"),
            ([[np.nan, 1.0]], "C must be a matrix of finite numbers"),
            (np.ones((0, 3)), "n_classes must be an integer, 1 or more"),
        ],
    )
    def test_bad_input(self, C, message):
        with pytest.raises(ArgumentError, match=message):
            unique(C)
