"""Discriminative binary codes: the objective, its descent, and what the paper claims.

Figures on digits are means over four seeds, with margins of half of what was measured.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError
from fewbits.learners import DBC, ITQ, LSH, PCAH
from fewbits.learners.fitting import on_progress, thread_limit
from tests.learners._made import made

every_rule = pytest.mark.parametrize("codes", ["image", "category"])

pytestmark = pytest.mark.filterwarnings("ignore:only .* bits are different")


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
def test_sklearn_contract():
    learner = DBC(n_bits=12, codes="category", random_state=0)
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

        assert small_classes_right("balanced") > small_classes_right(None) + 0.05

    def test_classes_of_one_size_need_none(self):
        X, y = blobs()
        assert fingerprint(X, y) == fingerprint(X, y, class_weight=None)


class TestMachines:
    def test_threads_do_not_matter(self):
        X, y = blobs(d=30)
        found = {fingerprint(X, y)}
        with thread_limit(1):
            found.add(fingerprint(X, y))
        assert len(found) == 1


@every_rule
@pytest.mark.parametrize("balanced", [True, False])
def test_objective_never_rises(codes, balanced):
    X, y = blobs((40, 3, 1, 25, 25))
    options = {"codes": codes, "balance_bits": balanced, "gamma": 0.1}
    dbc = made(DBC, 24, **options, random_state=0).fit(X, y)
    assert (np.diff(dbc.objective_) <= 1e-12).all()
    assert dbc.n_iter_ == len(dbc.objective_) == 10


def test_d5_terms_fall_on_digits():
    """Figure 3: pairs within classes, by far; of these digits others hardly do."""
    X, y = digits(0, per_class=20)[:2]
    terms = DBC(32, random_state=0).fit(X, y).objective_terms_
    assert terms["intra"][-1] < 0.5 * terms["intra"][0]


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
def test_odd_data(X, y, codes):
    dbc = DBC(9, codes=codes, n_iter=3, random_state=0).fit(X, y)
    assert dbc.encode(X).shape == (len(X), 2)
    assert np.isfinite(dbc.objective_).all()
    assert set(dbc.classes_) == set(y)


def test_one_example_per_class_gets_codes_of_its_own():
    X = np.random.default_rng(0).normal(size=(12, 30))
    dbc = DBC(16, random_state=0).fit(X, np.arange(12))
    assert len(np.unique(dbc.encode(X), axis=0)) == 12


def test_seed_matters_only_where_something_is_random():
    X, y = blobs()
    seeds = 0, 1
    assert len({fingerprint(X, y, n_bits=8, random_state=s) for s in seeds}) == 1
    assert len({fingerprint(X, y, n_bits=14, random_state=s) for s in seeds}) == 2


def test_evidence_against_the_class_makes_codes_of_images():
    X, y = blobs(spread=1.5)
    entropies = [
        made(DBC, 16, lambda1=x, gamma=x, random_state=0)
        .fit(X, y)
        .objective_terms_["intra"]
        for x in (0.01, 20.0)
    ]
    assert entropies[0][-1] < 0.01
    assert entropies[1][-1] > 0.1


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
        ({"n_bits": 0}, "n_bits must be"),
        ({"gamma": 0}, "gamma must be"),
        ({"lambda1": -1}, "lambda1 must be"),
        ({"lambda1": 1e40}, r"at most 1e\+20 times weights\.gamma, got 1e\+40 and 1"),
        ({"gamma": 1e-300}, r"times weights\.gamma, got 1 and 1e-300"),
        ({"lambda2": np.nan}, "lambda2 must be"),
        ({"codes": "both"}, "codes must be"),
        ({"n_iter": -1}, "n_iter must be"),
        ({"tol": -0.1}, "tol must be"),
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


def test_d1_better_than_unsupervised_codes():
    dbc, itq, lsh = (scores(make, 16) for make in (DBC, ITQ, LSH))
    assert dbc[0] > lsh[0] + 0.05
    assert dbc[1] > itq[1] + 0.1


def test_d3_more_bits_are_better():
    assert scores(DBC, 64)[0] > scores(DBC, 16)[0] + 0.02


@pytest.mark.filterwarnings("default:only")
def test_bits_that_are_the_same_are_counted_and_warned_about():
    X, y = blobs()
    n_classes = len(np.unique(y))
    with pytest.warns(UserWarning, match="of 64 bits are different") as caught:
        dbc = DBC(64, random_state=0).fit(X, y)
    bits = dbc.transform(X).T
    either_way = {min(row.tobytes(), (1 - row).tobytes()) for row in bits}
    assert len(either_way) < 2 ** (n_classes - 1)
    told = f"only {len(either_way)} of 64 bits are different"
    assert any(str(each.message).startswith(told) for each in caught)
