"""Steps that fits share leave the fits as they are."""

import numpy as np
import pytest

from experiments._shared_steps import shared_steps
from fewbits.learners import (
    ITQ,
    FastNeighbourCodes,
    NeighbourCodes,
    SparseProjections,
)

X = np.random.default_rng(0).normal(size=(80, 12)).astype(np.float32)


@pytest.mark.parametrize("n_bits", [8, 20])
def test_fits_are_those_without_sharing(n_bits):
    learners = [ITQ(n_bits, n_iter=3, random_state=seed) for seed in (0, 1)]
    learners += [
        SparseProjections(n_bits, density=density, n_iter=3, random_state=seed)
        for density in (0.2, 0.5)
        for seed in (0, 1)
    ]
    learners += [
        NeighbourCodes(n_bits, n_iter=2, random_state=0, **form)
        for form in ({}, {"density": 0.5}, {"n_hidden": 4})
    ]
    learners.append(FastNeighbourCodes(n_bits, n_iter=2, random_state=0))
    alone = [learner.fit(X).encoder_.fingerprint for learner in learners]
    with shared_steps(X) as shared:
        together = [learner.fit(X).encoder_.fingerprint for learner in learners]
    assert together == alone
    assert shared.seconds_saved > 0


def test_neighbours_are_looked_for_once_in_each_frame():
    forms: tuple[dict, ...] = ({}, {"n_hidden": 4}, {"density": 0.5})
    with shared_steps(X) as shared:
        for n_bits in (8, 16):
            for form in forms:
                NeighbourCodes(n_bits, n_iter=1, random_state=0, **form).fit(X)
            FastNeighbourCodes(n_bits, n_iter=1, random_state=0).fit(X)
    assert sum(name[0] == "graph" for name in shared._found) == 2
