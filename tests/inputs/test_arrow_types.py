"""Whatever type a table has, its values are those that its writer put there."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

TEXTS = ["one", "two", "three", "one"]
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS, pa.string()),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(["zero", *TEXTS, "five"]).slice(1, 4),
        pa.chunked_array([TEXTS[:1], [], TEXTS[1:]]),
        pa.compute.run_end_encode(pa.array(TEXTS)),
    ],
    ids=["string", "large", "view", "dictionary", "slice", "chunks", "runs"],
)
def test_texts_of_every_encoding(tmp_path, suffix, column):
    table = pa.table({"text": column, "kind": column, "id": column[:4]})
    sources = [table]
    if suffix == ".parquet" and pa.types.is_run_end_encoded(column.type):
        with pytest.raises(pa.ArrowNotImplementedError):  # Parquet has none
            write(table, tmp_path / "x.parquet")
    else:
        sources += [write(table.select(["text", "kind"]), tmp_path / f"x{suffix}")]
    for source in sources:
        found = inputs.read(source, column="text", label="kind", columns=["kind"])
        assert found.values == TEXTS
        assert found.labels.tolist() == TEXTS
        assert found.columns["kind"].to_pylist() == TEXTS


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("number", [pa.float16(), pa.float32(), pa.int8(), pa.uint16()])
@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view, "fixed"])
def test_lists_of_every_kind(tmp_path, suffix, number, kind):
    typed = pa.list_(number, 3) if kind == "fixed" else kind(number)
    rows = X.astype(number.to_pandas_dtype())
    column = pa.array([*rows[:1], *rows, *rows[:1]], typed).slice(1, 4)
    path = write(pa.table({"v": column}), tmp_path / f"x{suffix}")
    for source in (path, pa.table({"v": column}), column):
        found = inputs.read(source).values
        assert found.dtype == rows.dtype
        np.testing.assert_array_equal(found, rows)


def test_list_views_in_any_order():
    values = pa.array(np.arange(9.0))
    views = pa.ListViewArray.from_arrays([6, 0, 3, 0], [3, 3, 3, 3], values)
    expected = [[6, 7, 8], [0, 1, 2], [3, 4, 5], [0, 1, 2]]
    assert views.to_pylist() == expected
    np.testing.assert_array_equal(inputs.read(views).values, expected)
    table = pa.table({"text": TEXTS, "v": views.take(pa.array([1, None, 0, 3]))})
    kept = inputs.read(table, column="text", columns=["v"]).columns["v"]
    assert kept.to_pylist() == [[0, 1, 2], None, [6, 7, 8], [0, 1, 2]]


def test_tensors_of_fixed_shape(tmp_path):
    tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(X.reshape(4, 3, 1))
    path = write(pa.table({"v": tensor}), tmp_path / "x.arrow")
    np.testing.assert_array_equal(inputs.read(path).values, X)


def test_what_polars_pandas_and_duckdb_write(tmp_path):
    frame = pl.DataFrame({"text": TEXTS, "v": X.tolist()})
    frame.write_ipc(tmp_path / "p.arrow")
    frame.write_parquet(tmp_path / "p.parquet")
    for name in ("p.arrow", "p.parquet"):
        assert inputs.read(tmp_path / name, column="text").values == TEXTS
        np.testing.assert_array_equal(
            inputs.read(tmp_path / name, column="v").values, X
        )
    pandas = pd.DataFrame({"text": pd.Categorical(TEXTS), "n": [1, 2, 3, 4]})
    pandas.to_parquet(tmp_path / "c.parquet")
    for source in (tmp_path / "c.parquet", pandas, pandas.convert_dtypes()):
        with pytest.warns(UserWarning, match="'text' taken, left out: 'n'"):
            assert inputs.read(source, columns=()).values == TEXTS
    path = tmp_path / "d.parquet"
    duckdb.sql("SELECT range * 0.5 a, range + 1 b FROM range(4)").write_parquet(
        str(path)
    )
    assert "decimal" in str(parquet.read_schema(path).field("a").type)
    np.testing.assert_array_equal(
        inputs.read(path).values, [[0, 1], [0.5, 2], [1, 3], [1.5, 4]]
    )


def test_lists_of_decimals():
    column = pa.array([[Decimal("0.5"), Decimal("1.25")]] * 2)
    np.testing.assert_array_equal(inputs.read(column).values, [[0.5, 1.25]] * 2)


def test_columns_named_by_numbers(tmp_path):
    path = tmp_path / "x.parquet"
    for names in ([0, 1, 2], [2019, 2020, 2021], [0.0, 0.5, 1.0]):
        frame = pd.DataFrame(X, columns=names)
        frame.rename(columns=str).to_parquet(path)
        for source in (path, frame):
            found = inputs.read(source)
            np.testing.assert_array_equal(found.values, X)
            assert found.names == tuple(map(str, names))


def test_names_with_dots(tmp_path):
    """Parquet names fields of structs by dots."""
    table = pa.table(
        {"a.b": TEXTS, "a": pa.array([{"b": 1}] * 4), "t": X[:, 0], "t.u": TEXTS[::-1]}
    )
    path = write(table, tmp_path / "x.parquet")
    assert inputs.read(path, column="a.b").values == TEXTS
    assert inputs.read(path, column="t.u").values == TEXTS[::-1]
    kept = inputs.read(path, column="a.b", columns=["a", "t"]).columns
    assert kept["a"].to_pylist() == [{"b": 1}] * 4
    assert kept["t"].to_pylist() == X[:, 0].tolist()


@pytest.mark.parametrize("written", ["[{}, {}]", "{{{},{}}}", " ({} {}) ", "[{};\n{}]"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".jsonl", ".txt"])
def test_vectors_that_are_written_out(tmp_path, suffix, written):
    numbers = [("0.1", "-2"), ("1e-3", ".5")]
    if suffix == ".txt":
        written = written.replace("\n", " ")
    frame = pd.DataFrame({"v": [written.format(*pair) for pair in numbers]})
    path = tmp_path / f"x{suffix}"
    match suffix:
        case ".parquet":
            frame.to_parquet(path)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".txt":
            path.write_text("\n".join(frame["v"]))
        case _:
            frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    found = inputs.read(path)
    assert found.kind == "vectors"
    np.testing.assert_array_equal(
        found.values, [[*map(float, pair)] for pair in numbers]
    )
    if suffix != ".txt":
        np.testing.assert_array_equal(
            inputs.read(path, column="v").values, found.values
        )


def test_written_vectors_that_are_none(tmp_path):
    for written, said in (
        (["[1, 2]", "[1]"], "several lengths: 2 numbers in row 0, 1 in row 1"),
        (["[1, nan]", "[1, 2]"], "holds nan in row 0, column 1"),
        (["[1, 2]", None], "has no value in row 1"),
        (["1 2", "3 4"], "'1 2' and the like"),
        (["0.5, 1", "2, 3"], "'0.5, 1' and the like"),
    ):
        with pytest.raises((ArgumentError, ArtefactError), match=said):
            inputs.read(pa.table({"v": written}), column="v")
    texts = ["[1, 2]", "[see below]"]
    assert inputs.read(pa.table({"v": texts}), column="v").values == texts
    with pytest.raises(ArgumentError, match="vectors written as text such as"):
        inputs.read(["[1, 2]", "[3, 4]"])


def test_gaps_are_told_by_their_row_in_the_whole_table(tmp_path):
    rows, texts = [[1.0, 2.0]] * 9000, ["a"] * 9000
    rows[8500] = texts[8500] = None
    path = write(pa.table({"v": rows, "text": texts}), tmp_path / "x.parquet")
    for name, said in (("v", "no value in row 8500$"), ("text", "no text in row 8500")):
        with pytest.raises(ArgumentError, match=f"{name!r} of .* {said}"):
            inputs.read(path, column=name)
    column = pa.chunked_array([[[1.0, 2.0]] * 4, [[3.0, 4.0], [1.0, None]]])
    with pytest.raises(ArgumentError, match=r"'v' of .* lacks a number in row 5"):
        inputs.read(pa.table({"v": column}))
    column = pa.chunked_array([[[1.0, 2.0]] * 4, [[3.0, 4.0], [1.0]]])
    with pytest.raises(ArgumentError, match="2 numbers in row 0, 1 in row 5"):
        inputs.read(pa.table({"v": column}))


def test_vectors_in_more_chunks_than_one_list_column_holds():
    """A chunk has 32-bit offsets; a column may have more numbers than those reach."""
    chunk = pa.array([*X], pa.list_(pa.float32()))
    sizes = [4, 1, 0, 3]
    column = pa.chunked_array([chunk.slice(0, n) for n in sizes])
    expected = np.concatenate([X[:n] for n in sizes])
    np.testing.assert_array_equal(inputs.read(pa.table({"v": column})).values, expected)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    values=st.lists(
        st.sampled_from([None, 0, 1, -5, 2**40, True, 2.5, "x", "é\n", b"\xff", [1]]),
        min_size=1,
        max_size=6,
    ),
    suffix=st.sampled_from([".parquet", ".feather", ".arrow"]),
)
def test_kept_columns_are_what_was_written(tmp_path, values, suffix):
    kind = type(next((v for v in values if v is not None), None))
    values = [v if type(v) is kind else None for v in values]
    table = pa.table({"text": ["word"] * len(values), "kept": values})
    path = write(table, tmp_path / f"x{suffix}")
    found = inputs.read(path, column="text")
    assert found.columns["kept"].to_pylist() == values


def test_ids(tmp_path):
    path = tmp_path / "x.parquet"
    for ids, said in (
        (["a", "b", "a", "c"], "'id' of .* holds 'a' in 2 rows"),
        ([7, 8, 9, 8], "holds 8 in 2 rows"),
        ([1, 2, None, 4], "'id' of .* has no value in row 2"),
        (["a", " ", "b", ""], "'id' of .* has a blank id in row 1"),
        ([1.0, 2.0, 3.0, 4.0], "holds double; ids are whole numbers or texts"),
    ):
        write(pa.table({"text": TEXTS, "id": ids}), path)
        with pytest.raises(ArgumentError, match=said):
            inputs.read(path, column="text", id="id")
    for ids in ([2**62, 0, 5, 7], ["é", "b", "a", "0"]):
        write(pa.table({"text": TEXTS, "id": ids}), path)
        found = inputs.read(path, column="text", id="id")
        assert found.ids.to_pylist() == ids
    with pytest.raises(ArgumentError, match="no column 'no'; it has text, id"):
        inputs.read(path, id="no")


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([0, 400], pa.date32()),
        pa.array([2**60, 0], pa.timestamp("s")),  # after the end of Python's time
        pa.array([b"cat", b"dog"]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([["a"], ["b", "c"]]),
    ],
)
def test_labels_of_other_types(labels):
    table = pa.table({"text": TEXTS[:2], "kind": labels})
    with pytest.raises(
        ArgumentError,
        match=r"'kind' of .* must be strings, whole|some rows have several labels",
    ):
        inputs.read(table, column="text", label="kind")


def test_labels_of_truth_values():
    table = pa.table({"text": TEXTS[:2], "kind": [True, False]})
    found = inputs.read(table, column="text", label="kind")
    assert found.labels.tolist() == ["True", "False"]


def test_left_out_columns_are_named():
    table = pa.table(
        {"text": TEXTS, "n": [1, 2, 3, 4], "day": pa.array([0] * 4, "date32")}
    )
    with pytest.warns(
        UserWarning, match="'text' taken, left out: 'n' .number., 'day' .date32"
    ):
        inputs.read(table, columns=())
    with pytest.warns(UserWarning, match="'text' taken, left out: 'day' .date32"):
        inputs.read(table, columns=["n"])
    assert [*inputs.read(table).columns] == ["text", "n", "day"]
    assert not inputs.read(table, column="text", columns=()).columns


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_damaged_arrow_files_are_refused(tmp_path, kind):
    """Offsets that lead behind the end would be read by Arrow without a look."""
    path = tmp_path / "x.arrow"
    table = pa.table({"text": TEXTS})
    new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with new(path, table.schema) as writer:
        writer.write_table(table)
    content = path.read_bytes()
    offsets = np.array([0, 3, 6, 11, 14], "<i4").tobytes()
    assert content.count(offsets) == 1
    for wrong in ([0, 3, 6, 11, 10**9], [0, 9, 6, 11, 14]):
        path.write_bytes(content.replace(offsets, np.array(wrong, "<i4").tobytes()))
        with pytest.raises(ArtefactError, match=r"x.arrow is not a \.arrow file"):
            inputs.read(path)


def test_texts_of_parquet_that_are_no_utf_8(tmp_path):
    path = write(pa.table({"text": ["zzzz", "two"]}), tmp_path / "x.parquet")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"zzzz", b"z\xff\xfez"))
    with pytest.raises(ArtefactError, match=r"not a Parquet file: .*UTF-?8"):
        inputs.read(path, column="text")
