"""`compare`: three parts that share no row, metrics of brute force, interrupts."""

from dataclasses import asdict
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import average_precision_score

from fewbits import compare
from fewbits.errors import ArgumentError, FeatureError, InterruptedWarning
from fewbits.inputs import Input
from fewbits.learners import ITQ, LSH, AdditiveCodes
from fewbits.training import _compare

DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS = (DIGITS[:600] + np.arange(64) / 100).astype(np.float32)
LABELLED = Input("vectors", DIGITS, CLASSES[:600], "digits")


@pytest.fixture(scope="module")
def found():
    return compare({"a": "lsh", "b": ITQ(n_iter=5, random_state=0)}, [32, 64], LABELLED)


def test_no_row_is_in_two_parts(found):
    parts = _compare._parts(LABELLED, DIGITS, None, 1000, 0)
    sides = [
        {row.tobytes() for row in X} for X in (parts.fit, parts.base, parts.queries)
    ]
    assert sum(map(len, sides)) == len(set.union(*sides))
    assert len(np.concatenate(parts.labels)) == 600
    assert (found.n_fit, found.n_base, found.n_queries) == (262, 263, 75)


def test_a_table_has_a_row_for_each_method_and_length(found):
    table = found.table()
    assert table.column("method").to_pylist() == ["vectors", *"aabb"]
    assert table.column("n_bits").to_pylist() == [None, 32, 64, 32, 64]
    assert table.to_pylist() == [asdict(row) for row in found.scores]


def test_metrics_are_those_of_brute_force(found):
    parts = _compare._parts(LABELLED, DIGITS, None, 1000, 0)
    encoder = LSH(n_bits=64, random_state=0).fit(parts.fit).encoder_
    bits, asked = (encoder.project(X) > 0 for X in (parts.base, parts.queries))
    distances = (asked[:, None] != bits).sum(axis=2)
    floats = np.linalg.norm(parts.queries[:, None] - parts.base, axis=2)
    row = next(e for e in found.scores if (e.method, e.n_bits) == ("a", 64))
    own = np.linalg.norm(parts.base[:, None] - parts.base, axis=2)
    threshold = np.sort(own, axis=1)[:, 50].mean()  # the first is the row itself
    near = [
        average_precision_score(f < threshold, -d)
        for f, d in zip(floats, distances, strict=True)
        if (f < threshold).any()
    ]
    # scikit-learn takes tied items as one step; fewbits their expected order
    assert row.ann_map == pytest.approx(np.mean(near), abs=0.03)
    scores = encoder.project(parts.queries)
    sums = scores @ np.where(bits, 1, -1).T
    first = np.lexsort((np.arange(len(bits))[None].repeat(75, 0), distances))[:, :100]
    order = np.argsort(-np.take_along_axis(sums, first, axis=1), axis=1)[:, :10]
    ids = np.take_along_axis(first, order, axis=1)
    true = np.argsort(floats, axis=1)[:, :10]
    recall = np.mean([len({*a} & {*b}) / 10 for a, b in zip(ids, true, strict=True)])
    assert row.recall_reranked == pytest.approx(recall, abs=1e-3)
    assert row.bytes_per_item == 8


def test_additive_codes_are_ranked_by_what_they_stand_for():
    found = compare(["additive"], [64], LABELLED, shortlist=1000)
    parts = _compare._parts(LABELLED, DIGITS, None, 1000, 0)
    encoder = AdditiveCodes(64, random_state=0).fit(parts.fit).encoder_
    sums = encoder.decode(encoder.encode(parts.base)) + parts.fit.mean(axis=0)
    by_sums, by_floats = (
        np.linalg.norm(parts.queries[:, None] - each, axis=2).argsort(axis=1)[:, :10]
        for each in (sums, parts.base)
    )
    shared = [len({*a} & {*b}) for a, b in zip(by_sums, by_floats, strict=True)]
    recall = found.scores[1].recall_reranked
    assert recall == pytest.approx(np.mean(shared) / 10, abs=0.005)


def test_a_parameter_of_one_method():
    found = compare(
        ["lsh", "additive"], 64, DIGITS, parameters={"additive.correction": True}
    )
    assert [row.bytes_per_item for row in found.scores[1:]] == [8, 10]
    plain = compare([AdditiveCodes(64, correction=True, random_state=0)], 64, DIGITS)
    assert plain.scores[1].recall_reranked == found.scores[2].recall_reranked


def test_without_labels_there_are_no_metrics_by_labels():
    found = compare("lsh", 16, DIGITS)
    assert {(row.label_map, row.svm) for row in found.scores} == {(None, None)}
    with pytest.raises(ArgumentError, match="labels"):
        found.plot("label_map")
    with pytest.raises(ArgumentError, match="metric must be"):
        found.plot("speed")


LEARNT_FROM = np.random.default_rng(0).permutation(100)[0]  # see `_parts`
RARE = np.eye(100, dtype=int)[LEARNT_FROM]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(100, int), "the labels of x are all the same: metrics by labels"),
        (RARE, "the labels of the base drawn from x are all the same: metrics by"),
        (np.arange(100), "the labels of x are all different: metrics by labels are"),
        (np.arange(100).astype(str), "the labels of x are all different"),
        (np.ones((100, 2), int), "the labels of x are all the same"),
        (np.eye(100, dtype=int), "no query drawn from x shares a label with the base"),
    ],
)
def test_labels_that_tell_nothing_leave_the_rest_measured(labels, message):
    source = Input("vectors", DIGITS[:100], labels, "x")
    with pytest.warns(UserWarning, match=message):
        found = compare("lsh", 16, source)
    assert {(row.label_map, row.svm) for row in found.scores} == {(None, None)}
    assert found.scores[0].recall == 1


def test_a_plot_names_every_method(found, tmp_path):
    found.plot("svm").save(tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    assert all(words in text for words in (">a<", ">b<", "64 bits: "))
    found.plot().save(tmp_path / "all.svg")
    text = (tmp_path / "all.svg").read_text()
    named = ("ANN mAP", "label mAP", "recall", "SVM", "seconds to learn", "to encode")
    assert all(words in text for words in named)
    assert text.count("translate(") == text.count(">a<") == 7
    with pytest.raises(ArgumentError, match=r"written to a \.svg file, got .*all.png"):
        found.plot().save(tmp_path / "all.png")
    assert not (tmp_path / "all.png").exists()


def test_what_cannot_be_learnt_is_said_and_the_rest_measured():
    found = compare(["pcah", "lsh"], [16, 128], DIGITS)
    assert list(found.refused) == ["pcah, 128 bits"]
    assert [row.method for row in found.scores] == ["vectors", "pcah", "lsh", "lsh"]


def test_an_interrupt_leaves_what_was_measured():
    def interrupt(text):
        if text == "itq":
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="after 1 of 2 codes"):
        found = compare(["lsh", "itq"], 16, DIGITS, notes=interrupt)
    assert [row.method for row in found.scores] == ["vectors", "lsh"]
    early = patch.object(LSH, "fit", side_effect=KeyboardInterrupt)
    with early, pytest.raises(KeyboardInterrupt):
        compare("lsh", 16, DIGITS)


@pytest.mark.parametrize(
    ("methods", "bits", "options", "message"),
    [
        (["itq", ITQ()], 16, {}, "two methods are called itq"),
        ("dbc", 16, {}, "learns from labels"),
        ("lsh", [], {}, "at least one"),
        ("lsh", 16, {"n_fit": 1000}, "no base"),
        ("lsh", 16, {"k": 1000}, "too few for k=1000"),
        ("magic", 16, {}, "no method"),
        (ITQ, 16, {}, r"got the class ITQ: give a learner, such as ITQ\(\)"),
        ([ITQ], 16, {}, "got the class ITQ"),
        ({"a": ITQ}, 16, {}, "got the class ITQ"),
        (["lsh", PCA()], 16, {}, "a name or a learner of fewbits, got PCA"),
        (None, 16, {}, "a name or a learner of fewbits, got None"),
        ("lsh", 16.0, {}, "a number of bits must be a whole number, got 16.0"),
        ("lsh", [16, 32.5], {}, "a number of bits must be a whole number, got 32.5"),
        ("lsh", "16", {}, "a number of bits must be a whole number, got '16'"),
        ("lsh", None, {}, "a number of bits must be a whole number, got None"),
    ],
)
def test_mistakes_are_one_line(methods, bits, options, message):
    with pytest.raises(ArgumentError, match=message):
        compare(methods, bits, DIGITS, **options)


@pytest.mark.parametrize("row", [0, 333])
def test_a_number_that_is_too_large_is_named_by_its_row(row):
    X = DIGITS.astype(np.float64)
    X[row, 2] = 1e100
    with pytest.raises(FeatureError, match=rf"got 1e\+100 in row {row}, column 2"):
        compare("lsh", 16, X)


def test_corrections_of_rows_count_and_are_taken():
    learners = {"plain": AdditiveCodes(64), "both": AdditiveCodes(64, correction=True)}
    plain, corrected = compare(learners, [64], DIGITS, shortlist=1000).scores[-2:]
    assert (plain.bytes_per_item, corrected.bytes_per_item) == (8, 10)
    assert corrected.recall_reranked > plain.recall_reranked
