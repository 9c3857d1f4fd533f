"""How vectors of additive codes start."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.learners import AdditiveCodes, _additive

D = 12
RNG = np.random.default_rng(0)
#: Lengths of rows vary, and one direction is nearly constant.
ROWS = RNG.normal(size=(1200, D)) * RNG.lognormal(sigma=0.4, size=(1200, 1))
ROWS[:, -1] *= 0.01


@pytest.fixture(autouse=True)
def no_query_weights(monkeypatch):
    """They are trained for seconds, afterwards."""
    monkeypatch.setattr(_additive, "trained_query_weights", lambda *_: None)


def fitted(n_bits, n=1200, **settings):
    return AdditiveCodes(n_bits, random_state=0, **settings).fit(ROWS[:n]).encoder_


def vectors(*settings, **more):
    return fitted(*settings, **more).weights


@pytest.mark.parametrize("preferred", [0.25, 0.75])
def test_long_codes_start_from_what_finds_more(monkeypatch, preferred):
    both = [vectors(24, correction=True, whitening=each) for each in (0.25, 0.75)]
    assert not np.array_equal(*both)
    wanted = both[preferred == 0.75]

    def recall(encoder, rows, mean):
        return float(np.array_equal(encoder.weights, wanted))

    monkeypatch.setattr(_additive, "_recall", recall)
    assert np.array_equal(vectors(24, correction=True), wanted)


def test_the_recall_that_decides():
    encoders = {w: fitted(64, whitening=w) for w in (0.25, 0.75)}
    mean = ROWS.mean(axis=0)
    found = {w: _additive._recall(each, ROWS, mean) for w, each in encoders.items()}
    assert all(0.5 < each < 1 for each in found.values())
    best = max(found, key=found.__getitem__)
    assert np.array_equal(vectors(64, correction=True), vectors(64, whitening=best))


@pytest.mark.parametrize(
    "settings",
    [{"n_bits": 12, "correction": True}, {"n_bits": 24}],
    ids=["a bit a component", "no corrections"],
)
def test_other_codes_start_from_little_whitening(settings):
    assert np.array_equal(vectors(**settings), vectors(**settings, whitening=0.25))


def test_few_rows_choose_nothing():
    few = {"n_bits": 24, "n": 999, "correction": True}
    assert np.array_equal(vectors(**few), vectors(**few, whitening=0.25))


def test_whitening_out_of_range():
    with pytest.raises(ArgumentError, match="whitening"):
        AdditiveCodes(8, whitening=1.5).fit(ROWS)
