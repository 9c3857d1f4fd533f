"""Every kind of file gives its items; every mistake gives one clear line."""

import errno
import io
import re
from datetime import datetime
from pathlib import Path

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
    found = inputs.read(tmp_path / "x.npz", label="y")
    np.testing.assert_array_equal(found.values, VECTORS)
    assert found.labels.tolist() == ["1", "2", "1", "2"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_tables(tmp_path, table, suffix):
    path = tmp_path / f"x{suffix}"
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(
        table, path
    )
    found = inputs.read(path, column="vector", label="kind")
    np.testing.assert_array_equal(found.values, VECTORS)
    assert found.labels.tolist() == ["a", "b", "a", "b"]


def test_lists_of_any_type(tmp_path):
    parquet.write_table(pa.table({"v": VECTORS.tolist()}), tmp_path / "x.parquet")
    np.testing.assert_array_equal(inputs.read(tmp_path / "x.parquet").values, VECTORS)


def test_csv_of_texts(tmp_path):
    csv.write_csv(pa.table({"text": TEXTS, "n": [1, 2, 3, 4]}), tmp_path / "x.csv")
    found = inputs.read(tmp_path / "x.csv", label="n")
    assert (found.kind, found.values) == ("texts", TEXTS)
    assert found.labels.tolist() == ["1", "2", "3", "4"]


def test_text_lines(tmp_path):
    (tmp_path / "x.txt").write_text("one\u2028more\r\n two \n\n", "utf-8")
    assert inputs.read(tmp_path / "x.txt").values == ["one\u2028more", "two"]


@pytest.mark.parametrize(
    ("gap", "said"), [("", "1 blank line"), ("\n ", "2 blank lines")]
)
def test_blank_lines_are_told(tmp_path, monkeypatch, gap, said):
    text = f"one\n{gap}\n two \n"
    (tmp_path / "x.txt").write_text(text, "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    for path, name in ((tmp_path / "x.txt", "x.txt"), ("-", "standard input")):
        with pytest.warns(UserWarning, match=f"{name}: {said} left out") as caught:
            assert inputs.read(path).values == ["one", "two"]
        assert caught[0].filename == __file__


@pytest.mark.parametrize("text", ["", " ", "\u2003"])
def test_blank_texts_are_refused(tmp_path, text):
    csv.write_csv(pa.table({"text": ["one", text], "n": [1, 2]}), tmp_path / "x.csv")
    said = r"'text' of \S+x.csv (holds a blank|has no) text in row 1; fill it in"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(tmp_path / "x.csv")
    with pytest.raises(ArgumentError, match="typed holds a blank text in row 0"):
        inputs.check_texts([text, "one"], "typed")


def test_byte_order_marks_are_no_text(tmp_path, monkeypatch):
    (tmp_path / "x.txt").write_text("one\ntwo\n", "utf-8-sig")
    assert inputs.read(tmp_path / "x.txt").values == ["one", "two"]
    (tmp_path / "x.csv").write_text("text,n\none,1\n", "utf-8-sig")
    assert inputs.read(tmp_path / "x.csv", column="text").values == ["one"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffone\n"))
    assert inputs.read("-").values == ["one"]


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
    with pytest.raises(ArtefactError, match=r"not a .npy file of numbers"):
        inputs.read(tmp_path / "x.npy")


def test_mistakes(tmp_path, table):
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match=r"2 columns of .* kind \(texts\)"):
        inputs.read(tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match="no column 'nope'; it has vector, kind"):
        inputs.read(tmp_path / "x.parquet", column="nope")
    with pytest.raises(ArgumentError, match="holds int64, not vectors or texts; codes"):
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
    with pytest.raises(ArgumentError, match="1 numbers in row 0, 2 in row 1"):
        inputs.read(tmp_path / "r.parquet")
    parquet.write_table(pa.table({"v": [[1.0], None]}), tmp_path / "n.parquet")
    with pytest.raises(ArgumentError, match=r"has no value in row 1$"):
        inputs.read(tmp_path / "n.parquet")


def test_tables_without_texts_or_vectors(tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table({"a": [1], "b": [datetime(2020, 2, 1)], "kind": ["x"]})
    parquet.write_table(table, path)
    said = r"b \(timestamp.*; name the items"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(path, label="kind")


def test_truth_values_are_numbers_among_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,kind\n1.5,true,x\n2,false,y\n")
    found = inputs.read(path, label="kind")
    np.testing.assert_array_equal(found.values, [[1.5, 1], [2, 0]])


def test_a_wrong_label_name_is_said_first(tmp_path, table):
    parquet.write_table(table, tmp_path / "x.parquet")
    np.savez(tmp_path / "x.npz", a=VECTORS, b=VECTORS)
    for name in ("x.parquet", "x.npz"):
        with pytest.raises(ArgumentError, match=r"no (column|array) 'nope'; it has"):
            inputs.read(tmp_path / name, label="nope")


def test_suffixes_in_capitals(tmp_path, table):
    parquet.write_table(table, tmp_path / "X.PARQUET")
    assert inputs.read(tmp_path / "X.PARQUET", column="vector").kind == "vectors"


@pytest.mark.parametrize("option", ["column", "label"])
@pytest.mark.parametrize("name", ["x.npy", "x.txt", "photos"])
def test_columns_where_there_are_none(tmp_path, name, option):
    np.save(tmp_path / "x.npy", VECTORS)
    (tmp_path / "x.txt").write_text("one\n")
    (tmp_path / "photos").mkdir()
    path = tmp_path / name
    told = f"has no columns, got {option}='kind'"
    with pytest.raises(ArgumentError, match=told):
        inputs.read(path, **{option: "kind"})


@pytest.mark.parametrize("items", ["x.npy", "x.txt"])
@pytest.mark.parametrize("labels", ["y.npy", "y.txt"])
def test_labels_in_a_file_of_their_own(tmp_path, items, labels):
    np.save(tmp_path / "x.npy", VECTORS)
    (tmp_path / "x.txt").write_text("\n".join(TEXTS))
    np.save(tmp_path / "y.npy", np.array(["a", "b", "a", "b"]))
    (tmp_path / "y.txt").write_text("\ufeffa\nb \na\nb\n\n", "utf-8")
    found = inputs.read(tmp_path / items, label=str(tmp_path / labels))
    assert found.labels.tolist() == ["a", "b", "a", "b"]
    assert len(found) == 4


def test_mistakes_in_files_of_labels(tmp_path):
    np.save(tmp_path / "x.npy", VECTORS)
    np.save(tmp_path / "short.npy", np.arange(3))
    np.save(tmp_path / "cube.npy", np.zeros((4, 1, 1)))
    np.save(tmp_path / "objects.npy", np.array([{}] * 4), allow_pickle=True)
    (tmp_path / "gap.txt").write_text("a\n\nb\nc\n")
    (tmp_path / "y.csv").write_text("a\n")
    (tmp_path / "damaged.npy").write_bytes(b"\x93NUMPY")
    np.savez(tmp_path / "y.npz", y=np.arange(4))
    (tmp_path / "y.npz").rename(tmp_path / "archive.npy")
    for name, message in {
        "archive.npy": "is an archive, not a .npy file of labels",
        "short.npy": "holds 4 items and 3 labels",
        "cube.npy": r"must have shape \(n,\) or \(n, n_labels\)",
        "objects.npy": "holds no labels",
        "gap.txt": "missing in 1 of 4 rows: got '' in row 1",
        "y.csv": r"cannot read labels from .*; known: \.npy, \.txt",
        "damaged.npy": "holds no labels",
    }.items():
        with pytest.raises((ArgumentError, ArtefactError), match=message):
            inputs.read(tmp_path / "x.npy", label=str(tmp_path / name))
    with pytest.raises(FileNotFoundError, match=r"there is no .*none\.npy"):
        inputs.read(tmp_path / "x.npy", label=str(tmp_path / "none.npy"))
    with pytest.raises(ArgumentError, match="got column='v'"):
        inputs.read(tmp_path / "x.npy", column="v", label=str(tmp_path / "short.npy"))


def test_real_numbers_are_no_classes(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=VECTORS, y=np.array([1.0, 2.0, 2.0, 10.0]))
    found = inputs.read(path, column="X", label="y")
    assert found.labels.tolist() == ["1", "2", "2", "10"]
    for other in (0.5, np.inf, -np.inf):
        np.savez(path, X=VECTORS, y=np.array([1.0, 2.0, other, 2.0]))
        with pytest.raises(
            ArgumentError, match=re.escape(f"not whole, such as {other}")
        ):
            inputs.read(path, column="X", label="y")
    for y in (np.array([1, 2, 2, 2**25], np.float32), np.array([1, 2, 3, 1e300])):
        np.savez(path, X=VECTORS, y=y)
        with pytest.raises(ArgumentError, match=r"too large .* to distinguish"):
            inputs.read(path, column="X", label="y")
    np.savez(path, X=VECTORS, y=np.array([1, 2, 2, 3], np.float16))
    found = inputs.read(path, column="X", label="y")
    assert found.labels.tolist() == ["1", "2", "2", "3"]


def test_labels_of_a_table_are_named_as_those_of_arrays(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"X": VECTORS.tolist(), "y": [1.0, 2, 2, 10]}), path)
    found = inputs.read(path, column="X", label="y")
    assert found.labels.tolist() == ["1", "2", "2", "10"]
    parquet.write_table(pa.table({"X": VECTORS.tolist(), "y": [0.5, 2, 2, 10]}), path)
    with pytest.raises(ArgumentError, match=r"not whole, such as 0\.5"):
        inputs.read(path, column="X", label="y")


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float16])
def test_several_labels_stay_numbers(tmp_path, dtype):
    y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], dtype)
    np.savez(tmp_path / "x.npz", X=VECTORS, y=y)
    parquet.write_table(
        pa.table({"X": VECTORS.tolist(), "y": y.astype(float).tolist()}),
        tmp_path / "x.parquet",
    )
    for name in ("x.npz", "x.parquet"):
        found = inputs.read(tmp_path / name, column="X", label="y")
        assert found.labels.dtype == np.uint8
        kept = found.stored_columns()["label" if name == "x.npz" else "y"]
        assert np.array_equal(kept if name == "x.npz" else kept.to_pylist(), y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (VECTORS + 0.5, "a matrix of labels must hold 0 and 1 only, got 0.5"),
        (VECTORS * np.nan, "0 and 1 only, got nan"),
        (VECTORS.astype(str), "0 and 1 only, got dtype <U32"),
        (VECTORS[None], r"have shape \(n,\) or \(n, n_labels\), got \(1, 4, 3\)"),
        (np.array(3), r"have 1 dimension, got shape \(\)"),
        (np.array([1, np.nan, 2, 2]), "missing in 1 of 4 rows: got nan in row 1"),
        (np.array(["NaT"] * 4, "M8[D]"), "missing in 4 of 4 rows"),
        (np.array(["2020-01-01"] * 4, "M8[D]"), r"got datetime64\[D\]"),
        (np.array(["a", np.nan] * 2), "nan"),
        (np.array([b"a"] * 4), "got bytes; decode them"),
        (np.array([2**63] * 4, np.uint64), r"below 2\*\*63, got 9223372036854775808"),
    ],
)
def test_labels_that_are_none(tmp_path, y, message):
    np.savez(tmp_path / "x.npz", X=VECTORS, y=y)
    with pytest.raises(ArgumentError, match=rf"labels 'y' of \S+x.npz\b.*{message}"):
        inputs.read(tmp_path / "x.npz", label="y")


def test_labels_in_one_column(tmp_path):
    np.savez(tmp_path / "x.npz", X=VECTORS, y=[[3], [4], [3], [4]])
    found = inputs.read(tmp_path / "x.npz", label="y")
    assert found.labels.tolist() == ["3", "4", "3", "4"]


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.parquet"])
def test_vectors_that_are_no_finite_numbers(tmp_path, name):
    for value, message in (("x", "real numbers"), (np.nan, "row 2, column 1; vectors")):
        X = VECTORS.astype(object)
        X[2, 1] = value
        X = X.astype(str if value == "x" else float)
        if name == "x.npy":
            np.save(tmp_path / name, X)
        if name == "x.npz":
            np.savez(tmp_path / name, X)
        if name == "x.parquet":
            parquet.write_table(pa.table({"X": X.tolist()}), tmp_path / name)
        if name == "x.parquet" and value == "x":
            message = r"X \(large_list<.*string>\)"
        with pytest.raises(
            (ArtefactError, ArgumentError), match=rf"{name} .*{message}"
        ):
            inputs.read(tmp_path / name)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.parquet", "x.txt"])
def test_files_that_may_not_be_read(tmp_path, monkeypatch, name):
    def refused(path, *args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / name).touch()
    monkeypatch.setattr("pathlib.Path.open", refused)  # chmod does not stop root
    with pytest.raises(PermissionError, match=f"Permission denied: .*{name}"):
        inputs.read(tmp_path / name)


def test_damaged_archives(tmp_path):
    """Flip every third bit of an archive, and cut it at every place."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=VECTORS)
    original = path.read_bytes()
    damaged = [original[:length] for length in range(len(original))]
    for i in range(0, 8 * len(original), 3):  # each of a byte in turn
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


def test_labels_of_images_need_no_name(tmp_path):
    said = "got label='kind'; the labels of images are the names of the subfolders"
    with pytest.raises(ArgumentError, match=said):
        inputs.read(tmp_path, label="kind")


def test_a_folder_without_images(tmp_path):
    (tmp_path / "notes.md").touch()
    with pytest.raises(ArgumentError, match=r"holds no images; known: \.apng, \.bm"):
        inputs.read(tmp_path)


def test_paths_of_images_are_kept_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pictures").mkdir()
    Path("pictures", "a.png").touch()
    found = inputs.read("pictures")
    assert found.values == [Path("pictures/a.png")]
    assert found.stored_columns()["path"] == [str(tmp_path / "pictures" / "a.png")]
