"""How vectors of additive codes start."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("n_bits", [12, 24, 64])
def test_corrections_find_near_rows(n_bits):
    """Of more bits than components, by the better of two starts."""
    assert recall(fitted(n_bits, correction=True)) > 0.1 + n_bits / 120
