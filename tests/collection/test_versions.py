"""A version never changes: what was opened stays, what is handed out is a copy."""

import copy
import gc
import multiprocessing
import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fewbits
from fewbits import Collection, _kernels
from fewbits.classify import Codebook
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.learners import ITQ

N, WIDTH = 40, 16
X = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))


def made(rows=X, ids=None, form="float32", **columns):
    columns = columns or {"n": np.arange(len(rows)), "text": ["a"] * len(rows)}
    return Collection.create(
        None, rows, ids=ids, encoder=ENCODER, columns=columns, keep_vectors=form
    )


def content(col):
    """Return what a collection answers and holds, as plain values."""
    return (
        col.to_arrow().to_pylist(),
        col.codes.tolist(),
        None if col.vectors is None else col.vectors.tolist(),
        [col.search(X[:5], 3, rerank=again).to_list() for again in (False, True)],
        [col.search(X[:5], 3, filter="n > 5").to_list()],
        col.duplicates(2).to_list(),
        col.encoder.fingerprint,
    )


# Versions.


def test_versions_rise_and_earlier_ones_can_be_read(home):
    col = home(made(X[:9]))
    first, seen = content(col), [col.version]
    held = col.frozen()
    changes = [
        lambda: col.add(X[9:12], columns={"n": [9, 10, 11], "text": list("bcd")}),
        lambda: col.delete([0, 10]),
        lambda: col.update(None, ids=[3], columns={"n": [33]}),
        lambda: col.upsert(X[20:21], ids=[4], columns={"n": [4], "text": ["e"]}),
    ]
    for change in changes:
        change()
        seen.append(col.version)
        assert set(col.versions()) >= {held.version, col.version}
        for number in col.versions():
            assert col.at(number).version == number
        assert content(col.at(held.version)) == content(held) == first
        assert col.search(X[:1]).version == col.version
    assert sorted(set(seen)) == seen
    col.compact()
    assert content(held) == first
    assert col.versions()[-1] == col.version
    for wrong in (999, -1, "1", 1.5, None):
        with pytest.raises(ArgumentError):
            col.at(wrong)
    with pytest.raises(ArgumentError, match="gone"):
        col.at(999)


def test_versions_that_nobody_holds_are_not_listed(home):
    col = home(made(X[:9]))
    for n in range(5):
        col.upsert(X[:1], ids=[0], columns={"n": [n], "text": ["b"]})
        for number in col.versions():
            content(col.at(number))


def test_the_order_stays_in_all_versions(home):
    """Ties come in the order in which items were added, whatever happened meanwhile."""
    col = home(made(np.repeat(X[:1], 9, axis=0), ids=[30, 10, 20, 5, 7, 1, 3, 2, 9]))
    assert col.search(X[:1], 9).ids.tolist() == [[30, 10, 20, 5, 7, 1, 3, 2, 9]]
    col.delete([10, 7])
    col.add(
        np.repeat(X[:1], 2, axis=0), ids=[4, 0], columns={"n": [0, 0], "text": ["", ""]}
    )
    expected = [[30, 20, 5, 1, 3, 2, 9, 4, 0]]
    assert col.search(X[:1], 9).ids.tolist() == expected
    col.compact()
    assert col.search(X[:1], 9, rerank=False).ids.tolist() == expected
    col.upsert(X[:1], ids=[20], columns={"n": [0], "text": [""]})
    assert home(col).search(X[:1], 9).ids.tolist() == [[30, 5, 1, 3, 2, 9, 4, 0, 20]]
    assert col.prefix(5).search(X[:1], 9).ids.tolist() == [
        [30, 5, 1, 3, 2, 9, 4, 0, 20]
    ]


FROZEN = [
    lambda col: col.add(X[:1], columns={"n": [1], "text": ["a"]}),
    lambda col: col.upsert(X[:1], ids=[0], columns={"n": [1], "text": ["a"]}),
    lambda col: col.delete([0]),
    lambda col: col.update(None, ids=[0], columns={"n": [1]}),
    lambda col: col.compact(),
    lambda col: col.reencode(LinearEncoder(-np.eye(WIDTH), np.zeros(WIDTH))),
]


@pytest.mark.parametrize("change", FROZEN)
def test_what_has_passed_can_only_be_read(home, change):
    col = home(made())
    version = col.version
    col.delete([5])
    for past in (
        col.frozen(),
        col.at(col.version),
        pickle.loads(pickle.dumps(col.frozen())),
    ):
        with pytest.raises(ArgumentError, match="is read-only"):
            change(past)
        assert past.refresh() is False
        assert past.search(ids=[0], k=1).version == col.version > version
    change(col)


def test_a_past_version_can_be_saved(home, tmp_path):
    col = home(made())
    held, before = col.frozen(), content(col)
    col.delete(range(30))
    held.save(tmp_path / "old")
    old = Collection.open(tmp_path / "old")
    assert content(old) == before
    assert old.delete([0]) == 1  # of its own folder


def test_a_past_version_is_not_saved_over_the_newest(tmp_path):
    made().save(tmp_path / "c")
    col = Collection.open(tmp_path / "c")
    past = col.frozen()
    col.delete([0])
    with pytest.raises(ArgumentError, match="version"):
        past.save(tmp_path / "c")
    with pytest.raises(ArgumentError, match="version"):
        past.save(tmp_path / "c", overwrite=True)
    assert len(Collection.open(tmp_path / "c")) == N - 1
    col.save(tmp_path / "c")  # it is there already
    assert len(Collection.open(tmp_path / "c")) == N - 1


def test_hits_read_columns_of_the_version_that_was_searched(home):
    col = home(made())
    hits = col.search(X[:1], 3, rerank=False)
    rows = [hit["n"] for hit in col.search(X[:1], 3, rerank=False)[0]]
    col.update(None, ids=col.ids, columns={"n": [-1] * N})
    col.delete(hits.ids[0])
    col.compact()
    assert [hit["n"] for hit in hits[0]] == rows


def test_handles_see_what_others_do_when_they_refresh(tmp_path):
    made().save(tmp_path / "c")
    one, other = (Collection.open(tmp_path / "c") for _ in range(2))
    assert not one.refresh()
    other.delete([3])
    assert (len(one), 3 in one) == (N, True)
    assert one.refresh()
    assert (len(one), 3 in one, one.version) == (N - 1, False, other.version)
    other.compact()
    one.refresh()
    assert content(one) == content(other)
    made(X[:4]).save(tmp_path / "c", overwrite=True)
    assert one.refresh()
    assert len(one) == 4
    assert made().refresh() is False


# Reading rows.


def test_iteration_and_access(home):
    ids = [f"k{i}" for i in range(N)]
    col = home(made(ids=ids))
    assert [*col] == ids
    assert (len(col), "k3" in col, "x" in col) == (N, True, False)
    assert col["k3"] == {"n": 3, "text": "a"}
    assert col.get(["k5", "k1", "k5"], ["n"]) == [{"n": 5}, {"n": 1}, {"n": 5}]
    assert col.get(["k5"], []) == [{}]
    assert col.get([]) == []
    with pytest.raises(ArgumentError, match="no item with id 'x'"):
        _ = col["x"]
    with pytest.raises(ArgumentError, match="no column 'm'"):
        col.get(["k1"], ["m"])
    positions = np.array([7, 2, 7])
    assert tools.take(col, positions).to_pylist() == [
        {"id": f"k{i}", "n": i, "text": "a"} for i in positions
    ]
    assert tools.take(col, positions, ["n"], codes=True).column_names == [
        "id",
        "_code",
        "n",
    ]
    assert col.column("n", positions).tolist() == [7, 2, 7]
    np.testing.assert_array_equal(tools.vectors_at(col, positions), X[positions])
    assert tools.positions_of(col, ["k9", "k0"]).tolist() == [9, 0]
    assert tools.positions_of(col, ["k9", "x"], missing_ok=True).tolist() == [9]
    assert col.schema == col.to_arrow().schema
    assert (tools.parse_id(col, "k1"), tools.parse_id(made(), "7")) == ("k1", 7)
    with pytest.raises(ArgumentError, match="ids of this collection are integers"):
        tools.parse_id(made(), "k1")
    col.delete(["k1"])
    assert tools.take(col, np.array([1])).to_pylist() == [
        {"id": "k2", "n": 2, "text": "a"}
    ]


def test_batches_are_all_rows_in_order(home):
    col = home(made())
    col.add(X[:2], columns={"n": [90, 91], "text": ["b", "c"]})
    whole = pa.concat_tables(col.batches())
    assert whole.to_pylist() == col.to_arrow().to_pylist()
    assert whole.column_names == ["id", "n", "text"]
    assert col.to_arrow([]).column_names == ["id"]
    assert col.to_arrow(["text"], filter="n >= 90").to_pylist() == [
        {"id": 40, "text": "b"},
        {"id": 41, "text": "c"},
    ]


def test_ids_have_another_name_where_a_column_is_called_id(home):
    col = home(made(id=[f"x{i}" for i in range(N)]))
    assert (col.id_name, col.columns) == ("_id", ["id"])
    table = col.to_arrow()
    assert (table["_id"][3].as_py(), table["id"][3].as_py()) == (3, "x3")
    assert col.search(X[:1], 1)[0][0]["id"] == "x0"


# Copies, other processes.

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda col: pickle.loads(pickle.dumps(col)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("form", ["float16", "int8"])
def test_copies_answer_alike(home, way, form):
    col = home(made(form=form))
    col.delete([3])
    before = content(col)
    other = COPIES[way](col)
    assert content(other) == before
    assert other.version == col.version
    assert col.path == other.path
    held = COPIES[way](col.frozen())
    col.delete([4])
    if col.path is None:
        assert content(other) == before  # it is a collection of its own
        other.delete([5])
    else:
        assert other.refresh()
        assert 4 not in other
        other.delete([5])
        assert col.refresh()
        assert 5 not in col
    assert content(held) == before


def test_a_collection_without_rows_is_copied(tmp_path):
    learnt = fewbits.fit(X, learner="lsh", bits=8)
    learnt.save(tmp_path / "c")
    for col in (learnt, Collection.open(tmp_path / "c")):
        for way in COPIES.values():
            assert way(col).encoder.fingerprint == learnt.encoder.fingerprint
            assert len(way(col)) == 0
    past = Collection.open(tmp_path / "c").frozen()
    Collection.open(tmp_path / "c").add(X[:2])
    assert len(past) == 0


def nearest_in_child(pipe, col):
    hits = col.search(X, 5, rerank=False)
    pipe.send((hits.ids, hits.distances))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_processes_search(home):
    col = home(made(np.repeat(X, 10, axis=0)))
    _kernels.set_num_threads(2)
    try:
        expected = col.search(X, 5, rerank=False)  # threads run before the fork
        context = multiprocessing.get_context("fork")
        for _ in range(3):
            ours, theirs = context.Pipe()
            child = context.Process(target=nearest_in_child, args=(theirs, col))
            child.start()
            assert ours.poll(60)
            ids, distances = ours.recv()
            child.join()
            np.testing.assert_array_equal(ids, expected.ids)
            np.testing.assert_array_equal(distances, expected.distances)
    finally:
        _kernels.set_num_threads(None)


torch = pytest.importorskip("torch")


class Neighbours(torch.utils.data.Dataset):
    """The nearest items of each vector, looked up when it is asked for."""

    def __init__(self, col):
        self.col = col

    def __len__(self):
        return N

    def __getitem__(self, row):
        hits = self.col.search(X[row : row + 1], 5)
        return row, hits.ids[0], hits.distances[0]


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4:UserWarning")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_workers_of_a_data_loader_search(home):
    col = home(
        Collection.create(None, X, encoder=ITQ(16, random_state=0).fit(X).encoder_)
    )
    expected = col.search(X, 5)
    loader = torch.utils.data.DataLoader(
        Neighbours(col),
        batch_size=5,
        num_workers=4,
        multiprocessing_context="fork",
        timeout=60,
    )
    rows, ids, distances = map(torch.cat, zip(*loader, strict=True))
    assert rows.tolist() == [*range(N)]
    assert np.array_equal(ids.numpy(), expected.ids)
    assert np.array_equal(distances.numpy(), expected.distances)


# What was given, and what is handed out.


def try_to_write(array):
    """Write into an array and what it is a view of, wherever that is allowed."""
    while isinstance(array, np.ndarray):
        try:
            array.flags.writeable = True
            array[...] = 0
        except (ValueError, TypeError):
            pass
        array = array.base


def arrays_of(col):
    yield from (col.codes, col.ids, col.vectors, col.column("n"), col.labels("n"))
    yield from (
        tools.mask(col, "n > 5"),
        tools.vectors_at(col, np.arange(3)),
        col.encode(ids=[0, 3]),
    )
    yield from col.encoder.tensors().values()
    hits = col.search(X[:3], 3)
    yield from (hits.ids, hits.distances)
    groups = col.duplicates(3).groups()
    yield from (groups.ids, groups.offsets, groups.positions)
    for table in (
        col.to_arrow(),
        *col.batches(),
        hits.columns,
        tools.take(col, np.arange(3)),
    ):
        for column in table.columns:
            for chunk in column.chunks:
                buffers = [buffer for buffer in chunk.buffers() if buffer]
                yield from (np.frombuffer(buffer, "u1") for buffer in buffers)


@pytest.mark.parametrize("form", ["float32", "float16", "int8"])
def test_what_is_handed_out_changes_nothing(home, form):
    col = home(made(form=form))
    col.search(X[:1], filter="n > 5")
    before = content(col)
    for array in arrays_of(col):
        try_to_write(array)
    col.columns.clear()
    col.search(X[:1], 1)[0][0].columns["n"] = -1
    col.get([0])[0]["n"] = -1
    assert content(col) == before
    assert content(home(col)) == before
    with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
        col.codes[0] = 1
    with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
        col.ids[0] = 1


@pytest.mark.parametrize(
    "name",
    ["codes", "ids", "vectors", "encoder", "codebook", "facts", "version", "path"],
)
def test_attributes_cannot_be_set(name):
    col = made()
    with pytest.raises(AttributeError):
        setattr(col, name, None)


def test_facts_and_classes_do_not_change(home):
    learnt = ITQ(8, random_state=0)
    col = home(Collection.create(None, X, learner=learnt))
    before = col.facts.to_dict()
    for owner, name in (
        (col.facts, "method"),
        (col.encoder, "weights"),
        (col.encoder, "fingerprint"),
    ):
        with pytest.raises(AttributeError):
            setattr(owner, name, None)
    with pytest.raises(TypeError):
        col.facts.parameters["n_bits"] = 3
    assert col.facts.to_dict() == before


def test_what_was_given_may_change(home):
    vectors, ids, numbers = X.copy(), np.arange(N) * 3, np.arange(float(N))
    of_pandas, of_polars = pd.Series(np.arange(float(N))), np.arange(float(N))
    room = bytearray(np.arange(N).tobytes())
    strings = np.array([f"s{i}" for i in range(N)])
    objects, lists = strings.astype(object), [[i] for i in range(N)]
    hidden, of_arrow = numbers.copy(), numbers.copy()
    readable = hidden[:]
    readable.flags.writeable = False
    columns = {
        "n": numbers,
        "read-only": readable,
        "strings": strings,
        "objects": objects,
        "lists": lists,
        "pandas": of_pandas,
        "polars": pl.Series(of_polars),
        "arrow": pa.array(of_arrow),
        "buffer": pa.Array.from_buffers(pa.int64(), N, [None, pa.py_buffer(room)]),
    }
    weights, bias = np.eye(WIDTH), np.zeros(WIDTH)
    encoder = LinearEncoder(weights, bias)
    col = home(
        Collection.create(
            None,
            vectors,
            ids=ids,
            columns=columns,
            encoder=encoder,
            keep_vectors="float32",
        )
    )
    before = content(col)
    for array in (vectors, ids, numbers, hidden, of_polars, of_arrow, weights, bias):
        array[:] = 0
    strings[:], objects[:], lists[0][0], of_pandas.iloc[0] = "x", "x", 9, 9
    room[:] = bytes(len(room))
    columns.clear()
    assert content(col) == before


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_tables_that_were_given_may_change(home, library):
    numbers, vectors = np.arange(float(N)), X.copy()
    if library == "pandas":
        table = pd.DataFrame({"n": numbers, "v": list(vectors)})
    elif library == "polars":
        arrays = pl.Series(vectors, dtype=pl.Array(pl.Float32, WIDTH))
        table = pl.DataFrame({"n": pl.Series(numbers), "v": arrays})
    else:
        flat = pa.array(vectors.reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(flat, WIDTH)
        table = pa.table({"n": numbers, "v": lists})
    col = home(Collection.create(None, table, column="v", encoder=ENCODER))
    before = content(col)
    numbers[:], vectors[:] = -1, 0
    if library == "pandas":
        table.iloc[0, 0] = 77.0
    assert content(col) == before


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps_that_were_given_may_change(home, tmp_path, mode):
    np.save(tmp_path / "codes.npy", ENCODER.encode(X))
    np.save(tmp_path / "x.npy", X)
    codes, vectors = (
        np.load(tmp_path / name, mmap_mode=mode) for name in ("codes.npy", "x.npy")
    )
    for col in (
        home(Collection.create(None, codes=codes)),
        home(Collection.create(None, vectors, encoder=ENCODER, keep_vectors="float32")),
    ):
        before = col.codes.tolist(), col.search(ids=[3], k=5).to_list()
        for array in (codes, vectors):
            if mode != "r":
                array[:] = 0
        assert (col.codes.tolist(), col.search(ids=[3], k=5).to_list()) == before


def test_a_codebook_of_names_does_not_change():
    codes, names = np.eye(2, 2, dtype=np.uint8), ["x", "y"]
    book = Codebook(codes, WIDTH, names=names)
    codes[:], names[0] = 9, "other"
    assert book.names.tolist() == ["x", "y"]
    assert book.codes.tolist() == np.eye(2, 2).tolist()


# Memory.


def test_a_large_collection_opens_at_once(tmp_path):
    """Opening reads no rows: neither their bytes, nor what is damaged in them."""
    n = 200_000
    codes = np.random.default_rng(0).integers(0, 256, (n, 64), np.uint8)
    Collection.create(tmp_path / "c", codes=codes, columns={"n": np.arange(n)})
    gc.collect()
    tracemalloc.start()
    col = Collection.open(tmp_path / "c")
    assert len(col) == n
    assert col.codes.shape == codes.shape
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    np.testing.assert_array_equal(col.codes[-3:], codes[-3:])
    assert np.shares_memory(col.codes, Collection.open(tmp_path / "c").codes) is False
    (rows,) = (tmp_path / "c").glob("rows-*/seg-*.arrow")
    with rows.open("r+b") as file:
        file.seek(n * 32)  # in the codes
        file.write(b"damaged")
    damaged = Collection.open(tmp_path / "c")
    assert len(damaged) == n
    with pytest.raises(ArtefactError, match="damaged"):
        damaged.search(codes=codes[:1], k=1)


def test_rows_of_old_versions_leave_the_memory():
    col = made(np.tile(X, (500, 1)))
    col.search(X[:1], filter="n > 3")
    tracemalloc.start()
    for _ in range(3):
        pa_before = pa.total_allocated_bytes()
        col.update(None, ids=col.ids, columns={"n": np.arange(len(col))})
        col.search(X[:1], filter="n > 3")
    tracemalloc.stop()
    assert pa.total_allocated_bytes() < 1.2 * pa_before


def test_threads_that_read_while_another_changes_rows(tmp_path):
    col = Collection.create(tmp_path / "c", X, encoder=ENCODER, keep_vectors="float32")
    failures, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                col.search(X[:1], k=3, rerank=True)
            except Exception as error:
                failures.append(error)
                return

    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            pool.submit(read)
        for _ in range(40):  # files of earlier versions are closed meanwhile
            col.add(X[:3])
            col.compact()
        done.set()
    assert failures == []
