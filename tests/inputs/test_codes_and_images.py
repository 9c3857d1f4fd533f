"""Columns of packed codes, however they are written, and of paths of images."""

import io
import uuid
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError

CODES = np.random.default_rng(0).integers(0, 256, (5, 9), np.uint8)
ROWS = [bytes(row) for row in CODES]
BITS = ["".join(map(str, row)) for row in np.unpackbits(CODES, axis=1)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(ROWS, pa.binary()),
        pa.array(ROWS, pa.large_binary()),
        pa.array(ROWS, pa.binary(9)),
        pa.array(ROWS, pa.binary_view()),
        pa.array([b"x" * 9, *ROWS, b"y" * 9]).slice(1, 5),
        pa.chunked_array([ROWS[:2], [], ROWS[2:]]),
        pa.array([*CODES], pa.list_(pa.uint8())),
        pa.array([*CODES], pa.list_(pa.uint8(), 9)),
        pa.array([row.hex() for row in ROWS]),
        pa.array([row.hex().upper() for row in ROWS]).dictionary_encode(),
        pa.array(["zz", *(row.hex() for row in ROWS)], pa.large_string()).slice(1),
        pa.array([f"0x{row.hex()}" for row in ROWS]),
        pa.array([rf"\x{row.hex()}" for row in ROWS], pa.string_view()),
        pa.array(BITS),
    ],
    ids=range(14),
)
@pytest.mark.parametrize("suffix", [None, ".parquet", ".feather"])
def test_codes_of_every_encoding(tmp_path, column, suffix):
    table = pa.table({"id": list("abcde"), "hash": column, "text": ["word"] * 5})
    source = table if suffix is None else tmp_path / f"x{suffix}"
    if suffix is not None:
        write = parquet.write_table if suffix == ".parquet" else feather.write_feather
        write(table, source)
    found = inputs.read(source, codes="hash", id="id")
    assert (found.kind, found.n_bits, found.values.dtype) == ("codes", 72, np.uint8)
    np.testing.assert_array_equal(found.values, CODES)
    assert found.ids.to_pylist() == list("abcde")
    assert [*found.columns] == ["text"]
    assert [*found.stored_columns()] == ["text"]
    alone = inputs.read(column, kind="codes")
    np.testing.assert_array_equal(alone.values, CODES)


@pytest.mark.parametrize("digits", ["{:02x}", "{:08b}"])
def test_written_codes_stay_as_they_are_written(tmp_path, digits):
    """Digits alone would be numbers in CSV, without the zeros before them."""
    codes = np.array([[0, 7], [1, 16]], np.uint8)
    cells = ["".join(map(digits.format, row)) for row in codes.tolist()]
    for suffix, row in ((".csv", "{},1"), (".jsonl", '{{"h": "{}", "n": 1}}')):
        head = ["h,n"] if suffix == ".csv" else []
        path = tmp_path / f"x{suffix}"
        path.write_text("\n".join([*head, *map(row.format, cells)]))
        found = inputs.read(path, codes="h")
        np.testing.assert_array_equal(found.values, codes)
        assert found.n_bits == 16
        with pytest.raises(ArgumentError, match="codes="):
            inputs.read(path)  # which of the two is not guessed


@given(
    bits=st.integers(1, 70).flatmap(
        lambda n: st.lists(st.text("01", min_size=n, max_size=n), min_size=1)
    )
)
def test_bits_of_any_number(bits):
    found = inputs.read({"h": bits}, codes="h")
    assert found.n_bits == len(bits[0])
    rows = np.array([[*map(int, row)] for row in bits], np.uint8)
    np.testing.assert_array_equal(found.values, np.packbits(rows, axis=1))


@given(
    hexes=st.integers(1, 20).flatmap(
        lambda n: st.lists(st.text("0123456789abcdefAF", min_size=n, max_size=n))
    )
)
def test_hexadecimal_digits_of_any_number(hexes):
    hexes = [*hexes, "f" * len(hexes[0]) if hexes else "f"]
    found = inputs.read({"h": hexes}, codes="h")
    assert found.n_bits == 4 * len(hexes[0])
    expected = [bytes.fromhex(text + "0" * (len(text) % 2)) for text in hexes]
    assert [bytes(row) for row in found.values] == expected


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["00ff", "00f"], "several lengths"),
        ([b"ab", b"abc"], "several lengths"),
        (["0101", "010"], "several lengths"),
        (["0x0f", "00ff"], "'0x0f'; codes are"),
        ([[1, 2], [3]], "int64|several"),
        (pa.array([[1, 2], [3]], pa.list_(pa.uint8())), "several lengths"),
        (["00ff", None], "no value in row 1"),
        ([b"ab", None], "no value in row 1"),
        (["00ff", "00fg"], "'00fg'; codes are"),
        (["00ff", ""], "''; codes are"),
        ([b"", b""], "empty"),
        ([str(uuid.UUID(int=5))] * 2, "codes are"),
        (["aGVsbG8gd29ybGQh"] * 2, "codes are"),
        ([1, 2**40], "int64; codes are"),
        (np.array([1, 2**63], np.uint64), "uint64; codes are"),
        ([[1, 255], [3, 4]], "list.*int64.*; codes are"),
        ([0.5, 1], "double; codes are"),
        (pa.array([[0, 1] * 8] * 20, pa.list_(pa.uint8())), "packbits"),
    ],
    ids=range(18),
)
def test_what_is_no_column_of_codes(values, said):
    with pytest.raises(ArgumentError, match=said) as caught:
        inputs.read({"h": values, "text": ["word"] * len(values)}, codes="h")
    assert "\n" not in str(caught.value)


def test_codes_in_arrays(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", CODES)
    np.savez(tmp_path / "x.npz", c=CODES, ids=np.arange(5), y=[1, 2, 1, 2, 1])
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["c"], file["y"] = CODES, [1, 2, 1, 2, 1]
    (tmp_path / "x.txt").write_text("\n".join(row.hex() for row in ROWS))
    piped = io.TextIOWrapper(io.BytesIO((tmp_path / "x.npy").read_bytes()))
    monkeypatch.setattr("sys.stdin", piped)
    for found in (
        inputs.read(tmp_path / "x.npy", kind="codes"),
        inputs.read(tmp_path / "x.npz", codes="c", label="y", id="ids"),
        inputs.read(tmp_path / "x.hdf5", codes="c", label="y"),
        inputs.read(tmp_path / "x.txt", kind="codes"),
        inputs.read("-", kind="codes"),
        inputs.read(CODES, kind="codes"),
        inputs.read([row.hex() for row in ROWS], kind="codes"),
        inputs.read(pd.Series(BITS), kind="codes"),
        inputs.read(pl.DataFrame({"h": ROWS}), kind="codes"),
    ):
        assert (found.kind, found.n_bits) == ("codes", 72)
        np.testing.assert_array_equal(found.values, CODES)
    for odd in (CODES.astype(int), CODES[0], CODES.astype(float), CODES[:, :0]):
        with pytest.raises(ArgumentError, match="packed codes are uint8 of shape"):
            inputs.read(odd, kind="codes")
    with pytest.raises(ArgumentError, match="packbits"):
        inputs.read(np.unpackbits(CODES, axis=1), kind="codes")
    with pytest.raises(ArgumentError, match=r"has h, n: name the column of codes"):
        inputs.read({"h": ["00"], "n": ["1"]}, kind="codes")


def test_items_are_named_once():
    table = pa.table({"h": ["00ff"], "text": ["word"]})
    with pytest.raises(ArgumentError, match="got column= and codes="):
        inputs.read(table, column="text", codes="h")
    with pytest.raises(ArgumentError, match="no column 'x'; it has h, text"):
        inputs.read(table, codes="x")
    with pytest.raises(ArgumentError, match=r"codes=.*binary|binary.*codes="):
        inputs.read({"h": [b"ab"]}, column="h")
    for option in ("codes", "images"):
        with pytest.raises(ArgumentError, match=f"no columns, got {option}='h'"):
            inputs.read(["a", "b"], **{option: "h"})


@pytest.fixture
def album(tmp_path):
    (tmp_path / "photos").mkdir()
    for name in "ab":
        Image.new("RGB", (2, 3)).save(tmp_path / "photos" / f"{name}.png")
    return tmp_path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_column_of_paths(album, suffix, monkeypatch):
    names = ["photos/b.png", "photos/a.png"]
    frame = pd.DataFrame({"path": names, "kind": ["x", "y"], "n": [1, 2]})
    path = album / f"x{suffix}"
    match suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case _:
            frame.to_parquet(path)
    files = [album / name for name in names]
    found = inputs.read(path, images="path", label="kind")
    assert (found.kind, found.values, found.column) == ("images", files, "path")
    assert found.labels.tolist() == ["x", "y"]
    stored = found.stored_columns()
    assert [*stored] == ["path", "kind", "n"]
    assert stored["path"] == [*map(str, files)]
    whole = frame.assign(path=[*map(str, files)])
    assert inputs.read(whole, images="path").values == files
    monkeypatch.chdir(album)
    assert inputs.read(frame, images="path").values == [*map(Path, names)]


def test_paths_that_lead_nowhere(album):
    rows = ["path,kind", "photos/a.png,x", ",y", "photos/c.png,z", "photos,z"]
    path = album / "x.csv"
    path.write_text("\n".join(rows))
    with pytest.raises(ArgumentError, match=r"no text in row 1; .*skip_blank"):
        inputs.read(path, images="path")
    said = r"2 of 3 images cannot be read: there is no file .*photos/c.png; .*photos"
    with (
        pytest.warns(UserWarning, match="has no image there: 1"),
        pytest.raises(FewbitsError, match=said),
    ):
        inputs.read(path, images="path", skip_blank=True)
    path.write_text("path\nnone.png\nother.png\n")
    with pytest.raises(ArgumentError, match="no file in row 0, nor in 1 more"):
        inputs.read(path, images="path", skip_unreadable=True)
    with pytest.raises(ArgumentError, match=r"'n' .* int64, not paths"):
        inputs.read({"n": [1, 2], "text": ["a", "b"]}, images="n")


def test_names_of_images_are_not_embedded_as_texts(album):
    path = album / "x.csv"
    path.write_text("path,n\nphotos/a.png,1\nphotos/b.png,2\n")
    with pytest.raises(ArgumentError, match="name their column by images='path'"):
        inputs.read(path)
    assert inputs.read(path, column="path").kind == "texts"  # as that is what is asked
    with pytest.raises((ArgumentError, ArtefactError), match="no columns, got images"):
        inputs.read(album / "photos", images="path")
