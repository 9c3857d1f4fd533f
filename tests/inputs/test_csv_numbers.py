"""Numbers of CSV are those of Python, whichever way the file is read."""

import csv
import gzip
import struct
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewbits import inputs
from fewbits.errors import FewbitsError

QUIET = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PLAIN = st.one_of(
    st.integers(-99, 99).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e3, 1e3, width=32).map("{:.9e}".format),
    st.from_regex(r"-?[1-9][0-9]{0,14}\.[0-9]{1,40}", fullmatch=True),
    st.from_regex(r"[1-9]\.[0-9]{0,30}[eE][+-]?0?[1-9][0-9]?", fullmatch=True),
    st.sampled_from(["4.9e-324", "2.4e-324", "2.2250738585072011e-308", "1e-400"]),
)
#: Cells that are not numbers, or not to every reader, with bars between them.
WRITTEN = (
    "|NA|nan|NaN|NAN|-nan|inf|-Infinity|1e400|+5|+.5| 7|7 |\t7|\x0b7| NA|007|-007|00.5"
    "| 0x1F|0X1F|0x|1_000|5.|.5|-|1e|1e5|1d5|true|one|٣|1,5|-0|999999999999999"
    "|9999999999999999|9999999999999999999|99999999999999999999|1e15|-0.0|0|1e05"
    "|2020-01-01"
)


NO_WARNING = nullcontext()
#: What lies further down than where the kinds of columns are recognised.
FAR = "w" * 300_000


def read(path):
    return inputs.read(path, column="text").columns


def bits(value):
    return struct.pack("<d", value) if isinstance(value, float) else value


def values(column):
    return [*map(bits, column.to_pylist())]


def check_same(path, columns, ends="\n", middle="w"):
    """Check that a file of these columns is read alike by Arrow and by Python.

    What is compressed is read by Python.
    """
    texts = ["w"] * len(columns[0])
    texts[2] = middle
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator=ends)
        writer.writerow(["text", *(f"c_0{i}" for i in range(len(columns)))])
        writer.writerows(zip(texts, *columns, strict=True))
    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    fast, strict = read(path), read(packed)
    assert [x.type for x in fast.values()] == [x.type for x in strict.values()]
    for i, cells in enumerate(columns):
        found = values(fast[f"c_0{i}"])
        assert found == values(strict[f"c_0{i}"])
        if pa.types.is_floating(fast[f"c_0{i}"].type):
            for number, cell in zip(found, cells, strict=True):
                assert number is None or number == bits(float(cell.replace(",", ".")))


@QUIET
@given(
    columns=st.lists(st.lists(PLAIN, min_size=6, max_size=6), min_size=1, max_size=3),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    middle=st.sampled_from(["w", FAR]),
)
def test_the_fast_way_gives_what_the_strict_way_does(tmp_path, columns, ends, middle):
    check_same(tmp_path / "x.csv", columns, ends, middle)


@pytest.mark.parametrize(
    ("middle", "place", "others"), [("w", 0, "-2.5"), (FAR, 5, "1")]
)
@pytest.mark.filterwarnings("ignore:.*(is kept as text|commas are decimal)")
def test_one_cell_that_is_no_number_to_everybody(tmp_path, middle, place, others):
    for odd in WRITTEN.split("|"):
        cells = [others] * 6
        cells[place] = odd
        check_same(tmp_path / "x.csv", [cells, ["0.5"] * 6], middle=middle)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vectors(tmp_path, dtype):
    X = np.random.default_rng(0).normal(size=(50, 8)).astype(dtype)
    X[:, 0] *= 1e-7  # written as 1e-07
    path = tmp_path / "x.csv"
    pd.DataFrame(X, columns=[f"f_0{i}" for i in range(8)]).to_csv(path, index=False)
    np.testing.assert_array_equal(inputs.read(path).values.astype(dtype), X)


@pytest.mark.parametrize("written", ["007", "-01", "+0x1f", " 00.5"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_leading_zeros_are_kept(tmp_path, written, ends):
    path = tmp_path / "x.csv"
    for place in (0, 1, 49):
        cells = [f"{i}e-05" for i in range(1, 51)]
        cells[place] = written
        rows = ["text,a_01,b", *(f"w,{cell},1" for cell in cells)]
        path.write_text(ends.join(rows), newline="")
        with pytest.warns(UserWarning, match="text") if "x" in written else NO_WARNING:
            assert read(path)["a_01"].to_pylist() == cells


@pytest.mark.parametrize("shift", range(3))
def test_leading_zeros_at_the_end_of_a_block(tmp_path, shift):
    path = tmp_path / "x.csv"
    head = "text,a\n"
    long = "w" * ((1 << 24) - 2 * len(head) + 6 - shift)
    path.write_text(f"{head}w,1\n{long},-01\n")
    assert read(path)["a"].to_pylist() == ["1", "-01"]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        (["2020-02-29", "", "0001-01-01", "9999-12-31"], pa.date32()),
        (["2020-02-29 12:30", "", "1999-12-31T23:59:59"], pa.timestamp("us")),
        (["2020-02-29T12:30:01.000001"], pa.timestamp("us")),
        (["2020-02-29T12:30:01Z", "2020-02-29 12:30+05:30"], pa.timestamp("us", "UTC")),
        (["2020-02-29T12:30:01.5-0100", ""], pa.timestamp("us", "UTC")),
        (["2020-02-30", "2020-01-01"], None),
        (["2021-02-29T00:00:00"], None),
        (["2020-01-01", "2020-01-01T12:00"], None),
        (["2020-01-01T12:00Z", "2020-01-01T12:00"], None),
        (["2020-01-01T24:00:00"], None),
        (["2020-01-01T12:00:00.1234567"], None),
        (["2020-01-01T12"], None),
        (["2020-1-1"], None),
        (["0000-01-01"], None),
        (["0001-01-01T00:00:00+01:00"], None),
        (["9999-12-31T23:30:00-01:00"], None),
        (["2020-01-01", "soon"], None),
        (["2020-01-01", " "], None),
        (["2020-01-01 "], None),
        (["20200101T120000"], None),
        (["2020-W01-1"], None),
        (["12020-01-01"], None),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_dates_and_times(tmp_path, written, kind, quoted):
    path = tmp_path / "x.csv"
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=quoting).writerows(
            [("day", "text"), *((each, "word") for each in written)]
        )
    found = read(path)["day"]
    expected = [cell or None for cell in written]
    assert found.type == (kind or pa.large_string())
    if kind is None:
        assert found.to_pylist() == expected
        return
    for value, cell in zip(found.to_pylist(), expected, strict=True):
        assert (value is None) is (cell is None)
        if cell is not None:
            assert pd.Timestamp(value) == pd.Timestamp(cell)


def test_days_below_many_other_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("day,text\n" + "2020-01-01,w\n" * 300 + "2020-02-30,w\n")
    assert read(path)["day"].to_pylist() == ["2020-01-01"] * 300 + ["2020-02-30"]


def test_days_as_labels_and_ids_stay_as_they_are_written(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "text,day,at\none,2020-01-01,2020-01-02\ntwo,2020-01-02,2020-01-03\n"
    )
    found = inputs.read(path, column="text", label="day", id="at")
    assert found.labels.tolist() == ["2020-01-01", "2020-01-02"]
    assert found.ids.to_pylist() == ["2020-01-02", "2020-01-03"]


@pytest.mark.parametrize("quoted", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
def test_empty_cells_are_missing_as_in_pandas_and_duckdb(tmp_path, quoted):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=quoted).writerows(
            [
                ("text", "kind", "n", "ok", "day", "none"),
                ("one", "", 1, "true", "", ""),
                ("two", " ", "", "", "2020-01-01", ""),
                ("three", "NA", 2.5, "false", "", ""),
                ("four", "a b", 3, "", "", ""),
            ]
        )
    found = inputs.read(path, column="text").columns
    plain = pd.read_csv(path, keep_default_na=False, na_values=[""])
    for name, column in found.items():
        assert column.is_null().to_pylist() == plain[name].isna().tolist(), name
    assert found["kind"].to_pylist() == [None, " ", "NA", "a b"]
    assert found["day"].type == pa.date32()
    kept = [name for name in found if name not in ("ok", "day")]  # of other types there
    theirs = duckdb.sql(f"select {', '.join(kept)} from '{path}'").arrow()
    theirs = theirs.read_all() if hasattr(theirs, "read_all") else theirs
    for name in kept:
        assert found[name].to_pylist() == theirs[name].to_pylist(), name


def test_dots_may_be_those_of_thousands_where_commas_are_decimal(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text;area;price;n\na b;1.234;1,5;1\nc d;56;2.000,25;2\n")
    with pytest.warns(UserWarning, match="area stays as written"):
        columns = inputs.read(path, column="text").columns
    assert columns["area"].to_pylist() == ["1.234", "56"]
    assert columns["price"].to_pylist() == [1.5, 2000.25]
    path.write_text("text;area\na b;1.234\nc d;56\n")
    assert inputs.read(path, column="text").columns["area"].to_pylist() == [1.234, 56]


@pytest.mark.filterwarnings("ignore:.*commas are decimal")
@pytest.mark.parametrize("sure", ["0,125", "1234,567", "1.234,567", "-0,125", "2,5"])
def test_commas_that_are_no_thousands_are_decimal_in_all_columns(tmp_path, sure):
    path = tmp_path / "t.csv"
    path.write_text(f"a;b\n{sure};1,250\n3,375;1,375\n")
    first = float(sure.replace(".", "").replace(",", "."))
    values = inputs.read(path, column=["a", "b"]).values
    assert values.tolist() == [[first, 1.25], [3.375, 1.375]]
    path.write_text("a;b\n3,125;1,250\n3,375;1,375\n")
    with pytest.raises(FewbitsError, match="not numbers"):
        inputs.read(path, column=["a", "b"])
