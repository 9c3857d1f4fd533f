"""What is given in Python: arrays, lists, columns and frames of any library."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fewbits import Collection, inputs
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs import read

X = [[1.0, 2.0], [3.0, 4.0]]
TEXTS = ["one", "two"]


@pytest.mark.parametrize(
    "vectors",
    [
        X,
        np.array(X),
        np.array(X, ">f4"),
        np.asfortranarray(X),
        pd.DataFrame(X),
        pd.DataFrame(X, columns=["a", "b"]).convert_dtypes(),
        pd.DataFrame({"a": pd.array([1, 3], "Int64"), "b": [2.0, 4.0]}),
        pd.Series(X),
        pl.DataFrame(X, schema=["a", "b"], orient="row"),
        pl.DataFrame(X, schema=["a", "b"], orient="row").lazy(),
        pl.Series(X),
        pa.table({"a": [1, 3], "b": [2.0, 4.0]}),
        pa.array(X),
        pa.chunked_array([X[:1], X[1:]]),
        pa.table({"v": X}).to_batches()[0],
    ],
    ids=lambda value: type(value).__module__ + type(value).__name__,
)
def test_vectors(vectors):
    found = inputs.read(vectors)
    assert found.kind == "vectors"
    np.testing.assert_array_equal(found.values, X)


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        np.array(TEXTS),
        np.array(TEXTS, object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, dtype="string"),
        pd.DataFrame({"t": TEXTS}),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pa.array(TEXTS, pa.string_view()),
        pa.table({"t": TEXTS}),
    ],
    ids=lambda value: type(value).__module__ + type(value).__name__,
)
def test_texts(texts):
    found = inputs.read(texts)
    assert found.kind == "texts"
    assert list(found.values) == TEXTS
    assert list(inputs.as_texts(texts)) == TEXTS


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (b"one", "give a list of items, not one string"),
        ([], "shape|no items"),
        (["one", None], "no value in row 1"),
        ([None, "one"], "expected texts, got no value in row 0"),
        ([float("nan"), "one"], "expected texts, got no value in row 0"),
        (np.array([pd.NA, "one"], object), "expected texts, got no value in row 0"),
        ([None, Path("a.png")], "expected images, got no value in row 0"),
        (["one", float("nan")], "no value in row 1"),
        (["one", 2], "got int in row 1"),
        (["one", " "], "blank text in row 1"),
        (pd.Series(["one", None]), "no value in row 1"),
        (pd.Series(["one", pd.NA], dtype="string"), "no value in row 1"),
        (np.ma.masked_array(X, np.eye(2)), "masked array; fill its gaps"),
        ([[1.0], [1.0, 2.0]], "vectors are not a matrix"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[1.0, np.inf]], "holds inf in row 0, column 1"),
        (np.array([[1 + 2j]]), "real numbers"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (
            pd.DataFrame({"a": [1, None], "b": [1, 2]}),
            "column 'a' .* row 1|nan in row 1",
        ),
        (pd.DataFrame({"a": [1.5, 2], "b": ["x", 3]}), "cannot read column 'b'"),
        (
            pd.DataFrame(X, columns=["a", "a"]),
            "several columns called 'a'",
        ),
        (pa.table({"a": X, "b": X}), r"2 columns of texts or vectors: a \(v"),
        (pa.array([[1.0], None]), "no value in row 1"),
        (pa.array([[1.0], [None]]), "lacks a number in row 1"),
        ({"a": 1}, "'a' is an? int, not a column"),
        (5, "shape"),
        ([Path("a.png"), "b.png"], "expected images, got str in row 1"),
        (None, "shape|dtype|matrix"),
    ],
    ids=range(28),
)
def test_mistakes(items, said):
    with pytest.raises(FewbitsError, match=said) as caught:
        inputs.read(items)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "texts",
    [
        ["1 2", "3 4"],
        ["12", "13"],
        ["0.5"],
        ["2020-01-01", "2020-02-30"],
        ["5%", "$7"],
        ["٣", "٤"],
        ["[1, 2]", "[3, 4]"],
        ["[1, 2]", "[3, 4]", "[5, x]"],
        [*["1 2"] * 200, "3 4"],
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, pl.Series, lambda x: pa.table({"t": x})],
    ids=["list", "NumPy", "pandas", "polars", "table"],
)
def test_numbers_in_writing_are_no_texts(texts, make):
    # Vectors in brackets are read from tables, where a cell has no other form.
    if isinstance(make(texts), pa.Table) and texts == ["[1, 2]", "[3, 4]"]:
        np.testing.assert_array_equal(inputs.read(make(texts)).values, [[1, 2], [3, 4]])
        return
    said = "written as text|neither texts nor plain numbers"
    with pytest.raises(FewbitsError, match=said) as caught:
        inputs.read(make(texts))
    assert "\n" not in str(caught.value)


def test_plain_numbers_are_texts_where_these_are_meant():
    numbers = ["12", "13"]
    assert inputs.read(pa.table({"t": numbers}), column="t").values == numbers
    assert inputs.as_texts(numbers) == numbers
    for texts in (["1 2", "3 4"], ["5%", "7%"], ["[1, 2]"], ["[1, 2]", "[3, x]"]):
        said = (
            r"expected texts, but .* written as text.*(give them one at a time|is non)"
        )
        with pytest.raises(FewbitsError, match=said):
            inputs.as_texts(texts)
    for query in ("555 1234", "2020-01-01", "[1] see there"):
        assert inputs.as_texts([query]) == [query]
    words = [*["1 2"] * 200, "word"]
    assert inputs.read(words).values == inputs.as_texts(words) == words


@pytest.mark.parametrize("options", [{"column": "a"}, {"id": "a"}, {"columns": ["a"]}])
def test_arrays_and_lists_have_no_columns(options):
    for items in (X, np.array(X), TEXTS, pd.Series(TEXTS)):
        with pytest.raises(FewbitsError, match=r"has no columns, got .*'a'"):
            inputs.read(items, **options)


def test_columns_of_a_frame():
    frame = pd.DataFrame(
        {"id": ["a", "b"], "x": [1, 3], "y": [2.0, 4.0], "kind": ["u", "v"]},
        index=[5, 9],
    )
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = inputs.read(table, column=["y", "x"], label="kind", id="id")
        np.testing.assert_array_equal(found.values, [[2, 1], [4, 3]])
        assert found.names == ("y", "x")
        assert found.labels.tolist() == ["u", "v"]
        assert found.ids.to_pylist() == ["a", "b"]
        assert "kind" in found.columns


def test_images():
    paths = [Path("a.png"), Path("b.png")]
    found = inputs.read(paths)
    assert (found.kind, found.values) == ("images", paths)


VECTORS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]])


@pytest.mark.parametrize(
    "columns",
    [
        {"n": [1, 2, 3], "kind": ["x", "y", "x"]},
        pd.DataFrame({"n": [1, 2, 3], "kind": ["x", "y", "x"]}, index=[7, 5, 3]),
        pl.DataFrame({"n": [1, 2, 3], "kind": ["x", "y", "x"]}),
        [{"n": n, "kind": kind} for n, kind in zip((1, 2, 3), "xyx", strict=True)],
    ],
    ids=["dict", "pandas", "polars", "rows"],
)
def test_ids_and_columns_lie_beside_items_as_in_add(columns, tmp_path):
    np.save(tmp_path / "x.npy", VECTORS)
    for source in (VECTORS, VECTORS.tolist(), tmp_path / "x.npy"):
        items = read(source, ids=["a", "b", "c"], columns=columns, label="kind")
        assert items.labels.tolist() == ["x", "y", "x"]
        col = Collection.create(
            None, source, ids=["a", "b", "c"], columns=columns, label="kind", bits=2
        )
        assert col.ids.tolist() == ["a", "b", "c"]
        assert col.column("n").tolist() == [1, 2, 3]
        assert col.add(source, ids=["d", "e", "f"], columns=columns) == 3
        assert col.update(None, ids=["d", "e", "f"], columns=columns) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ids": [1, 2]}, "3 items, but 2 ids"),
        ({"columns": {"n": [1]}}, "3 items, but 1 entries in 'n'"),
        ({"columns": {"n": [1, 2, 3]}, "label": "m"}, "no column 'm' beside"),
        ({"columns": ["n"]}, "columns"),
    ],
)
def test_what_lies_beside_belongs_to_each_item(options, words):
    with pytest.raises(ArgumentError, match=words):
        read(VECTORS, **options)


def test_a_table_brings_its_own():
    table = {"v": VECTORS.tolist(), "n": [1, 2, 3]}
    for options in ({"ids": [1, 2, 3]}, {"columns": {"m": [1, 2, 3]}}):
        with pytest.raises(ArgumentError, match="its own ids and columns"):
            read(table, **options)
