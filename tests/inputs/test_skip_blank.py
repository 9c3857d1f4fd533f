"""Rows without a text are refused, or left out with all that belongs to them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError

TEXTS = ["one", "", None, "two", " ", "\u2003\t", "three"]
FRAME = pd.DataFrame(
    {
        "text": TEXTS,
        "sku": [f"s{i}" for i in range(7)],
        "kind": list("aabbccd"),
        "year": [2010, 2011, 2012, None, 2014, 2015, 2016],
        "day": pd.to_datetime([f"2020-01-0{i}" for i in range(1, 8)]).date,
    }
)
LEFT = [0, 3, 6]


def write(folder, suffix):
    path = folder / f"x{suffix}"
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    if suffix == ".csv":
        FRAME.to_csv(path, index=False)
    elif suffix == ".jsonl":
        FRAME.astype({"day": str}).to_json(path, orient="records", lines=True)
    elif suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    else:
        feather.write_feather(table, path, chunksize=2)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".feather"])
def test_what_belongs_to_a_text_goes_with_it(tmp_path, suffix):
    path = write(tmp_path, suffix)
    options = {"label": "kind", "id": "sku"}
    said = r"'text' of .*text in row 1 and 3 more; .* skip_blank=True .*--skip-blank"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path, column="text", **options)
    said = r"4 of 7 rows left out, as column 'text' has no text there: 1, 2, 4, 5$"
    with pytest.warns(UserWarning, match=said) as caught:
        found = inputs.read(path, column="text", skip_blank=True, **options)
    assert len(caught) == 1
    left = FRAME.iloc[LEFT]
    assert list(found.values) == left["text"].tolist() == ["one", "two", "three"]
    assert found.labels.tolist() == left["kind"].tolist()
    assert found.ids.to_pylist() == left["sku"].tolist()
    years = found.columns["year"].to_pylist()
    assert years == [2010, None, 2016]
    assert [*map(str, found.columns["day"].to_pylist())] == [*map(str, left["day"])]
    assert found.stored_columns()["text"].to_pylist() == ["one", "two", "three"]


def test_matrices_of_labels_go_with_texts():
    table = pa.table({"text": ["a", " ", "b"], "y": [[1, 0], [1, 1], [0, 1]]})
    with pytest.warns(UserWarning, match=r"1 of 3 rows .*: 1; ids count the others"):
        found = inputs.read(table, column="text", label="y", skip_blank=True)
    np.testing.assert_array_equal(found.labels, [[1, 0], [0, 1]])


def test_many_rows_are_told_by_the_first_of_them():
    table = pa.table({"text": ["a", *[""] * 1200]})
    said = "1,200 of 1,201 rows left out, .*: 1, 2, 3, 4, 5 and 1,195 more; ids"
    with pytest.warns(UserWarning, match=said):
        assert inputs.read(table, skip_blank=True).values == ["a"]


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pa.array])
def test_texts_without_a_table(make):
    texts = ["one", "", "two"]
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        assert inputs.read(make(texts), skip_blank=True).values == ["one", "two"]
    assert inputs.read(make(["one"]), skip_blank=True).values == ["one"]
    texts[0] = None
    with pytest.warns(UserWarning, match="2 of 3 rows"):
        assert inputs.read(make(texts), skip_blank=True).values == ["two"]


@pytest.mark.parametrize(
    ("items", "options", "said"),
    [
        ({"text": ["", None]}, {}, "holds no items"),
        ({"text": ["1 2", "", "3 4"]}, {"column": "text"}, "numbers written as text"),
        ({"text": ["1 2", "", "3 4"]}, {}, "neither texts nor plain numbers"),
        ({"text": ["a", ""], "id": ["x", "x"]}, {"column": "text"}, None),
        ({"v": [[1.0], [2.0]]}, {}, "holds vectors, of which none is blank"),
        ({"v": ["[1, 2]", "[3, 4]"]}, {}, "holds vectors, of which none is blank"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*rows left out")
def test_what_is_left_is_looked_at_again(items, options, said):
    if said is None:  # an id may repeat in a row that is left out
        found = inputs.read(pa.table(items), id="id", skip_blank=True, **options)
        assert found.ids.to_pylist() == ["x"]
        return
    with pytest.raises(ArgumentError, match=said):
        inputs.read(pa.table(items), skip_blank=True, **options)


@pytest.mark.parametrize(
    "labels", [["x", None, " ", "y", "z"], [1.0, None, None, 2.0, 3.0]]
)
def test_rows_without_a_label(labels):
    table = pa.table({"text": ["a", "b", "", "", "e"], "y": labels})
    said = r"missing in 2 of 5 rows.*leave such rows out by skip_blank=True"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(table.set_column(0, "text", [list("abcde")]), label="y")
    with pytest.warns(UserWarning, match="rows left out") as caught:
        found = inputs.read(table, column="text", label="y", skip_blank=True)
    said = [str(each.message) for each in caught]
    assert "2 of 5 rows left out, as column 'text' has no text there: 2, 3" in said[0]
    assert "1 of 5 rows left out, as column 'y' has no label there: 1" in said[1]
    assert [*found.values] == ["a", "e"]
    names = [str(int(x)) if isinstance(x, float) else x for x in labels if x]
    assert found.labels.tolist() == [names[0], names[-1]]


def test_vectors_without_a_label():
    table = pa.table({"v": [[1.0], [2.0], [3.0]], "y": ["x", None, "z"]})
    with pytest.warns(UserWarning, match="1 of 3 rows left out, as column 'y'"):
        found = inputs.read(table, label="y", skip_blank=True)
    assert found.values.tolist() == [[1.0], [3.0]]
    assert found.labels.tolist() == ["x", "z"]


def test_the_column_of_the_kind_that_is_of_use():
    table = pa.table({"v": [[1.0], [2.0]], "name": ["x", "y"], "n": [3, 4]})
    with pytest.raises(ArgumentError, match="2 columns of texts or vectors"):
        inputs.read(table)
    assert inputs.read(table, kind="vectors").values.tolist() == [[1], [2]]
    assert [*inputs.read(table, kind="texts").values] == ["x", "y"]
    two = table.append_column("w", table["v"])
    with pytest.raises(ArgumentError, match="2 columns of texts or vectors"):
        inputs.read(two, kind="vectors")
