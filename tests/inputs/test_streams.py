"""Compressed files, pipes and standard input give what the plain file gives."""

import gzip
import io
import os
import sys
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError

TABLE = pa.table({"text": ["one, 1", "two\nlines"], "n": [5, 7]})
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def packed(content, suffix):
    return gzip.compress(content) if suffix == ".gz" else _zstd(content)


def _zstd(content):
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return out.getvalue().to_pybytes()


def _bytes(write, *values):
    file = io.BytesIO()
    write(file, *values)
    return file.getvalue()


class Slow(io.RawIOBase):
    """A pipe whose writer flushes byte by byte."""

    def __init__(self, content):
        self._content = content

    def readable(self):
        return True

    def readinto(self, buffer):
        piece, self._content = self._content[:1], self._content[1:]
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.fixture
def piped(monkeypatch):
    def pipe(content, slowly=False):
        raw = io.BufferedReader(Slow(content)) if slowly else io.BytesIO(content)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=raw))

    return pipe


PLAIN = {
    ".csv": b'text,n\n"one, 1",5\n"two\nlines",7\n',
    ".tsv": b'text\tn\none, 1\t5\n"two\nlines"\t7\n',
    ".jsonl": b'{"text": "one, 1", "n": 5}\n{"text": "two\\nlines", "n": 7}\n',
}


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".GZ"])
@pytest.mark.parametrize("kind", [*PLAIN, ".txt"])
def test_compressed_files(tmp_path, kind, suffix):
    path = tmp_path / f"x{kind}{suffix}"
    content = PLAIN.get(kind, b"one, 1\ntwo\n")
    path.write_bytes(packed(content, suffix.lower()))
    options = {} if kind == ".txt" else {"column": "text"}
    expected = ["one, 1", "two"] if kind == ".txt" else TABLE["text"].to_pylist()
    assert inputs.read(path, **options).values == expected
    for damaged in (packed(content, suffix.lower())[:-5], b"none", b""):
        path.write_bytes(damaged)
        with pytest.raises((ArtefactError, ArgumentError), match=r"damaged|no items"):
            inputs.read(path, **options)


def test_compressed_arrays_are_not_guessed(tmp_path):
    path = tmp_path / "x.npy.gz"
    path.write_bytes(gzip.compress(_bytes(np.save, X)))
    with pytest.raises(ArgumentError, match="cannot tell what"):
        inputs.read(path)


@pytest.mark.parametrize("slowly", [False, True])
@pytest.mark.parametrize("packing", [None, ".gz", ".zst"])
@pytest.mark.parametrize(
    "content",
    [
        PLAIN[".csv"],
        PLAIN[".csv"].replace(b",", b";").replace(b"one;", b"one,"),
        PLAIN[".tsv"],
        PLAIN[".jsonl"],
        b"[" + PLAIN[".jsonl"].strip().replace(b"\n", b",\n ") + b"]",
        _bytes(lambda file: parquet.write_table(TABLE, file)),
        _bytes(lambda file: feather.write_feather(TABLE, file)),
        _bytes(lambda file: pa.ipc.new_stream(file, TABLE.schema).write_table(TABLE)),
    ],
    ids=["csv", "semicolon", "tsv", "lines", "json", "parquet", "feather", "stream"],
)
def test_tables_from_standard_input(piped, content, packing, slowly):
    piped(packed(content, packing) if packing else content, slowly)
    found = inputs.read("-", column="text", id="n")
    assert found.values == TABLE["text"].to_pylist()
    assert found.ids.to_pylist() == [5, 7]
    assert found.source == "standard input"


def test_arrays_and_lines_from_standard_input(piped):
    piped(_bytes(np.save, X))
    np.testing.assert_array_equal(inputs.read("-").values, X)
    piped(b"one\r\ntwo, three\n\n")
    assert inputs.read("-").values == ["one", "two, three"]
    piped(b"{'not': json}\n{see below}\n")
    assert inputs.read("-").values == ["{'not': json}", "{see below}"]
    piped(b"[1, 2]\n[3, 4]\n")
    np.testing.assert_array_equal(inputs.read("-").values, [[1, 2], [3, 4]])


def test_columns_that_a_bundle_knows_by_name(piped):
    piped(b"b,a\n1,2\n3,4\n")
    found = inputs.read("-", names=("a", "b"))
    np.testing.assert_array_equal(found.values, [[2, 1], [4, 3]])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input holds no items"),
        (b"caf\xe9\n", "standard input is not UTF-8 text: .* in line 1"),
        (b"a\0b\n", "line 1 holds a NUL"),
        (b"0.1,0.2\n0.3,0.4\n", "looks like a table of 2 columns: name"),
        (b"x,y\n0.1,0.2\n0.3,0.4\n", "looks like a table of 2 columns"),
        (b"id;text\n1;red shoe\n2;blue hat\n", "looks like a table of 2 columns"),
        (b'{\n "text": "a"\n}\n', "begins as JSON, but its first line is not an obj"),
        (b'[{"text": "a"}', "standard input is not JSON"),
        (b"%PDF-1.7\n...", "standard input is a PDF file"),
        (b"<!DOCTYPE html>\n<p>", "standard input is a web page"),
        (
            b"[1, 2]\n[3, 4\n[5, 6]\n",
            r"holds vectors written as text, but '\[3, 4' is none",
        ),
        (b"0.1 0.2\n0.3 0.4\n", "and the like, numbers written as text"),
        (b"\x93NUMPY\x01\x00v\x00{", "standard input is not an array of numbers"),
        (b"PAR1", "standard input is not a Parquet or Arrow file"),
        (b"\xff\xff\xff\xff\x10\x00\x00\x00", "standard input is not a Parquet or A"),
        (b"\x1f\x8b\x08", "standard input is damaged"),
        (b"\x28\xb5\x2f\xfd", "standard input is damaged|no items"),
    ],
)
def test_what_standard_input_cannot_be(piped, content, said):
    piped(content)
    with pytest.raises((ArtefactError, ArgumentError), match=said):
        inputs.read("-")


def test_a_file_of_numbers_is_no_list_of_texts(tmp_path):
    path = tmp_path / "x.txt"
    np.savetxt(path, X)
    with pytest.raises(ArgumentError, match=r"written as text; save .* \.npy"):
        inputs.read(path)
    path.write_text("90210\n10001\n")  # codes
    assert inputs.read(path).values == ["90210", "10001"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("fd63", PLAIN[".jsonl"]),
        ("x.csv", PLAIN[".csv"]),
        ("x.jsonl", PLAIN[".jsonl"]),
        ("x.parquet", _bytes(lambda file: parquet.write_table(TABLE, file))),
        ("x.feather", _bytes(lambda file: feather.write_feather(TABLE, file))),
    ],
)
def test_paths_that_are_pipes(tmp_path, name, content):
    """As in ``fewbits build <(zcat x.jsonl.gz)``."""
    path = tmp_path / name
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=[content])
    writer.start()
    assert inputs.read(path, column="text").values == TABLE["text"].to_pylist()
    writer.join()


def test_an_array_through_a_pipe(tmp_path):
    path = tmp_path / "x.npy"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=[_bytes(np.save, X)])
    writer.start()
    np.testing.assert_array_equal(inputs.read(path).values, X)
    writer.join()
