"""Folders and patterns of files that follow one another."""

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

X = np.arange(20, dtype=np.float32).reshape(5, 4)


def write(folder, suffix, tables):
    folder.mkdir()
    # Written in another order than that of their names.
    for i, table in reversed([*enumerate(tables)]):
        path = folder / f"part-{i:03}{suffix}"
        if suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            feather.write_feather(table, path)
    return folder


def rows(start, stop):
    texts = [f"text {i}" for i in range(start, stop)]
    vectors = pa.FixedSizeListArray.from_arrays(X[start:stop].reshape(-1), 4)
    ids = pa.array(range(start, stop), pa.int64())
    return pa.table({"text": pa.array(texts, pa.string()), "v": vectors, "id": ids})


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_shards_follow_one_another_by_name(tmp_path, suffix):
    shards = [rows(0, 2), rows(2, 2), rows(2, 5)]  # one of them without rows
    folder = write(tmp_path / "shards", suffix, shards)
    for junk in ("_SUCCESS", ".part-000.crc", "_metadata"):
        (folder / junk).touch()
    for source in (folder, f"{folder}/*{suffix}", f"{tmp_path}/**/part*{suffix}"):
        found = inputs.read(source, column="v", id="id")
        np.testing.assert_array_equal(found.values, X)
        assert found.ids.to_pylist() == [0, 1, 2, 3, 4]
        assert found.columns["text"].to_pylist() == [f"text {i}" for i in range(5)]
        assert inputs.read(source, column="text").values[3] == "text 3"
    (folder / "old.csv").touch()
    (folder / "more").mkdir()
    with pytest.warns(UserWarning, match="tables taken, left out: 'more', 'old.csv'"):
        assert len(inputs.read(folder, column="text")) == 5


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        (rows(0, 1).drop(["id"]), "'id'"),
        (rows(0, 1).rename_columns(["text", "v", "ID"]), "'ID'"),
        (rows(0, 1).append_column("x", [["a"]]), "'x'"),
        (rows(0, 1).set_column(2, "id", pa.array([1.5])), "it holds double, not int64"),
    ],
)
def test_other_columns_are_refused_by_the_name_of_the_shard(
    tmp_path, suffix, other, said
):
    folder = write(tmp_path / "shards", suffix, [rows(0, 2), other])
    with pytest.raises(
        ArgumentError,
        match=rf"part-001\S* has (an)?other column.* than \S*part-000\S*: {said}",
    ):
        inputs.read(folder, column="text")


def test_the_same_values_in_another_encoding(tmp_path):
    first, second = rows(0, 2), rows(2, 5)
    second = second.set_column(0, "text", second["text"].dictionary_encode())
    folder = write(tmp_path / "shards", ".feather", [first, second])
    assert inputs.read(folder, column="text").values == [f"text {i}" for i in range(5)]


def test_vectors_of_another_length_in_a_later_shard(tmp_path):
    wide, narrow = [pa.table({"v": [[1.0] * n] * 3}) for n in (3, 2)]
    folder = write(tmp_path / "shards", ".parquet", [wide, narrow])
    with pytest.raises(
        ArgumentError, match="several lengths: 3 numbers in row 0, 2 in row 3"
    ):
        inputs.read(folder)


def test_gaps_are_counted_over_all_shards(tmp_path):
    tables = [pa.table({"v": [[1.0, 2.0]] * 3}), pa.table({"v": [[1.0, 2.0], None]})]
    folder = write(tmp_path / "shards", ".parquet", tables)
    with pytest.raises(ArgumentError, match=r"no value in row 4$"):
        inputs.read(folder)


def test_more_shards_than_files_may_be_open(tmp_path, monkeypatch):
    folder = write(tmp_path / "shards", ".parquet", [rows(i, i + 1) for i in range(5)])
    opened = []
    original = parquet.ParquetFile.__init__

    def watched(self, *args, **kwargs):
        assert all(file.closed for file in opened)
        original(self, *args, **kwargs)
        opened.append(self)

    monkeypatch.setattr(parquet.ParquetFile, "__init__", watched)
    np.testing.assert_array_equal(inputs.read(folder, column="v", columns=()).values, X)
    assert len(opened) == 10
    assert all(file.closed for file in opened)


def test_a_damaged_shard_is_named(tmp_path):
    for suffix in (".parquet", ".feather"):
        folder = write(tmp_path / suffix[1:], suffix, [rows(0, 2), rows(2, 5)])
        content = (folder / f"part-001{suffix}").read_bytes()
        (folder / f"part-001{suffix}").write_bytes(content[:-7])
        with pytest.raises(ArtefactError, match=rf"part-001\{suffix} is no"):
            inputs.read(folder, column="text")


def test_patterns_of_nothing_and_of_several_kinds(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches .*\*\.parquet"):
        inputs.read(f"{tmp_path}/*.parquet")
    parquet.write_table(rows(0, 2), tmp_path / "a.parquet")
    feather.write_feather(rows(0, 2), tmp_path / "b.feather")
    for source in (f"{tmp_path}/*", tmp_path):
        with pytest.raises(
            ArgumentError, match=r"holds \.feather, \.parquet files; sev"
        ):
            inputs.read(source, column="text")


def test_names_that_look_like_patterns(tmp_path):
    path = tmp_path / "x[1]*.parquet"
    parquet.write_table(rows(0, 2), path)
    assert len(inputs.read(str(path), column="text")) == 2


def test_single_images(tmp_path):
    for name in ("b.png", "a.png"):
        Image.new("RGB", (2, 2)).save(tmp_path / name)
    found = inputs.read(tmp_path / "a.png")
    assert (found.kind, found.values) == ("images", [tmp_path / "a.png"])
    assert found.labels is None
    found = inputs.read(f"{tmp_path}/*.png")
    assert found.values == [tmp_path / "a.png", tmp_path / "b.png"]
    with pytest.raises(ArgumentError, match="has no columns, got label='kind'"):
        inputs.read(tmp_path / "a.png", label="kind")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.csv", r"holds no images; .* files of other kinds one by one"),
        ("2020/a.parquet", r"subfolders are named by a pattern, .*\*\.parquet'"),
    ],
)
def test_folders_of_tables_that_are_no_shards(tmp_path, name, said):
    path = tmp_path / "tables" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"text\none\n")
    with pytest.raises(ArgumentError, match=said):
        inputs.read(tmp_path / "tables")
