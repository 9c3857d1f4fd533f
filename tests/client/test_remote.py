"""A remote bundle answers as the local one does."""

import dataclasses
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

import fewbits
from fewbits.classify.decoders import Bounded
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError, FewbitsError, ServiceError
from fewbits.server import Settings
from tests.server._images import image_bundle
from tests.server._running import served, small_bundle, vectors

Q = vectors(23, seed=1)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote") / "b"
    small_bundle(keep_vectors="float32").save(folder)
    return fewbits.Bundle.load(folder)


@pytest.fixture(scope="module", params=["whole", "in parts"])
def remote(local, request):
    few = {} if request.param == "whole" else {"max_queries": 5}
    with served(local, Settings(**few)) as url, fewbits.connect(url) as remote:
        yield remote


def same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(found, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tolist() == wanted.tolist()
    elif dataclasses.is_dataclass(found):
        for each in dataclasses.fields(found):
            same(getattr(found, each.name), getattr(wanted, each.name))
    elif isinstance(found, tuple):
        assert len(found) == len(wanted)
        for mine, other in zip(found, wanted, strict=True):
            same(mine, other)
    else:
        assert found == wanted


CALLS = {
    "summary": (),
    "encode": (Q,),
    "search": (Q, 7),
    "search_records": (Q, 4),
    "range_search": (Q, 9),
    "classify": (Q,),
    "duplicates": (6,),
    "search_reranked": (Q, 6),
    "estimate_recall": (5,),
}
OPTIONS = [
    ("search", {"filter": "kind = 'red' and year > 2005"}),
    ("search", {"allowed": [3, 5, 90]}),
    ("search", {"allowed": pd.Series([3, 5, 90]), "filter": "bit(2) = 1"}),
    ("search_records", {"rerank": True}),
    ("search_records", {"group_by": "year", "filter": "kind = 'red'"}),
    ("range_search", {"filter": "kind = 'red'"}),
    ("classify", {"decoder": "nearest"}),
    ("classify", {"decoder": Bounded(radius=9)}),
    ("duplicates", {"max_vector_distance": 7.5}),
    ("duplicates", {"filter": "kind = 'red'"}),
]


@pytest.mark.parametrize("name", CALLS)
def test_every_verb(local, remote, name):
    same(getattr(remote, name)(*CALLS[name]), getattr(local, name)(*CALLS[name]))


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_options(local, remote, name, options):
    found = getattr(remote, name)(*CALLS[name], **options)
    same(found, getattr(local, name)(*CALLS[name], **options))


@pytest.mark.parametrize(
    "items",
    [Q.astype(np.float64), Q.astype(np.float16), Q.tolist(), pd.DataFrame(Q), Q[:0]],
    ids=["float64", "float16", "lists", "frame", "empty"],
)
def test_items_of_other_types(local, remote, items):
    same(remote.encode(items), local.encode(items))
    same(remote.search(items, 3), local.search(items, 3))


def test_scalars_of_numpy(local, remote):
    k, radius = np.int64(3), np.uint8(9)
    same(remote.search(Q, k), local.search(Q, 3))
    same(remote.range_search(Q, radius), local.range_search(Q, 9))
    same(remote.duplicates(np.int32(2)), local.duplicates(2))
    same(
        remote.search(Q, 3, allowed=[*np.arange(5)]),
        local.search(Q, 3, allowed=range(5)),
    )
    same(remote.search(Q, 4, group_by="kind"), local.search(Q, 4, group_by="kind"))
    for wrong in (0, np.int64(-1), 2.5):
        with pytest.raises(ArgumentError, match="k must be"):
            remote.search(Q, wrong)


@pytest.mark.parametrize("k", [1, 300])
def test_more_than_there_is(local, remote, k):
    same(remote.search(Q, k), local.search(Q, k))


def test_search_by_example(local, remote):
    options = {"ids": [4, 9], "not_ids": [1], "k": 5}
    same(
        remote.search_by_example(Q[:2], Q[2:3], **options),
        local.search_by_example(Q[:2], Q[2:3], **options),
    )


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("search", (Q[:, :3],), {}),
        ("search", (Q[0],), {}),
        ("search", (Q, 0), {}),
        ("search", (Q,), {"filter": "no such column = 1"}),
        ("search", (Q,), {"allowed": [10**6]}),
        ("search_records", (Q,), {"group_by": "none"}),
        ("range_search", (Q, -1), {}),
        ("encode", (np.full((1, 32), np.nan),), {}),
        ("classify", (Q,), {"decoder": "none"}),
        ("search_by_example", (), {}),
        ("search_by_example", (), {"ids": [4], "not_ids": [4]}),
        ("duplicates", (-1,), {}),
        ("delete", (), {}),
    ],
)
def test_errors_are_the_same(local, remote, name, arguments, options):
    with pytest.raises(FewbitsError) as wanted:
        getattr(local, name)(*arguments, **options)
    with pytest.raises(FewbitsError) as found:
        getattr(remote, name)(*arguments, **options)
    assert found.type is wanted.type
    assert "\n" not in str(found.value)


def test_what_only_a_local_bundle_takes(remote):
    import pyarrow.compute as pc

    with pytest.raises(ArgumentError, match="conditions as texts"):
        remote.search(Q, filter=pc.field("year") > 3)
    with pytest.raises(ArgumentError, match="not a mask"):
        remote.search(Q, allowed=[True] * 200)


def test_every_verb_of_a_bundle_is_here_or_is_told_why_not():
    _, _, told = fewbits.client.Remote.__doc__.partition("Not available remotely:")
    told = {*re.findall(r"`(\w+)`", told)} - {"facts", "summary"}
    names = {x.name for x in dataclasses.fields(fewbits.Bundle)}
    names |= {x for x in dir(fewbits.Bundle) if x[0] != "_"}
    here = {x for x in dir(fewbits.client.Remote) if x[0] != "_"}
    assert told == names - here
    assert {"verify", "compact", "duplicate_groups", "delete_and_count"} <= here


@pytest.mark.parametrize(
    "options",
    [{}, {"filter": "kind = 'red'"}, {"max_vector_distance": 7.5}],
    ids=["all", "filtered", "confirmed"],
)
def test_groups_of_duplicates(local, remote, options):
    found, wanted = (x.duplicate_groups(9, **options) for x in (remote, local))
    assert len(wanted) > 1
    for name in ("offsets", "members", "n_pairs"):
        same(getattr(found, name), getattr(wanted, name))
    same(found.ids, local.collection.ids_at(wanted.members))
    for bundle in (remote, local):
        with pytest.raises(ArgumentError, match="more than 1 pairs"):
            bundle.duplicate_groups(9, max_pairs=1, **options)


def test_groups_of_duplicates_are_bounded(local):
    n = len(local.duplicate_groups(9).members)
    for most, fits in ((n, True), (n - 1, False)):
        with served(local, Settings(max_hits=most)) as url:
            remote = fewbits.connect(url)
            with nullcontext() if fits else pytest.raises(ArgumentError, match="most"):
                assert len(remote.duplicate_groups(9).members) == n
            remote.close()


def test_verify(tmp_path):
    folder = tmp_path / "b"
    small_bundle().save(folder)
    with served(folder) as url, fewbits.connect(url) as remote:
        same(remote.verify(), fewbits.Bundle.verify(folder))
        (rows,) = folder.glob("items-*/seg-*.arrow")
        rows.write_bytes(rows.read_bytes()[:-8])
        found = remote.verify()
        assert not found.is_intact
        wanted = fewbits.Bundle.verify(folder)  # there by its whole path
        (damage, *more) = wanted.damages
        assert found.damages[0].file == str(rows.relative_to(folder))
        assert damage.file == str(rows)
        assert len(found.damages) == 1 + len(more)
        assert (found.number, found.n_bytes) == (wanted.number, wanted.n_bytes)
    with (
        served(small_bundle()) as url,
        fewbits.connect(url) as remote,
        pytest.raises(ServiceError, match="in memory"),
    ):
        remote.verify()


def test_compact(tmp_path):
    folder = tmp_path / "b"
    small_bundle().save(folder)
    with (
        served(folder, Settings(writable=True)) as url,
        fewbits.connect(url) as remote,
    ):
        for ids in ([3], [5, 9]):
            assert remote.delete_and_count(ids)[1] == len(ids)
        assert remote.delete_and_count([3, 7], missing_ok=True)[1] == 1
        with pytest.raises(ArgumentError):
            remote.delete([3])
        before = remote.search(Q, 9)
        assert remote.compact(timeout=5) is remote
        same(remote.search(Q, 9), before)
        compacted = fewbits.Bundle.load(folder).collection
        assert (len(compacted), len(compacted.runs)) == (196, 1)
        assert compacted.runs[0].part.n_rows == 196


def test_read_only(remote):
    with pytest.raises(ServiceError, match="--writable"):
        remote.compact()
    with pytest.raises(ServiceError, match="--writable") as caught:
        remote.add(Q)
    assert (caught.value.status, caught.value.code) == (403, "read_only")


def test_changes(local, tmp_path):
    small_bundle().save(tmp_path / "a")
    small_bundle().save(tmp_path / "b")
    there, settings = tmp_path / "b", Settings(writable=True, max_body_bytes=4096)
    bundle = fewbits.Bundle.load(tmp_path / "a")
    with served(there, settings) as url, fewbits.connect(url) as remote:
        for step in zip(*map(_growing, (bundle, remote)), strict=True):
            assert step[1].facts["n_items"] == len(step[0].items)
            same(step[1].search(Q, 9), step[0].search(Q, 9))
            same(step[1].search_records(Q[:3], 9), step[0].search_records(Q[:3], 9))


def _growing(bundle):
    columns = {"kind": ["blue"] * 2, "year": [1, 2]}
    bundle = bundle.add(Q[:2], ids=[500, 501], columns=columns)
    yield bundle
    bundle = bundle.upsert(Q[3:5], ids=np.array([501, 502]), columns=columns)
    yield bundle
    table = {"v": [*Q[5:7]], "kind": ["x", "y"], "year": [3, 4], "key": [600, 601]}
    for frame in (pd.DataFrame(table), pa.table(table)):
        bundle = bundle.upsert(frame, vectors="v", id="key")
        yield bundle
    blank = {"kind": pa.nulls(1), "year": pa.nulls(1, pa.large_string())}
    bundle = bundle.add(Q[7:8], ids=[700], columns=blank)
    yield bundle
    bundle = bundle.delete([500])
    yield bundle
    bundle = bundle.delete(filter="year = 2019")
    yield bundle
    bundle = bundle.delete([501, 502], filter="year = 2")
    yield bundle


def test_mistakes_of_changes(tmp_path):
    small_bundle().save(tmp_path / "b")
    settings = Settings(writable=True)
    with served(tmp_path / "b", settings) as url, fewbits.connect(url) as remote:
        with pytest.raises(ArgumentError, match="no column 'kind'"):
            remote.add(Q[:1], ids=[900], columns={"year": [1]})
        columns = {"kind": ["x"], "year": [1], "more": [2]}
        with pytest.raises(ArgumentError, match="'more'"):
            remote.add(Q[:1], ids=[900], columns=columns)
        with pytest.raises(ArgumentError, match="entry for each"):
            remote.add(Q[:2], ids=[900])
        with pytest.raises(TypeError, match="colour"):
            remote.add(Q[:2], colour=3)
        assert remote.summary()["n_items"] == 200


def test_text_ids(tmp_path):
    bundle = small_bundle(ids=[f"a{i}" for i in range(200)])
    with served(bundle) as url, fewbits.connect(url) as remote:
        same(remote.search(Q, 300), bundle.search(Q, 300))
        same(remote.range_search(Q, 9), bundle.range_search(Q, 9))
        same(remote.duplicates(6), bundle.duplicates(6))


def test_texts(tmp_path):
    pytest.importorskip("wordllama")
    wide = LinearEncoder(np.random.default_rng(0).normal(size=(256, 16)), np.zeros(16))
    texts = ["a broken arm", "a broken leg", "cannot sleep", "headache"]
    bundle = fewbits.Bundle(wide, backbone="wordllama-256").with_items(
        texts, columns={"text": texts}
    )
    with served(bundle) as url, fewbits.connect(url) as remote:
        asked = ["arm", "sleepless"]
        same(remote.search_records(asked, 3), bundle.search_records(asked, 3))
        with pytest.raises(ArgumentError):
            remote.search("arm")


def test_images(tmp_path, monkeypatch):
    bundle, paths = image_bundle(tmp_path, monkeypatch)
    with served(bundle) as url, fewbits.connect(url) as remote:
        asked = [paths[0], str(paths[1]), Image.open(paths[2])]
        same(remote.search(asked, 3), bundle.search(asked, 3))
        assert remote.search(asked, 1).distances.ravel().tolist() == [0, 0, 0]
        (tmp_path / "no.png").write_bytes(b"no image")
        with pytest.raises(FeatureError):
            remote.encode([tmp_path / "no.png"])


def test_nobody_answers():
    with pytest.raises(ServiceError, match="does not answer"):
        fewbits.connect("http://127.0.0.1:9")
    for address in ("no address", "localhost:8491"):
        with pytest.raises(ServiceError, match="begins with http://"):
            fewbits.connect(address)


def test_a_token(local):
    token = "a-token-of-many-letters"
    with served(local, Settings(token=token)) as url:
        with pytest.raises(ServiceError) as caught:
            fewbits.connect(url)
        assert caught.value.status == 401
        with fewbits.connect(url, token) as remote:
            assert remote.summary() == local.summary()
