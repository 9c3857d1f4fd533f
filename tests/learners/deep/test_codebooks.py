"""Codes for classes from what is known of them, and equal ones made different."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.learners.deep import LLC, NetworkConfig, TrainingConfig
from fewbits.learners.deep.centres import unique

rng = np.random.default_rng(0)
Y = np.eye(6)[np.concatenate([np.arange(6), rng.integers(6, size=200)])]
X = (Y @ rng.normal(size=(6, 8)) + rng.normal(size=(206, 8))).astype(np.float32)
SEVERAL = ((Y + (rng.random((206, 6)) < 0.06 * np.arange(6))) > 0).astype(int)


@pytest.mark.parametrize("labels", [Y, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("reg", [1e-6, 1.0])
def test_cca_of_the_textbook(labels, reg):
    """The labels' side of canonical correlations, and each class's value in it."""
    short = TrainingConfig(max_epochs=1, validation=0)
    plain = NetworkConfig(standardize=False, hidden=())
    options = {"codebook": "cca", "reg": reg, "network": plain, "training": short}
    llc = LLC(5, **options, random_state=0)
    llc.fit(X, Y.argmax(axis=1) if labels is Y else labels)
    Sxx = np.cov(X, rowvar=False)
    Sxx += reg * np.trace(Sxx) / 8 * np.eye(8)
    Syy = np.cov(labels, rowvar=False, bias=True)
    Sxy = (X - X.mean(axis=0)).T @ labels / len(X)
    values, E = np.linalg.eigh(Syy)
    real = values > 1e-9 * values[-1]
    root = E[:, real] / np.sqrt(values[real])
    _, V = np.linalg.eigh(root.T @ Sxy.T @ np.linalg.solve(Sxx, Sxy) @ root)
    places = root @ V[:, ::-1][:, :5]
    places = places - labels.mean(axis=0) @ places  # a constant for all is free
    agree = llc.codebook_ == np.where(places >= 0, 1, -1)
    # Up to the sign of a direction; codes that are equal are made different.
    assert np.maximum(agree.sum(axis=0), 6 - agree.sum(axis=0)).sum() >= (
        30 - llc.n_repaired_
    )


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
        assert unique(np.array([[0.0, -0.0]])).codes.tolist() == [[1, 1]]

    def test_a_full_space(self):
        codes, n_changed = unique(np.ones((2**8, 8)))
        assert len(np.unique(codes, axis=0)) == 2**8
        assert n_changed == 2**8 - 1
