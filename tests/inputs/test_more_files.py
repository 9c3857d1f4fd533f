"""Files of further formats, and fields of structs, at the door of `read`."""

import json
import lzma

import ml_dtypes
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs import read, read_ids

X = np.arange(12, dtype=np.float32).reshape(4, 3)
ENCODER = LinearEncoder(np.eye(3), np.zeros(3))


@pytest.mark.parametrize(
    ("suffix", "dtype"), [(".fbin", "<f4"), (".u8bin", "u1"), (".i8bin", "i1")]
)
def test_big_ann(suffix, dtype, tmp_path):
    path = tmp_path / f"x{suffix}"
    content = np.array(X.shape, "<u4").tobytes() + X.astype(dtype).tobytes()
    path.write_bytes(content)
    np.testing.assert_array_equal(read(path).values, X)
    for wrong in (content[:-1], content + b"\0", content[:7], b""):
        path.write_bytes(wrong)
        with pytest.raises(FewbitsError, match=r"is not a|no items"):
            read(path)


def test_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"x": X, "label": np.array([0, 1, 0, 1]), "id": np.arange(4) + 7}, path)
    items = read(path, column="x", label="label", id="id")
    np.testing.assert_array_equal(items.values, X)
    assert items.labels.tolist() == ["0", "1", "0", "1"]
    assert items.ids.to_pylist() == [7, 8, 9, 10]
    with pytest.raises(ArgumentError, match="3 arrays"):
        read(path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(FewbitsError, match=r"not a \.safetensors file"):
        read(path, column="x")


def test_bfloat16_of_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    halves = X.astype(ml_dtypes.bfloat16)
    save_file({"x": halves, "id": np.arange(4)}, path)
    items = read(path, column="x", id="id")
    np.testing.assert_array_equal(items.values, halves.astype(np.float32))


@pytest.mark.parametrize("suffix", [".npy", ".txt"])
def test_ids_of_vectors_in_a_file_of_their_own(suffix, tmp_path):
    def written(name, ids):
        if suffix == ".npy":
            np.save(tmp_path / f"{name}.npy", ids)
        else:
            (tmp_path / f"{name}.txt").write_text("\n".join(map(str, ids)) + "\n")
        return str(tmp_path / f"{name}{suffix}")

    vectors = tmp_path / "x.npy"
    np.save(vectors, X)
    numbers, texts = written("n", [7, 5, 9, 8]), written("t", ["7", "a", "b", "c"])
    col = Collection.create(tmp_path / "n", vectors, id=numbers, encoder=ENCODER)
    assert col.ids.tolist() == [7, 5, 9, 8]
    with pytest.raises(ArgumentError, match="already"):
        col.add(vectors, id=numbers)
    col.add(vectors)  # by the next numbers: the file is that of the first vectors alone
    assert col.ids[4:].tolist() == [10, 11, 12, 13]
    col = Collection.create(tmp_path / "t", vectors, id=texts, encoder=ENCODER)
    assert col.ids.tolist() == ["7", "a", "b", "c"]
    if suffix == ".txt":  # lines of digits are texts where ids are texts
        col.add(vectors, id=written("more", [70, 71, 72, 73]))
        assert col.ids[4:].tolist() == ["70", "71", "72", "73"]
    for ids, words in (([1, 2, 3], "3 ids"), ([1, 1, 2, 3], "holds 1 in 2 rows")):
        with pytest.raises(ArgumentError, match=words):
            read(vectors, id=written("bad", ids))
    with pytest.raises(FileNotFoundError, match="none"):
        read(vectors, id=f"none{suffix}")


ROWS = [{"text": "red shoe", "n": 1}, {"text": "blue hat", "n": 2.5}]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_objects(indent, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text("\ufeff" + json.dumps(ROWS, indent=indent))
    items = read(path)
    assert list(items.values) == ["red shoe", "blue hat"]
    assert items.columns["n"].to_pylist() == [1, 2.5]
    path.write_text("\n".join(map(json.dumps, ROWS)))  # lines, by another name
    assert list(read(path).values) == ["red shoe", "blue hat"]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[1]",
        "[{}]",
        '[{"text": "a"}, null]',
        '[{"text": "a", "text": "b"}]',
        '[{"text": "a"}, {"text": 1}]',
        '[{"x": 1e400}]',
        '{"text": ["a"], "n": [1]',
        '[{"text": "a"}',
    ],
)
def test_other_json_is_refused(text, tmp_path):
    (tmp_path / "rows.json").write_text(text)
    with pytest.raises(FewbitsError) as caught:
        read(tmp_path / "rows.json")
    assert "\n" not in str(caught.value)


CSV = "text;n\nrød sko;1\nblå hat;2\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.jsonl", "piped", "t.csv.gz"])
def test_utf_16_is_utf_8(encoding, name, tmp_path):
    import gzip

    text = CSV if "csv" in name else "rød sko\nblå hat\n"
    if "jsonl" in name:
        text = '{"text": "rød sko"}\n{"text": "blå hat"}\n'
    mark = "\ufeff" if encoding.endswith("e") else ""
    data = (mark + text).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(data) if "gz" in name else data)
    assert list(read(tmp_path / name).values) == ["rød sko", "blå hat"]


def test_half_of_utf_16_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(CSV.encode("utf-16")[:-1])
    with pytest.raises(FewbitsError, match="UTF-16"):
        read(tmp_path / "t.csv")


def test_xz(tmp_path):
    for name in ("t.txt.xz", "piped"):
        (tmp_path / name).write_bytes(lzma.compress(b"red shoe\n") * 2)
        assert list(read(tmp_path / name).values) == ["red shoe"] * 2
    (tmp_path / "t.txt.xz").write_bytes(lzma.compress(b"red shoe\n")[:-4])
    with pytest.raises(FewbitsError, match="damaged"):
        read(tmp_path / "t.txt.xz")
    (tmp_path / "ids.txt.xz").write_bytes(lzma.compress(b"3\n4\n"))
    assert read_ids(str(tmp_path / "ids.txt.xz"), None, texts=False) == [3, 4]


def test_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;n\n1,5;1.234,25;1\n-2,25;0,5;2\n;7;3\n")
    with pytest.warns(UserWarning, match="commas are decimal in a, b"):
        items = read(path, column=["b", "n"])
    np.testing.assert_array_equal(items.values, [[1234.25, 1], [0.5, 2], [7, 3]])
    assert items.columns["a"].to_pylist() == [1.5, -2.25, None]


@pytest.mark.parametrize("cell", ["1,234", "1,5,6", "01,5", "1,5 kg"])
def test_commas_that_may_be_others_stay(cell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"text;a\nred shoe;{cell}\n")
    assert read(path, column="text").columns["a"].to_pylist() == [cell]


PLACES = [
    {"name": "harbour", "at": {"deep": {"x": 1.0}, "v": X[0].tolist()}},
    {"name": "station", "at": {"deep": None, "v": X[1].tolist()}},
]
NESTED = pa.table({"key": ["a", "b"], "place": PLACES})


@pytest.mark.parametrize("kind", ["table", "parquet", "arrow", "jsonl", "pandas"])
def test_fields_of_structs_are_columns(kind, tmp_path):
    source = NESTED
    if kind == "parquet":
        pq.write_table(NESTED, source := tmp_path / "t.parquet")
    if kind == "arrow":
        source = tmp_path / "t.arrow"
        with pa.ipc.new_file(source, NESTED.schema) as writer:
            writer.write_table(NESTED)
    if kind == "jsonl":
        source = tmp_path / "t.jsonl"
        source.write_text("\n".join(map(json.dumps, NESTED.to_pylist())))
    if kind == "pandas":
        source = NESTED.to_pandas()
    items = read(source, column="place.at.v", id="place.name", label="key")
    np.testing.assert_array_equal(items.values, X[:2])
    assert items.ids.to_pylist() == ["harbour", "station"]
    assert list(items.columns) == ["key", "place"]
    texts = read(source, column="place.name", columns=["place.at.deep.x"])
    assert list(texts.values) == ["harbour", "station"]
    assert texts.columns["place.at.deep.x"].to_pylist() == [1.0, None]
    for name in ("place.nothing", "place.name.x", "nothing.name", "place."):
        with pytest.raises(ArgumentError, match="no column"):
            read(source, column=name)


def test_a_field_stays_the_column_of_items():
    rows = [{"doc": {"text": "red shoe"}, "n": 1}, {"doc": {"text": "hat"}, "n": 2}]
    col = Collection.create(None, rows, column="doc.text", bits=16)
    col.add([{"doc": {"text": "blue hat"}, "n": 3}])
    assert col.column("doc.text").tolist() == ["red shoe", "hat", "blue hat"]
    plain = read(
        NESTED.append_column("place.name", [["x y", "z w"]]), column="place.name"
    )
    assert list(plain.values) == ["x y", "z w"]  # a column of the name goes first


def test_blank_fields_can_be_skipped():
    rows = [{"doc": {"text": text}} for text in ("red shoe", "", None, "hat")]
    with pytest.warns(UserWarning, match="2 of 4"):
        items = read(pd.DataFrame(rows), column="doc.text", skip_blank=True)
    assert list(items.values) == ["red shoe", "hat"]
