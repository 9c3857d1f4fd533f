"""The report holds what was measured, with labels where both sides have some."""

import json

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.training import evaluate_bundle, fit_bundle

X = np.random.default_rng(0).normal(size=(90, 10)).astype(np.float32)
LABELS = np.array(["a", "b", "c"] * 30)


@pytest.fixture(scope="module")
def parts():
    database = Input("vectors", X[:80], LABELS[:80], "d")
    return (
        fit_bundle(database, n_bits=16),
        Input("vectors", X[80:], LABELS[80:], "q"),
        database,
    )


def test_report(parts):
    report = evaluate_bundle(*parts, k=3)
    assert [row.name for row in report.comparison] == [
        "float vectors",
        "sign bits",
        "16 bits",
    ]
    assert 0 <= report.label_map <= 1
    assert 0 <= report.knn_accuracy <= 1
    assert json.loads(json.dumps(report.as_dict()))["n_items"] == 80


def test_without_labels(parts):
    bundle, queries, database = parts
    plain = [Input("vectors", side.values, None, "x") for side in (queries, database)]
    assert evaluate_bundle(bundle, *plain).label_map is None
    with pytest.raises(ArgumentError, match="give labels for"):
        evaluate_bundle(bundle, plain[0], database)


def test_more_neighbours_than_items(parts):
    with pytest.raises(ArgumentError, match="80 items have no 81 nearest"):
        evaluate_bundle(*parts, k=81)
