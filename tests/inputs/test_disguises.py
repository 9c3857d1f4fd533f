"""Vectors, files and folders in a disguise are read as what they are, or refused."""

import base64
import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fewbits._arrow import python_values
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.inputs import as_texts, read

WORDS = ["king", "queen", "at home", "1984"]
VECTORS = np.random.default_rng(0).normal(size=(4, 3)).round(4).astype("f4")


def word_vectors(header):
    rows = [f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, VECTORS, strict=True)]
    return "\n".join([*(["4 3"] if header else []), *rows, ""])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("name", ["w.txt", "w.vec", "w.txt.gz", "stdin"])
def test_word_vectors_are_words_and_vectors(tmp_path, monkeypatch, header, name):
    data = word_vectors(header).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    source = path
    if name == "stdin":
        source = "-"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    found = read(source, id="word")
    assert found.kind == "vectors"
    np.testing.assert_array_equal(found.values, VECTORS)
    assert found.ids.to_pylist() == WORDS


def test_words_that_are_left_out_are_told(tmp_path):
    path = tmp_path / "w.txt"
    path.write_text(word_vectors(True))
    with pytest.warns(UserWarning, match="left out: 'word'"):
        assert read(path, columns=()).kind == "vectors"


def test_a_line_without_its_numbers_is_named(tmp_path):
    path = tmp_path / "w.txt"
    path.write_text("king 0.1 0.2\n" * 4000 + "queen 0.3\n")
    with pytest.raises(ArgumentError, match="not in line 4001: 'queen"):
        read(path)


@pytest.mark.parametrize(
    "text", ["Boeing 737 800\nAirbus 320 200\n", "it costs 0.5\nand 2 more cost 0.9\n"]
)
def test_sentences_with_numbers_stay_texts(tmp_path, text):
    path = tmp_path / "t.txt"
    path.write_text(text)
    assert list(read(path).values) == text.splitlines()


def floats(dtype):
    rows = np.random.default_rng(1).normal(size=(5, 12)).astype(dtype)
    return [base64.b64encode(row.tobytes()).decode() for row in rows]


DISGUISED = {
    "truth values": ["[True, False]", "[False, False]"],
    "float32 as base64": floats("f4"),
    "float64 as base64": floats("f8"),
    "words with vectors": ["king 0.1 0.2 0.3", "queen 0.3 0.2 0.1"],
}


@pytest.mark.parametrize("name", DISGUISED)
@pytest.mark.parametrize("door", ["list", "table", "column", "csv", "csv column"])
def test_vectors_written_otherwise_are_refused(tmp_path, name, door):
    cells, options = DISGUISED[name], {"column": "v"} if "column" in door else {}
    source = cells if door == "list" else pd.DataFrame({"v": cells})
    if door.startswith("csv"):
        source.to_csv(tmp_path / "x.csv", index=False, quoting=csv.QUOTE_ALL)
        source = tmp_path / "x.csv"
    with pytest.raises(
        FewbitsError, match="expected texts" if door == "list" else r"'v'|v \("
    ):
        read(source, **options)


def test_long_words_are_no_base64():
    words = ["Donaudampfschifffahrtsgesellschaft", "c" * 64, "deadbeef" * 5]
    assert list(read(words).values) == words


def test_lines_of_which_most_are_numbers_are_refused(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("0.1 0.2\n0.3 0.4\nn/a\n0.5 0.6\n")
    with pytest.raises(ArgumentError, match="numbers but for 'n/a'"):
        read(path)


@pytest.mark.parametrize(
    "names", [["f/cat/a.png", "f/dog/b.png"], ["a.parquet", "b.parquet", "c d"]]
)
def test_names_of_files_are_no_texts(names):
    with pytest.raises(ArgumentError, match="names of files such as"):
        read(names)


def test_paths_of_tables_are_read_as_tables(tmp_path):
    table = pa.table({"v": [[1.0, 2.0], [3.0, 4.0]]})
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(table, tmp_path / name)
    found = read([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert found.values.tolist() == [[1, 2], [3, 4]] * 2
    with pytest.raises(FileNotFoundError, match=r"there is no .*part-1\.parquet"):
        read([tmp_path / "part-1.parquet"])
    with pytest.raises(ArgumentError, match="empty"):
        read("")


PARTED = pa.table(
    {
        "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
        "year": [2020, 2020, 2021, 2021],
        "city": ["a b/c", "ü", "a b/c", None],
    }
)


@pytest.mark.parametrize("way", ["folder", "pattern"])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_partitions_are_columns(tmp_path, way, kind):
    schema = pa.schema([("city", pa.string()), ("year", pa.int64())])
    parts = ds.partitioning(schema, flavor="hive")
    ds.write_dataset(PARTED, tmp_path, format=kind, partitioning=parts)
    expected = ds.dataset(tmp_path, format=kind, partitioning=parts).to_table()
    source = str(tmp_path / "**" / f"*.{kind}") if way == "pattern" else tmp_path
    found = read(source, column="v")
    columns = (found.columns["city"].to_pylist(), found.columns["year"].to_pylist())
    rows = zip(found.values.tolist(), *columns, strict=True)
    assert sorted(rows, key=str) == sorted(
        zip(*(expected[x].to_pylist() for x in ("v", "city", "year")), strict=True),
        key=str,
    )
    with pytest.warns(UserWarning, match="left out: 'city' .*, 'year'"):
        read(source, columns=())


def test_files_of_other_partitions_are_refused(tmp_path):
    for name in ("year=2020", "month=2"):
        (tmp_path / name).mkdir()
        pq.write_table(PARTED.select(["v"]), tmp_path / name / "x.parquet")
    with pytest.raises(ArgumentError, match="other columns"):
        read(tmp_path)


FIRST = pa.table(
    {
        "id": pa.array([1, 2], pa.int32()),
        "v": pa.array([[1.0, 2.0]] * 2, pa.list_(pa.float32())),
        "n": pa.nulls(2),
    }
)
SECOND = pa.table(
    {
        "n": ["q", None],
        "v": pa.array([[1.0, 2.1]] * 2, pa.list_(pa.float64())),
        "id": pa.array([2**40, 7], pa.int64()),
    }
)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)])
def test_shards_match_by_name_and_widen(tmp_path, ending, order):
    write = pq.write_table if ending == ".parquet" else feather.write_feather
    for place, table in enumerate(order):
        write(table, tmp_path / f"{place}{ending}")
    found = read(tmp_path, column="v", id="id")
    expected = pa.concat_tables(order, promote_options="permissive")
    assert found.ids.to_pylist() == expected["id"].to_pylist()
    assert found.values.tolist() == expected["v"].to_pylist()
    assert found.columns["n"].to_pylist() == expected["n"].to_pylist()


def test_shards_that_would_lose_values_are_refused(tmp_path):
    pq.write_table(pa.table({"v": [[1.0]], "x": [1]}), tmp_path / "a.parquet")
    for other in ({"x": [1.5]}, {"x": ["1"]}, {"y": [1]}, {}):
        table = pa.table({"v": [[1.0]], **other})
        pq.write_table(table, tmp_path / "b.parquet")
        with pytest.raises(ArgumentError, match=r"b\.parquet has (an)?other column"):
            read(tmp_path, column="v")


@pytest.mark.parametrize("number", ["1e400", "-1E+999", "9" * 400 + ".5"])
def test_json_numbers_beyond_floats_are_refused(tmp_path, number):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"text": "a"}) + f'\n{{"text": "b", "x": {number}}}\n')
    with pytest.raises(ArtefactError, match=r"line 2.*too large"):
        read(path, column="text")


def test_a_sparse_archive_stays_sparse(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(40, 6, 0.5, random_state=0)
    for form in ("csr", "csc", "coo", "bsr"):
        sparse.save_npz(tmp_path / "x.npz", X.asformat(form))
        np.save(tmp_path / "ids.npy", np.arange(40) + 7)
        items = read(tmp_path / "x.npz", id=str(tmp_path / "ids.npy"))
        assert (items.kind, items.values.shape) == ("vectors", (40, 6))
        np.testing.assert_array_equal(items.values[:5], X.toarray()[:5])
        assert items.ids[0].as_py() == 7
    sparse.save_npz(tmp_path / "x.npz", X.tocsr())
    content = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(content[:200] + b"?" + content[201:])
    with pytest.raises(ArtefactError, match=r"x\.npz"):
        read(tmp_path / "x.npz")


def test_blanks_in_names_show(tmp_path):
    with pytest.raises(ArgumentError, match=r"no column 'price'.* it has .*'price '"):
        read(pa.table({"v": [[1.0]], "price ": [1]}), column="price")


def test_paths_without_a_file_stay_images():
    paths = [Path("a.png"), Path("b")]
    assert read(paths).kind == "images"


@pytest.mark.parametrize("head", ["3 2", "1 2"])
def test_word_vectors_are_as_many_as_announced(tmp_path, head):
    (tmp_path / "v.txt").write_text(f"{head}\nking 0.1 0.2\nqueen 0.3 0.4\n")
    with pytest.raises(ArgumentError, match=r"announces \d words, but holds 2"):
        read(tmp_path / "v.txt")


def test_two_long_numbers_are_no_header(tmp_path):
    (tmp_path / "v.txt").write_text(f"1 {'9' * 5000}\na text\nof words\n")
    assert len(read(tmp_path / "v.txt").values) == 3


def test_texts_are_judged_without_a_look_at_the_disk(tmp_path):
    there = str(tmp_path)
    texts = [f"{there}/a", f"{there}/b"]
    for name in texts:
        Path(name).touch()
    assert [*as_texts(texts)] == texts


def test_an_input_is_copied_where_a_copy_is_asked_for():
    found = read(np.ones((3, 2)))
    assert not np.shares_memory(np.array(found), found.values)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"a": [1.0, 2.0]}, "text"], "some rows have names"),
        ({1: [1.0], "1": [2.0]}, "two columns are named '1'"),
    ],
)
def test_rows_and_columns_of_python_are_clear(items, message):
    with pytest.raises(ArgumentError, match=message):
        read(items)


def test_a_time_is_shown_whatever_stands_beside_it():
    times = pa.chunked_array([pa.array([1000, 1, None], pa.timestamp("ns"))])
    alone = pa.chunked_array([pa.array([1000], pa.timestamp("ns"))])
    shown = python_values(times)
    assert shown[:1] == python_values(alone)
    assert shown[1:] == ["1970-01-01T00:00:00.000000001", None]
