"""How vectors of additive codes start."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.index import FlatIndex
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


def test_long_codes_start_from_what_finds_more():
    """By rows that are drawn from those it learns from; the rest is judged here."""
    encoders = {w: fitted(64, correction=True, whitening=w) for w in (0.25, 0.75)}
    recalls = {w: recall(encoder) for w, encoder in encoders.items()}
    assert all(0.5 < each < 1 for each in recalls.values())
    learner = AdditiveCodes(64, correction=True, random_state=0).fit(ROWS)
    chosen = learner.whitening_
    assert np.array_equal(learner.encoder_.weights, encoders[chosen].weights)
    assert recalls[chosen] >= max(recalls.values()) - 0.05


def recall(encoder):
    """Return the share of the ten nearest rows that codes with corrections find."""
    queries, base = np.split(ROWS.astype(np.float32), [200])
    codes = encoder.encode(base)
    hits = FlatIndex(codes).search_reranked(
        encoder.encode(queries),
        10,
        scores=encoder.query_scores(queries),
        offsets=encoder.corrections(base, codes),
    )
    return search_recall(hits.ids, exact_neighbours(queries, base, 10).ids).value


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
