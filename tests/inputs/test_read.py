"""Every kind of file gives its items; every mistake gives one clear line."""

import errno
import io

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXTS = ["one", "two", "three", "four"]


@pytest.fixture
def table():
    flat = pa.array(VECTORS.reshape(-1))
    return pa.table(
        {
            "vector": pa.FixedSizeListArray.from_arrays(flat, 3),
            "kind": pa.array(["a", "b", "a", "b"]),
            "number": pa.array([1, 2, 3, 4]),
        }
    )


def test_npy_is_a_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", VECTORS)
    found = inputs.read(tmp_path / "x.npy")
    assert found.kind == "vectors"
    assert isinstance(found.values, np.memmap)
    np.testing.assert_array_equal(found.values, VECTORS)


def test_npz_with_labels(tmp_path):
    np.savez(tmp_path / "x.npz", X=VECTORS, y=[1, 2, 1, 2])
    found = inputs.read(tmp_path / "x.npz", label_column="y")
    np.testing.assert_array_equal(found.values, VECTORS)
    assert found.labels.tolist() == ["1", "2", "1", "2"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_tables(tmp_path, table, suffix):
    path = tmp_path / f"x{suffix}"
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(
        table, path
    )
    found = inputs.read(path, column="vector", label_column="kind")
    np.testing.assert_array_equal(found.values, VECTORS)
    assert found.labels.tolist() == ["a", "b", "a", "b"]


def test_lists_of_any_type(tmp_path):
    parquet.write_table(pa.table({"v": VECTORS.tolist()}), tmp_path / "x.parquet")
    np.testing.assert_array_equal(inputs.read(tmp_path / "x.parquet").values, VECTORS)


def test_csv_of_texts(tmp_path):
    csv.write_csv(pa.table({"text": TEXTS, "n": [1, 2, 3, 4]}), tmp_path / "x.csv")
    found = inputs.read(tmp_path / "x.csv", label_column="n")
    assert (found.kind, found.values) == ("texts", TEXTS)
    assert found.labels.tolist() == ["1", "2", "3", "4"]


def test_text_lines(tmp_path):
    (tmp_path / "x.txt").write_text("one\n\n two \n", "utf-8")
    assert inputs.read(tmp_path / "x.txt").values == ["one", "two"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\n"))
    assert inputs.read("-").values == ["one", "two"]


def test_folder_of_images(tmp_path):
    for name in ("cat/1.jpg", "cat/2.JPG", "dog/1.png", "dog/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = inputs.read(tmp_path)
    assert found.kind == "images"
    assert [path.name for path in found.values] == ["1.jpg", "2.JPG", "1.png"]
    assert found.labels.tolist() == ["cat", "cat", "dog"]


@pytest.mark.parametrize(
    "name", ["x.npy", "x.npz", "x.parquet", "x.arrow", "x.csv", "x.txt"]
)
def test_garbage_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x93NUMPY\xff\x00\xfe garbage \x80\x81" * 3)
    with pytest.raises((ArtefactError, ArgumentError), match=name) as caught:
        inputs.read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_pickled_objects_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ArtefactError, match=r"no .npy file of numbers"):
        inputs.read(tmp_path / "x.npy")


def test_mistakes(tmp_path, table):
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match="2 columns of texts or vectors"):
        inputs.read(tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match="no column 'nope'; it has vector, kind"):
        inputs.read(tmp_path / "x.parquet", column="nope")
    with pytest.raises(ArgumentError, match="holds int64, not vectors or texts"):
        inputs.read(tmp_path / "x.parquet", column="number")
    with pytest.raises(FileNotFoundError, match="there is no"):
        inputs.read(tmp_path / "absent.npy")
    (tmp_path / "x.xyz").touch()
    with pytest.raises(ArgumentError, match="cannot tell what"):
        inputs.read(tmp_path / "x.xyz")
    np.save(tmp_path / "empty.npy", np.empty((0, 3)))
    with pytest.raises(ArgumentError, match="holds no items"):
        inputs.read(tmp_path / "empty.npy")


def test_ragged_and_null_vectors(tmp_path):
    parquet.write_table(pa.table({"v": [[1.0], [1.0, 2.0]]}), tmp_path / "r.parquet")
    with pytest.raises(ArgumentError, match="2 different lengths"):
        inputs.read(tmp_path / "r.parquet")
    parquet.write_table(pa.table({"v": [[1.0], None]}), tmp_path / "n.parquet")
    with pytest.raises(ArgumentError, match="1 nulls"):
        inputs.read(tmp_path / "n.parquet")


def test_damaged_archives(tmp_path):
    """Flip every bit of an archive, and cut it at every place."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=VECTORS)
    original = path.read_bytes()
    damaged = [original[:length] for length in range(len(original))]
    for i in range(8 * len(original)):
        flipped = bytearray(original)
        flipped[i // 8] ^= 1 << (i % 8)
        damaged.append(bytes(flipped))
    for content in damaged:
        path.write_bytes(content)
        try:
            inputs.read(path)
        except (ArtefactError, ArgumentError) as error:
            assert str(error).startswith(str(path))  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017


def test_archives_of_other_arrays(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=VECTORS, b=VECTORS)
    with pytest.raises(ArgumentError, match=r"^\S*x.npz holds 2 arrays \(a, b\)"):
        inputs.read(path)
    with pytest.raises(ArgumentError, match=r"x.npz has no array 'c'; it has a, b"):
        inputs.read(path, column="c")
    with path.open("wb") as file:
        np.save(file, VECTORS)
    with pytest.raises(ArtefactError, match=r"single array, no archive; name it .npy"):
        inputs.read(path)


def test_archives_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    np.savez(path, a=VECTORS)

    def refused(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(np, "load", refused)
    with pytest.raises(PermissionError):
        inputs.read(path)
