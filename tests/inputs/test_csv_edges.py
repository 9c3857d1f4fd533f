"""Cells of CSV are those of Python's `csv`, wherever a block of the file may end."""

import csv
import io
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

QUIET = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PIECES = ["a", "é", "日本", '"', "\n", "\r\n", "\r", ",", ";", "\t", " ", "\u2028", "1"]
BLOCK = 1 << 16  # bytes that are read at a time
CELL = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


def cells(path, delimiter=","):
    """Return what Python's reader finds below the names."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.reader(file, delimiter=delimiter, strict=True)][1:]


@QUIET
@given(
    rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    quoted=st.booleans(),
    mark=st.booleans(),
    pad=st.none() | st.integers(0, 80),
)
@pytest.mark.filterwarnings("ignore:.*is kept as text")
def test_any_cells(tmp_path, rows, ends, quoted, mark, pad):
    text = io.StringIO(newline="")
    # What ends no line of this file is not quoted by `csv` itself.
    odd = "\r\n" if ends == "\r" else "\r"
    quoted |= any(letter in cell for row in rows for cell in row for letter in odd)
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator=ends, quoting=quoting)
    # Words in each column, so that none becomes one of numbers or of dates; and a long
    # one, so that a block ends in or beside any of the cells behind it.
    long = "w" if pad is None else "w" * (BLOCK - pad)
    rows = [("word", long), *rows, ("word", "word")]
    writer.writerows([("text", "first", "other"), *(("word", *row) for row in rows)])
    path = tmp_path / "x.csv"
    path.write_text(text.getvalue(), "utf-8-sig" if mark else "utf-8", newline="")
    assert cells(path) == [["word", *row] for row in rows]
    found = inputs.read(path, column="text").columns
    assert [*found] == ["text", "first", "other"]
    for i, name in enumerate(("first", "other")):
        assert found[name].to_pylist() == [row[i] or None for row in rows]


@pytest.mark.parametrize(
    ("inside", "ends"),
    [("\n", "\n"), ("\r\n", "\r\n"), ("\r", "\n"), ("\n\n", "\r\n")],
)
def test_quoted_line_breaks_at_every_byte(tmp_path, inside, ends):
    path = tmp_path / "x.csv"
    for shift in range(30):
        long = "w" * (BLOCK - shift)
        texts = [long, f"éone{inside}two", f"three{inside}", "four"] * 2
        lines = ["kind,text", *(f'a,"{text}"' for text in texts)]
        path.write_text(ends.join(lines), "utf-8", newline="")
        found = inputs.read(path, column="text", columns=())
        assert found.values == texts
        assert [row[1] for row in cells(path)] == texts


def test_reviews_of_two_paragraphs(tmp_path):
    path = tmp_path / "x.csv"
    paragraphs = ["so good, " * n + '\n\n"truly" ' + "fine " * n for n in range(9)]
    texts = random.Random(1).choices(paragraphs, k=20_000)
    pd.DataFrame({"text": texts, "n": range(len(texts))}).to_csv(path, index=False)
    assert path.stat().st_size > 1 << 20
    with pytest.warns(UserWarning, match="left out: 'n'"):
        assert inputs.read(path, columns=()).values == texts


def test_a_cell_of_200_000_letters(tmp_path):
    path, long = tmp_path / "x.csv", "a,\n" * 70_000
    path.write_text(f'text,n\none,1\n"{long}",2\n', newline="")
    before = csv.field_size_limit()
    assert inputs.read(path, column="text").values == ["one", long]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n3\n", "names 2 columns, but a row up to line .* has 1 values"),
        ("a,b\n1,2\n3,4,5\n", "names 2 columns, but a row .* has 3 values"),
        ("a,b\none,two\n\nthree,four,five\n", "has 3 values"),
        ('a,b\n"one,2\nthree,4\n', "is not a csv file: unexpected end of data"),
        ('a,b\n"one"x,2\n', "is not a csv file: ',' expected after '\"'"),
    ],
)
def test_ragged_rows_and_open_quotes(tmp_path, content, said):
    path = tmp_path / "x.csv"
    path.write_text(content)
    with pytest.raises(ArtefactError, match=said):
        inputs.read(path)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("place", [1, 2])
def test_blank_lines_are_told_where_they_shift_ids(tmp_path, ends, place, recwarn):
    path, lines = tmp_path / "x.csv", ["a,b", "1,2", "3,4", "", ""]
    lines.insert(place, "")
    path.write_text(ends.join(lines), newline="")
    with pytest.warns(UserWarning, match="1 blank line left out; ids count the others"):
        np.testing.assert_array_equal(inputs.read(path).values, [[1, 2], [3, 4]])
    path.write_text(ends.join(["", "a,b", "1,2", "3,4", "", ""]), newline="")
    recwarn.clear()
    np.testing.assert_array_equal(inputs.read(path).values, [[1, 2], [3, 4]])
    assert not recwarn


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("content", ["", "\n", "a,b", "a,b\r\n", "\n\na,b\n\n"])
def test_nothing_below_the_names(tmp_path, mark, content):
    path = tmp_path / "x.csv"
    path.write_text(mark + content, "utf-8", newline="")
    with pytest.raises(ArgumentError, match="holds no items"):
        inputs.read(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_each_delimiter_against_pandas(tmp_path, delimiter, quote):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": [4, 5, 6], "kind": ["x,y", "z|", ";"]})
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False, sep=delimiter, quoting=quote)
    found = inputs.read(path, label="kind")
    np.testing.assert_array_equal(found.values, frame[["a", "b"]])
    assert found.labels.tolist() == frame["kind"].tolist()


def test_blanks_between_numbers(tmp_path):
    X, path = np.arange(6.0).reshape(2, 3), tmp_path / "x.csv"
    np.savetxt(path, X)
    with pytest.raises(ArgumentError, match="add a first line of names"):
        inputs.read(path)
    np.savetxt(path, X, delimiter=" ", header="a b c", comments="")
    with pytest.raises(ArgumentError, match="neither texts nor plain numbers"):
        inputs.read(path)


def test_numbers_in_the_first_line_are_told(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1,good film\n2,bad film\n")
    with pytest.warns(UserWarning, match="in the first line|left out") as caught:
        inputs.read(path, columns=())
    assert "'1' in the first line is taken for the name" in str(caught[0].message)
    assert "left out: '1'" in str(caught[1].message)
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3))
    frame.to_csv(path)  # the index has no name
    with pytest.warns(UserWarning, match="numbers of rows") as caught:
        np.testing.assert_array_equal(inputs.read(path).values, frame)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "written",
    [
        ["1", "2"],
        ["-0.5", "+.25"],
        ["1e3", "1E-3"],
        ["1.", "0"],
        [" 7", "8 "],
        ["0.1234567890123456789", "1e-320"],
        [str(2**53 + 1), "-9223372036854775808"],
    ],
)
def test_numbers_are_what_python_reads(tmp_path, written):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{each},1\n" for each in written))
    expected = [int(x) if x.lstrip("-").isdigit() else float(x) for x in written]
    assert inputs.read(path).values[:, 0].tolist() == expected


@pytest.mark.parametrize(
    "written",
    [
        ["007", "12"],
        ["1_000", "2_000"],
        ['"1,000"', '"2,000"'],
        ["5%", "7%"],
        ["$5", "$7"],
        ["5 €", "7 €"],
        ["1D3", "2D3"],
        ["\u22122", "\u22123"],
        ["٣", "٤"],
        ["１", "２"],
        ["1\u00a0000", "2\u202f000"],
        ["0x10", "0x1F"],
        ["1+2j", "3j"],
        ["2020-02-30", "2021-12-31"],
        ["12/31/2020", "1.1.2021"],
        [str(2**63), "1"],
        ["12345678901234567.5", "12345678901234568"],
        ["0.1 0.2", "0.3 0.4"],
    ],
)
@pytest.mark.parametrize("beside", [1, 4])
def test_numbers_in_disguise_are_no_texts(tmp_path, written, beside):
    path = tmp_path / "x.csv"
    names = [f"n{i}" for i in range(beside)]
    rows = [",".join([each, *"1" * beside]) for each in written]
    path.write_text("\n".join([",".join(["odd", *names]), *rows]), "utf-8")
    with pytest.raises(ArgumentError, match=r"odd \(.*neither texts nor plain"):
        inputs.read(path)
    path.write_text(
        "text,odd\n" + "".join(f"word,{each}\n" for each in written), "utf8"
    )
    with pytest.warns(UserWarning, match="column 'text' taken, left out: 'odd'"):
        assert inputs.read(path, columns=()).values == ["word", "word"]


def test_words_with_digits_are_texts(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text,n\n10 green bottles,1\n7-up,2\n")
    with pytest.warns(UserWarning, match="left out: 'n'"):
        assert inputs.read(path, columns=()).values == ["10 green bottles", "7-up"]


def test_words_below_many_numbers_or_gaps(tmp_path):
    path = tmp_path / "x.csv"
    for first in ("one", "NA"):
        path.write_text("text,n\n" + f"{first},2\n" * 300 + "word,3\n")
        assert inputs.read(path, column="text").values == [first] * 300 + ["word"]
    path.write_text("text,a,b\n" + "t,NA,2\n" * 300 + "t,5,word\n")
    with pytest.warns(UserWarning, match="column 'b' is kept as text, .*'word' in row"):
        found = inputs.read(path, column="text").columns
    assert found["a"].to_pylist() == [None] * 300 + [5]
    assert found["a"].type == pa.int64()
    assert found["b"].to_pylist() == ["2"] * 300 + ["word"]


@pytest.mark.parametrize("line", ["sep=;", "sep=,", "SEP=\t"])
def test_the_line_that_only_excel_reads(tmp_path, line):
    path = tmp_path / "x.csv"
    path.write_text(f"{line}\ntext{line[-1]}n\none{line[-1]}1\n")
    with pytest.raises(ArgumentError, match="which only Excel reads"):
        inputs.read(path, column="text")


def test_a_column_named_twice(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    np.testing.assert_array_equal(inputs.read(path, column=["b", "a"]).values, [[2, 1]])
    with pytest.raises(ArgumentError, match="column 'a' is named 2 times"):
        inputs.read(path, column=["a", "b", "a"])
