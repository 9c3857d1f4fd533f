"""Bad data and parameters: each has one decided answer, in one line."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import ArgumentError, DivergedError, FeatureError
from fewbits.learners import (
    BRE,
    CBE,
    CCAITQ,
    ITQ,
    LSH,
    PCAH,
    AdditiveCodes,
    BilinearProjections,
    FastNeighbourCodes,
    Hadamard,
    Learner,
    NeighbourCodes,
    SparseProjections,
    SpectralHashing,
    Thresholding,
)
from tests.learners._learners import LEARNERS, every_learner
from tests.learners._made import made

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*ignores the code",
    "ignore:.*bits (is|are) constant",
    "ignore:X varies in one direction only",
    "ignore:only .* bits are different",
)
Y = np.arange(20) % 2


def features(n=20, d=6):
    return np.random.default_rng(0).normal(size=(n, d))


@cache
def fitted_to_features(learner):
    return clone(learner).fit(features(), Y)


def refusal(learner, X, y=Y, error=ValueError):
    with pytest.raises(error) as caught:
        clone(learner).fit(X, y)
    message = str(caught.value)
    assert "\n" not in message
    return message


def check_dtype(learner, dtype):
    X = (features(200) * 3).clip(0).astype(dtype)
    fitted = clone(learner).fit(X, np.arange(200) % 2)
    again = clone(learner).fit(X.astype(np.float64), np.arange(200) % 2)
    assert fitted.encoder_.fingerprint == again.encoder_.fingerprint


# Whatever the learner, `fit` of their base class takes them.
@pytest.mark.parametrize("dtype", [bool, np.uint16, np.float16, ">f8"])
@pytest.mark.parametrize("learner", [ITQ(4, random_state=0), LSH(4, random_state=0)])
def test_any_real_dtype(learner, dtype):
    check_dtype(learner, dtype)


@every_learner
class TestFeatures:
    def test_not_finite(self, learner):
        X = features()
        for value in (np.nan, np.inf, -np.inf, 1e39):
            X[7, 2] = value
            message = refusal(learner, X, error=FeatureError)
            assert "too large for float32" in message
            assert "in row 7, column 2" in message

    @pytest.mark.parametrize("d", [2, 13])
    def test_few_features_or_a_prime_number_of_them(self, learner, d):
        X = features(d=d)
        fitted = clone(learner).fit(X, Y)
        n_bits = fitted.encoder_.n_bits
        assert n_bits == (getattr(fitted, "n_bits", None) or n_bits)
        codes = fitted.encode(X)
        assert codes.shape == (20, -(-n_bits // 8))
        assert len(np.unique(codes, axis=0)) > 1
        np.testing.assert_array_equal(fitted.encode(X[:1]), codes[:1])

    def test_not_finite_in_encode(self, learner):
        with pytest.raises(FeatureError, match="got nan in row 0, column 1"):
            fitted_to_features(learner).encode([[0, np.nan, 0, 0, 0, 0]])

    def test_wrong_width(self, learner):
        with pytest.raises(ValueError, match=r"5 features.* expecting 6"):
            fitted_to_features(learner).transform(features(d=5))

    def test_shapes_of_nothing(self, learner):
        assert "Expected a 2D array" in refusal(learner, np.arange(20.0))
        assert "0 feature(s)" in refusal(learner, features(d=0))
        for n in (0, 1):
            assert f"{n} sample(s)" in refusal(learner, features(n), Y[:n])

    def test_complex(self, learner):
        message = refusal(learner, features() * 1j, error=FeatureError)
        assert message == (
            "Complex data not supported: features must be real numbers, got dtype "
            "complex128"
        )

    def test_gaps(self, learner):
        X = np.ma.masked_greater(features(), 1)
        assert "fill its gaps" in refusal(learner, X, error=FeatureError)
        with pytest.raises(FeatureError, match="fill its gaps"):
            fitted_to_features(learner).encode(X)

    def test_other_columns(self, learner):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(features(), columns=list("abcdef"))
        fitted = clone(learner).fit(frame, Y)
        with pytest.raises(FeatureError, match="feature names should") as caught:
            fitted.encode(frame.set_axis(list("abcdxy"), axis=1))
        assert "\n" not in str(caught.value)
        assert "- x - y" in str(caught.value)

    def test_not_numbers(self, learner):
        for X in ([["a", "b"]] * 20, [[1.0, 2.0], [3.0]]):
            with pytest.raises(ValueError, match=r"real numbers, got|several lengths"):
                clone(learner).fit(X, Y)
        message = refusal(learner, [[10**400, 1]] * 20, error=FeatureError)
        assert message == "features hold an integer too large for float64"

    def test_small_integers(self, learner):
        check_dtype(learner, np.int8)

    def test_constant_column_gets_no_say(self, learner):
        X = features()
        X[:, 3] = 0.1
        fitted = clone(learner).fit(X, Y)
        other = features()
        other[:, 3] = 0.1
        np.testing.assert_array_equal(fitted.encode(other), fitted.encode(X))

    def test_fewer_rows_than_bits(self, learner):
        codes = clone(learner).fit(features(4), Y[:4]).encode(features(4))
        assert len(np.unique(codes, axis=0)) > 1


@pytest.mark.parametrize(
    "learner",
    [
        *(PCAH(), ITQ(), CCAITQ(), SparseProjections(), LSH(), Hadamard(), CBE()),
        *(BilinearProjections(), Thresholding("mean")),
    ],
)
def test_all_rows_the_same(learner):
    X = np.full((20, 6), 0.1)
    assert "every row of X is the same" in refusal(learner, X, error=FeatureError)


class TestLabels:
    def test_missing(self):
        message = refusal(CCAITQ(), features(), None, ArgumentError)
        assert "requires y to be passed, but the target y is None" in message

    def test_wrong_length(self):
        assert "[20, 19]" in refusal(CCAITQ(), features(), Y[1:], ArgumentError)

    def test_one_class(self):
        message = refusal(CCAITQ(), features(), np.zeros(20), ArgumentError)
        assert "1 class" in message

    @pytest.mark.parametrize("y", [np.linspace(0, 1, 20), np.full(20, np.nan)])
    def test_not_classes(self, y):
        assert "must be classes" in refusal(CCAITQ(), features(), y, ArgumentError)

    def test_mixed_types(self):
        y = np.array(["a", 1] * 10, dtype=object)
        assert "of one kind" in refusal(CCAITQ(), features(), y, ArgumentError)

    def test_matrix_of_other_numbers(self):
        y = np.full((20, 3), 2)
        assert "0 and 1 only, got 2" in refusal(CCAITQ(), features(), y, ArgumentError)

    def test_matrix_of_ones(self):
        message = refusal(CCAITQ(), features(), np.ones((20, 3)), ArgumentError)
        assert "some rows have and others lack" in message


@pytest.mark.parametrize("n_bits", [0, -1, 65_537, 1e9, 2.5, "a", True, np.nan])
@pytest.mark.parametrize(
    "learner",
    [
        LSH(),
        Hadamard(),
        CBE(),
        BilinearProjections(),
        PCAH(),
        ITQ(),
        CCAITQ(),
        SparseProjections(),
        SpectralHashing(),
        BRE(),
        NeighbourCodes(),
        FastNeighbourCodes(),
    ],
)
def test_n_bits(learner, n_bits):
    message = refusal(clone(learner).set_params(n_bits=n_bits), features())
    assert message.startswith("n_bits must be")


@pytest.mark.parametrize(
    "learner",
    [each for each in LEARNERS if "n_bits" in each.get_params(deep=False)],
    ids=lambda learner: type(learner).__name__,
)
def test_integers_of_numpy_are_integers(learner):
    plain, given = (clone(learner).set_params(n_bits=n) for n in (5, np.int8(5)))
    if "nested_bits" in learner.get_params():
        plain.set_params(nested_bits=[2, 3])
        given.set_params(nested_bits=np.array([2, 3], np.int8))
    X, y = features(), np.arange(20) % 6
    assert given.fit(X, y).encoder_.fingerprint == plain.fit(X, y).encoder_.fingerprint
    assert isinstance(given.n_bits, np.int8)


@every_learner
def test_scores_that_float32_cannot_hold(learner):
    X = np.abs(features(60, 13)) * 1e38
    try:
        encoder = clone(learner).fit(X, np.arange(60) % 2).encoder_
    except (FeatureError, DivergedError) as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert np.isfinite(encoder.project(X)).all()


@every_learner
def test_features_that_float32_cannot_tell_apart(learner):
    message = refusal(learner, 1e-40 * features(), error=FeatureError)
    assert message == "the features of X are too small for float32: scale them"


@pytest.mark.parametrize(("scale", "what"), [(1e30, "large"), (1e-22, "small")])
@pytest.mark.parametrize("correction", [False, True])
def test_additive_codes_say_it_of_features(scale, what, correction):
    learner = AdditiveCodes(8, correction=correction)
    message = refusal(learner, scale * features(), error=FeatureError)
    assert message.startswith(f"the features of X are too {what}: their squares")


def test_rows_times_bits_do_not_overflow():
    X = np.random.default_rng(0).normal(size=(3000, 12))
    learner = SparseProjections(np.int16(64), n_iter=1, random_state=0)
    assert learner.fit(X).encoder_.n_bits == 64


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (SparseProjections(density=0), "density must be"),
        (
            SparseProjections(density=1.1),
            "density must be",
        ),
        (SparseProjections(density=np.nan), "density must be"),
        (SparseProjections(density="a"), "density must be"),
        (
            made(SparseProjections, kind="x"),
            "solver.kind must be",
        ),
        (made(SparseProjections, step=1), "solver.step must be"),
        (SparseProjections(beta=0), "beta must be"),
        (SparseProjections(beta=np.inf), "beta must be"),
        (SparseProjections(n_iter=0), "n_iter must be"),
        (ITQ(n_iter=10**20), "n_iter must be"),
        (NeighbourCodes(n_iter=10**20), "n_iter must be"),
        (NeighbourCodes(nested_bits=np.array(3)), "nested_bits must be a sequence"),
        (ITQ(checkpoint=""), "checkpoint must be a path or None, got an empty one"),
        (ITQ(random_state=True), "random_state must be an integer"),
        (SparseProjections(solver=ITQ()), "solver must be a SparseSolver or None"),
        (BilinearProjections(learn="no"), "learn must be"),
        (BilinearProjections(n_iter=0), "n_iter must be"),
        (
            ITQ(verbose="no"),
            "verbose must be",
        ),
        (
            ITQ(verbose=-1),
            "verbose must be",
        ),
        (CBE(learn=1), "learn must be"),
        (CBE(penalty=0), "penalty must be"),
        (CBE(n_iter=0), "n_iter must be"),
        (Hadamard(n_rounds=0), "n_rounds must be"),
        (ITQ(n_iter=-1), "n_iter must be"),
        (ITQ(tol=-1), "tol must be"),
        (ITQ(tol=np.nan), "tol must be"),
        (CCAITQ(reg=-1), "reg must be"),
        (CCAITQ(reg=np.nan), "reg must be"),
        (Thresholding("max"), "threshold must be"),
        (PCAH(7), r"n_bits=7, but X \(n_samples=20, n_features=6\) has only 6"),
    ],
)
def test_parameters(learner, match):
    with pytest.raises(ValueError, match=match):
        learner.fit(features(), Y)


@pytest.mark.parametrize("seed", ["a", -1, 2.5])
@pytest.mark.parametrize("learner", [LSH(), ITQ(), CCAITQ(), SparseProjections()])
def test_random_state(learner, seed):
    learner = clone(learner).set_params(random_state=seed)
    message = refusal(learner, features(), error=ArgumentError)
    assert message.startswith("random_state must be an integer from 0 to")
    assert message.endswith(f"got {seed!r}")


@pytest.mark.parametrize(
    "learner",
    [
        BRE(n_train=20, random_state=0),
        made(NeighbourCodes, n_rows=20, random_state=0),
        made(FastNeighbourCodes, n_rows=20, random_state=0),
    ],
)
def test_rows_that_vary_where_none_is_drawn(learner):
    X = np.zeros((100_000, 6))
    X[7] = 1
    X[8] = -1
    assert "every row that is learnt from" in refusal(learner, X, Y, FeatureError)


def test_features_too_small_to_whiten_in_float32():
    X = features() * 1e-42
    X[:, 0] = 1
    message = refusal(CCAITQ(), X, error=FeatureError)
    assert message.startswith("X varies by 1e-42 only")


def test_no_learner_without_a_method():
    with pytest.raises(TypeError, match="abstract"):
        Learner()


def test_pcah_has_a_bit_for_each_direction_that_exists():
    with pytest.raises(ArgumentError, match="has only 3"):
        PCAH(4).fit(features(4))
    assert PCAH().fit(features(4)).encoder_.n_bits == 3


def test_parameters_are_checked_before_data():
    with pytest.raises(ArgumentError, match="n_bits"):
        ITQ(n_bits=0).fit(np.full((3, 3), np.nan))
