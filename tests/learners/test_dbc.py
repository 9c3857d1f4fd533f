"""Discriminative binary codes: the objective, its descent, and what the paper claims.

Figures on digits are means over four seeds, with margins of half of what was measured.
"""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

from fewbits import _kernels
from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError
from fewbits.learners import ITQ, LSH, PCAH
from fewbits.learners._dbc import (
    DBC,
    Categories,
    Objective,
    improve,
    initial_labels,
    pair_counts,
    simultaneous,
    sort_by_class,
    train,
)
from fewbits.learners.fitting import on_progress
from tests.learners._made import made

every_rule = pytest.mark.parametrize("codes", ["image", "category"])

pytestmark = pytest.mark.filterwarnings("ignore:only .* bits are different")


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
def test_sklearn_contract():
    learner = DBC(n_bits=12, codes="category", b_step="simultaneous", random_state=0)
    check_estimator(learner, on_skip=None)


def blobs(sizes=(30, 30, 30, 30), d=10, spread=0.7):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(sizes), d))[y] + spread * rng.normal(size=(len(y), d))
    order = rng.permutation(len(y))
    return X[order], y[order]


def fingerprint(X, y, **parameters):
    return (
        made(DBC, **{"n_bits": 12, "random_state": 0, **parameters})
        .fit(X, y)
        .encoder_.fingerprint
    )


class TestObjective:
    @given(
        st.lists(st.integers(1, 5), min_size=2, max_size=4),
        st.integers(1, 3),
        st.integers(0, 2**32 - 1),
    )
    def test_counts_are_those_of_all_pairs(self, sizes, n_bits, seed):
        categories = Categories(np.array(sizes))
        B = np.random.default_rng(seed).random((sum(sizes), n_bits)) < 0.5
        y = np.repeat(np.arange(len(sizes)), sizes)
        differ = B[:, None] != B[None]
        same = (y[:, None] == y)[..., None]
        intra, inter = pair_counts(categories.counts(B), categories)
        np.testing.assert_array_equal(2 * intra, (differ & same).sum(axis=(0, 1)))
        np.testing.assert_array_equal(2 * inter, (differ & ~same).sum(axis=(0, 1)))

    @given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 99))
    def test_masses_of_even_classes_weigh_the_pairs(self, sizes, seed):
        categories = Categories(np.array(sizes), even=True)
        y = np.repeat(np.arange(len(sizes)), sizes)
        mass = categories.row_masses[y]
        assert mass.sum() == pytest.approx(len(y))
        assert np.bincount(y, mass) == pytest.approx(np.bincount(y, mass)[0])
        B = np.random.default_rng(seed).random((len(y), 3)) < 0.5
        pairs = (B[:, None] != B[None]) * np.outer(mass, mass)[..., None] / 2
        same = (y[:, None] == y)[..., None]
        intra, inter = pair_counts(categories.counts(B), categories)
        np.testing.assert_allclose(intra, (pairs * same).sum(axis=(0, 1)))
        np.testing.assert_allclose(inter, (pairs * ~same).sum(axis=(0, 1)), atol=1e-9)

    @pytest.mark.parametrize("balanced", [True, False])
    def test_value_is_eq_1_in_other_units(self, balanced):
        """The paper's sums, with the weights that the notes translate to."""
        rng = np.random.default_rng(0)
        sizes = np.array([4, 7, 1, 9])
        n, y = sizes.sum(), np.repeat(np.arange(4), sizes)
        L, F = rng.random((n, 3)) < 0.4, rng.normal(size=(n, 3))
        objective = Objective(Categories(sizes), 0.7, 0.3, 1.5, balanced)
        value = objective.value(objective.terms(L, F, norms := rng.random(3)))
        same, unit = y[:, None] == y, (sizes**2).sum() / 4
        lambda2 = 1.5 * ((sizes / n) ** 2).sum()
        for s in range(3):
            d = L[:, s, None] != L[:, s]
            pairs = d[same].sum() / 2 - lambda2 / 2 * d[~same].sum()
            xi = np.maximum(0, 1 - np.where(L[:, s], 1, -1) * F[:, s])
            alike = (L[:, s, None] == L[:, s]).sum(axis=1)
            weights = 1 / (2 * alike) if balanced else 1 / n
            rest = 0.7 * norms[s] + 0.3 * (weights * xi**2).sum()
            assert value[s] == pytest.approx(pairs / unit + 1.5 + rest)

    def test_never_negative(self):
        X, y = blobs((1, 2, 40))
        dbc = made(DBC, 8, gamma=1e-3, lambda2=9, random_state=0).fit(X, y)
        assert dbc.objective_.min() >= 0


class TestClassWeight:
    def test_a_large_class_does_not_take_all_bits(self):
        """Codes distinguish the small classes, too."""
        X, y = blobs((400, 20, 20, 20, 20), d=20, spread=1.0)

        def small_classes_right(class_weight):
            dbc = DBC(16, class_weight=class_weight, random_state=0).fit(X, y)
            small = np.flatnonzero(y > 0)
            codes = dbc.encode(X[small])
            distances = hamming_distances(codes, codes).astype(float)
            np.fill_diagonal(distances, np.inf)
            ties = distances == distances.min(axis=1, keepdims=True)
            right = y[small][:, None] == y[small]
            return float(((ties & right).sum(axis=1) / ties.sum(axis=1)).mean())

        assert small_classes_right("balanced") > small_classes_right(None) + 0.1

    def test_classes_of_one_size_need_none(self):
        X, y = blobs()
        assert fingerprint(X, y) == fingerprint(X, y, class_weight=None)


class TestLabels:
    def problem(self, seed, balanced=True, sizes=(3, 4, 1), n_bits=5, even=False):
        rng = np.random.default_rng(seed)
        L = rng.random((sum(sizes), n_bits)) < 0.5
        L[0], L[-1] = True, False
        objective = Objective(
            Categories(np.array(sizes), even),
            *(1.0, rng.choice([0.1, 1, 5]), 1.0),
            balanced,
        )
        return L, 2 * rng.normal(size=L.shape), objective

    def value(self, L, F, objective):
        return objective.value(objective.terms(L, F, np.zeros(L.shape[1])))

    @given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
    def test_cannot_rise(self, seed, balanced, by_image, even):
        L, F, objective = self.problem(seed, balanced, even=even)
        after = improve(L, F, objective, by_image=by_image)
        change = self.value(after, F, objective) - self.value(L, F, objective)
        assert (change <= 1e-12).all()
        assert (after.any(axis=0) & ~after.all(axis=0)).all()

    @given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
    def test_no_labels_of_a_single_class_are_better(self, seed, balanced, even):
        L, F, objective = self.problem(seed, balanced, even=even)
        found = improve(L, F, objective, by_image=True)
        least = self.value(found, F, objective)
        for rows in objective.categories.slices:
            m = rows.stop - rows.start
            for number in range(2**m):
                other = found.copy()
                other[rows] = (number >> np.arange(m)[:, None]) & 1
                varies = other.any(axis=0) & ~other.all(axis=0)
                value = self.value(other, F, objective)
                assert (value[varies] >= least[varies] - 1e-12).all()

    def test_categories_stay_unanimous(self):
        L, F, objective = self.problem(0, sizes=(5, 6, 7))
        L = np.repeat(L[[0, 6, -1]], [5, 6, 7], axis=0)
        found = improve(L, F, objective, by_image=False)
        counts = objective.categories.counts(found)
        assert np.isin(counts / objective.categories.sizes[:, None], (0, 1)).all()

    def test_released_rule_oscillates_and_ours_comes_to_rest(self):
        X, y = load_digits(return_X_y=True)
        X, sizes = sort_by_class(X[:500], y[:500])
        categories, Z = Categories(sizes), X - X.mean(axis=0)
        Z = Z @ np.linalg.svd(Z, full_matrices=False)[2].T
        start = initial_labels(Z, categories, 32, np.random, init="pca", by_image=True)
        objective = Objective(categories, 1.0, 1.0, 1.0, True)
        scores = np.where(start, 1.0, -1.0)  # as if predicted with a margin

        def released(n):
            return simultaneous(start, categories, 1.0, n)

        assert (released(50) != released(51)).mean() > 0.02
        np.testing.assert_array_equal(released(50), released(52))

        ours = improve(start, scores, objective, by_image=True)
        again = improve(ours, scores, objective, by_image=True)
        np.testing.assert_array_equal(ours, again)

    def test_a_class_of_contrary_evidence_is_split(self):
        """Strong evidence overrules the class; without slack it never does."""
        sizes = np.array([10, 10])
        L = np.repeat([[True], [False]], 10, axis=0)
        F = np.where(L, 2.0, -2.0)
        F[:2] = -3
        for lambda1, kept in ((0.01, True), (5.0, False)):
            objective = Objective(Categories(sizes), 1.0, lambda1, 1.0, True)
            found = improve(L, F, objective, by_image=True)
            assert (found[:2] == kept).all()
            np.testing.assert_array_equal(found[2:], L[2:])


class TestMachines:
    def test_each_minimises_its_share_of_the_objective(self):
        X, y = blobs()
        objective = Objective(Categories(np.bincount(y)), 0.2, 0.8, 1.0, True)
        X = X[np.argsort(y)]
        L = X[:, :3] + np.random.default_rng(0).normal(size=(len(X), 3)) > 0
        planes = train(X, L, objective)

        def value(W, bias):
            scores = X @ W + bias
            norms = (W**2).sum(axis=0) + bias**2
            return objective.value(objective.terms(L, scores, norms))

        least = value(planes[:-1], planes[-1])
        rng = np.random.default_rng(1)
        for size in (1e-2, 1e-1):
            W = planes[:-1] + size * rng.normal(size=planes[:-1].shape)
            assert (value(W, planes[-1]) > least).all()
            assert (value(planes[:-1], planes[-1] + size) > least).all()

    def test_threads_do_not_matter(self):
        X, y = blobs(d=30)
        found = set()
        try:
            for n in (1, 2, 5):
                _kernels.set_num_threads(n)
                found.add(fingerprint(X, y))
        finally:
            _kernels.set_num_threads(None)
        assert len(found) == 1


@every_rule
@pytest.mark.parametrize("balanced", [True, False])
def test_objective_never_rises(codes, balanced):
    X, y = blobs((40, 3, 1, 25, 25))
    dbc = made(
        DBC, 24, codes=codes, balance_bits=balanced, gamma=0.1, random_state=0
    ).fit(X, y)
    assert (np.diff(dbc.objective_) <= 1e-12).all()
    assert dbc.n_iter_ == len(dbc.objective_) == 10


def test_d5_terms_fall_on_digits():
    """Figure 3: pairs within classes, pairs between, slack; not the norms.

    The pairs within classes do by far; of some digits, the others stay as they are.
    """
    X, y = digits(0, per_class=20)[:2]
    terms = DBC(32, random_state=0).fit(X, y).objective_terms_
    assert terms["intra"][-1] < 0.5 * terms["intra"][0]
    assert terms["inter"][-1] >= terms["inter"][0] - 0.01
    assert terms["slack"][-1] < 1.05 * terms["slack"][0]
    assert terms["intra_predicted"][-1] < 1.05 * terms["intra_predicted"][0]


def test_terms_add_up_to_the_objective():
    X, y = blobs()
    dbc = made(DBC, 8, gamma=0.5, lambda1=2, lambda2=3, n_iter=4, random_state=0).fit(
        X, y
    )
    terms = dbc.objective_terms_
    total = terms["intra"] + 3 * (1 - terms["inter"])
    total += 0.5 * terms["regulariser"] + 2 * terms["slack"]
    np.testing.assert_allclose(dbc.objective_, total)


@every_rule
def test_order_of_rows_does_not_matter(codes):
    X, y = blobs((9, 30, 2, 1))
    order = np.random.default_rng(1).permutation(len(y))
    assert fingerprint(X, y, codes=codes) == fingerprint(
        X[order], y[order], codes=codes
    )


def test_equal_rows_of_different_classes_in_any_order():
    X, y = blobs()
    X[:8] = 0
    assert len(set(y[:8])) > 1
    assert fingerprint(X, y) == fingerprint(X[::-1], y[::-1])


@pytest.mark.parametrize(
    "rename",
    [
        lambda y: np.array(["d", "a", "c", "b"])[y],
        lambda y: np.array(["d", "a", "c", "b"], dtype=object)[y],
        lambda y: y * -10.0,
        lambda y: y[:, None],
        lambda y: np.eye(4)[y],
    ],
)
def test_names_of_classes_do_not_matter(rename):
    X, y = blobs()
    assert fingerprint(X, y) == fingerprint(X, rename(y))


@pytest.mark.parametrize("view", [np.asfortranarray, lambda X: X[:, ::-1][:, ::-1]])
def test_layout_does_not_matter(view):
    X, y = blobs()
    assert fingerprint(X, y) == fingerprint(view(X), y)


def test_units_do_not_matter():
    X, y = blobs()
    first = DBC(12, random_state=0).fit(X, y)
    second = DBC(12, random_state=0).fit(X * 2.0**10, y)
    np.testing.assert_array_equal(first.encode(X), second.encode(X * 2.0**10))


@every_rule
@pytest.mark.parametrize("b_step", ["sequential", "simultaneous"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.eye(6), np.arange(6)),  # one example for each class
        (np.eye(5, 3), np.array(list("aabbb"))),  # fewer rows than bits
        (np.arange(20.0)[:, None], np.arange(20) % 2),  # rank 1, no class structure
        (np.tile([[1.0], [-1.0]], (4, 3)), np.repeat([0, 1], 4)),  # equal class means
        (np.vstack([np.zeros((99, 2)), [[1, 2]]]), np.arange(100) == 99),  # unbalanced
    ],
    ids=["single", "few", "line", "equal means", "unbalanced"],
)
@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
def test_odd_data(X, y, codes, b_step):
    dbc = DBC(9, codes=codes, b_step=b_step, n_iter=3, random_state=0).fit(X, y)
    assert dbc.encode(X).shape == (len(X), 2)
    assert np.isfinite(dbc.objective_).all()
    assert set(dbc.classes_) == set(y)


def test_one_example_per_class_gets_codes_of_its_own():
    X = np.random.default_rng(0).normal(size=(12, 30))
    dbc = DBC(16, random_state=0).fit(X, np.arange(12))
    assert len(np.unique(dbc.encode(X), axis=0)) == 12
    assert dbc.within_class_entropy_ == 0


def test_seed_matters_only_where_something_is_random():
    X, y = blobs()
    seeds = 0, 1
    assert len({fingerprint(X, y, n_bits=8, random_state=s) for s in seeds}) == 1
    assert len({fingerprint(X, y, n_bits=14, random_state=s) for s in seeds}) == 2
    random = {fingerprint(X, y, n_bits=8, init="random", random_state=s) for s in seeds}
    assert len(random) == 2


def test_entropy_is_that_of_whole_codes_given_the_class():
    X, y = blobs((5, 12, 20), spread=2)
    dbc = DBC(6, random_state=0).fit(X, y)
    codes, total = dbc.encode(X)[:, 0], 0.0
    for c in range(3):
        p = np.bincount(codes[y == c]) / np.sum(y == c)
        total -= np.sum(y == c) * (p[p > 0] * np.log2(p[p > 0])).sum()
    assert dbc.within_class_entropy_ == pytest.approx(total / len(y))


def test_evidence_against_the_class_makes_codes_of_images():
    X, y = blobs(spread=1.5)
    entropies = [
        made(DBC, 16, lambda1=x, gamma=x, random_state=0)
        .fit(X, y)
        .objective_terms_["intra"]
        for x in (0.01, 1.0, 20.0)
    ]
    last = [intra[-1] for intra in entropies]
    assert last[0] == 0
    assert last == sorted(last)
    assert last[-1] > 0.1


def test_constant_bits_are_counted_and_warned_about():
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) < 5
    with pytest.warns(UserWarning, match=r"^4 of 4 bits are constant") as caught:
        dbc = DBC(4, codes="category", balance_bits=False).fit(X, y)
    assert dbc.n_dead_bits_ == 4
    assert caught[0].filename == __file__


def test_no_iterations_predict_the_principal_components():
    X, y = blobs()
    dbc = made(DBC, 4, n_iter=0, gamma=1e-3).fit(X, y)
    assert dbc.n_iter_ == len(dbc.objective_) == len(dbc.objective_terms_["slack"]) == 0
    assert np.mean(dbc.transform(X) == PCAH(4).fit_transform(X)) > 0.95


def test_tolerance_stops_early():
    X, y = blobs(spread=2)
    patient = DBC(16, n_iter=20, random_state=0).fit(X, y)
    hasty = DBC(16, n_iter=20, tol=1e-2, random_state=0).fit(X, y)
    assert 1 < hasty.n_iter_ < 20
    np.testing.assert_array_equal(hasty.objective_, patient.objective_[: hasty.n_iter_])


def test_interrupt_keeps_what_was_reached():
    def interrupt(done, total, objective):
        if done == 2:
            raise KeyboardInterrupt

    X, y = blobs(spread=2)
    interrupted = DBC(16, random_state=0)
    with on_progress(interrupt), pytest.warns(UserWarning, match="after 2 of 10"):
        interrupted.fit(X, y)
    shorter = DBC(16, n_iter=2, random_state=0).fit(X, y)
    assert interrupted.n_iter_ == len(interrupted.objective_terms_["intra"]) == 2
    assert interrupted.encoder_.fingerprint == shorter.encoder_.fingerprint


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bits": 0}, "n_bits must be an integer"),
        ({"gamma": 0}, "gamma must be a number above 0"),
        ({"lambda1": -1}, "lambda1 must be a number above 0"),
        ({"lambda1": 1e40}, r"at most 1e\+20 times weights\.gamma, got 1e\+40 and 1"),
        ({"gamma": 1e-300}, r"times weights\.gamma, got 1 and 1e-300"),
        ({"lambda2": np.nan}, "lambda2 must be a number at least 0"),
        ({"codes": "both"}, "codes must be one of 'image', 'category'"),
        ({"b_step": 3}, "b_step must be one of 'sequential', 'simultaneous'"),
        ({"init": None}, "init must be one of 'pca', 'random'"),
        ({"n_iter": -1}, "n_iter must be an integer"),
        ({"tol": -0.1}, "tol must be a number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        made(DBC, **parameters).fit(*blobs())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "DBC requires y to be passed"),
        (np.zeros(120), "at least 2 classes"),
        (np.eye(4)[np.arange(120) % 4] + np.eye(4)[3], "0 and 1 only"),
        (1 - np.eye(4)[np.arange(120) % 4], "one class for each row, got 3 in row 0"),
        (np.arange(119), r"\[120, 119\]"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        DBC(8).fit(blobs()[0], y)
    assert "\n" not in str(caught.value)


@cache
def digits(seed, per_class):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    train = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(10)])
    test = np.setdiff1d(np.arange(len(y)), train)
    return X[train], y[train], X[test], y[test]


@cache
def scores(make, n_bits, **parameters):
    """Return accuracy of the nearest, ties shared, and precision of the 5 nearest."""
    found = []
    for seed in range(4):
        X, y, queries, truth = digits(seed, per_class=5)
        learner = make(n_bits, random_state=seed, **parameters).fit(X, y)
        distances = hamming_distances(learner.encode(queries), learner.encode(X))
        right = y == truth[:, None]
        nearest = distances == distances.min(axis=1, keepdims=True)
        accuracy = np.mean((nearest & right).sum(axis=1) / nearest.sum(axis=1))
        noise = np.random.default_rng(seed).random(distances.shape)
        order = np.argsort(distances + noise, axis=1)[:, :5]
        found.append((accuracy, np.take_along_axis(right, order, axis=1).mean()))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("n_bits", [16, 64])
def test_d1_better_than_unsupervised_codes(n_bits):
    dbc, itq, lsh = (scores(make, n_bits) for make in (DBC, ITQ, LSH))
    assert dbc[0] > itq[0]  # by 0.022 and more
    assert dbc[0] > lsh[0] + 0.05
    assert dbc[1] > itq[1] + 0.1


def test_d3_more_bits_are_better():
    found = [scores(DBC, n_bits)[0] for n_bits in (16, 32, 64)]
    assert found == sorted(found)


@pytest.mark.filterwarnings("default:only")
def test_bits_that_are_the_same_are_counted_and_warned_about():
    X, y = blobs()
    n_classes = len(np.unique(y))
    with pytest.warns(UserWarning, match=r"^only \d+ of 64 bits are different"):
        dbc = DBC(64, random_state=0).fit(X, y)
    bits = dbc.transform(X).T
    either_way = {min(row.tobytes(), (1 - row).tobytes()) for row in bits}
    assert dbc.n_different_bits_ == len(either_way) < 2 ** (n_classes - 1)
