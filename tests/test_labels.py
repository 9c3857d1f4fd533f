"""Every form of labels at every door: all accept the same ones and mean the same."""

import decimal
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import fewbits
from fewbits._labels import as_classes, as_label_rows, as_labels
from fewbits.analysis.bits import bit_report, class_profile, rank_bits
from fewbits.analysis.bounds import code_bound
from fewbits.analysis.taxonomy import taxonomy
from fewbits.classify import Codebook, calibrate, learn_classes, nearest_vote, vote
from fewbits.codes import hamming_topk
from fewbits.collection.evaluation import evaluate
from fewbits.errors import ArgumentError
from fewbits.evaluation import same_label
from fewbits.evaluation.classification import (
    knn_accuracy,
    novel_class_score,
    svm_accuracy,
)
from fewbits.inputs import Input
from fewbits.learners import CCAITQ, DBC, ITQ, Classemes, PiCoDes, RelaxedPiCoDes
from fewbits.ood import novelty_radius
from tests.learners._made import made

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 12
WHICH = np.array([0, 1, 1, 0] * 3)  # the class of each row
CODES = np.where(WHICH, 0b1111_0000, 0b0000_1111).astype(np.uint8)[:, None] ^ (
    1 << np.arange(N, dtype=np.uint8)[:, None] % 8
)
X = np.random.default_rng(0).normal(size=(N, 5)) + 3 * WHICH[:, None]
TREE = taxonomy(CODES, 8)


def spread(first, second):
    """Two labels over the rows."""
    return [(first, second)[i] for i in WHICH]


WORDS, NUMBERS = spread("ant", "nan"), spread(2, 7)
GOOD = {
    "list of str": (WORDS, WORDS),
    "a class that is called nan": (np.array(WORDS), WORDS),
    "tuple": (tuple(WORDS), WORDS),
    "object array": (np.array(WORDS, object), WORDS),
    "np.str_": ([np.str_(each) for each in WORDS], WORDS),
    "StringDType": (np.array(WORDS, np.dtypes.StringDType()), WORDS),
    "column": (np.array(WORDS)[:, None], WORDS),
    "integers": (NUMBERS, NUMBERS),
    "uint8": (np.array(NUMBERS, np.uint8), NUMBERS),
    "whole floats": (np.array(NUMBERS, np.float32), NUMBERS),
    "integers and whole floats": ([2.0 if i == 2 else i for i in NUMBERS], NUMBERS),
    "booleans": (spread(True, False), spread(True, False)),
    "masked without gaps": (np.ma.masked_array(NUMBERS, mask=False), NUMBERS),
    "pandas": (pd.Series(WORDS, index=range(5, 5 + N)), WORDS),
    "pandas string": (pd.Series(WORDS, dtype="string"), WORDS),
    "pandas category": (pd.Series(WORDS, dtype="category"), WORDS),
    "pandas Categorical": (pd.Categorical(NUMBERS), NUMBERS),
    "pandas Int64": (pd.Series(NUMBERS, dtype="Int64"), NUMBERS),
    "pandas Index": (pd.Index(WORDS), WORDS),
    "pandas frame": (pd.DataFrame({"y": WORDS}), WORDS),
    "polars": (pl.Series(WORDS), WORDS),
    "polars numbers": (pl.Series(NUMBERS), NUMBERS),
    "polars category": (pl.Series(WORDS, dtype=pl.Categorical), WORDS),
    "polars frame": (pl.DataFrame({"y": NUMBERS}), NUMBERS),
    "Arrow": (pa.array(WORDS), WORDS),
    "Arrow string_view": (pa.array(WORDS, pa.string_view()), WORDS),
    "Arrow dictionary": (pa.array(WORDS).dictionary_encode(), WORDS),
    "Arrow chunks": (pa.chunked_array([NUMBERS[:5], NUMBERS[5:]]), NUMBERS),
}


def gap(missing, first="ant"):
    """Leave the last row without a label."""
    return [*spread(first, "bee" if isinstance(first, str) else 7)[:-1], missing]


BAD = {
    "nan among strings": gap(float("nan")),
    "np.nan in a tuple": tuple(gap(np.nan)),
    "np.float32 nan": gap(np.float32("nan")),
    "None": gap(None),
    "None in an object array": np.array(gap(None), object),
    "what NumPy made of nan": np.array(gap(np.nan)),
    "pd.NA": gap(pd.NA),
    "pd.NaT": gap(pd.NaT),
    "NaT": gap(np.datetime64("NaT")),
    "Decimal nan": gap(decimal.Decimal("nan")),
    "nan among numbers": gap(np.nan, 2),
    "float array": np.array(gap(np.nan, 2)),
    "float array of one column": np.array(gap(np.nan, 2))[:, None],
    "masked": np.ma.masked_array(NUMBERS, mask=[*[False] * (N - 1), True]),
    "masked strings": np.ma.masked_array(WORDS, mask=[*[False] * (N - 1), True]),
    "empty": gap(""),
    "blank": np.array(gap(" \t")),
    "pandas": pd.Series(gap(None)),
    "pandas object": pd.Series(gap(np.nan), dtype=object),
    "pandas string": pd.Series(gap(None), dtype="string"),
    "pandas category": pd.Series(gap(None), dtype="category"),
    "pandas Categorical": pd.Categorical(gap(None, 2)),
    "pandas Int64": pd.Series(gap(None, 2), dtype="Int64"),
    "pandas boolean": pd.Series(gap(None, 2)[:1] * (N - 1) + [None], dtype="Int8"),
    "pandas frame": pd.DataFrame({"y": gap(None)}),
    "polars": pl.Series(gap(None)),
    "polars numbers": pl.Series(gap(None, 2)),
    "polars NaN": pl.Series([float(i) for i in gap(np.nan, 2)]),
    "polars category": pl.Series(gap(None), dtype=pl.Categorical),
    "Arrow": pa.array(gap(None)),
    "Arrow dictionary": pa.array(gap(None)).dictionary_encode(),
    "Arrow chunks": pa.chunked_array([gap(None, 2)]),
    "a number among strings": gap(1),
    "a string among numbers": gap("1", 2),
    "a boolean among numbers": gap(True, 2),
    "bytes": np.array(WORDS).astype(np.bytes_),
    "bytes in a list": [each.encode() for each in WORDS],
    "dates": np.array(spread("2020-01-01", "2021-01-01"), "datetime64[D]"),
    "dates in a list": spread(date(2020, 1, 1), date(2021, 1, 1)),
    "fractions": np.array(spread(0.5, 1.0)),
    "infinity": np.array(spread(np.inf, 1.0)),
    "floats too large": np.array(spread(2.0**60, 1.0)),
    "integers too large": np.array(spread(2**63, 1), np.uint64),
    "complex": np.array(spread(1j, 1)),
    "lists": [[each] if i else [each, "bee"] for i, each in enumerate(WORDS)],
    "sets": [{each} for each in WORDS],
    "structs": [{"name": each} for each in WORDS],
    "no Unicode": gap("\udcff"),
    "a generator": (each for each in WORDS),
    "a string": "ab" * (N // 2),
    "a number": 3,
    "two columns of words": np.array([WORDS, WORDS]).T,
}


def source(y):
    return Input("vectors", X, y, "here")


def names_of(y):
    """As a codebook is made: of the classes that labels hold."""
    return Codebook(np.array([[15], [240]], np.uint8), 8, as_classes(y, N)[0])


def deep(y):
    learners = pytest.importorskip("fewbits.learners.deep")
    return made(
        learners.DeepHash, n_bits=4, max_epochs=1, validation=0, random_state=0
    ).fit(X, y)


def fitted(learner):
    return lambda y: learner.fit(X, y).encoder_.fingerprint


#: Each returns something that depends on which rows are of one class, not on names.
DOORS = {
    "CCAITQ": fitted(CCAITQ(4, n_iter=1, random_state=0)),
    "DBC": fitted(DBC(2, n_iter=1, random_state=0)),
    "Classemes": fitted(Classemes(random_state=0)),
    "PiCoDes": fitted(PiCoDes(2, n_iter=1, random_state=0)),
    "RelaxedPiCoDes": fitted(RelaxedPiCoDes(2, n_iter=1, random_state=0)),
    "DeepHash": lambda y: len(deep(y).classes_),
    "vote": lambda y: vote(hamming_topk(CODES, CODES, 3), y).shares,
    "nearest_vote": lambda y: nearest_vote(CODES, CODES, y, 3).shares,
    "novelty_radius": lambda y: novelty_radius(CODES, y),
    "learn_classes": lambda y: learn_classes(CODES, 8, y).names.shape,
    "Codebook.rows": lambda y: names_of(y).rows(y),
    "calibrate": lambda y: calibrate(names_of(y), X @ np.ones((5, 8)), y).scale,
    "knn_accuracy": lambda y: knn_accuracy(CODES, y, CODES, y, k=3).value,
    "svm_accuracy": lambda y: svm_accuracy(X, y, X, y).value,
    "novel_class_score": lambda y: novel_class_score(
        ITQ(4, random_state=0).fit(X), X, y, n_test=2
    ),
    "same_label": lambda y: same_label(y, y).block(slice(0, N)),
    "bit_report": lambda y: repr(bit_report(CODES, 8, y).summary()),
    "class_profile": lambda y: class_profile(CODES, 8, y, as_labels(y)[0]).n_inside,
    "code_bound": lambda y: code_bound(CODES, 8, y).high_intra,
    "rank_bits": lambda y: rank_bits(X, y).order,
    "fit": lambda y: (
        fewbits.fit(
            source(y), learner="cca-itq", bits=2, parameters={"n_iter": 1}
        ).encoder.fingerprint
    ),
    "evaluate": lambda y: (
        evaluate(
            fewbits.fit(Input("vectors", X, None, "here"), bits=4),
            source(y),
            source(y),
            k=2,
        ).mean_average_precision
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_the_same_labels(door):
    same = DOORS[door](np.array(WHICH))
    reversed_ = DOORS[door](1 - np.array(WHICH))
    forms = list(GOOD.items())
    for form, (labels, _) in forms[:: 10 if door == "DeepHash" else 1]:  # it takes long
        found = DOORS[door](labels)
        assert _equal(found, same) or _equal(found, reversed_), form


def _refusal(door, labels):
    try:
        door(labels)
    except ArgumentError as error:
        return str(error)
    return "taken\n"


def _equal(first, second):
    return np.array_equal(np.asarray(first), np.asarray(second))


#: A row without a label has no vote.
VOTES = {"vote", "nearest_vote"}
MISSING = list(BAD)[: list(BAD).index("Arrow chunks") + 1]
UNCERTAIN = {"what NumPy made of nan", "masked", "masked strings"}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_the_same_labels(door):
    for form, labels in BAD.items():
        taken = door in VOTES and form in MISSING and form not in UNCERTAIN
        assert ("\n" in _refusal(DOORS[door], labels)) == taken, form


@pytest.mark.parametrize("form", GOOD)
def test_labels_are_what_was_given(form):
    given_labels, expected = GOOD[form]
    found = as_labels(given_labels)
    assert found.tolist() == expected
    assert found.dtype.kind in "Uifub"
    classes, numbers = as_classes(given_labels, N)
    assert classes.tolist() == sorted(set(expected))
    assert classes[numbers].tolist() == expected


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1).map("x{}y".format)))
def test_strings_are_not_changed(labels):
    assert as_labels(labels).tolist() == labels
    assert as_labels(np.array(labels, object)).tolist() == labels


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_not_changed(labels):
    assert as_labels(labels).tolist() == labels
    if labels:
        assert as_labels(pl.Series(labels)).tolist() == labels


@given(
    st.lists(
        st.none() | st.text("ab", max_size=2) | st.floats() | st.booleans(), min_size=1
    )
)
def test_a_list_is_of_one_kind_or_refused(labels):
    strings = all(isinstance(each, str) and each for each in labels)
    booleans = all(isinstance(each, bool) for each in labels)
    whole = all(
        type(each) is float and each.is_integer() and abs(each) <= 2**53
        for each in labels
    )
    if strings or booleans or whole:
        assert as_labels(labels).tolist() == labels
    else:
        with pytest.raises(ArgumentError):
            as_labels(labels)


def test_one_long_label_does_not_fill_the_memory():
    labels = ["cat", "dog"] * 100_000 + ["x" * 100_000]
    found = as_labels(labels)
    assert found.nbytes < 10_000_000
    assert found.tolist() == labels
    classes, numbers = as_classes(labels, len(labels))
    assert [len(each) for each in classes.tolist()] == [3, 3, 100_000]
    assert np.bincount(numbers).tolist() == [100_000, 100_000, 1]


def test_rows_of_several_labels():
    expected = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    for rows in (
        expected,
        np.array(expected, float),
        np.array(expected, bool),
        np.array(expected, object),
        sp.csr_array(expected),
        pd.DataFrame(expected),
        pd.DataFrame(expected).convert_dtypes(),
        pl.DataFrame(expected, orient="row"),
    ):
        found = as_label_rows(rows)
        assert found.dtype == np.uint8
        assert found.tolist() == expected
    for wrong in (
        [[1, np.nan], [0, 1]],
        [[1, None], [0, 1]],
        [[1, 2], [0, 1]],
        [["1", "0"], ["0", "1"]],
        np.ma.masked_array([[1, 0]], mask=[[False, True]]),
        sp.csr_array([[1, 0.5]]),
        pd.DataFrame({"a": [1, None], "b": [0, 1]}).convert_dtypes(),
    ):
        with pytest.raises(ArgumentError):
            as_label_rows(wrong)


def test_messages_name_the_row_and_the_value():
    for labels, message in (
        (["a", np.nan], "labels must be classes, but are missing in 1 of 2 rows: got "),
        (["a", 1], "of one kind, got strings and numbers: 'a' in row 0, 1 in row 1"),
        (["a", ""], "got '' in row 1"),
        ([b"a"], "got bytes; decode them"),
        ([{"x": 1}], "or booleans, got a struct; give one of its fields"),
        (pa.array([{"x": 1}]), "or booleans, got struct<x: int64>; give one of its f"),
        (pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int64())), "got map<string, "),
    ):
        with pytest.raises(ArgumentError) as caught:
            as_labels(labels)
        assert message in str(caught.value)


def test_nothing_is_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels, _ in GOOD.values():
            as_labels(labels)
