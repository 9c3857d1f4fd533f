"""Nothing that a caller holds or gets changes what a bundle answers or saves."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fewbits.bundle import Bundle, Metadata
from fewbits.classify import Codebook
from fewbits.encoders import LinearEncoder
from fewbits.index import VectorParts
from tests.bundle._saved import saved

N = 40
X = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)


def made(items, form="float32", **options):
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    book = Codebook(encoder.encode(X[:3]), 16, names=["a", "b", "c"])
    bundle = Bundle(encoder, metadata=Metadata(method="none"), codebook=book)
    return bundle.with_items(items, keep_vectors=form, **options)


def content(bundle, folder):
    """Return what a bundle answers, and every byte that it saves."""
    bundle.save(folder)
    files = saved(folder)
    hits = (
        bundle.search_records(X[:5], 3),
        bundle.search_reranked(X[:5], 3).ids.tolist(),
    )
    return repr(hits), bundle.classify(X).rows.tolist(), files


def try_to_write(array):
    """Write into an array and what it is a view of, wherever that is allowed."""
    while isinstance(array, np.ndarray):
        try:
            array.flags.writeable = True
            array[...] = 0
        except ValueError:
            pass
        array = array.base


def arrays_of(bundle):
    items, book = bundle.collection, bundle.codebook
    yield from (items.codes, items.ids, bundle.index.codes, bundle.index.ids)
    yield from (book.codes, book.names, *bundle.encoder.tensors().values())
    vectors = items.vectors
    if isinstance(vectors, np.ndarray):
        yield vectors
    elif isinstance(vectors, VectorParts):
        yield items.snapshot.parts[0].codes
    else:
        yield from (vectors.values, vectors.blocks, items.some_vectors())
    for column in items.table.columns:
        for chunk in column.chunks:
            yield from (np.frombuffer(each, "u1") for each in chunk.buffers() if each)


@pytest.fixture(params=["float32", "float16", "int8"])
def bundle(request):
    return made(X, request.param, ids=np.arange(N) * 3, columns={"n": np.arange(N)})


def test_what_was_given_may_change(tmp_path):
    vectors, ids, numbers = X.copy(), np.arange(N) * 3, np.arange(float(N))
    of_pandas, of_polars = pd.Series(np.arange(float(N))), np.arange(float(N))
    room = bytearray(np.arange(N).tobytes())
    given = {
        "numbers": numbers,
        "read-only": (hidden := numbers.copy())[:],
        "strings": (strings := np.array([f"s{i}" for i in range(N)])),
        "objects": (objects := strings.astype(object)),
        "lists": (lists := [[i] for i in range(N)]),
        "pandas": of_pandas,
        "polars": pl.Series(of_polars),
        "arrow": pa.array(of_arrow := numbers.copy()),
        "buffer": pa.Array.from_buffers(pa.int64(), N, [None, pa.py_buffer(room)]),
    }
    given["read-only"].flags.writeable = False
    bundle = made(vectors, ids=ids, columns=given)
    before = content(bundle, tmp_path / "b")
    for array in (vectors, ids, numbers, hidden, of_polars, of_arrow):
        array[:] = 0
    strings[:], objects[:], lists[0][0], of_pandas.iloc[0] = "x", "x", 9, 9
    room[:] = bytes(len(room))
    assert content(bundle, tmp_path / "b") == before


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_tables_that_were_given_may_change(tmp_path, library):
    numbers, vectors = np.arange(float(N)), X.copy()
    if library == "pandas":
        table = pd.DataFrame({"n": numbers, "v": list(vectors)})
    elif library == "polars":
        arrays = pl.Series(vectors, dtype=pl.Array(pl.Float32, 16))
        table = pl.DataFrame({"n": pl.Series(numbers), "v": arrays})
    else:
        flat = pa.array(vectors.reshape(-1))
        table = pa.table(
            {"n": numbers, "v": pa.FixedSizeListArray.from_arrays(flat, 16)}
        )
    bundle = made(table, vectors="v")
    before = content(bundle, tmp_path / "b")
    numbers[:], vectors[:] = -1, 0
    if library == "pandas":
        table.iloc[0, 0] = 77.0
    assert content(bundle, tmp_path / "b") == before


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps(tmp_path, mode):
    np.save(tmp_path / "codes.npy", made(X).collection.codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode=mode)
    bundle = made(X).with_codes(mapped)
    before = content(bundle, tmp_path / "b")
    assert np.shares_memory(bundle.collection.codes, mapped) == (mode == "r")
    try_to_write(mapped)
    assert content(bundle, tmp_path / "b") == before


def test_what_a_bundle_gives_cannot_be_written(bundle, tmp_path):
    before = content(bundle, tmp_path / "b")
    for array in arrays_of(bundle):
        try_to_write(array)
    bundle.collection.column("n")[:] = -1
    bundle.search_records(X[:1], 1)[0][0]["columns"]["n"] = -1
    assert content(bundle, tmp_path / "b") == before


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]
)
def test_copies_are_as_frozen(bundle, copied, tmp_path):
    before = content(bundle, tmp_path / "b")
    other = copied(bundle)
    assert content(other, tmp_path / "b") == before
    for array in arrays_of(other):
        try_to_write(array)
    assert other.index.is_frozen
    assert content(other, tmp_path / "b") == before
    assert content(bundle, tmp_path / "b") == before


def test_copies_of_the_index_go_their_own_way(bundle, tmp_path):
    before = content(bundle, tmp_path / "b")
    for other in (copy.copy(bundle.index), copy.deepcopy(bundle.index)):
        other.add(bundle.collection.codes[:3]).remove([0, 1])
        assert len(other) == N + 1
    assert content(bundle, tmp_path / "b") == before


def test_attributes_cannot_be_set(bundle, tmp_path):
    before = content(bundle, tmp_path / "b")
    with pytest.raises(FrozenInstanceError):
        bundle.items = None
    for owner, names in (
        (bundle.collection, ["codes", "ids", "vectors", "table", "_parts"]),
        (bundle.codebook, ["codes", "names", "n_bits"]),
        (bundle.encoder, ["weights", "bias", "fingerprint"]),
        (bundle.index, ["codes", "ids", "_rows"]),
    ):
        for name in names:
            with pytest.raises(AttributeError):
                setattr(owner, name, None)
    assert content(bundle, tmp_path / "b") == before


def test_metadata_does_not_change():
    numbers = np.arange(2)
    known = {"given": {"n": [1, {"m": [2]}]}, "names": ["a"], "numbers": numbers}
    bundle = replace(made(X), metadata=Metadata(extra=known))
    known["given"]["n"][1]["m"].append(3)
    known["names"].append("b")
    numbers[:] = 7
    kept = {"given": {"n": (1, {"m": (2,)})}, "names": ("a",), "numbers": (0, 1)}
    assert bundle.metadata.extra == kept
    assert json.loads(json.dumps(bundle.metadata.extra)) == {
        "given": {"n": [1, {"m": [2]}]},
        "names": ["a"],
        "numbers": [0, 1],
    }
    for change in (
        lambda info: info.update(n=1),
        lambda info: info["given"].clear(),
        lambda info: info["given"]["n"][1].update(m=1),
        lambda info: info.setdefault("n", 1),
        lambda info: info.pop("names"),
        lambda info: info.__setitem__("n", 1),
        lambda info: info.__ior__({"n": 1}),
    ):
        with pytest.raises(TypeError, match="does not change"):
            change(bundle.metadata.extra)
    assert pickle.loads(pickle.dumps(bundle)).metadata == bundle.metadata


def test_a_loaded_bundle_searches_in_its_file(bundle, tmp_path):
    bundle.save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    codes = loaded.collection.codes
    for index in (loaded.index, copy.copy(loaded.index)):
        assert np.shares_memory(index.codes, codes)
    before = content(loaded, tmp_path / "c")
    for array in arrays_of(loaded):
        try_to_write(array)
    assert content(loaded, tmp_path / "c") == before
