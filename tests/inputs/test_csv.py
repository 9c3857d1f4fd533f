"""CSV files as spreadsheets and pandas write them, and what they get wrong."""

import os
import re
from threading import Thread

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

NUMBERS = "a,b,kind\n1,2.5,x\n3,-4,y\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.csv"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text\ncafé\n".encode("latin-1"), "is not UTF-8 behind 'caf'"),
        ("café\none\n".encode("latin-1"), "is not UTF-8 behind 'caf'"),
        ("text,n\none,1\n".encode("utf-16-le"), "is not text"),
        (b"text\nbi\0nary\n", "is not text, so it is not a csv file"),
        (
            b"a,b\n1,2\n\x1b[31m,2,3\n",
            r"not a csv file: .* 3 values, it begins with '\?\[31m",
        ),
    ],
)
@pytest.mark.parametrize("column", [None, "text"])
def test_what_is_no_utf_8_text(path, content, message, column):
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match=message) as caught:
        inputs.read(path, column=column)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).isprintable()


def test_a_pipe(path):
    pipe = path.with_name("pipe.csv")
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=[NUMBERS])
    writer.start()
    found = inputs.read(pipe, label="kind")
    writer.join()
    np.testing.assert_array_equal(found.values, [[1, 2.5], [3, -4]])


def test_names_of_other_bytes_than_text(path):
    odd = path.with_name(os.fsdecode(b"odd\xff.csv"))
    odd.write_text(NUMBERS)
    assert len(inputs.read(odd, label="kind")) == 2


def test_a_parquet_file_of_another_name(path):
    parquet.write_table(pa.table({"text": ["one"]}), path)
    with pytest.raises(ArtefactError, match=r"x.csv is a Parquet file; name it .par"):
        inputs.read(path)


def test_a_name_of_two_columns(path):
    path.write_text("text,text,kind\none,two,a\n")
    for options in ({"column": "text"}, {"column": "kind", "label": "text"}):
        with pytest.raises(ArgumentError, match="several columns called 'text'"):
            inputs.read(path, **options)
    assert inputs.read(path, column="kind", columns=()).values == ["a"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("header", ["{}text{}n", '{}"te;x,t"{}n'])
def test_delimiters(path, delimiter, header):
    name = "text" if "te;x,t" not in header else "te;x,t"
    header = header.format("kind" + delimiter, delimiter)
    path.write_text(f'{header}\na{delimiter}"one; two, three"{delimiter}1\n')
    found = inputs.read(path, column=name, label="kind")
    assert found.values == ["one; two, three"]
    assert found.labels.tolist() == ["a"]


DECIMAL_COMMAS = "height, cm;weight, kg\n1,5;2,5\n3,5;4,5\n"


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (DECIMAL_COMMAS, {"columns": [" kg"]}, " cm;weight .*'5;2'"),
        ('"a, b";"c, d"\n"1, 2";"3, 4"\n', {}, "a, b .*'1, 2'"),
        ('text;more\n"one, ""two""";x\n', {}, r"text \(texts\), more"),
        ("a,b;c\nx,2\n", {"id": "b;c", "column": "b;c"}, "'b;c' .* int64, not"),
    ],
)
def test_two_delimiters_of_which_one_is_meant(path, content, options, said):
    path.write_text(content)
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path, **options)


def test_decimal_commas_where_the_delimiter_is_known(path):
    path.write_text(DECIMAL_COMMAS)
    with pytest.warns(UserWarning, match="commas are decimal"):
        items = inputs.read(path, column=["height, cm", "weight, kg"])
    assert items.values.tolist() == [[1.5, 2.5], [3.5, 4.5]]


@pytest.mark.parametrize(
    "content", [DECIMAL_COMMAS, "a|b,c\n1|2,3\n", "a\tb,c\n1\t2,3\n", "a;b,c\n"]
)
@pytest.mark.parametrize("options", [{}, {"column": "no"}])
def test_two_delimiters_that_fit_are_refused(path, content, options):
    path.write_text(content)
    said = r"x.csv may be cut into columns by '.*' \(\d\) or '.*' \(\d\): name a column"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path, **options)


def test_other_delimiters_in_the_only_column(path):
    path.write_text("text\none; two; three\n")
    assert inputs.read(path).values == ["one; two; three"]


def test_columns_of_numbers_are_vectors(path):
    path.write_text(NUMBERS)
    found = inputs.read(path, label="kind")
    assert found.kind == "vectors"
    np.testing.assert_array_equal(found.values, [[1, 2.5], [3, -4]])
    assert found.labels.tolist() == ["x", "y"]


def test_texts_beside_several_columns_of_numbers_need_a_name(path):
    path.write_text(NUMBERS)
    said = r"a \(numbers\), b \(numbers\), kind \(texts\); name .*--column"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path)
    assert inputs.read(path, column="kind").values == ["x", "y"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1", "?", "-2e3", "nan"], r"but for '\?' in row 1"),
        (["1,5", "1", "2", "3", "n/k"], "but for '1,5' in row 0"),
    ],
)
@pytest.mark.parametrize("beside", ["a,", ""])
def test_a_stray_text_among_numbers_is_told(path, values, said, beside):
    rows = [("1," if beside else "") + f'"{value}"' for value in values]
    path.write_text("\n".join([beside + "b", *rows]))
    with pytest.raises(ArgumentError, match=f"numbers {said}"):
        inputs.read(path)
    assert inputs.read(path, column="b").values == values


def test_texts_beside_blanks_are_no_stray_numbers(path):
    path.write_text('a,note\n1,""\n2,\n3," "\n4,see below\n')
    with pytest.raises(ArgumentError, match=r"no text in row 0 and 2 more; .*skip_bla"):
        inputs.read(path)
    path.write_text("b,b\none,two\n")
    with pytest.raises(ArgumentError, match=r"2 columns of texts .* b \(texts\), b"):
        inputs.read(path)


def test_a_column_of_numbers_does_not_hide_what_else_fits(path):
    path.write_text("text,age\none,1\ntwo,?\nthree,3\nfour,4\n")
    with pytest.raises(ArgumentError, match=r"2 columns of texts .* age"):
        inputs.read(path)


def test_numbers_are_taken_by_name(path):
    path.write_text("extra,b,kind,a\n1,2,x,3\n4,5,y,6\n")
    found = inputs.read(path, label="kind", names=("a", "b"))
    np.testing.assert_array_equal(found.values, [[3, 2], [6, 5]])
    assert found.names == ("a", "b")
    with pytest.raises(ArgumentError, match="no column 'c' and 1 more, of 3 columns"):
        inputs.read(path, names=("a", "c", "d"))
    with pytest.raises(ArgumentError, match=r"'kind' of .* holds string, not num"):
        inputs.read(path, names=("a", "kind"))
    assert inputs.read(path, column="kind", names=("a",)).values == ["x", "y"]
    path.write_text("c,d\n1,2\n3,4\n")
    said = "none of the 2 columns that are known by name; its own are taken in their"
    with pytest.warns(UserWarning, match=said):
        found = inputs.read(path, names=("a", "b"))
    np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


@pytest.mark.parametrize("first", [0, 1])
def test_a_count_of_rows_under_another_name_is_told(path, first):
    rows = "".join(f"{first + i},{i % 3},{i % 4}\n" for i in range(12))
    path.write_text(f"sample,a,b\n{rows}")
    with pytest.warns(UserWarning, match="column 'sample' counts the rows"):
        assert inputs.read(path).values.shape == (12, 3)


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (["01234", "1234"], ["01234", "1234"]),
        ([str(2**63), str(2**63 + 1)], [str(2**63), str(2**63 + 1)]),
        (["1.0", "1.00"], ["1.0", "1.00"]),
        ([" 1", "2 "], ["1", "2"]),
        (["true", "12:00"], ["true", "12:00"]),
        (["NA", "no"], ["NA", "no"]),  # Namibia and Norway
    ],
)
def test_labels_are_as_they_are_written(path, written, labels):
    path.write_text("a,b,kind\n" + "".join(f"1,2,{each}\n" for each in written))
    assert inputs.read(path, label="kind").labels.tolist() == labels


def test_what_is_no_number_among_numbers_is_no_label(path):
    path.write_text("a,b,kind\n1,2,7\n1,2,NA\n1,2,8\n")
    with pytest.raises(ArgumentError, match="1 of 3 rows"):
        inputs.read(path, label="kind")


def test_numbers_in_the_place_of_names(path):
    np.savetxt(path, np.arange(12.0).reshape(4, 3), delimiter=",")
    with pytest.raises(ArgumentError, match="add a first line of names"):
        inputs.read(path)


def test_an_index_of_pandas_is_no_feature(tmp_path):
    path = tmp_path / "x.parquet"
    columns = {"a": [1, 2], "b": [1.0, 2.0], "__index_level_0__": [5, 9]}
    parquet.write_table(pa.table(columns), path)
    with pytest.warns(UserWarning, match="numbers of rows"):
        found = inputs.read(path)
    np.testing.assert_array_equal(found.values, [[1, 1], [2, 2]])


def test_a_column_that_may_hold_labels(path):
    path.write_text("a,b,Label\n1,2,0\n3,4,1\n")
    with pytest.warns(UserWarning, match="if it holds labels, name it"):
        assert inputs.read(path).values.shape == (2, 3)
    assert inputs.read(path, label="Label").values.shape == (2, 2)


def test_many_columns_with_long_names(path):
    names = [f"{'ä' * 40}{i}" for i in range(2000)]
    path.write_text("x" + ",".join(names) + "\n" + ",".join("1" * 2000) + "\n", "utf-8")
    assert inputs.read(path).values.shape == (1, 2000)


def test_commas_in_the_names_of_columns(path):
    path.write_text("height, cm;weight, kg;len, cm, x\n1;2;3\n")
    np.testing.assert_array_equal(inputs.read(path).values, [[1, 2, 3]])


def test_a_header_and_nothing_else(path):
    path.write_text("a,b\n")
    with pytest.raises(ArgumentError, match="holds no items"):
        inputs.read(path)


@pytest.mark.parametrize("name", ["", "id", "Index"])
def test_numbers_of_rows_are_no_features(path, name):
    path.write_text(f"{name},a,b\n0,1,2\n1,3,4\n")
    said = f"column {name!r} is taken for the numbers of rows"
    with pytest.warns(UserWarning, match=re.escape(said)) as caught:
        found = inputs.read(path)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


def test_gaps_among_numbers(path):
    path.write_text("a,b\n1,\n2,3\n")
    with pytest.raises(ArgumentError, match=r"column 'b' of .* has no value in row 0$"):
        inputs.read(path)


@pytest.mark.parametrize("kinds", [["a", "", " "], ["1", "", ""]])
def test_rows_without_a_label(path, tmp_path, kinds):
    path.write_text("text,kind\n" + "".join(f"one,{kind}\n" for kind in kinds))
    said = "'kind' of .* must be classes, but are missing in 2 of 3 rows"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path, label="kind")
    archive = tmp_path / "x.npz"
    np.savez(archive, X=np.eye(3), kind=kinds)
    with pytest.raises(ArgumentError, match=said):
        inputs.read(archive, label="kind")


def test_nulls_among_labels(tmp_path):
    path = tmp_path / "x.parquet"
    for gaps in ([1.0, None, float("nan")], ["a", None, None]):
        parquet.write_table(pa.table({"text": ["a"] * 3, "kind": gaps}), path)
        with pytest.raises(ArgumentError, match="missing in 2 of 3 rows"):
            inputs.read(path, column="text", label="kind")
