"""The report holds what was measured, with labels where both sides have some."""

import json

import numpy as np
import pytest

import fewbits
from fewbits import Collection
from fewbits.collection.evaluation import evaluate
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs import Input

X = np.random.default_rng(0).normal(size=(90, 10)).astype(np.float32)
LABELS = np.array(["a", "b", "c"] * 30)


@pytest.fixture(scope="module")
def parts():
    database = Input("vectors", X[:80], LABELS[:80], "d")
    return (
        fewbits.fit(database, bits=16),
        Input("vectors", X[80:], LABELS[80:], "q"),
        database,
    )


def test_report(parts):
    report = evaluate(*parts, k=3)
    assert [row.name for row in report.comparison] == [
        "float vectors",
        "sign bits",
        "16 bits",
    ]
    assert 0 <= report.mean_average_precision <= 1
    assert 0 <= report.knn_accuracy <= 1
    assert json.loads(json.dumps(report.to_dict()))["n_items"] == 80


def test_without_labels(parts):
    collection, queries, database = parts
    plain = [Input("vectors", side.values, None, "x") for side in (queries, database)]
    assert evaluate(collection, *plain).mean_average_precision is None
    with pytest.raises(ArgumentError, match="give labels for"):
        evaluate(collection, plain[0], database)


def test_labels_that_are_written_otherwise(parts):
    collection, queries, database = parts
    other = Input(
        "vectors", queries.values, np.array([f"{x}.0" for x in "abcde" * 2]), "q"
    )
    with pytest.raises(ArgumentError, match=r"no label of q is .* such as a\.0 and a"):
        evaluate(collection, other, database)


def test_several_labels_per_item(parts):
    collection, queries, database = parts
    y = (X[:, :3] > 0).astype(np.uint8)
    several = [
        Input("vectors", queries.values, y[80:], "q"),
        Input("vectors", database.values, y[:80], "d"),
    ]
    report = evaluate(collection, *several)
    assert 0 <= report.mean_average_precision <= 1
    assert report.knn_accuracy is None
    with pytest.raises(
        ArgumentError, match=r"got shape \(10, 3\) in q and \(80,\) in d"
    ):
        evaluate(collection, several[0], database)


def test_a_memory_map_is_measured_as_an_array(tmp_path, parts):
    collection, queries, database = parts
    np.save(tmp_path / "x.npy", database.values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    reports = [
        evaluate(collection, queries, Input("vectors", values, LABELS[:80], "d"))
        for values in (database.values, mapped)
    ]
    first, second = (
        [(row.name, row.recall, row.bytes_per_item) for row in report.comparison]
        for report in reports
    )
    assert first == second


def test_features_that_are_not_finite_are_named(parts):
    collection, queries, database = parts
    values = database.values.copy()
    values[3, 1] = np.nan
    with pytest.raises(FeatureError, match="got nan in row 3, column 1"):
        evaluate(collection, queries, Input("vectors", values, database.labels, "d"))


def test_more_neighbours_than_items(parts):
    with pytest.raises(ArgumentError, match="80 items have no 81 nearest"):
        evaluate(*parts, k=81)


def test_equally_near_items_share_votes():
    """The class of most, not that of the rows that come first."""
    items = np.repeat([[1.0, 1.0], [-1.0, 1.0]], 20, axis=0).astype(np.float32)
    y = np.repeat(["first", "most", "first", "most"], [6, 14, 7, 13])
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    collection = Collection.create(None, items, encoder=encoder)
    queries = Input("vectors", items[::20] * 2, np.array(["most", "most"]), "q")
    report = evaluate(collection, queries, Input("vectors", items, y, "d"), k=3)
    assert report.knn_accuracy == 1
