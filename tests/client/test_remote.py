"""A collection behind an address answers as the local one does."""

import dataclasses
import inspect
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from PIL import Image

import fewbits
from fewbits import Collection
from fewbits.classify.decoders import Bounded
from fewbits.client import RemoteCollection
from fewbits.collection import Classification, DuplicateGroups, Hits
from fewbits.errors import ArgumentError, FeatureError, FewbitsError, ServiceError
from fewbits.learners import LSH
from fewbits.server import Settings, create_app
from tests.server._images import image_collection
from tests.server._running import ENCODER, N_BITS, served, small_collection, vectors
from tests.server._texts import text_collection

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

Q = vectors(23, seed=1)


@contextmanager
def remote_of(source, **settings):
    with served(source, Settings(**settings)) as url, fewbits.open(url) as remote:
        yield remote


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote") / "c"
    return small_collection(path=folder, keep_vectors="float32", label=None)


@pytest.fixture(scope="module", params=["whole", "in parts"])
def remote(local, request):
    few = {} if request.param == "whole" else {"max_queries": 5}
    with remote_of(local, **few) as remote:
        yield remote


def same(found, wanted):
    """Compare answers by what they hold, and the types of that."""
    if isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tolist() == wanted.tolist()
    elif isinstance(wanted, Hits):
        for name in ("ids", "distances", "out_of_distribution"):
            same(getattr(found, name), getattr(wanted, name))
        assert (found.metric, len(found)) == (wanted.metric, len(wanted))
        assert found.to_list() == wanted.to_list()
        assert found.to_arrow().equals(wanted.to_arrow())
    elif isinstance(wanted, Classification):
        for field in dataclasses.fields(wanted):
            same(getattr(found, field.name), getattr(wanted, field.name))
    elif isinstance(wanted, DuplicateGroups):
        for name in ("ids", "offsets", "n_pairs"):
            same(getattr(found, name), getattr(wanted, name))
    elif isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for mine, other in zip(found, wanted, strict=True):
            same(mine, other)
    elif hasattr(wanted, "to_arrow"):
        assert found.to_arrow().equals(wanted.to_arrow())
        assert found.to_list() == wanted.to_list()
    elif isinstance(wanted, pa.Table):
        assert found.equals(wanted)
    else:
        assert type(found) is type(wanted)
        assert found == wanted


CODES = ENCODER.encode(Q)
CALLS = [
    ("summary", (), {}),
    ("search", (Q, 7), {}),
    ("search", (), {"vectors": Q, "k": 3, "rerank": False}),
    ("search", (), {"ids": [4, 9, 4], "k": 3}),
    ("search", (), {"ids": np.array([4, 9]), "radius": 9}),
    ("search", (), {"codes": CODES, "k": 3, "columns": ["year"]}),
    ("search", (Q, 7), {"columns": []}),
    ("search", (Q, 7), {"columns": ["id,kind"]}),
    ("search", (Q,), {"filter": "kind = 'red' and year > 2005", "rerank": False}),
    ("search", (Q, 5), {"allowed": [3, 5, 90]}),
    ("search", (Q, 5), {"allowed": pd.Series([3, 5, 90]), "filter": "bit(2) = 1"}),
    ("search", (Q, 5), {"filter": "year > 3000"}),
    ("search", (Q, 6), {"rerank": True, "shortlist": 20}),
    ("search", (Q, 6), {"group_by": "year", "filter": "kind = 'red'"}),
    ("search", (Q,), {"radius": 9}),
    ("search", (Q, 2), {"radius": 9, "filter": "kind = 'red'"}),
    ("search", (Q,), {"radius": 0}),
    ("search", (Q, 300), {}),
    ("like", (Q[:2], Q[2:3]), {"good_ids": [4, 9], "bad_ids": [1], "k": 5}),
    ("like", (), {"good_ids": [4], "columns": ["kind"], "n_random": 50, "C": 3.0}),
    ("like", (), {"good_ids": [4], "filter": "kind = 'red'", "allowed": range(50)}),
    ("classify", (Q,), {}),
    ("classify", (), {"ids": [4, 9]}),
    ("classify", (Q,), {"decoder": "nearest"}),
    ("classify", (Q,), {"decoder": Bounded(radius=9), "top": 2}),
    ("classify", (Q,), {"label": "kind", "k": 3}),
    ("classify", (Q,), {"label": "kind", "linear": True}),
    ("encode", (Q,), {}),
    ("encode", (), {"ids": [4, 9]}),
    ("encode", (), {"codes": CODES}),
    ("duplicates", (6,), {}),
    ("duplicates", (0,), {}),
    ("duplicates", (6,), {"max_vector_distance": 7.5}),
    ("duplicates", (6,), {"filter": "kind = 'red'", "allowed": range(90)}),
    ("recall", (5,), {}),
    ("recall", (5,), {"queries": Q[:5], "n_queries": 4, "confidence": 0.9}),
    ("recall", (5,), {"vectors": vectors()[:, :], "n_queries": 9, "shortlist": 50}),
    ("get", ([4, 9],), {}),
    ("get", ([4, 9], ["year"]), {}),
    ("get", ([4, 9], []), {}),
    ("get", ([4, 9], ["id", "year"]), {}),
    ("to_arrow", (), {}),
    ("to_arrow", (["id"],), {}),
    ("to_arrow", (["year"],), {"filter": "year > 2005"}),
    ("to_arrow", (), {"filter": "year > 3000"}),
    ("column", ("kind",), {}),
    ("column", ("kind", np.array([5, 2, 5, -1])), {}),
    ("column", ("year",), {"positions": np.array([], np.int64)}),
    ("__len__", (), {}),
    ("__contains__", (4,), {}),
    ("__contains__", (4000,), {}),
    ("__getitem__", (4,), {}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), CALLS)
def test_calls(local, remote, name, arguments, options):
    found = getattr(remote, name)(*arguments, **options)
    same(found, getattr(local, name)(*arguments, **options))


def test_facts_of_it(local, remote):
    names = ("columns", "kind", "backbone", "item_column", "label_column", "version")
    for name in (*names, "id_name", "has_text_ids", "ids"):
        same(getattr(remote, name), getattr(local, name))
    assert [*remote] == [*local]


@pytest.mark.parametrize(
    "items",
    [Q.astype(np.float64), Q.astype(np.float16), Q.tolist(), pd.DataFrame(Q), Q[:0]],
    ids=["float64", "float16", "lists", "frame", "empty"],
)
def test_items_of_other_types(local, remote, items):
    same(remote.encode(items), local.encode(items))
    same(remote.search(items, 3), local.search(items, 3))
    same(remote.search(items, radius=8), local.search(items, radius=8))


def test_nothing_is_asked(local, remote):
    same(remote.search(codes=CODES[:0]), local.search(codes=CODES[:0]))
    same(remote.search(ids=[]), local.search(ids=[]))


def test_scalars_of_numpy(local, remote):
    k, radius = np.int64(3), np.uint8(9)
    same(remote.search(Q, k), local.search(Q, 3))
    same(remote.search(Q, radius=radius), local.search(Q, radius=9))
    same(remote.duplicates(np.int32(2)), local.duplicates(2))
    allowed = [*np.arange(5)]
    same(remote.search(Q, 3, allowed=allowed), local.search(Q, 3, allowed=range(5)))


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("search", (Q[:, :3],), {}),
        ("search", (Q[0],), {}),
        ("search", (), {}),
        ("search", (Q,), {"ids": [4]}),
        ("search", (Q, 0), {}),
        ("search", (Q, np.int64(-1)), {}),
        ("search", (Q, 2.5), {}),
        ("search", (Q,), {"filter": "no such column = 1"}),
        ("search", (Q,), {"allowed": [10**6]}),
        ("search", (Q,), {"group_by": "none"}),
        ("search", (Q,), {"columns": ["none"]}),
        ("search", (Q,), {"columns": "kind"}),
        ("search", (Q,), {"radius": -1}),
        ("search", (Q,), {"radius": 3, "rerank": True}),
        ("search", (Q,), {"rerank": False, "shortlist": 9}),
        ("search", (), {"ids": [10**6]}),
        ("search", (), {"ids": ["a"]}),
        ("search", (), {"texts": ["a"]}),
        ("search", (), {"codes": CODES[:, :2]}),
        ("encode", (np.full((1, 32), np.nan),), {}),
        ("classify", (Q,), {"decoder": "none"}),
        ("classify", (Q,), {"label": "kind", "decoder": "soft"}),
        ("like", (), {}),
        ("like", (), {"good_ids": [4], "bad_ids": [4]}),
        ("like", (), {"good_ids": [4], "k": 0}),
        ("duplicates", (-1,), {}),
        ("recall", (0,), {}),
        ("recall", (5,), {"confidence": 1.0}),
        ("get", ([10**6],), {}),
        ("get", ([4], ["none"]), {}),
        ("delete", (), {}),
        ("update", (None,), {}),
    ],
)
def test_errors_are_the_same(local, remote, name, arguments, options):
    errors = []
    for collection in (local, remote):
        with pytest.raises(FewbitsError) as caught:
            list(getattr(collection, name)(*arguments, **options))
        errors.append(caught.value)
    assert type(errors[0]) is type(errors[1])
    if "radius" in str(errors[0]):
        assert str(errors[0]) == str(errors[1])
    assert "\n" not in str(errors[1])


def test_what_only_a_local_collection_takes(remote):
    import pyarrow.compute as pc

    with pytest.raises(ArgumentError, match="conditions as texts"):
        remote.search(Q, filter=pc.field("year") > 3)
    for mask in ([True] * 200, np.ones(200, bool), pd.Series([True] * 200)):
        with pytest.raises(ArgumentError, match="not a mask"):
            remote.search(Q, allowed=mask)


def public(kind):
    return {name for name in dir(kind) if name[0] != "_"}


def test_every_method_is_here_or_says_why_not(remote):
    local = [x for x in public(Collection) if not hasattr(remote, x)]
    assert {"search", "like", "add", "upsert", "recall", "at"}.isdisjoint(local)
    assert {"encoder", "codes", "create", "frozen"} < {*local}
    for name in local:
        with pytest.raises(ArgumentError, match=name) as caught:
            getattr(remote, name)
        assert "\n" not in str(caught.value)
    with pytest.raises(AttributeError):
        remote.nothing  # noqa: B018


@pytest.mark.parametrize("name", sorted(public(Collection) - {"facts", "verify"}))
def test_arguments_are_the_same(name):
    if not hasattr(RemoteCollection, name):
        return
    local, remote = (getattr(x, name) for x in (Collection, RemoteCollection))
    if isinstance(local, property):
        assert isinstance(remote, property)
        return
    local, remote = (
        [(p.name, p.kind, p.default) for p in inspect.signature(x).parameters.values()]
        for x in (local, remote)
    )
    assert local == remote


@pytest.mark.parametrize(
    "options",
    [{}, {"filter": "kind = 'red'"}, {"max_vector_distance": 7.5}],
    ids=["all", "filtered", "confirmed"],
)
def test_groups_of_duplicates(local, remote, options):
    found, wanted = (x.duplicates(9, **options).groups() for x in (remote, local))
    assert len(wanted) > 1
    same(found, wanted)
    for collection in (remote, local):
        with pytest.raises(ArgumentError, match="more than 1 pairs"):
            collection.duplicates(9, **options).groups(max_pairs=1)


def test_groups_of_duplicates_are_bounded(local):
    n = len(local.duplicates(9).groups().ids)
    for most, fits in ((n, True), (n - 1, False)):
        refused = nullcontext() if fits else pytest.raises(ArgumentError, match="most")
        with remote_of(local, max_hits=most) as remote, refused:
            assert len(remote.duplicates(9).groups().ids) == n


def test_verify(tmp_path):
    folder = tmp_path / "c"
    small_collection(path=folder)
    with remote_of(folder) as remote:
        assert remote.verify() == Collection.verify_folder(folder)
        (rows,) = folder.glob("*/seg-*.arrow")
        with rows.open("r+b") as file:  # in place: a server has it mapped
            file.truncate(rows.stat().st_size - 8)
        found, wanted = remote.verify(), Collection.verify_folder(folder)
        assert not found.is_intact
        assert found.damages[0].file == str(rows.relative_to(folder))
        assert wanted.damages[0].file == str(rows)
        assert (found.number, found.n_bytes) == (wanted.number, wanted.n_bytes)
    with (
        remote_of(small_collection()) as remote,
        pytest.raises(ServiceError, match="in memory"),
    ):
        remote.verify()


def test_compact(tmp_path):
    folder = tmp_path / "c"
    small_collection(path=folder)
    with remote_of(folder, writable=True) as remote:
        for ids in ([3], [5, 9]):
            assert remote.delete(ids) == len(ids)
        assert remote.delete([3, 7], missing_ok=True) == 1
        with pytest.raises(ArgumentError):
            remote.delete([3])
        before = remote.search(Q, 9)
        remote.compact(timeout=5)
        same(remote.search(Q, 9), before)
        usage = Collection.open(folder).usage()
        assert (len(remote), usage["n_dead_rows"], usage["n_segments"]) == (196, 0, 1)


def test_a_number_is_given_once(tmp_path):
    Collection.create(tmp_path / "c", codes=CODES[:2])
    with remote_of(tmp_path / "c", writable=True) as remote:
        remote.delete([1])
        remote.compact()
        remote.add(codes=CODES[:1])
        assert remote.ids.tolist() == [0, 2]


def test_read_only(remote):
    with pytest.raises(ServiceError, match="--writable"):
        remote.compact()
    with pytest.raises(ServiceError, match="--writable") as caught:
        remote.add(Q, columns={"kind": ["x"] * 23, "year": [1] * 23})
    assert (caught.value.status, caught.value.code) == (403, "read_only")


def test_changes(tmp_path):
    local = small_collection(path=tmp_path / "a")
    small_collection(path=tmp_path / "b")
    with remote_of(tmp_path / "b", writable=True, max_body_bytes=4096) as remote:
        for one, other in zip(changes(local), changes(remote), strict=True):
            assert one == other
            assert len(local) == len(remote)
            same(remote.search(Q, 9), local.search(Q, 9))
            same(remote.to_arrow(), local.to_arrow())


def changes(collection):
    """Change a collection step by step; yield what each step returns."""
    columns = {"kind": ["blue"] * 2, "year": [1, 2]}
    yield collection.add(Q[:2], ids=[500, 501], columns=columns)
    yield collection.add(codes=CODES[2:4], ids=[502, 503], columns=columns)
    yield collection.upsert(Q[3:5], ids=np.array([501, 502]), columns=columns)
    table = {"v": [*Q[5:7]], "kind": ["x", "y"], "year": [3, 4], "key": [600, 601]}
    for frame in (pd.DataFrame(table), pa.table(table)):
        yield collection.upsert(frame, column="v", id="key")
    blank = {"kind": pa.nulls(1), "year": pa.nulls(1, pa.large_string())}
    yield collection.add(Q[7:8], ids=[700], columns=blank)
    yield collection.update(pa.table({"id": [500, 600], "year": [7, 8]}))
    yield collection.update(None, ids=[500], columns={"kind": ["green"], "note": ["n"]})
    yield collection.update({"year": 3, "kind": "z"}, filter="year = 2018")
    yield collection.update([{"year": 8}], filter="kind = 'nothing'")
    yield collection.delete([500])
    yield collection.delete(filter="year = 2019")
    yield collection.delete([501, 502], filter="year = 2")
    yield collection.delete([501, 10**6], missing_ok=True)
    many = vectors(300, seed=5)
    more = {"kind": ["m"] * 300, "year": [5] * 300, "note": [None] * 300}
    yield collection.add(many, ids=np.arange(1000, 1300), columns=more)


def test_a_column_that_comes_by_update_is_told_with_those_there(tmp_path):
    local = small_collection(path=tmp_path / "c")
    frame = pd.DataFrame({"yaer": [1]}, index=pd.Index([3], name="id"))
    with remote_of(tmp_path / "c", writable=True) as remote:
        for col, name in ((local, "yaer"), (remote, "yeer")):
            with pytest.warns(
                UserWarning, match=f"no column '{name}'.*; it has .*year"
            ):
                assert col.update(frame.rename(columns={"yaer": name})) == 1
            local.refresh()
            assert local[3][name] == 1


def test_mistakes_of_changes(tmp_path):
    small_collection(path=tmp_path / "c")
    columns = {"kind": ["x"], "year": [1]}
    with remote_of(tmp_path / "c", writable=True) as remote:
        with pytest.raises(ArgumentError, match="no column 'kind'"):
            remote.upsert(Q[:1], ids=[900], columns={"year": [1]})
        with pytest.raises(ArgumentError, match="entry for each"):
            remote.add(Q[:2], ids=[900])
        with pytest.raises(ArgumentError, match="entry for each"):
            remote.update(None, ids=[1, 2], columns={"year": [1]})
        with pytest.raises(ArgumentError, match="3"):
            remote.add(Q[:1], ids=[3], columns=columns)
        with pytest.raises(ArgumentError, match="is about a table"):
            remote.add(Q[:1], id="kind", columns=columns)
        with pytest.raises(TypeError, match="colour"):
            remote.add(Q[:2], colour=3)
        assert len(remote) == 200


def test_warnings_are_those_of_a_local_collection(tmp_path):
    local = small_collection(path=tmp_path / "a")
    small_collection(path=tmp_path / "b")
    few = {"max_body_bytes": 2048}  # in several requests: each warning comes once
    columns = {"year": [1] * 23, "more": [2] * 23}
    with remote_of(tmp_path / "b", writable=True, **few) as remote:
        told = []
        for collection in (local, remote):
            with pytest.warns(UserWarning, match="the") as caught:
                collection.add(Q, ids=range(900, 923), columns=columns)
            told.append([str(each.message) for each in caught])
            assert {each.filename for each in caught} == {__file__}
        assert told[0] == told[1]
        assert "'kind'" in told[0][0]
        assert "'more'" in told[0][1]
        same(remote.to_arrow(), local.to_arrow())


def test_columns_called_as_ours_almost_are(tmp_path):
    columns = {"_text": ["a"] * 200, "_items": [1] * 200}
    small_collection(path=tmp_path / "c", columns=columns)
    with remote_of(tmp_path / "c", writable=True) as remote:
        new = {"_text": ["b"], "_items": [2]}
        assert remote.add(Q[:1], ids=[900], columns=new) == 1
        assert remote.get([900]) == [{"_text": "b", "_items": 2}]


def test_text_ids():
    collection = small_collection(ids=[f"a{i}" for i in range(200)])
    with remote_of(collection) as remote:
        for options in ({"k": 300}, {"radius": 9}, {"radius": 0}):
            same(remote.search(Q, **options), collection.search(Q, **options))
        same(remote.search(ids=["a7"], k=3), collection.search(ids=["a7"], k=3))
        same(remote.duplicates(6), collection.duplicates(6))
        same(remote.duplicates(6).groups(), collection.duplicates(6).groups())
        same(remote.like(good_ids=["a7"]), collection.like(good_ids=["a7"]))
        same(remote.to_arrow(), collection.to_arrow())


def test_columns_of_all_types():
    days = pa.array([1, None] * 100, pa.date32())
    columns = {
        "day": days,
        "score": [float("nan"), 1.5] * 100,
        "tags": [["a"], []] * 100,
        "kind": pa.array(["x", "y"] * 100).dictionary_encode(),
        "rank": [*range(200)],
    }
    collection = small_collection(columns=columns)
    with remote_of(collection) as remote:
        for found, wanted in (
            (remote.search(Q, 3), collection.search(Q, 3)),
            (remote.like(good_ids=[3]), collection.like(good_ids=[3])),
        ):
            assert found.to_arrow().schema == wanted.to_arrow().schema
            assert str(found.to_list()) == str(wanted.to_list())
        assert str(remote.get([0, 1])) == str(collection.get([0, 1]))


@pytest.mark.parametrize(
    "names",
    [
        ["column.id"],
        ["column.column.id", "column.id", "id"],
        ["id", "column.id", "rank", "distance"],
        ["column.", "column.kind", "query", "column.query"],
    ],
)
@pytest.mark.parametrize("text_ids", [False, True])
def test_names_of_columns_as_those_of_hits(names, text_ids):
    columns = {name: [10 * i + j for i in range(200)] for j, name in enumerate(names)}
    ids = {"ids": [f"a{i}" for i in range(200)]} if text_ids else {}
    local = small_collection(columns=columns, **ids)
    some = local.ids[[7, 3]].tolist()
    with remote_of(local, max_queries=5) as remote:
        same(remote.search(Q, 3), local.search(Q, 3))
        same(
            remote.search(Q, 3, columns=names[:1]),
            local.search(Q, 3, columns=names[:1]),
        )
        same(remote.search(Q, radius=0), local.search(Q, radius=0))
        same(remote.like(good_ids=some), local.like(good_ids=some))
        assert remote.columns == local.columns
        assert remote.get(some) == local.get(some)
        assert remote.get(some, names[-1:]) == local.get(some, names[-1:])
        same(remote.to_arrow(), local.to_arrow())
        for name in names:
            same(remote.column(name), local.column(name))


def test_changes_of_columns_as_those_of_hits(tmp_path):
    new = {"column.id": [7], "id": [8]}
    columns = {"column.id": [*range(200)], "id": [*range(200)]}
    local = small_collection(path=tmp_path / "a", columns=columns)
    small_collection(path=tmp_path / "b", columns=columns)
    with remote_of(tmp_path / "b", writable=True) as remote:
        for collection in (local, remote):
            assert collection.add(Q[:1], ids=[900], columns=new) == 1
            assert collection.update(None, ids=[3], columns=new) == 1
            assert collection.get([900, 3]) == [{"column.id": 7, "id": 8}] * 2
        same(remote.to_arrow(), local.to_arrow())


def test_a_new_column_called_as_the_ids_are(tmp_path):
    small_collection(path=tmp_path / "c")
    columns = {"kind": ["x"], "year": [1], "_id": [901]}
    with remote_of(tmp_path / "c", writable=True) as remote:
        assert remote.update(None, ids=[3], columns={"id": [8]}) == 1
        assert [x["id"] for x in remote.get([3, 8])] == [8, None]
        with pytest.raises(ArgumentError, match="ids stay"):
            remote.update(None, ids=[3], columns={"_id": [8]})
        for change in (remote.add, remote.upsert):
            with pytest.raises(ArgumentError, match="cannot be called '_id'"):
                change(Q[:1], ids=[900], columns=columns)
        assert len(remote) == 200


def test_progress(tmp_path):
    small_collection(path=tmp_path / "c")
    columns = {"kind": ["x"] * 23, "year": [1] * 23}
    calls = []

    def progress(done, n):
        calls.append((done, n))

    with remote_of(tmp_path / "c", writable=True, max_queries=10) as remote:
        remote.encode(Q, progress=progress)
        assert calls == [(10, 23), (20, 23), (23, 23)]
        for change in (remote.add, remote.upsert):
            calls.clear()
            change(Q, ids=range(900, 923), columns=columns, progress=progress)
            assert calls[-1] == (23, 23)
        calls.clear()
        remote.recall(3, vectors=vectors(223), n_queries=5, progress=progress)
        assert calls == [(223, 223)]
    with remote_of(tmp_path / "c", writable=True, max_body_bytes=2048) as remote:
        calls.clear()
        remote.upsert(Q, ids=range(900, 923), columns=columns, progress=progress)
        assert len(calls) > 1
        assert calls == [
            (min(i * calls[0][0], 23), 23) for i in range(1, len(calls) + 1)
        ]


def test_a_novelty_radius():
    X = np.repeat(np.eye(4), 25, axis=0) + 0.01 * vectors(100)[:, :4]
    encoder = LSH(32, random_state=0).fit(X).encoder_
    table = pa.table({"v": [*X], "class": np.repeat([*"abcd"], 25)})
    col = Collection.create(None, table, column="v", label="class", encoder=encoder)
    with remote_of(col, max_queries=3) as remote:
        found, wanted = (x.search(X[::10] - 0.5) for x in (remote, col))
        assert wanted.out_of_distribution is not None
        same(found, wanted)


def test_texts(tmp_path):
    pytest.importorskip("wordllama")
    texts = ["a broken arm", "a broken leg", "cannot sleep", "headache"]
    table = pa.table({"key": ["a", "b", "c", "d"], "text": texts})
    options = {"id": "key", "column": "text", "bits": 16, "backbone": "wordllama-256"}
    local = Collection.create(tmp_path / "a", table, **options)
    Collection.create(tmp_path / "b", table, **options)
    (tmp_path / "new.csv").write_text("key,text\ne,a sore throat\nf,fever\n")
    with remote_of(tmp_path / "b", writable=True) as remote:
        for collection in (local, remote):
            assert collection.add(tmp_path / "new.csv") == 2
            assert collection.upsert(pa.table({"key": ["f"], "text": ["cough"]})) == 1
            assert collection.add(["dizzy"], ids=["g"]) == 1
        for wanted, found in (
            (x.search(["arm", "sleepless"], 3) for x in (local, remote)),
            (
                x.search(["arm"], 3, filter="text like '%broken%'")
                for x in (local, remote)
            ),
            (x.like(good=["a broken arm"], bad=["cough"]) for x in (local, remote)),
        ):
            same(found, wanted)
        same(remote.to_arrow(), local.to_arrow())
        with pytest.raises(ArgumentError):
            remote.search("arm")


def test_images(tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    with remote_of(collection, writable=True) as remote:
        asked = [paths[0], str(paths[1]), Image.open(paths[2])]
        same(remote.search(asked, 3), collection.search(asked, 3))
        assert remote.search(asked, 1).distances.ravel().tolist() == [0, 0, 0]
        grey = Image.new("RGB", (32, 32), (90, 90, 90))
        same(remote.like([grey], k=2), collection.like([grey], k=2))
        (tmp_path / "no.png").write_bytes(b"no image")
        with pytest.raises(FeatureError):
            remote.encode([tmp_path / "no.png"])
        with pytest.raises(ArgumentError, match="fewbits add"):
            remote.add(paths)


def test_an_index_without_a_name_is_left_out_with_a_warning():
    frame = pd.DataFrame({"v": [*vectors(2)]}, index=["a", "b"])
    both = [Collection.create(None, vectors(9), encoder=ENCODER) for _ in range(2)]
    with remote_of(both[1], writable=True) as remote:
        for col in (both[0], remote):
            with pytest.warns(UserWarning, match="index of the data frame"):
                assert col.add(frame, columns=None) == 2
            assert col.ids.tolist()[-2:] == [9, 10]
        with pytest.raises(ArgumentError, match="give data"):
            remote.add()


ASKED = {
    "texts": ["hello"],
    "vectors": np.zeros((1, 3)),
    "numbers as texts": [["1.5"] * N_BITS],
    "lengths": [[1.0], [1.0, 2.0]],
    "a vector": [1.0] * N_BITS,
    "no file": ["no.png"],
    "paths": [Path("no.png")],
    "nothing": [None],
}


@pytest.mark.parametrize("kind", ["vectors", "texts", "images", "codes"])
def test_a_refusal_names_what_the_collection_takes(kind, tmp_path, monkeypatch):
    if kind == "texts":
        local = text_collection(monkeypatch)
    elif kind == "images":
        local, _ = image_collection(tmp_path, monkeypatch)
    elif kind == "codes":
        local = Collection.create(None, codes=CODES)
    else:
        local = Collection.create(None, vectors(9), encoder=ENCODER)
    with remote_of(local, writable=True) as remote:
        for name, items in ASKED.items():
            if kind == "texts" and name in ("texts", "no file"):
                continue
            for method in ("search", "encode", "add", "classify"):
                for col in (local, remote):
                    if method == "add" and kind == "images" and col is remote:
                        continue
                    with pytest.raises(FewbitsError) as error:
                        getattr(col, method)(items)
                    assert f"takes {kind}" in str(error.value), (name, method)
                    assert "\n" not in str(error.value)
        if kind in ("vectors", "texts"):
            assert len(local.search([])) == len(remote.search([])) == 0
        folder = tmp_path / "photos"
        folder.mkdir()
        Image.new("RGB", (8, 8)).save(folder / "a.png")
        with pytest.raises(ArgumentError, match=r"images"):
            remote.add(folder)


def test_nobody_answers():
    with pytest.raises(ServiceError, match="does not answer"):
        fewbits.open("http://127.0.0.1:9")
    with pytest.raises(ServiceError):
        fewbits.open("http://")


@pytest.mark.parametrize("scheme", ["ftp", "s3", "gs", "file", "S3"])
def test_what_is_no_address_of_a_server(scheme):
    with pytest.raises(ServiceError, match=r"begins with http://.*object storage") as e:
        fewbits.open(f"{scheme}://some/place")
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("address", [None, 5, b"folder", ["folder"]])
def test_what_is_no_address(address):
    with pytest.raises(ArgumentError, match="expected a folder or an address"):
        fewbits.open(address)


def test_a_token(local):
    token = "a-token-of-many-letters"
    with served(local, Settings(token=token)) as url:
        with pytest.raises(ServiceError) as caught:
            fewbits.open(url)
        assert caught.value.status == 401
        with fewbits.open(url, token=token) as remote:
            assert remote.summary() == local.summary()


# Several changes as one, and versions that stay.


def test_a_transaction_is_one_commit(tmp_path):
    local = small_collection(path=tmp_path / "a")
    small_collection(path=tmp_path / "b")
    with remote_of(tmp_path / "b", writable=True) as remote:
        for col in (local, remote):
            with col.transaction():
                for _ in changes(col):
                    pass
                if col is remote:
                    assert len(col) == 200
        same(remote.to_arrow(), local.to_arrow())
        assert remote.version == local.version == 2
        with pytest.raises(ArgumentError, match="no item"), remote.transaction():
            assert [remote.delete([0]) for _ in range(2)] == [0, 0]
        with pytest.raises(KeyError), remote.transaction():
            _ = {}[remote.delete([1])]
        with remote.transaction():
            for refused in (remote.compact, remote.transaction().__enter__):
                with pytest.raises(ArgumentError, match="transaction is open"):
                    refused()
        same(remote.to_arrow(), local.to_arrow())
        assert remote.version == 2


def test_rows_of_a_transaction_have_the_types_of_its_columns(tmp_path):
    """A file is read as the columns are after the changes before it."""
    (tmp_path / "new.csv").write_text("id,a,b,zip\n9,1.0,-2.0,00123\n")
    (tmp_path / "zips.csv").write_text("id,zip\n2,00456\n")
    table = pa.table({"id": [1, 2], "a": [1.0, -1.0], "b": [3.0, 1.0]})
    options = {"column": ["a", "b"], "id": "id", "bits": 2}
    local = Collection.create(tmp_path / "a", table, **options)
    Collection.create(tmp_path / "b", table, **options)
    with remote_of(tmp_path / "b", writable=True) as remote:
        for col in (local, remote):
            with col.transaction():
                col.update(pa.table({"id": [1], "zip": ["00777"]}))
                col.add(tmp_path / "new.csv")
                if col is local:  # behind an address updates are tables
                    col.update(tmp_path / "zips.csv")
            assert col.get([1, 9]) == [{"zip": "00777"}, {"zip": "00123"}]
    assert local.get([2]) == [{"zip": "00456"}]


def test_versions_have_names_there(tmp_path):
    small_collection(path=tmp_path / "c")
    with remote_of(tmp_path / "c", writable=True) as remote:
        number = remote.tag("spring")
        remote.delete([3])
        remote.compact()
        assert (remote.tags(), remote.versions()[0]) == ({"spring": number}, number)
        local = Collection.open(tmp_path / "c")
        assert len(local.at("spring")) == 200
        assert remote.tag_times() == local.tag_times() != {}
        with pytest.raises(ArgumentError, match="untag it first"):
            remote.tag("spring")
        with pytest.raises(ArgumentError, match="gone"):
            remote.tag("x", 999)
        remote.untag("spring")
        with pytest.raises(ArgumentError, match="no version is named"):
            remote.untag("spring")
    with remote_of(tmp_path / "c") as remote:
        with pytest.raises(ServiceError, match="--writable"):
            remote.tag("x")
        with pytest.raises(ServiceError, match="--writable"), remote.transaction():
            remote.delete([5])


def test_columns_go_and_versions_come_back_there(tmp_path):
    local = small_collection(path=tmp_path / "a")
    small_collection(path=tmp_path / "b")
    with remote_of(tmp_path / "b", writable=True) as remote:
        for col in (local, remote):
            col.tag("spring")
            assert col.drop_columns(["year"]) is None
            with col.transaction():
                col.update(None, ids=[3], columns={"year": ["new"], "once": [1]})
                col.drop_columns(["once"])
                col.delete([4])
        same(remote.to_arrow(), local.to_arrow())
        assert remote.columns == local.columns
        for col in (local, remote):
            with pytest.raises(ArgumentError, match="did you mean 'year'"):
                col.drop_columns(["yaer"])
            with pytest.raises(ArgumentError, match="list of names"):
                col.drop_columns("year")
            with pytest.raises(ArgumentError, match="no version is named 'x'"):
                col.restore("x")
            with pytest.raises(ArgumentError, match="read-only"):
                col.at("spring").restore("spring")
            with pytest.raises(ArgumentError, match="is open"), col.transaction():
                col.restore("spring")
            assert col.restore("spring") == col.version == 5
            assert col.restore(5, timeout=1) == 5
        same(remote.to_arrow(), local.to_arrow())
        assert len(remote) == 200
    with remote_of(tmp_path / "b") as remote:
        for refused in (
            lambda: remote.drop_columns(["year"]),
            lambda: remote.restore(2),
        ):
            with pytest.raises(ServiceError, match="--writable"):
                refused()


def test_a_past_version_is_read_there(tmp_path):
    local = small_collection(path=tmp_path / "c", keep_vectors="float32")
    number = local.tag("spring")
    local.delete([3, 4])
    local.update(None, ids=[5], columns={"year": [1], "note": ["n"]})
    with remote_of(tmp_path / "c", writable=True) as remote:
        for version in ("spring", number):
            here, there = local.at(version), remote.at(version)
            for name, arguments, options in CALLS:
                found = getattr(there, name)(*arguments, **options)
                same(found, getattr(here, name)(*arguments, **options))
            same(there.duplicates(9).groups(), here.duplicates(9).groups())
            assert there.columns == here.columns != remote.columns
            assert there.version == number
        remote.untag("spring")
        remote.tag("spring")
        assert (len(there), len(remote)) == (200, 198)
        assert not there.refresh()
        for refused in (lambda: there.delete([1]), there.compact):
            with pytest.raises(ArgumentError, match="read-only"):
                refused()
        for gone in ("autumn", 999):
            with pytest.raises(ArgumentError, match=f"{gone}"):
                remote.at(gone)


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [{}],
        [{"add": {"rows": [{}]}, "delete": {"ids": [1]}}],
        [{"delete": {"ids": [1]}}, {"delete": {"ids": [10**6]}}],
        [{"delete": {"ids": [1]}}, {"add": {}, "table": "x"}],
        [{"delete": {"ids": [1]}}, {"add": {}, "table": "AAAA"}],
        [{"delete": {"filter": "kind like 'a' or " * 30 + "kind like 'b'"}}],
    ],
)
def test_a_request_of_changes_with_a_mistake_changes_nothing(tmp_path, changes):
    small_collection(path=tmp_path / "c")
    service = create_app(tmp_path / "c", Settings(writable=True))
    with TestClient(service, base_url="http://localhost") as client:
        answer = client.post("/v1/changes", json={"changes": changes})
        assert answer.status_code == 422, answer.text
        one = [{"delete": {"ids": [1]}}, {"delete": {"filter": "year = 2019"}}]
        answer = client.post("/v1/changes", json={"changes": one}).json()
    before = small_collection()
    n_left = before.delete([1]) and len(before) - before.delete(filter="year = 2019")
    assert answer["n_items"] == n_left


def test_a_request_of_changes_updates_by_a_filter(tmp_path):
    small_collection(path=tmp_path / "c")
    service = create_app(tmp_path / "c", Settings(writable=True))
    update = {"rows": [{"kind": "late"}], "filter": "year = 2019"}
    changes = [{"delete": {"ids": [19]}}, {"update": update}]
    with TestClient(service, base_url="http://localhost") as client:
        answer = client.post("/v1/changes", json={"changes": changes}).json()
    late = Collection.open(tmp_path / "c").to_arrow(filter="kind = 'late'")
    assert late["id"].to_pylist() == [*range(39, 200, 20)]
    assert answer["n_changed"] == 1 + len(late)


def test_ids_are_no_column_here_either(local, remote):
    for col in (local, remote):
        with pytest.raises(ArgumentError, match="no column 'id'"):
            col.column("id")


def test_rows_with_names_change_what_they_name(tmp_path):
    small_collection(6, path=tmp_path / "c", label=None)
    rows = [{"id": 0, "year": 5}, {"id": 1, "kind": "x"}]
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 2, "kind": "y"}\n{"id": 3, "year": 7}\n')
    with remote_of(tmp_path / "c", writable=True) as remote:
        before = remote.get(range(6))
        assert remote.update(rows) == 2
        assert remote.update(path, columns=["kind"]) == 2
        with remote.transaction():
            remote.update([{"id": 4, "year": 8}, {"id": 5, "kind": "z"}])
        with pytest.raises(ArgumentError, match="nope"):
            remote.update(rows, columns=["nope"])
        with pytest.raises(ArgumentError, match="in 2 rows"):
            remote.update([{"id": 0, "year": 6}, {"id": 0, "kind": "x"}])
        changes = [{"year": 5}, {"kind": "x"}, {"kind": "y"}, {}]
        changes += [{"year": 8}, {"kind": "z"}]
        pairs = zip(before, changes, strict=True)
        assert remote.get(range(6)) == [old | new for old, new in pairs]
