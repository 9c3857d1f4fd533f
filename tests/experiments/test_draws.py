"""Which classes and items the experiments on novel classes draw."""

import zlib

import numpy as np
import pytest

from experiments import class_search, discriminative, novel_classes
from experiments._features import FeatureSet
from experiments._novel_protocol import float_costs, svm_costs, tuned_on
from experiments.novel_classes import lineup


def made_up(n_classes=60, least=24, most=60):
    rng = np.random.default_rng(7)
    sizes = rng.integers(least, most, n_classes)
    names = [f"class {i:02d}" for i in range(n_classes)]
    y = rng.permutation(np.repeat(names, sizes))
    X = rng.normal(size=(len(y), 4)).astype(np.float32)
    return FeatureSet(X[100:], X[:100], y[100:], y[:100])


@pytest.fixture
def features(monkeypatch):
    for module in (novel_classes, class_search, discriminative):
        monkeypatch.setattr(module, "load_features", lambda *_: made_up())


def checksum(*rows):
    return zlib.crc32(np.concatenate(rows).astype("<i8").tobytes())


@pytest.mark.usefixtures("features")
@pytest.mark.parametrize(
    ("seed", "learn", "scored"),
    [(0, 1814049208, 1420924533), (1, 1638129354, 2498795068)],
)
def test_novel_classes_are_those_of_the_first_measurements(seed, learn, scored):
    problem = novel_classes.Problem("caltech101-1280", seed)
    assert checksum(problem.learn) == learn
    assert checksum(problem.train, problem.test) == scored
    assert len(problem.known) == 35


@pytest.mark.usefixtures("features")
@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, (1846828625, 3839112590, 1207548123, 2958560339)),
        (1, (3517334946, 2708781711, 2233396118, 495382852)),
    ],
)
def test_searches_are_those_of_the_first_measurements(seed, expected):
    problem = class_search.Problem("caltech101-1280", seed)
    rows = (problem.learn, problem.collection, problem.negatives)
    examples = checksum(*problem.examples.values())
    assert (*map(checksum, rows), examples) == expected


@pytest.mark.usefixtures("features")
def test_fewer_known_classes_are_among_more():
    problems = [novel_classes.Problem("icd10", 0, n) for n in (5, 20, 99)]
    fewest, fewer, every = (set(problem.learn) for problem in problems)
    assert fewest < fewer < every
    assert [len(problem.known) for problem in problems] == [5, 20, 35]
    for problem in problems:
        assert set(problem.y[problem.learn]) == set(problem.known)
        np.testing.assert_array_equal(problem.train, problems[0].train)
        np.testing.assert_array_equal(problem.test, problems[0].test)


@pytest.mark.usefixtures("features")
def test_nothing_is_learnt_from_novel_classes_or_scored_where_it_was_trained():
    problem = novel_classes.Problem("icd10", 0)
    train, test = set(problem.train), set(problem.test)
    assert not set(problem.known) & set(problem.novel)
    assert not train & test
    assert set(problem.y[problem.train]) == set(problem.y[problem.test])
    assert len(train) == 25 * 10


def test_classes_without_items_enough_are_not_known(monkeypatch):
    small = made_up(60, 5, 60)
    monkeypatch.setattr(novel_classes, "load_features", lambda *_: small)
    problem = novel_classes.Problem("icd10", 0)
    counts = {c: int(np.sum(problem.y == c)) for c in problem.known}
    assert min(counts.values()) >= 10
    assert len(problem.known) < 35


@pytest.mark.usefixtures("features")
def test_searches_go_through_everything_else(monkeypatch):
    monkeypatch.setattr(class_search, "MOST_KNOWN", 5)
    problem = class_search.Problem("icd10", 0)
    assert len(set(problem.y[problem.learn])) == 5
    assert not set(problem.learn) & set(problem.collection)
    assert not set(np.concatenate(list(problem.examples.values()))) & set(
        problem.collection
    )
    novel = np.isin(problem.y, problem.novel)
    assert set(np.flatnonzero(~novel)) == set(problem.learn) | set(
        problem.collection[~novel[problem.collection]]
    )
    assert novel[problem.collection].sum() == 25 * 25


def test_parameters_were_chosen_on_caltech_only():
    classes = np.arange(100)
    assert len(tuned_on("caltech101-classic", classes)) == 25
    assert len(tuned_on("icd10", classes)) == 0


@pytest.mark.usefixtures("features")
def test_known_classes_are_as_many_as_can_be_paid(monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_CLASSES", 4)
    monkeypatch.setitem(discriminative.SIZES, "icd10", (10, (5, 20)))
    few, many = (discriminative.draw("icd10", n, 10, 0) for n in (5, 20))
    assert (len(few.y), len(many.y)) == (20, 80)
    assert len(set(few.y)) == len(set(few.truth)) == 4
    np.testing.assert_array_equal(few.truth, many.truth)
    np.testing.assert_array_equal(few.X_test, many.X_test)
    assert {row.tobytes() for row in few.X} < {row.tobytes() for row in many.X}
    other = discriminative.draw("icd10", 5, 10, 1)
    assert set(other.y) != set(few.y)


@pytest.mark.usefixtures("features")
def test_what_is_measured_at_which_length():
    cells = [cell for cell, _ in lineup(novel_classes.Problem("icd10", 0))]
    assert {"data": "icd10", "bits": 0, "method": "float", "seed": 0} in cells
    longest = {}
    for cell in cells:
        longest[cell["method"]] = max(longest.get(cell["method"], 0), cell["bits"])
    assert "LP-beta" not in longest
    assert longest["BRE"] == longest["PiCoDes"] == 2048
    assert longest["relaxed PiCoDes"] == longest["PiCoDes, whole steps"] == 64
    assert longest["classemes + RFE"] == 32  # of 35 known classes


def test_lp_beta_needs_the_kinds_of_classic_descriptors(monkeypatch):
    monkeypatch.setattr(novel_classes, "load_features", lambda *_: made_up())
    problem = novel_classes.Problem("caltech101-classic", 0)
    methods = [cell["method"] for cell, _ in lineup(problem)]
    assert methods.count("LP-beta") == 1


def test_weights_of_errors_follow_the_length_of_rows():
    X = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    costs = float_costs(X)
    np.testing.assert_allclose(float_costs(100 * X), np.divide(costs, 1e4))
    assert svm_costs(16) == svm_costs(256) == [0.001, 0.01, 0.1, 1.0]
    np.testing.assert_allclose(svm_costs(1024), np.divide(svm_costs(256), 4))
