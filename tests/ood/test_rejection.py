"""Rejection at a rate: scores without items and classes, thresholds, files."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binomtest

from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.evaluation.statistics import mean_interval
from fewbits.ood import SCORES, learn_rejection, load_rejection, rejection_bytes

CENTRES = np.random.default_rng(9).normal(size=(60, 24))


def items(classes, n_each=25, seed=0):
    """Return items around the centres of classes, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(classes, n_each)
    return CENTRES[y] + 0.6 * rng.normal(size=(len(y), 24)), y


@pytest.fixture(scope="module")
def known():
    return learn_rejection(*items(np.arange(40)))


def learnt_again(X, y, rows, columns, penalty):
    """Solve the weighted least squares of all classes anew, from some of the rows."""
    X, n = (X - X.mean(axis=0)) / X.std(axis=0), y.max() + 1
    A = np.column_stack([X, np.ones(len(X))])
    w = 1 / np.bincount(y)[y[rows]]
    gram = (A[rows] * w[:, None]).T @ A[rows] + penalty * n * np.eye(25)
    W = np.linalg.solve(gram, (A[rows] * w[:, None]).T @ np.eye(n)[y[rows]])
    return (A @ W)[:, columns].max(axis=1)


def check_left_out(X, y, groups, some):
    """Check that scores without items and classes are among the thresholds."""
    # With the penalty that was chosen; of 1,000 items at most, all scores are there.
    thresholds = learn_rejection(X, y, groups=groups, score="ridge").thresholds
    errors = []
    for penalty in (1e-2, 1e-1, 1.0):
        expected = []
        for row in some:
            rest = np.flatnonzero(groups != groups[row])
            expected.append(learnt_again(X, y, rest, slice(None), penalty)[row])
            rest = np.flatnonzero(y != y[row])
            others = np.flatnonzero(np.arange(4) != y[row])
            expected.append(learnt_again(X, y, rest, others, penalty)[row])
        gaps = np.abs(np.array(expected)[:, None] - thresholds)
        errors.append(gaps.min(axis=1).max())
    assert min(errors) < 1e-9


@pytest.mark.parametrize("n_each", [7, 40])  # fewer and more than features
def test_left_out_is_as_if_learnt_again(n_each):
    X, y = items(np.arange(4), n_each)
    X, y = X[2:], y[2:]  # classes of two sizes
    check_left_out(X, y, np.arange(len(y)), [0, 9, len(y) - 1])


def test_groups_are_left_out_as_if_learnt_again():
    X, y = items(np.arange(4), 20)
    groups = np.arange(80)
    groups[[3, 50]] = 3  # of two classes
    groups[20:50] = 20  # of more rows than features
    X[61] = X[60]
    groups[61] = 60
    groups = np.unique(groups, return_inverse=True)[1]
    check_left_out(X, y, groups, [0, 3, 50, 20, 49, 60, 61, 79])


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("times", [2, 3])
def test_repeated_rows_change_nothing(score, times):
    X, y = items(np.arange(8), 40)
    once = learn_rejection(X, y, score=score)
    again = learn_rejection(np.repeat(X, times, 0), np.repeat(y, times), score=score)
    assert (
        (again.n_items, again.n_classes) == (once.n_items, once.n_classes) == (320, 8)
    )
    for rate in (0.01, 0.05, 0.2):
        one, other = (
            each.threshold(max_false_reject_rate=rate) for each in (once, again)
        )
        assert other.threshold == pytest.approx(one.threshold, abs=1e-5)
        assert other.false_reject_rate == pytest.approx(one.false_reject_rate)


@pytest.mark.parametrize("score", SCORES)
def test_promises_hold_with_noisy_copies(score):
    X, y = items(np.arange(20))
    rng = np.random.default_rng(3)
    near = np.concatenate([X + 0.05 * rng.normal(size=X.shape) for _ in range(3)])
    groups = np.tile([f"item {i}" for i in range(len(X))], 3)
    seen, _ = items(np.arange(20), 100, seed=1)
    grouped = learn_rejection(near, np.tile(y, 3), groups=groups, score=score)
    held = grouped.threshold(max_false_reject_rate=0.1)
    assert grouped.n_items == 500
    assert np.mean(grouped.score(seen) < held.threshold) < 0.12
    apart = learn_rejection(near, np.tile(y, 3), score=score)
    careless = apart.threshold(max_false_reject_rate=0.1)
    assert careless.threshold > held.threshold


def test_groups_count_once_and_by_the_share_that_is_rejected():
    X, y = items(np.arange(12), 30)
    groups = np.concatenate([np.repeat(np.arange(40), 2), np.arange(80, 360)])
    result = learn_rejection(X, y, groups=groups)
    assert result.n_items == 320
    # Steps are those of a single item, of half of a pair, or of several at once.
    steps = np.diff(result.false_reject) * 321 * 2
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    assert {1, 2} <= set(np.rint(steps).astype(int))
    assert result.false_reject[[0, -1]] == pytest.approx([1 / 321, 1])


def test_groups_that_hold_the_same_row_are_one():
    X, y = items(np.arange(3), 4)
    X = X.astype(np.float32).astype(np.float64)
    X[5] = X[0]  # of another class
    X[7] = X[1] * (1 + 1e-9)  # the same in float32
    X[8, :2], X[9] = 0.0, X[8]
    X[9, :2] = -0.0
    assert learn_rejection(X, y).n_items == 12 - 3
    groups = ["a", "b", "a", "c", "d", "e", "e", "f", "g", "h", "i", "i"]
    # a = {0, 2}, e = {5, 6}: one by rows 0 and 5; b and f by 1 and 7; g and h by 8, 9
    assert learn_rejection(X, y, groups=groups).n_items == 9 - 3


def test_few_groups_are_refused():
    X, y = items(np.arange(10))
    found = learn_rejection(X, y, groups=np.arange(250) % 18)
    with pytest.raises(ArgumentError, match="needs at least 19 known items, but 18 we"):
        found.threshold(max_false_reject_rate=0.05)
    assert found.threshold(max_false_reject_rate=0.1).false_reject_rate <= 0.1
    twelve = learn_rejection(np.repeat(X[::21], 30, 0), np.repeat(y[::21], 30))
    with pytest.raises(
        ArgumentError, match="but 12 were learnt from, copies counted o"
    ):
        twelve.threshold(max_false_reject_rate=0.05)


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
    found = learn_rejection(X, np.array(list("abcdefghijkl"))[y], score="ridge")
    limits = found.thresholds[:-1] - 1e-9  # its scores are rounded a little otherwise
    rows, fits = np.arange(len(X)), []
    for penalty in (1e-2, 1e-1, 1.0):
        known, unknown = np.empty(len(X)), np.empty(len(X))
        for c in range(12):
            own, others = y == c, np.arange(12) != c
            alone = learnt_again(X, y, np.flatnonzero(~own), others, penalty)
            unknown[own] = alone[own]
        for row in rows:
            rest = np.delete(rows, row)
            known[row] = learnt_again(X, y, rest, slice(None), penalty)[row]
        below = (known[:, None] < limits).sum(axis=0)
        gap = np.abs(found.false_reject[:-1] - (below + 1) / 361).max()
        fits.append((gap, unknown))
    gap, unknown = min(fits, key=lambda fit: fit[0])
    assert gap < 1e-12
    shares = (unknown.reshape(12, 30)[:, :, None] >= limits).mean(axis=1)
    np.testing.assert_allclose(found.false_accept[:-1], shares.mean(axis=0))
    errors = shares.std(axis=0, ddof=1) / np.sqrt(12)
    np.testing.assert_allclose(found.standard_errors[:-1], errors, atol=1e-12)
    held = found.threshold(max_false_accept_rate=0.3)
    place = np.searchsorted(found.thresholds, held.threshold)
    upper = mean_interval(shares[:, place], 0.9).high  # of 95 %, one-sided
    assert held.false_accept_interval == pytest.approx((0, upper))
    assert upper <= 0.3


@pytest.mark.parametrize("n", [5, 19, 52, 300])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_held_rate_holds_in_expectation_too(known, n, share):
    for spread in (0.0, np.sqrt(share * (1 - share) / (n - 1))):
        made = of_shares(known, [share], [spread], n)
        interval = made.threshold(max_false_accept_rate=0.999).false_accept_interval
        assert interval[1] >= (n * share + 1) / (n + 1) - 1e-12


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
    hits = 0
    for mean, error in zip(accepted.mean(axis=1), errors, strict=True):
        made = of_shares(known, [mean], [error], n)
        low, high = made.threshold(max_false_reject_rate=0.1).false_accept_interval
        hits += low <= truth <= high
    assert hits >= 180


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
    with pytest.raises(FeatureError, match="every row of X is the same"):
        learn_rejection(np.ones_like(X), y)
    with pytest.raises(
        ArgumentError, match=r"one group for each of 75 items, got .*7,"
    ):
        learn_rejection(X, y, groups=np.arange(7))
    with pytest.raises(ArgumentError, match="groups must be classes, but are missing"):
        learn_rejection(X, y, groups=np.full(75, np.nan))


BAD = {
    "not finite": (
        lambda X: np.where(X[9, 4] == X, np.nan, X),
        "nan in row 9, col.* 4",
    ),
    "too large": (
        lambda X: np.where(X[9, 4] == X, 1e39, X),
        r"1e\+39 in row 9, col.* 4",
    ),
    "texts": (lambda X: X.astype(str), "must be real numbers, got texts"),
    "sparse": (csr_array, "are a sparse csr_array; give X.toarray"),
    "complex": (lambda X: X * 1j, "Complex data not supported"),
    "a single item": (lambda X: X[0], "got shape .24,.; for a single item"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_features_are_refused_with_their_row(known, case):
    make, message = BAD[case]
    X, y = items(np.arange(3))
    with pytest.raises(FeatureError, match=message):
        learn_rejection(make(X), y)
    with pytest.raises(FeatureError, match=message):
        known.score(make(X))


def test_scores_of_other_widths_and_of_no_items(known):
    with pytest.raises(FeatureError, match="expected 24 features, got 5"):
        known.score(np.ones((3, 5)))
    assert known.score(np.ones((0, 24))).shape == (0,)


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
