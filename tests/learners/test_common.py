"""Checks that every learner must pass. A new learner adds one line to LEARNERS."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from fewbits.learners import (
    CCAITQ,
    ITQ,
    LSH,
    PCAH,
    SparseProjections,
    Thresholding,
)

LEARNERS = [
    LSH(n_bits=12, random_state=0),
    PCAH(),
    Thresholding("median"),
    ITQ(n_bits=12, n_iter=3, random_state=0),
    CCAITQ(n_bits=12, n_iter=3, random_state=0),
    SparseProjections(n_bits=12, density=0.9, n_iter=3, random_state=0),
]


@parametrize_with_checks(LEARNERS)
def test_sklearn_contract(estimator, check):
    check(estimator)
