"""Scores of what looks known, and measures of a rule, beside independent ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, logsumexp
from sklearn import metrics

from fewbits.codes import hamming_distances, pack
from fewbits.ood import acceptance_region
from research.common.ood import (
    Detection,
    code_neighbour_score,
    detection,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
    told_apart,
)


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


decisions = st.lists(st.booleans(), min_size=1, max_size=20)


@given(known=decisions, unknown=decisions)
def test_decisions_beside_scikit_learn(known, unknown):
    found = detection(np.array(known), np.array(unknown))
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
    found = detection(np.array(known), np.array(unknown), unknown_share=0.8)
    repeated = detection(np.array(known * 2), np.array(unknown * 12))
    assert repeated.unknown_share == 0.8
    for name in ("accuracy", "balanced_accuracy", "f1_known", "f1_unknown"):
        assert getattr(found, name) == pytest.approx(getattr(repeated, name))


def test_detection_is_plain_arithmetic():
    found = Detection(known_accepted=0.9, unknown_accepted=0.2, unknown_share=0.25)
    assert found.balanced_accuracy == pytest.approx(0.85)
    assert found.accuracy == pytest.approx(0.75 * 0.9 + 0.25 * 0.8)


few = st.lists(st.integers(0, 6), min_size=1, max_size=30)  # with many ties


@given(known=few, unknown=few)
def test_told_apart_beside_scikit_learn_and_every_threshold(known, unknown):
    found = told_apart(np.array(known), np.array(unknown))
    truth = np.repeat([1, 0], [len(known), len(unknown)])
    scores = np.array([*known, *unknown])
    assert found["auroc"] == pytest.approx(metrics.roc_auc_score(truth, scores))
    known, unknown = np.array(known), np.array(unknown)
    enough = [t for t in known if (known >= t).mean() >= 0.95 - 1e-9]
    assert found["fpr95"] == (unknown >= max(enough)).mean()
