"""Finite features near the ends of float32: the right answer, or one clear line."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import FeatureError
from fewbits.learners import CBE, ITQ, LSH
from tests.learners._learners import every_learner

RNG = np.random.default_rng(0)
Y = np.arange(60) % 4
#: Around the mean, and far from it on one side: then biases are sums of large numbers.
MATRICES = {
    "centred": RNG.normal(size=(60, 20)).clip(-3, 3),
    "offset": 1 + 0.05 * RNG.random((60, 20)),
}


def answer(call, X):
    """Return what a call returns, or the line that refuses it; nothing else warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            return call(X)
        except FeatureError as error:
            return str(error)


@every_learner
@pytest.mark.parametrize("kind", MATRICES)
def test_scale(learner, kind):
    """Powers of 2 change no bit where scores stay finite."""
    X = MATRICES[kind].astype(np.float32)
    usual = answer(lambda X: clone(learner).fit(X, Y), X).encode(X)
    for power in (85, 126):
        with np.errstate(over="ignore"):
            large = X * np.float32(2.0**power)
        if not np.isfinite(large).all():
            continue
        fitted = answer(lambda X: clone(learner).fit(X, Y), large)
        if isinstance(fitted, str):
            assert "too large" in fitted
            assert "\n" not in fitted
            continue
        encoder = fitted.encoder_
        assert np.isfinite([encoder.project(large), encoder.query_scores(large)]).all()
        if not hasattr(learner, "learner"):  # kernel maps are not scale-free
            assert np.array_equal(encoder.encode(large), usual)


@every_learner
def test_encoding_rows_far_beyond_those_learnt_from(learner):
    """A row has the bits of its own scores, or is refused; none is NaN."""
    X = MATRICES["centred"].astype(np.float32)
    encoder = answer(lambda X: clone(learner).fit(X, Y), X).encoder_
    for factor in (1e20, 3e37, 1e38):
        far = (X[:4] * factor).clip(-3e38, 3e38).astype(np.float32)
        scores, codes = answer(encoder.project, far), answer(encoder.encode, far)
        if isinstance(scores, str):
            assert "float32" in scores
            assert isinstance(codes, str)
            continue
        assert np.isfinite(scores).all()
        bits = scores >= 0 if encoder.zero_bit else scores > 0
        assert np.array_equal(codes, np.packbits(bits, axis=1))


def test_one_large_row_is_refused():
    X = MATRICES["centred"].astype(np.float32)
    encoder = ITQ(8, random_state=0).fit(X).encoder_
    far = X.copy()
    far[5] = np.where(encoder.weights[:, 0] > 0, 3e38, -3e38)
    with pytest.raises(FeatureError, match=r"up to 3e\+38 are too large for float32"):
        encoder.encode(far)
    assert len(encoder.encode(far[:5])) == 5


@pytest.mark.parametrize("learner", [LSH(random_state=0), CBE(random_state=0)])
def test_biases_that_leave_float32(learner):
    X = (3e37 * (1 + 0.05 * RNG.random((40, 256)))).astype(np.float32)
    with pytest.raises(FeatureError, match="too large for float32"):
        learner.fit(X)
