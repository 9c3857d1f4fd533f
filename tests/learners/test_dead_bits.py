"""A bit that is the same for all rows is told, whatever has learnt it."""

import numpy as np
import pytest

from fewbits.learners import (
    BRE,
    CBE,
    CCAITQ,
    ITQ,
    LSH,
    PCAH,
    BilinearProjections,
    SparseProjections,
)

#: One row differs, by less than the rounding of its projections.
X = np.vstack([np.full((5000, 3), 7.0), [[7, 7, 7.001]]])
LEARNERS = [
    LSH(2, random_state=0),
    PCAH(1),
    ITQ(2, random_state=0, n_iter=3),
    CBE(2, random_state=0, n_iter=3),
    BilinearProjections(2, random_state=0),
    BRE(2, random_state=0, n_iter=1),
    SparseProjections(2, random_state=0, n_iter=3, density=0.67),
]


@pytest.mark.filterwarnings("ignore:. of . bits (is|are) constant")
@pytest.mark.filterwarnings("ignore:X varies in one direction only")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_counted(learner):
    bits = learner.fit(X).transform(X)
    n_dead = int((bits.min(axis=0) == bits.max(axis=0)).sum())
    assert learner.n_dead_bits_ == n_dead


def test_told():
    with pytest.warns(UserWarning, match="2 of 2 bits are constant on the training"):
        LSH(2, random_state=0).fit(X)


def test_none():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(200, 4)), np.arange(200) % 3
    assert CCAITQ(4, random_state=0).fit(rows, y).n_dead_bits_ == 0


def test_rows_of_two_kinds_have_two_codes():
    kinds = np.zeros((2, 12), np.float32)
    kinds[0, :8] = kinds[1, 8:] = 1
    rows = kinds[np.arange(100) % 2]
    with pytest.warns(UserWarning, match="all 16 bits are equal or opposite"):
        itq = ITQ(16, random_state=0, n_iter=3).fit(rows)
    assert len(np.unique(itq.transform(rows), axis=0)) == 2
    rows[0, 0] = 0  # a third
    ITQ(2, random_state=0, n_iter=3).fit(rows)
