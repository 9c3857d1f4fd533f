"""Labels of items that may have several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook, label_scores, label_threshold
from fewbits.codes import pack
from fewbits.errors import ArgumentError, FeatureError

rng = np.random.default_rng(0)
SIGNS = np.where(rng.random((5, 24)) < 0.5, -1, 1)
BOOK = Codebook(pack(SIGNS > 0), 24)
Y = (rng.random((60, 5)) < 0.4).astype(int)
SCORES = Y @ SIGNS + rng.normal(size=(60, 24))


def test_scores_are_cosines():
    lengths = np.linalg.norm(SCORES, axis=1)[:, None] * 24**0.5
    expected = SCORES @ SIGNS.T / lengths
    np.testing.assert_allclose(label_scores(BOOK, SCORES), expected, atol=1e-9)
    assert label_scores(BOOK, np.zeros((1, 24))).tolist() == [[0] * 5]


def test_scores_do_not_depend_on_the_batch():
    alone = np.concatenate([label_scores(BOOK, row[None]) for row in SCORES])
    np.testing.assert_array_equal(alone, label_scores(BOOK, SCORES))


@given(st.integers(0, 999))
def test_no_threshold_has_a_larger_f1(seed):
    rng = np.random.default_rng(seed)
    labels = rng.random((20, 5)) < 0.3
    labels[0, 0] = True
    scores = np.rint(labels @ SIGNS + rng.normal(size=(20, 24)))  # many are equal
    found = label_scores(BOOK, scores)

    def f1(least):
        return (
            2
            * (labels & (found >= least)).sum()
            / ((found >= least).sum() + labels.sum())
        )

    best = label_threshold(BOOK, scores, labels)
    assert f1(best) == pytest.approx(max(map(f1, np.unique(found))))


def test_no_label_at_all():
    least = label_threshold(BOOK, SCORES, np.zeros((60, 5)))
    assert (label_scores(BOOK, SCORES) < least).all()


def test_bad_input():
    for labels in (Y[:9], Y[:, :3], Y[:, 0]):
        with pytest.raises(ArgumentError, match="labels must be 0 and 1 in shape"):
            label_threshold(BOOK, SCORES, labels)
    with pytest.raises(ArgumentError, match="hold 0 and 1 only, got 2"):
        label_threshold(BOOK, SCORES, Y + 1)
    with pytest.raises(ArgumentError, match="labels must be 0 and 1"):
        label_threshold(BOOK, SCORES[:0], Y[:0])
    with pytest.raises(FeatureError, match="a column for each of the 24 bits"):
        label_scores(BOOK, SCORES[:, :3])
