"""Weights of queries that are trained to rank shortlists."""

import numpy as np
import pytest

from fewbits.learners import AdditiveCodes, NeighbourCodes

SEED = 0
D, N_BITS = 24, 32


def drawn(n):
    """Return rows whose variance falls from axis to axis, and neighbours' does not."""
    rng = np.random.default_rng(SEED)
    spread = np.linspace(3, 0.2, D)
    middles = rng.normal(size=(n // 20, D)) * spread
    rows = np.repeat(middles, 20, axis=0) + 0.5 * rng.normal(size=(n // 20 * 20, D))
    return (rows - rows.mean(axis=0)).astype(np.float32)


V = drawn(4000)


@pytest.mark.parametrize(
    "learner",
    [
        AdditiveCodes(16, random_state=0),
        AdditiveCodes(16, correction=True, random_state=0),
        NeighbourCodes(32, n_iter=2, random_state=0),
    ],
    ids=["additive", "corrections", "neighbours"],
)
def test_learners_train_them(learner):
    """Where that finds more neighbours; of few rows nothing could tell."""
    encoder = learner.fit(V).encoder_
    other = encoder.query_scores(V[:5]) - encoder.project(V[:5])
    assert "query_weights" in encoder.tensors()
    assert np.abs(other).max() > 0
    assert "query_weights" not in learner.fit(V[:900]).encoder_.tensors()
