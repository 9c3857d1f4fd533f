"""Rows without a label have no vote, and a line says so."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fewbits.classify import nearest_vote, vote
from fewbits.codes import hamming_topk
from fewbits.errors import ArgumentError
from fewbits.evaluation.classification import knn_accuracy

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, (60, 2), dtype=np.uint8)
QUERIES = rng.integers(0, 256, (20, 2), dtype=np.uint8)
WHOLE = np.array(["ant", "bee", "cat"])[rng.integers(0, 3, 60)]
GAPS = rng.random(60) < 0.3
SAID = f"{GAPS.sum()} of 60 rows have no label"
FORMS = {
    "None": lambda labels: [
        None if gap else x for gap, x in zip(GAPS, labels.tolist(), strict=False)
    ],
    "blank": lambda labels: np.where(GAPS, " ", labels),
    "pandas": lambda labels: pd.Series(labels, dtype="string").mask(GAPS),
    "arrow": lambda labels: pa.array(labels, mask=GAPS),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_others_vote_as_if_alone(form):
    labels = FORMS[form](WHOLE)
    with pytest.warns(UserWarning, match=SAID):
        votes = nearest_vote(QUERIES, CODES, labels, 5)
    alone = nearest_vote(QUERIES, CODES[~GAPS], WHOLE[~GAPS], 5)
    np.testing.assert_array_equal(votes.labels, alone.labels)
    np.testing.assert_array_equal(votes.shares, alone.shares)
    everything = hamming_topk(QUERIES, CODES, 60)
    with pytest.warns(UserWarning, match=SAID):
        votes = vote(everything, labels, 5)
    np.testing.assert_array_equal(votes.labels, alone.labels)
    np.testing.assert_array_equal(votes.shares, alone.shares)


def test_numbers():
    numbers = np.where(GAPS, np.nan, rng.integers(0, 3, 60))
    with pytest.warns(UserWarning, match=SAID):
        votes = nearest_vote(QUERIES, CODES, numbers, 5)
    alone = nearest_vote(QUERIES, CODES[~GAPS], numbers[~GAPS], 5)
    np.testing.assert_array_equal(votes.labels, alone.labels)


def test_rows_of_the_database_have_no_vote_on_themselves():
    labels = FORMS["None"](WHOLE)
    query_rows = np.arange(60)
    with pytest.warns(UserWarning, match=SAID):
        votes = nearest_vote(CODES, CODES, labels, 3, query_rows=query_rows)
    for row in query_rows:
        others = ~GAPS & (query_rows != row)
        alone = nearest_vote(CODES[row : row + 1], CODES[others], WHOLE[others], 3)
        assert (votes.labels[row], votes.shares[row]) == (
            alone.labels[0],
            alone.shares[0],
        )


def test_accuracy():
    truth = WHOLE[:20]
    with pytest.warns(UserWarning, match=SAID):
        accuracy = knn_accuracy(CODES, FORMS["None"](WHOLE), QUERIES, truth, k=3)
    alone = knn_accuracy(CODES[~GAPS], WHOLE[~GAPS], QUERIES, truth, k=3)
    assert accuracy.value == alone.value


def test_someone_must_vote():
    with pytest.raises(ArgumentError, match="missing in 60 of 60 rows"):
        nearest_vote(QUERIES, CODES, [None] * 60)
    nearest = hamming_topk(QUERIES[:1], CODES, 1)
    labels = WHOLE.tolist()
    labels[nearest.ids[0, 0]] = None
    with (
        pytest.warns(UserWarning, match="1 of 60 rows"),
        pytest.raises(ArgumentError, match="none with a label"),
    ):
        vote(nearest, labels)


@pytest.mark.filterwarnings("ignore:.*have no label")
def test_some_queries_are_rows_of_the_database():
    labels = FORMS["None"](WHOLE)
    query_rows = np.where(np.arange(60) % 2, np.arange(60), -1)
    votes = nearest_vote(CODES, CODES, labels, 3, query_rows=query_rows)
    rows = nearest_vote(CODES, CODES, labels, 3, query_rows=np.arange(60))
    others = nearest_vote(CODES, CODES, labels, 3)
    for part in range(2):
        expected = np.where(query_rows < 0, others[part], rows[part])
        np.testing.assert_array_equal(votes[part], expected)
