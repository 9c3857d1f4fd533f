"""Vectors that are written as texts: read, or refused, and never taken for words."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from fewbits import inputs
from fewbits.errors import ArgumentError

X = np.random.default_rng(0).normal(size=(30, 4)).round(3)


@pytest.mark.parametrize("column", [None, "v"])
@pytest.mark.parametrize(
    "write",
    [
        lambda row: json.dumps(row.tolist()),
        lambda row: str(row),
        lambda row: "{" + ",".join(map(str, row)) + "}",
        lambda row: "[" + "; ".join(map(str, row)) + "]",
    ],
    ids=["json", "numpy", "postgresql", "semicolons"],
)
def test_written_vectors(tmp_path, write, column):
    table = pa.table({"v": [write(row) for row in X], "n": range(30)})
    csv.write_csv(table, tmp_path / "x.csv")
    found = inputs.read(tmp_path / "x.csv", column="v")
    np.testing.assert_array_equal(found.values, X)


@pytest.mark.parametrize("column", [None, "v"])
@pytest.mark.parametrize(
    "broken",
    [
        "[7 2",
        "[0.1 0.2 ... 0.9]",
        "[]",
        "[null, 0.2]",
        "[[0.1, 0.2]]",
        "[0,1;0,2]",
        "array([0.1, 0.2])",
        "nothing",
    ],
)
@pytest.mark.parametrize("row", [0, 17])
def test_one_that_cannot_be_read_makes_no_texts_of_the_others(
    tmp_path, column, broken, row
):
    cells = [json.dumps(each.tolist()) for each in X]
    cells[row] = broken
    for name in ("x.csv", "x.txt"):
        if name == "x.csv":
            csv.write_csv(pa.table({"v": cells}), tmp_path / name)
        else:
            (tmp_path / name).write_text("\n".join(cells))
        with pytest.raises(
            ArgumentError, match="vectors written as text, but"
        ) as caught:
            inputs.read(tmp_path / name, column=column if name == "x.csv" else None)
        assert broken in str(caught.value)


def test_all_in_a_form_that_is_not_read(tmp_path):
    for cell in ("array([0.1, 0.2])", "[[0.1, 0.2]]", "tensor([1.0])"):
        csv.write_csv(pa.table({"v": [cell] * 5}), tmp_path / "x.csv")
        with pytest.raises(ArgumentError, match="vectors written as text, but"):
            inputs.read(tmp_path / "x.csv")


def test_texts_that_begin_with_brackets_are_texts(tmp_path):
    texts = ["[1] a reference", "(see above)", "plain", "[music]"]
    csv.write_csv(pa.table({"t": texts}), tmp_path / "x.csv")
    assert inputs.read(tmp_path / "x.csv").values == texts


def test_numbers_that_a_few_values_make_texts_are_told(tmp_path):
    rows = [*(f"{i},{i}.5" for i in range(20)), '20,"1,200.50"']
    (tmp_path / "x.csv").write_text("text,price\n" + "\n".join(f"a{r}" for r in rows))
    with pytest.warns(UserWarning, match="'price' is kept as text, .*'1,200.50' in r"):
        found = inputs.read(tmp_path / "x.csv", column="text")
    assert found.columns["price"][20].as_py() == "1,200.50"


def test_columns_of_one_name_are_not_kept(tmp_path):
    (tmp_path / "x.csv").write_text("text,price,price\na,3,6\n")
    with pytest.raises(ArgumentError, match="several columns called 'price'"):
        inputs.read(tmp_path / "x.csv", column="text")
    found = inputs.read(tmp_path / "x.csv", column="text", columns=())
    assert found.values == ["a"]
