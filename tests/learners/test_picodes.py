"""PiCoDes: each step minimises what the paper says, and new classes profit."""

import warnings
from itertools import count

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError
from fewbits.evaluation.classification import svm_accuracy
from fewbits.learners import ITQ, LSH, PiCoDes, RelaxedPiCoDes


def test_the_search_goes_on_where_whole_steps_are_stuck():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 30
    X = rng.normal(size=(30, 24))[y] + rng.normal(size=(300, 24))
    ends = [
        PiCoDes(32, line_search=search, n_iter=5, random_state=0).fit(X, y).objective_
        for search in (True, False)
    ]
    assert ends[0][-1] < 0.99 * ends[1][-1]


def test_classifiers_that_ignore_the_code_are_told():
    """Of many classes each is so rare that saying no to all of them costs least."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 5)
    X = rng.normal(size=(40, 20))[y] + 0.3 * rng.normal(size=(200, 20))
    plain = PiCoDes(4, random_state=0)
    with pytest.warns(
        UserWarning, match="of 40 classes have .*: set class_weight='balanced'"
    ):
        plain.fit(X, y)
    assert plain.n_idle_classes_ > 10
    balanced = PiCoDes(4, class_weight="balanced", random_state=0).fit(X, y)
    assert balanced.n_idle_classes_ < plain.n_idle_classes_ / 2
    start = ITQ(4, n_iter=20, random_state=0).fit(X)
    same_class = y[:, None] == y

    def apart(encoder):
        bits = encoder.transform(X).astype(int)
        distances = (bits[:, None] != bits).sum(axis=2)
        return distances[~same_class].mean() - distances[same_class].mean()

    assert apart(balanced) > apart(start)


@pytest.mark.filterwarnings("ignore:.* classifier that ignores the code")
# Fewer bits than features, and more.
@pytest.mark.parametrize(
    ("init", "n_bits"), [("itq", 3), ("pca", 70), ("random", 3), ("classes", 70)]
)
def test_every_start_and_length(init, n_bits):
    X, y = load_digits(return_X_y=True)
    picodes = PiCoDes(n_bits, init=init, n_iter=2, random_state=0).fit(X[:120], y[:120])
    assert picodes.encoder_.n_bits == n_bits
    assert (np.diff(picodes.objective_) <= 0).all()
    assert picodes.classes_.tolist() == list(range(10))


def test_components_are_folded_into_the_encoder():
    X, y = load_digits(return_X_y=True)
    picodes = PiCoDes(16, n_components=8, n_iter=2, random_state=0).fit(
        X[:200], y[:200]
    )
    weights = picodes.encoder_.tensors()["weights"]
    assert weights.shape == (64, 16)
    assert np.linalg.matrix_rank(weights, tol=1e-4) == 8


def test_linear_classifiers_work_better_than_on_random_bits():
    """On other images of the classes; new classes are measured in research."""
    X, y = load_digits(return_X_y=True)
    gains = []
    for seed in range(2):
        rows = np.random.default_rng(seed).permutation(len(X))
        train, test = rows[:300], rows[300:]
        accuracy = []
        for learner in (
            PiCoDes(16, init="random", n_iter=5, random_state=seed),
            LSH(16, random_state=seed),
        ):
            codes = learner.fit(X[train], y[train]).encode(X)
            accuracy.append(
                svm_accuracy(codes[train], y[train], codes[test], y[test], n_bits=16)
            )
        gains.append(accuracy[0].value - accuracy[1].value)
    assert min(gains) > 0.1


def test_labels_of_any_kind_in_any_order():
    X, y = load_digits(return_X_y=True)
    X, y = X[:150], y[:150]
    names = np.array([f"digit {label}" for label in y])
    by_number, by_name = (
        PiCoDes(8, n_iter=2, random_state=0).fit(X, labels) for labels in (y, names)
    )
    assert by_number.encoder_.fingerprint == by_name.encoder_.fingerprint


def test_a_class_with_one_example_and_more_bits_than_examples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), [0] * 6 + [1] * 5 + [2]
    picodes = PiCoDes(40, n_iter=2, random_state=0).fit(X, y)
    assert picodes.encode(X).shape == (12, 5)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"lam": 0}, [0, 1, 2] * 4, "lam must be"),
        ({"C": -1}, [0, 1, 2] * 4, "C must be"),
        ({"init": "best"}, [0, 1, 2] * 4, "init must be"),
        ({"n_components": 0}, [0, 1, 2] * 4, "n_components must be"),
        ({"line_search": "False"}, [0, 1, 2] * 4, "line_search must be"),
        ({"line_search": None}, [0, 1, 2] * 4, "line_search must be"),
        ({}, None, "requires y"),
        ({}, [1] * 12, "at least 2 classes"),
        ({}, np.eye(3)[[0, 1, 2] * 4] + np.eye(3)[0] > 0, "one class for each row"),
    ],
)
def test_mistakes(parameters, y, message):
    X = np.random.default_rng(0).normal(size=(12, 4))
    with pytest.raises(ArgumentError, match=message):
        PiCoDes(4, **parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*ignores the code")
def test_bits_that_are_the_same_are_counted_and_warned_about():
    y = np.arange(60) % 3
    X = (y + 0.1 * np.random.default_rng(0).normal(size=60))[:, None]
    with pytest.warns(UserWarning, match=r"^only [1-4] of 8 bits are"):
        picodes = PiCoDes(8, random_state=0).fit(X, y)
    assert picodes.n_dead_bits_ == 0


def test_components_go_by_the_length_of_the_code():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(180, 140)), np.arange(180) % 3
    usual = RelaxedPiCoDes(8, n_iter=1, random_state=0).fit(X, y)
    few = RelaxedPiCoDes(8, n_iter=1, n_components=128, random_state=0).fit(X, y)
    more = RelaxedPiCoDes(132, n_iter=1, random_state=0).fit(X, y)
    as_many = RelaxedPiCoDes(132, n_iter=1, n_components=132, random_state=0).fit(X, y)
    np.testing.assert_array_equal(usual.encode(X), few.encode(X))
    np.testing.assert_array_equal(more.encode(X), as_many.encode(X))


@pytest.mark.parametrize(("seconds", "n_warnings"), [(80, 1), (0.001, 0)])
def test_a_fit_of_minutes_is_told_once(monkeypatch, seconds, n_warnings):
    X, y = load_digits(return_X_y=True)
    clock = count(step=seconds)
    with warnings.catch_warnings(record=True) as caught, monkeypatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr("time.perf_counter", lambda: float(next(clock)))
        PiCoDes(12, n_iter=2, random_state=0).fit(X[:80], y[:80])
    told = [str(each.message) for each in caught if "minutes" in str(each.message)]
    assert len(told) == n_warnings
