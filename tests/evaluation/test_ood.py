"""Measures of known against unknown, beside scikit-learn's and beside counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from fewbits.errors import ArgumentError
from fewbits.evaluation.ood import ood_scores

few = st.lists(st.integers(0, 6), min_size=1, max_size=30)  # with many ties


@given(known=few, unknown=few)
def test_areas_are_those_of_scikit_learn(known, unknown):
    found = ood_scores(known, unknown)
    truth = np.repeat([1, 0], [len(known), len(unknown)])
    scores = np.array([*known, *unknown])
    assert found.auroc == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert found.aupr_known == pytest.approx(
        metrics.average_precision_score(truth, scores)
    )
    assert found.aupr_unknown == pytest.approx(
        metrics.average_precision_score(1 - truth, -scores)
    )


@given(known=few, unknown=few)
def test_auroc_counts_pairs(known, unknown):
    pairs = [(a > b) + (a == b) / 2 for a in known for b in unknown]
    assert ood_scores(known, unknown).auroc == pytest.approx(np.mean(pairs))


@given(known=few, unknown=few, tpr=st.sampled_from([0.05, 0.5, 0.8, 0.95, 1.0]))
def test_false_positive_rate_by_trying_every_threshold(known, unknown, tpr):
    found = ood_scores(known, unknown, tpr=tpr)
    known, unknown = np.array(known), np.array(unknown)
    enough = [t for t in known if (known >= t).mean() >= tpr - 1e-9]
    assert found.threshold == max(enough)
    assert found.fpr == (unknown >= max(enough)).mean()
    assert found.reached == (known >= max(enough)).mean() >= tpr - 1e-9


def test_a_share_that_binary_numbers_miss():
    known = np.arange(1000)
    for tpr in (0.95, 0.9, 0.7, 0.1, 0.3):
        assert ood_scores(known, [0], tpr=tpr).reached == pytest.approx(tpr)


def test_perfect_and_hopeless():
    perfect = ood_scores([3, 4], [1, 2])
    assert (perfect.auroc, perfect.fpr, perfect.aupr_known) == (1, 0, 1)
    assert perfect.aupr_unknown == 1
    assert ood_scores([1, 2], [3, 4]).auroc == 0
    equal = ood_scores([1, 1], [1, 1, 1, 1])
    assert (equal.auroc, equal.fpr) == (0.5, 1)
    assert equal.aupr_known == pytest.approx(1 / 3)  # the share of known items


@pytest.mark.parametrize(
    ("known", "unknown", "message"),
    [
        ([], [1], "a list of known scores, at least one"),
        ([1], [[1]], "a list of unknown scores, at least one"),
        ([1, np.nan], [1], "known scores must be finite"),
        ([1], ["a"], "unknown scores must be numbers"),
    ],
)
def test_mistakes_in_scores(known, unknown, message):
    with pytest.raises(ArgumentError, match=message):
        ood_scores(known, unknown)
    with pytest.raises(ArgumentError, match="tpr must be above 0 and at most 1"):
        ood_scores([1], [1], tpr=95)
