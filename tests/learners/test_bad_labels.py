"""Labels that are odd or wrong: each supervised learner has one decided answer."""

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError
from fewbits.learners import (
    CCAITQ,
    DBC,
    ECOC,
    Classemes,
    PiCoDes,
    RelaxedPiCoDes,
    SupervisedITQ,
)

ONE_CLASS_EACH = [
    PiCoDes(6, n_iter=2, random_state=0),
    RelaxedPiCoDes(6, n_iter=3, random_state=0),
    DBC(6, n_iter=2, random_state=0),
    Classemes(random_state=0),
]
SUPERVISED = [
    *ONE_CLASS_EACH,
    CCAITQ(6, n_iter=2, random_state=0),
    SupervisedITQ(6, n_iter=2, random_state=0),
    ECOC(6, random_state=0),
]

pytestmark = pytest.mark.filterwarnings("ignore:only .* bits are different")

quiet = pytest.mark.filterwarnings(
    "ignore:.*bits (is|are) constant", "ignore:.*ignores the code"
)


def over(learners):
    return pytest.mark.parametrize(
        "learner", learners, ids=lambda learner: type(learner).__name__
    )


def items(sizes=(20, 20, 20), d=5, seed=0):
    """Classes around corners, their rows in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return 2 * np.eye(len(sizes), d)[y] + rng.normal(size=(len(y), d)), y


def fingerprint(learner, X, y):
    return clone(learner).fit(X, y).encoder_.fingerprint


def refusal(learner, y):
    with pytest.raises(ArgumentError) as caught:
        clone(learner).fit(items()[0], y)
    message = str(caught.value)
    assert "\n" not in message
    return message


@over(SUPERVISED)
class TestRefused:
    def test_none(self, learner):
        message = refusal(learner, None)
        assert message.startswith(f"{type(learner).__name__} requires y to be passed")

    def test_one_class_only(self, learner):
        for y in (np.full(60, 7), ["ant"] * 60, np.eye(3)[[1] * 60]):
            assert type(learner).__name__ in refusal(learner, y)

    def test_several_labels_in_a_list(self, learner):
        lists, sets = [["a", "b"], ["c"], ["a"]] * 20, [{"a"}, {"b", "c"}] * 30
        for y in (lists, sets, [["a"], "b"] * 30):
            assert "a matrix (n, n_labels) of 0 and 1" in refusal(learner, y)

    def test_another_length(self, learner):
        for y in ([], [0, 1], np.arange(61) % 3, 3):
            refusal(learner, y)

    def test_gaps_among_objects(self, learner):
        for gap in (None, np.nan, np.datetime64("NaT")):
            y = np.array(["a", "b", gap] * 20, dtype=object)
            assert "missing in 20 of 60 rows" in refusal(learner, y)
            assert "in row 2" in refusal(learner, y)

    def test_gaps_of_pandas(self, learner):
        pandas = pytest.importorskip("pandas")
        for dtype in ("string", "Int64", "category"):
            y = pandas.Series(pandas.array([1, 2, None] * 20, dtype=dtype))
            assert "missing in 20 of 60 rows" in refusal(learner, y)

    def test_gaps_among_dates(self, learner):
        y = np.array(["2020-01-01", "2021-01-01", "NaT"] * 20, dtype="datetime64[D]")
        assert "missing in 20 of 60 rows" in refusal(learner, y)

    def test_gaps_of_a_masked_array(self, learner):
        y = np.ma.masked_equal(items()[1], 2)
        assert refusal(learner, y).startswith("y is a masked array")

    def test_dates(self, learner):
        y = np.array(["2020", "2021", "2022"] * 20, dtype="datetime64[Y]")
        assert "give them as strings or integers" in refusal(learner, y)

    def test_numbers_that_are_no_classes(self, learner):
        for value in (0.5, np.inf):
            assert "not whole" in refusal(learner, np.array([0, 1, value] * 20))


@over(SUPERVISED)
class TestAccepted:
    # Other forms of the same labels: tests/test_labels.py has them all, at every door.
    @pytest.mark.parametrize(
        "rename",
        [
            lambda y: np.array(["ant", "bee", "cat"], dtype=object)[y],
            lambda y: y * 10.0 - 5,
            lambda y: np.eye(3)[y],
        ],
    )
    def test_names_in_the_same_order_change_nothing(self, learner, rename):
        X, y = items()
        assert fingerprint(learner, X, y) == fingerprint(learner, X, rename(y))

    def test_string_classes_are_told(self, learner):
        X, y = items()
        fitted = clone(learner).fit(X, np.array(["ant", "bee", "cat"])[y])
        assert fitted.classes_.tolist() == ["ant", "bee", "cat"]

    def test_a_category_that_filtering_left_empty(self, learner):
        pandas = pytest.importorskip("pandas")
        X, y = items((20, 20, 20, 20))
        labels = pandas.Series(pandas.Categorical.from_codes(y, list("abcd")))
        kept = np.flatnonzero(y != 1)
        X, y, labels = X[kept], y[kept], labels.iloc[kept]
        assert len(labels.cat.categories) == 4
        fitted = clone(learner).fit(X, labels)
        assert fitted.classes_.tolist() == ["a", "c", "d"]
        assert fitted.encoder_.fingerprint == fingerprint(learner, X, y)

    @pytest.mark.filterwarnings("ignore:.*ignores the code")
    @pytest.mark.parametrize("sizes", [(30, 20, 1), (1, 1, 40), (57, 2, 1)])
    def test_unbalanced_classes_and_single_examples(self, learner, sizes):
        X, y = items(sizes)
        fitted = clone(learner).fit(X, y)
        assert np.isfinite(fitted.objective_).all()
        assert len(np.unique(fitted.encode(X), axis=0)) > 1

    @pytest.mark.filterwarnings(
        "ignore:.*bits (is|are) constant", "ignore:.*ignores the code"
    )
    def test_a_class_for_each_row(self, learner):
        X = items((4, 4, 4))[0]
        fitted = clone(learner).fit(X, np.arange(12))
        assert fitted.encode(X).shape[0] == len(fitted.classes_) == 12

    @pytest.mark.filterwarnings(
        "ignore:.*bits (is|are) constant", "ignore:.*ignores the code"
    )
    def test_one_row_unlike_all_others(self, learner):
        X, y = np.zeros((30, 4)), np.arange(30) % 3
        X[7] = 1
        codes = clone(learner).fit(X, y).encode(X)
        assert len(np.unique(codes[y == 0], axis=0)) == 1


@over(ONE_CLASS_EACH)
def test_a_column_of_zeros_is_no_class(learner):
    """A one-hot matrix may have one after the rows of a class were dropped."""
    X, y = items()
    Y = np.eye(5)[np.array([0, 2, 3])[y]]
    fitted = clone(learner).fit(X, Y)
    assert fitted.classes_.tolist() == [0, 2, 3]
    assert fitted.encoder_.fingerprint == fingerprint(learner, X, y)


@over(SUPERVISED)
@quiet
def test_more_bits_than_rows(learner):
    X, y = items((3, 2, 1))
    fitted = clone(learner).set_params(n_bits=21).fit(X, y)
    assert fitted.encode(X).shape == (6, 3)
    assert len(np.unique(fitted.encode(X), axis=0)) > 1


def test_classemes_are_a_bit_for_each_class_with_rows():
    X, y = items()
    Y = np.eye(5)[y]
    assert Classemes(random_state=0).fit(X, Y).encoder_.n_bits == 3


@over(ONE_CLASS_EACH)
def test_order_of_rows_and_of_classes_hardly_matters(learner):
    """Solvers and batches walk through the rows: bits differ, classes stay apart."""
    X, y = items((60, 30, 20))
    X += 6 * np.eye(3, 5)[y]
    same = y[:, None] == y
    for rows in (np.arange(len(y)), np.argsort(y, kind="stable")):
        for names in (np.arange(3), np.array([2, 0, 1])):
            codes = clone(learner).fit(X[rows], names[y[rows]]).encode(X)
            distances = hamming_distances(codes, codes)
            assert distances[same].mean() < 0.3 * distances[~same].mean()
