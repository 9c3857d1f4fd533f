"""The studies of PiCoDes, DBC and bits draw and score."""

import zlib

import numpy as np
import pytest
from scipy import stats

from fewbits import Collection
from fewbits.learners import LSH
from research.common import lp_beta
from research.common.classic import leading
from research.common.features import FeatureSet
from research.studies.bits.names import SIGNIFICANCE, Named, Sample, check, swapped
from research.studies.dbc import grid as dbc
from research.studies.picodes import novel, search


def made_up(n_classes=60, least=24, most=60):
    rng = np.random.default_rng(7)
    sizes = rng.integers(least, most, n_classes)
    names = [f"class {i:02d}" for i in range(n_classes)]
    y = rng.permutation(np.repeat(names, sizes))
    X = rng.normal(size=(len(y), 4)).astype(np.float32)
    return FeatureSet(X[100:], X[:100], y[100:], y[:100])


@pytest.fixture(autouse=True)
def features(monkeypatch):
    for module in (novel, search, dbc):
        monkeypatch.setattr(module, "load_features", lambda *_: made_up())
    monkeypatch.setattr(search, "EXAMPLES", (1, 20))  # as classes are small
    dbc.problem_of.cache_clear()


def checksum(*rows):
    return zlib.crc32(np.concatenate(rows).astype("<i8").tobytes())


@pytest.mark.parametrize(
    ("seed", "learn", "scored"),
    [(0, 1814049208, 1420924533), (1, 1638129354, 2498795068)],
)
def test_novel_classes_are_those_of_the_first_measurements(seed, learn, scored):
    problem = novel.Problem("caltech101-1280", seed)
    assert checksum(problem.learn) == learn
    assert checksum(problem.train, problem.test) == scored
    assert len(problem.known) == 35


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, (1737745659, 3614873678, 2674577157)),
        (1, (1911266602, 324173707, 2056084109)),
    ],
)
def test_searches_are_those_that_were_measured(seed, expected):
    found = search.Collection("icd10", seed)
    examples = [found.rows[each] for each in found.examples.values()]
    sides = ((found.learn,), (found.rows[found.ranked],), examples)
    assert tuple(checksum(*each) for each in sides) == expected


def test_fewer_known_classes_are_among_more_and_none_is_novel():
    problems = [novel.Problem("icd10", 0, n) for n in (5, 20, 99)]
    fewest, fewer, every = (set(problem.learn) for problem in problems)
    assert fewest < fewer < every
    for problem in problems:
        assert set(problem.y[problem.learn]) == set(problem.known)
        assert not set(problem.known) & set(problem.novel)
        assert not set(problem.train) & set(problem.test)
        np.testing.assert_array_equal(problem.test, problems[0].test)


def test_searches_go_through_everything_that_was_not_learnt_from():
    found = search.Collection("icd10", 0)
    shown = found.rows[np.concatenate(list(found.examples.values()))]
    ranked = found.rows[found.ranked]
    assert set(found.rows) - set(ranked) == set(shown)
    assert not set(found.learn) & set(found.rows)
    novel_ones = np.isin(found.y, found.novel)
    others = ranked[~novel_ones[ranked]]
    assert set(np.flatnonzero(~novel_ones)) == {*found.learn, *others}
    assert novel_ones[ranked].sum() == 25 * 25


def test_of_one_hot_features_codes_and_features_find_the_same_class():
    y = np.repeat(np.arange(8), 30)
    X = np.eye(8, dtype=np.float32)[y]
    encoder = LSH(64, random_state=0).fit(X).encoder_
    codes = Collection.create(None, X, encoder=encoder)
    examples, ranked = np.arange(30, 35), np.arange(len(y)) >= 35
    for find, items in ((search._by_codes, codes), (search._by_features, X)):
        hits = find(items, examples, ranked)
        assert ranked[hits].all()
        assert set(y[hits[:25]]) == {1}


def test_fewer_items_of_a_class_are_among_more(monkeypatch):
    monkeypatch.setattr(dbc, "MOST_CLASSES", 4)
    monkeypatch.setitem(dbc.SIZES, "icd10", (10, (5, 20)))
    few, many = (dbc.problem_of("icd10", n, 0) for n in (5, 20))
    assert (len(few.y), len(many.y)) == (20, 80)
    assert len(set(few.y)) == len(set(few.truth)) == 4
    np.testing.assert_array_equal(few.sides[1], many.sides[1])
    less, more = ({row.tobytes() for row in each.sides[0]} for each in (few, many))
    assert less < more


def test_lp_beta_weighs_the_group_that_knows(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 8)
    noise, told = rng.random((24, 6)), rng.random((24, 6)) + 2 * np.eye(3, 6)[y]
    groups = {"noise": noise, "told": told}
    found = lp_beta.LPBeta("rbf-chi2").fit(groups, y)
    assert found.beta_["told"] > 0.9
    assert sum(found.beta_.values()) == pytest.approx(1)
    assert lp_beta.mean_over_classes(y, found.predict(groups)) == 1


def test_kernels_are_those_of_the_definition():
    X, Y = np.random.default_rng(1).random((2, 5, 4))
    least = np.minimum(X[:, None], Y).sum(axis=2)
    np.testing.assert_allclose(lp_beta.intersection(X, Y), least)
    chi2 = ((X[:, None] - Y) ** 2 / (X[:, None] + Y)).sum(axis=2)
    np.testing.assert_allclose(lp_beta.chi2_distances(X, Y), chi2)


def test_the_fewest_directions_hold_the_variance():
    X = np.random.default_rng(2).normal(size=(9, 5)) * [9, 5, 1, 0.1, 0.1]
    X -= X.mean(axis=0)
    found = X.T @ leading(X @ X.T)
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-9)
    scatter = np.linalg.svd(X)[1] ** 2
    held = np.cumsum(scatter) / scatter.sum()
    assert held[found.shape[1] - 2] < 0.95 <= held[found.shape[1] - 1]


def test_names_are_checked_by_a_table_of_items():
    texts = ["red"] * 6 + ["blue"] * 6
    codes = np.array([[128]] * 6 + [[0]] * 5 + [[128]], np.uint8)
    found = check([Named(0, 1, "red"), Named(0, 1, "gone")], Sample(codes, 1, texts))
    p = stats.fisher_exact([[6, 0], [1, 5]], "greater").pvalue
    assert p <= SIGNIFICANCE
    assert (found["claims"], found["tested"], found["hold"]) == (2, 1, 1)
    assert (found["with"], found["without"]) == (1.0, pytest.approx(1 / 6))


def test_classes_swap_their_texts():
    classes = np.repeat(["a", "b", "c"], 4)
    sample = Sample(np.zeros((12, 1), np.uint8), 1, classes.tolist())
    found = np.array(swapped(sample, classes, np.random.default_rng(0)).texts)
    given = {c: set(found[classes == c]) for c in "abc"}
    assert all(len(each) == 1 and c not in each for c, each in given.items())
