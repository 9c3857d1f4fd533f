"""Steps that fits share leave the fits as they are."""

import numpy as np
import pytest

from fewbits.learners import (
    ITQ,
    FastNeighbourCodes,
    NeighbourCodes,
    SparseProjections,
)
from fewbits.learners.fitting import shared_steps

X = np.random.default_rng(0).normal(size=(80, 12)).astype(np.float32)


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize("n_bits", [8, 20])
def test_fits_are_those_without_sharing(n_bits):
    learners = [ITQ(n_bits, n_iter=3, random_state=seed) for seed in (0, 1)]
    learners += [
        SparseProjections(n_bits, density=density, n_iter=3, random_state=seed)
        for density in (0.2, 0.5)
        for seed in (0, 1)
    ]
    learners += [
        kind(n_bits, n_iter=1, random_state=0)
        for kind in (NeighbourCodes, FastNeighbourCodes)
    ]
    alone = [learner.fit(X).encoder_.fingerprint for learner in learners]
    with shared_steps() as shared:
        together = [learner.fit(X).encoder_.fingerprint for learner in learners]
    assert together == alone
    assert shared.seconds_saved > 0


# Whether a short training ends with such a bit is a matter of rounding.
@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
def test_neighbours_are_looked_for_once_in_each_frame():
    with shared_steps() as shared:
        for n_bits in (8, 16):
            NeighbourCodes(n_bits, n_iter=1, random_state=0).fit(X)
            FastNeighbourCodes(n_bits, n_iter=1, random_state=0).fit(X)
    assert sum(name[0] == "neighbours" for name in shared.steps) == 2


def test_other_rows_and_other_seeds_share_nothing():
    fits = [(ITQ(8, n_iter=1, random_state=seed), i) for seed in (0, 1) for i in (0, 1)]
    rows = X[:60], X[20:]
    alone = [each.fit(rows[i]).encoder_.fingerprint for each, i in fits]
    with shared_steps():
        together = [each.fit(rows[i]).encoder_.fingerprint for each, i in fits]
    assert together == alone
    assert len(set(alone)) == 4


def test_rows_that_change_are_other_rows():
    rows = X.copy()
    with shared_steps():
        ITQ(8, n_iter=1, random_state=0).fit(rows)
        rows[:] = rows[:, ::-1] ** 2
        shared = ITQ(8, n_iter=1, random_state=0).fit(rows).encoder_.fingerprint
    assert shared == ITQ(8, n_iter=1, random_state=0).fit(rows).encoder_.fingerprint
