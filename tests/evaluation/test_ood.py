"""Measures of known against unknown, beside scikit-learn's and beside counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, logsumexp
from sklearn import metrics

from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError, CodeError, FeatureError
from fewbits.evaluation.ood import (
    Detection,
    code_neighbour_score,
    detection,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
    ood_scores,
)
from fewbits.ood import acceptance_region

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
    assert "false positive rate 1.0000 at true positive rate 1.0000" in str(equal)


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


def test_logit_scores_beside_scipy():
    logits = np.random.default_rng(0).normal(0, 5, (50, 7))
    assert max_softmax(logits) == pytest.approx(
        np.exp(log_softmax(logits, axis=1)).max(axis=1)
    )
    assert (max_logit(logits) == logits.max(axis=1)).all()
    assert energy(logits) == pytest.approx(logsumexp(logits, axis=1))
    cool = energy(logits, temperature=0.5)
    assert cool == pytest.approx(0.5 * logsumexp(logits / 0.5, axis=1))
    assert energy(logits, temperature=1e-6) == pytest.approx(max_logit(logits))
    warm = max_softmax(logits, temperature=1e9)
    assert warm == pytest.approx(1 / 7)
    huge = np.array([[1e30, -1e30], [1000.0, 1000.0]], np.float32)
    assert max_softmax(huge).tolist() == [1, 0.5]
    assert np.isfinite(energy(huge)).all()


def test_neighbour_scores_beside_scipy():
    rng = np.random.default_rng(0)
    known, items = rng.normal(size=(60, 5)), rng.normal(size=(20, 5))

    def unit(X):
        return X / np.linalg.norm(X, axis=1, keepdims=True)

    distances = np.sort(cdist(unit(items), unit(known)), axis=1)
    assert neighbour_score(items, known, k=7) == pytest.approx(-distances[:, 6])
    assert neighbour_score(items * 9, known) == pytest.approx(-distances[:, 49])
    codes, others = pack(known > 0), pack(items > 0)
    nearest = np.sort(hamming_distances(others, codes), axis=1)
    for k in (1, 60):
        assert (code_neighbour_score(others, codes, k) == -nearest[:, k - 1]).all()


def test_the_code_rule_is_a_threshold_on_its_score():
    rng = np.random.default_rng(0)
    class_codes, codes = (
        pack(rng.random((9, 16)) < 0.5),
        pack(rng.random((99, 16)) < 0.5),
    )
    for radius in range(4):
        accepted = acceptance_region(class_codes, 16, radius).accepts(codes)
        scores = code_neighbour_score(codes, class_codes)
        assert (accepted == (scores >= -radius)).all()


def test_mistakes_in_what_is_scored():
    for score in (max_softmax, max_logit, energy):
        with pytest.raises(FeatureError, match="logits must be finite, got NaN"):
            score([[1.0, np.nan]])
        with pytest.raises(FeatureError, match="logits must have 2 dimensions"):
            score([1.0, 2.0])
    with pytest.raises(ArgumentError, match="softmax is always 1"):
        max_softmax([[1.0]])
    for score in (max_softmax, energy):
        for temperature in (0, -1, float("inf"), float("nan")):
            with pytest.raises(ArgumentError, match="temperature must be above 0"):
                score([[1.0, 2.0]], temperature=temperature)
    with pytest.raises(FeatureError, match="known features must have 2 features"):
        neighbour_score(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ArgumentError, match=r"k.*50|50.*4"):
        neighbour_score(np.ones((4, 2)), np.ones((4, 2)))
    codes = np.zeros((4, 1), np.uint8)
    for k in (0, 5):
        with pytest.raises(ArgumentError):
            code_neighbour_score(codes, codes, k)
    with pytest.raises(CodeError, match="bytes per code"):
        code_neighbour_score(codes, np.zeros((4, 2), np.uint8))


decisions = st.lists(st.booleans(), min_size=1, max_size=20)


@given(known=decisions, unknown=decisions)
def test_decisions_beside_scikit_learn(known, unknown):
    found = detection(known, unknown)
    truth = np.repeat([1, 0], [len(known), len(unknown)])
    said = np.array([*known, *unknown]).astype(int)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, said))
    assert found.balanced_accuracy == pytest.approx(
        metrics.balanced_accuracy_score(truth, said)
    )
    assert found.f1_known == pytest.approx(metrics.f1_score(truth, said))
    assert found.f1_unknown == pytest.approx(metrics.f1_score(truth, said, pos_label=0))


def test_another_mixture_is_as_if_items_came_in_it():
    known, unknown = [True, True, False], [False, True]
    found = detection(known, unknown, unknown_share=0.8)
    repeated = detection(known * 2, unknown * 12)
    assert repeated.unknown_share == 0.8
    for name in ("accuracy", "balanced_accuracy", "f1_known", "f1_unknown"):
        assert getattr(found, name) == pytest.approx(getattr(repeated, name))


def test_mistakes_in_decisions():
    with pytest.raises(ArgumentError, match="on known items, True or False, at least"):
        detection([], [True])
    with pytest.raises(ArgumentError, match=r"on unknown items, True or False.*int64"):
        detection([True], [1])
    for share in (0, 1, 50):
        with pytest.raises(ArgumentError, match="must lie between 0 and 1"):
            detection([True], [True], unknown_share=share)


def test_detection_is_plain_arithmetic():
    found = Detection(known_accepted=0.9, unknown_accepted=0.2, unknown_share=0.25)
    assert found.balanced_accuracy == pytest.approx(0.85)
    assert found.accuracy == pytest.approx(0.75 * 0.9 + 0.25 * 0.8)
