"""Files that were written in pieces: all of them are read, or none."""

import bz2
import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fewbits.errors import ArtefactError
from fewbits.inputs import read, read_ids

X = np.arange(8.0).reshape(4, 2)
Y = X[:3] + 100


def saved(*arrays):
    sink = io.BytesIO()
    for array in arrays:
        np.save(sink, array)
    return sink.getvalue()


def table(matrix):
    return pa.table({"v": matrix.tolist()})


def ipc(new, *tables):
    """Return each table as a file or a stream of its own, one behind the other."""
    data = b""
    for one in tables:
        sink = pa.BufferOutputStream()
        with new(sink, one.schema) as writer:
            writer.write_table(one)
        data += sink.getvalue().to_pybytes()
    return data


def parquet(*tables, **options):
    data = b""
    for one in tables:
        sink = pa.BufferOutputStream()
        pq.write_table(one, sink, **options)
        data += sink.getvalue().to_pybytes()
    return data


STREAMS = ipc(pa.ipc.new_stream, table(X), table(Y))
OTHERS = ipc(pa.ipc.new_stream, table(X), pa.table({"w": [[1.0, 2.0]]}))
REFUSED = {
    "two.npy": saved(X, Y),
    "cut.npy": saved(X) + b"\0",
    "other.arrow": OTHERS,
    "files.arrow": ipc(pa.ipc.new_file, table(X), table(X + 1)),
    "both.arrow": ipc(pa.ipc.new_stream, table(X)) + ipc(pa.ipc.new_file, table(Y)),
    "two.parquet": parquet(table(X), table(X + 1)),
    "pages.parquet": parquet(table(X), table(X + 1), write_page_index=True),
    "none.parquet": parquet(table(X), table(X[:0])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_left_out_is_refused(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(REFUSED[name])
    (tmp_path / "piped").write_bytes(REFUSED[name])
    for source in (path, tmp_path / "piped"):
        with pytest.raises(ArtefactError) as caught:
            read(source)
        assert "\n" not in str(caught.value)


def test_streams_of_arrow_follow_one_another(tmp_path):
    for name in ("s.arrow", "piped"):
        path = tmp_path / name
        path.write_bytes(STREAMS)
        np.testing.assert_array_equal(read(path).values, np.vstack([X, Y]))
        path.write_bytes(ipc(pa.ipc.new_stream, table(X)) + bytes(64))  # filled up
        np.testing.assert_array_equal(read(path).values, X)


def test_labels_and_ids_are_one_array(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for name, rest in (("one", ()), ("two", (np.arange(4),))):
        (tmp_path / f"{name}.npy").write_bytes(saved(np.arange(4), *rest))
    label = str(tmp_path / "one.npy")
    assert len(read(tmp_path / "x.npy", label=label).labels) == 4
    assert read_ids(label, None, texts=False) == [0, 1, 2, 3]
    label = str(tmp_path / "two.npy")
    with pytest.raises(ArtefactError, match="more follows"):
        read(tmp_path / "x.npy", label=label)
    with pytest.raises(ArtefactError, match="more follows"):
        read_ids(label, None, texts=False)


def packed(data):
    return pa.compress(data, "zstd", asbytes=True)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", packed)],
)
def test_members_of_compressed_files_follow_one_another(suffix, compress, tmp_path):
    path = tmp_path / f"t.txt.{suffix}"
    first, second = compress(b"red shoe\n"), compress(b"blue hat\ngreen tea\n")
    path.write_bytes(first + second)
    assert list(read(path).values) == ["red shoe", "blue hat", "green tea"]
    path.write_bytes(first + second[:-3])
    with pytest.raises(ArtefactError, match="damaged"):
        read(path)
