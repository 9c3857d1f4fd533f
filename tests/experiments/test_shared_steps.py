"""Steps that fits share leave the fits as they are."""

import numpy as np
import pytest

from experiments._shared_steps import shared_steps
from fewbits.learners import ITQ, SparseProjections

X = np.random.default_rng(0).normal(size=(80, 12)).astype(np.float32)


@pytest.mark.parametrize("n_bits", [8, 20])
def test_fits_are_those_without_sharing(n_bits):
    learners = [ITQ(n_bits, n_iter=3, random_state=seed) for seed in (0, 1)]
    learners += [
        SparseProjections(n_bits, density=density, n_iter=3, random_state=seed)
        for density in (0.2, 0.5)
        for seed in (0, 1)
    ]
    alone = [learner.fit(X).encoder_.fingerprint for learner in learners]
    with shared_steps(X) as shared:
        together = [learner.fit(X).encoder_.fingerprint for learner in learners]
    assert together == alone
    assert shared.seconds_saved > 0
