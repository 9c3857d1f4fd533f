"""Rejection at a rate: scores without items and classes, thresholds, files."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.evaluation.statistics import mean_interval
from fewbits.ood import SCORES, learn_rejection, load_rejection, rejection_bytes
from fewbits.ood._ridge import Ridge

CENTRES = np.random.default_rng(9).normal(size=(60, 24))


def items(classes, n_each=25, seed=0):
    """Return items around the centres of classes, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(classes, n_each)
    return CENTRES[y] + 0.6 * rng.normal(size=(len(y), 24)), y


@pytest.fixture(scope="module")
def known():
    return learn_rejection(*items(np.arange(40)))


@pytest.mark.parametrize("n_each", [7, 40])  # fewer and more than features
def test_left_out_is_as_if_learnt_again(n_each):
    X, y = items(np.arange(4), n_each)
    X, y = X[2:], y[2:]  # classes of two sizes
    found = Ridge.fit(X, y, 0.1).left_out()

    def response(rows, row, columns):
        """Solve the weighted least squares anew, from the rows that are left."""
        A = np.column_stack([X, np.ones(len(X))])[rows]
        w = 1 / np.bincount(y)[y[rows]]
        Y = np.eye(4)[y[rows]]
        gram = (A * w[:, None]).T @ A + 0.1 * 4 * np.eye(25)
        W = np.linalg.solve(gram, (A * w[:, None]).T @ Y)
        return (np.append(X[row], 1) @ W)[columns].max()

    for row in (0, 9, len(y) - 1):
        left = np.flatnonzero(np.arange(len(y)) != row)
        assert found.known[row] == pytest.approx(response(left, row, slice(None)))
        left = np.flatnonzero(y != y[row])
        columns = np.flatnonzero(np.arange(4) != y[row])
        assert found.unknown[row] == pytest.approx(response(left, row, columns))


@pytest.mark.parametrize("score", SCORES)
def test_promises_hold_on_new_items(score):
    rejection = learn_rejection(*items(np.arange(40)), score=score)
    seen, _ = items(np.arange(40), 100, seed=1)
    new, _ = items(np.arange(40, 60), 100, seed=2)
    held = rejection.threshold(max_false_reject_rate=0.1)
    assert 0.05 < held.false_reject_rate <= 0.1
    assert np.mean(rejection.score(seen) < held.threshold) < 0.12
    low, high = held.false_accept_interval
    assert low <= held.false_accept_rate <= high
    held = rejection.threshold(max_false_accept_rate=0.2)
    assert np.mean(rejection.score(new) >= held.threshold) < 0.2
    rejected = np.mean(rejection.score(seen) < held.threshold)
    assert rejected == pytest.approx(held.false_reject_rate, abs=0.05)


def test_rates_are_those_of_the_items_left_out():
    X, y = items(np.arange(12), 30)
    kind = SCORES["ridge"]
    _, left_out = kind.learn(X, y)
    found = learn_rejection(X, np.array(list("abcdefghijkl"))[y], score="ridge")
    for place in (0, 17, len(found.thresholds) // 2, -1):
        at = found.thresholds[place]
        n_below = int((left_out.known < at).sum())
        assert found.false_reject[place] == pytest.approx((n_below + 1) / 361)
        shares = [np.mean(left_out.unknown[y == c] >= at) for c in range(12)]
        assert found.false_accept[place] == pytest.approx(np.mean(shares))
        error = np.std(shares, ddof=1) / np.sqrt(12)
        assert found.standard_errors[place] == pytest.approx(error, abs=1e-12)
    held = found.threshold(max_false_accept_rate=0.3)
    place = np.searchsorted(found.thresholds, held.threshold)
    shares = [np.mean(left_out.unknown[y == c] >= held.threshold) for c in range(12)]
    assert found.false_accept[place] == pytest.approx(np.mean(shares))
    assert mean_interval(shares, 0.9).high <= 0.3
    assert held.false_accept_interval == pytest.approx(mean_interval(shares)[1:3])


@pytest.mark.parametrize("n", [5, 19, 52, 300])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_held_rate_holds_in_expectation_too(known, n, share):
    for spread in (0.0, np.sqrt(share * (1 - share) / (n - 1))):
        made = of_shares(known, [share], [spread], n)
        assert made._upper() >= (n * share + 1) / (n + 1) - 1e-12


def of_shares(known, shares, errors, n_classes):
    """Return a rejection with these false-accept rates."""
    return replace(
        known,
        thresholds=np.arange(len(shares)),
        false_reject=np.full(len(shares), 0.05),
        false_accept=np.array(shares),
        standard_errors=np.array(errors),
        n_classes=n_classes,
    )


@pytest.mark.parametrize("n", [5, 20, 200])
def test_intervals_have_a_width_where_all_classes_agree(known, n):
    none, every = (
        of_shares(known, [share], [0.0], n).threshold(max_false_reject_rate=0.1)
        for share in (0.0, 1.0)
    )
    wilson = binomtest(0, n).proportion_ci(method="wilson")
    assert none.false_accept_interval == pytest.approx((0, wilson.high), abs=1e-9)
    mirrored = 1 - wilson.high, 1
    assert every.false_accept_interval == pytest.approx(mirrored, abs=1e-9)


def test_a_rate_that_no_class_speaks_against_needs_enough_classes(known):
    def held(n):
        made = of_shares(known, [0.5, 0.0], [0.1, 0.0], n)
        return made.threshold(max_false_accept_rate=0.05).threshold

    assert held(52) == 1
    with pytest.raises(ArgumentError, match="needs at least 52 known classes, but 51"):
        held(51)


@pytest.mark.parametrize("n", [5, 10, 25])
def test_intervals_contain_the_rate_of_new_classes(known, n):
    """A class that is accepted is so nearly whole, and few are: the hard case."""
    rng = np.random.default_rng(0)
    accepted = rng.beta(0.2, 1, (200, n)) ** 2
    truth = np.mean(rng.beta(0.2, 1, 100_000) ** 2)
    errors = accepted.std(axis=1, ddof=1) / np.sqrt(n)
    low, high = of_shares(known, accepted.mean(axis=1), errors, n)._limits(0.95)
    assert np.sum((low <= truth) & (truth <= high)) >= 180


def test_what_cannot_be_told_is_refused(known):
    for rates in ({}, {"max_false_reject_rate": 0.1, "max_false_accept_rate": 0.1}):
        with pytest.raises(ArgumentError, match="give either max_false_reject_rate or"):
            known.threshold(**rates)
    with pytest.raises(ArgumentError, match="above 0 and below 1, got 7"):
        known.threshold(max_false_reject_rate=7)
    with pytest.raises(ArgumentError, match="needs at least 1999 known items, but 10"):
        known.threshold(max_false_reject_rate=0.0005)
    with pytest.raises(ArgumentError, match="needs at least 268 known classes, but 40"):
        known.threshold(max_false_accept_rate=0.01)
    few = learn_rejection(*items(np.arange(4)))
    held = few.threshold(max_false_reject_rate=0.05)
    assert held.false_accept_rate is held.false_accept_interval is None
    with pytest.raises(ArgumentError, match="needs at least 5 known classes, but 4"):
        few.threshold(max_false_accept_rate=0.5)
    hopeless = replace(known, false_reject=np.ones_like(known.false_reject))
    with pytest.raises(ArgumentError, match="would reject all known items"):
        hopeless.threshold(max_false_accept_rate=0.2)


def test_bad_input_is_refused(known):
    X, y = items(np.arange(3))
    with pytest.raises(ArgumentError, match="at least 2 classes, got 1"):
        learn_rejection(X, np.zeros(len(X)))
    with pytest.raises(ArgumentError, match="score must be one of random features"):
        learn_rejection(X, y, score="best")
    with pytest.raises(FeatureError, match="finite features"):
        learn_rejection(np.full_like(X, np.nan), y)
    with pytest.raises(FeatureError, match="need 24 features, got"):
        known.score(X[:, :5])


def test_constant_features_and_single_items():
    X, y = items(np.arange(6), 5)
    X = np.column_stack([X, np.ones(len(X))])[:-4]  # one item of the last class
    found = learn_rejection(X, y[:-4])
    assert np.isfinite(found.score(X)).all()
    assert np.isfinite(found.false_accept).all()


@pytest.mark.parametrize("score", SCORES)
def test_survives_the_disk_and_damage_does_not(tmp_path, score):
    X, y = items(np.arange(6))
    rejection = learn_rejection(X, y, score=score)
    path = tmp_path / "r.safetensors"
    path.write_bytes(content := rejection_bytes(rejection))
    found = load_rejection(path)
    assert found.threshold(max_false_reject_rate=0.1) == rejection.threshold(
        max_false_reject_rate=0.1
    )
    np.testing.assert_array_equal(found.score(X), rejection.score(X))
    assert rejection_bytes(found) == content
    path.write_bytes(content[:-8] + b"\x00" * 8)
    with pytest.raises(ArtefactError, match="is damaged"):
        load_rejection(path)
