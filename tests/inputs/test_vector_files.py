"""Files of the ANN field: as corpus-texmex describes them, and ann-benchmarks' HDF5."""

import struct
import sys

import h5py
import numpy as np
import pytest

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError, MissingExtraError

X = np.arange(12).reshape(4, 3)


def texmex(rows, letter):
    """Return a length as a little-endian int32, and then the numbers, for each row."""
    return b"".join(
        struct.pack(f"<i{len(row)}{letter}", len(row), *row) for row in rows
    )


@pytest.mark.parametrize(
    ("suffix", "letter", "dtype"),
    [(".fvecs", "f", "<f4"), (".bvecs", "B", "u1"), (".ivecs", "i", "<i4")],
)
def test_texmex(tmp_path, suffix, letter, dtype):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(texmex(X.tolist(), letter))
    found = inputs.read(path)
    assert found.values.dtype == dtype
    np.testing.assert_array_equal(found.values, X)
    assert isinstance(found.values.base, np.ndarray)  # a view of the map, no copy
    assert not found.values.flags.owndata
    (tmp_path / "y.txt").write_text("a\nb\na\nb\n")
    labelled = inputs.read(path, label=str(tmp_path / "y.txt"))
    assert labelled.labels.tolist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("name", "letter", "rows", "said"),
    [
        ("x.fvecs", "i", [[0, 5], [7, 2**26]], "holds integers such as 5; name .* .iv"),
        ("x.fvecs", "i", [[-5, 0]], "holds integers such as -5"),
        ("x.FVECS", "i", [[3]], "holds integers such as 3"),
        ("x.ivecs", "f", [[0, -0.5], [1e-5, 1e5]], "holds floats such as -0.5; name"),
        ("x.ivecs", "f", [[1.0]], "holds floats such as 1; name it .fvecs"),
        ("x.fvecs", "f", [[0.0, 0.0]], None),
        ("x.fvecs", "f", [[1e-40, 1.0]], None),
        ("x.fvecs", "f", [[-0.0, 1e-30]], None),
        ("x.ivecs", "i", [[0, 0]], None),
        ("x.ivecs", "i", [[1, 2**30], [-1, 2**31 - 1]], None),
        ("x.bvecs", "B", [[1, 2]], None),
    ],
)
def test_integers_under_the_name_of_floats(tmp_path, name, letter, rows, said):
    path = tmp_path / name
    path.write_bytes(texmex(rows, letter))
    if said is None:
        np.testing.assert_array_equal(
            inputs.read(path).values, np.array(rows, letter.lower())
        )
        return
    with pytest.raises(ArtefactError, match=said):
        inputs.read(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no items"),
        (b"\3\0", "is not a .fvecs file: 2 bytes are not a whole number of rows"),
        (texmex([[]], "f"), "is not a .fvecs file: 4 bytes .* of 0 numbers"),
        (texmex(X.tolist(), "f")[:-1], "is not a .fvecs file: 63 bytes .* 3 numbers"),
        (struct.pack("<i3f", -3, 1, 2, 3), "rows of -3 numbers"),
        (struct.pack("<i3f", 2**30, 1, 2, 3), "rows of 1,073,741,824 numbers"),
        (texmex([[1, 2], [3, 4, 5, 6]], "f"), "not a whole number of rows of 2"),
        (texmex([[1, 2], [3], [4, 5, 6]], "f"), "2 numbers in row 0, 1 in row 1"),
        (texmex([[1.0], [float("nan")]], "f"), "holds nan in row 1, column 0"),
    ],
)
def test_damaged_texmex(tmp_path, content, said):
    path = tmp_path / "x.fvecs"
    path.write_bytes(content)
    with pytest.raises((ArgumentError, ArtefactError), match=said):
        inputs.read(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "glove-25-angular.hdf5"


def test_ann_benchmarks(path):
    with h5py.File(path, "w") as file:
        for name, rows in (("train", 4), ("test", 2)):
            file.create_dataset(name, data=X[:rows].astype("f4"), compression="gzip")
        file["neighbors"] = np.zeros((2, 3), "i4")
        file["group/kinds"] = ["a", "é", "a", "b"]
        file["group/fixed"] = np.array([b"a", b"b", b"a", b"b"])
        file["group/numbers"] = np.array([7, 8, 7, 9])
    with pytest.raises(ArgumentError, match=r"6 arrays .*train \(4, 3\).*--column"):
        inputs.read(path)
    with pytest.raises(ArgumentError, match="no array 'X'; it has group/fixed, gro"):
        inputs.read(path, column="X")
    for name, rows in (("train", 4), ("test", 2)):
        found = inputs.read(path, column=name).values
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, X[:rows])
    for name, labels in (
        ("kinds", ["a", "é", "a", "b"]),
        ("fixed", ["a", "b", "a", "b"]),
        ("numbers", ["7", "8", "7", "9"]),
    ):
        found = inputs.read(path, column="train", label=f"group/{name}")
        assert found.labels.tolist() == labels
    with pytest.raises(ArgumentError, match="no array 'i'"):
        inputs.read(path, column="train", id="i")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (h5py.Empty("f4"), "holds no items"),
        (np.float32(1), r"holds an array of shape \(\)"),
        (np.arange(3.0), r"holds an array of shape \(3,\)"),
        (["one", "two"], r"shape \(2,\)"),
        ([["one", "two"]], "holds dtype object"),
        (np.zeros((2, 2), [("a", "f4")]), "vectors need real numbers"),
        ([[1.0, np.nan]], "holds nan in row 0, column 1"),
    ],
)
def test_data_sets_that_are_no_vectors(path, value, said):
    with h5py.File(path, "w") as file:
        file["train"] = value
    with pytest.raises((ArgumentError, ArtefactError), match=said):
        inputs.read(path)


def test_hdf5_files_that_are_none(path, monkeypatch):
    for content in (b"", b"\x89HDF\r\n\x1a\n", b"train"):
        path.write_bytes(content)
        with pytest.raises(ArtefactError, match=r"is not an HDF5 file: "):
            inputs.read(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(ArgumentError, match="holds 0 arrays"):
        inputs.read(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"fewbits\[hdf5\]"):
        inputs.read(path)
