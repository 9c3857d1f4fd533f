"""Routes answer what the methods of the collection do."""

import base64
import errno
import io
import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from fewbits import Collection
from fewbits.classify.decoders import Bounded
from fewbits.client.wire import ARROW, BYTES, read_stream, write_stream
from fewbits.server import create_app
from tests.server._images import image_collection
from tests.server._running import ENCODER, N_BITS, small_collection, vectors

COLLECTION = small_collection()
Q = vectors(5, seed=1)
ROWS = Q.tolist()
KINDS = ("vectors", "codes", "ids")


def post(client, path, headers=None, **body):
    return client.post(f"/v1/{path}", json=body, headers=headers)


def plain(answer):
    return json.loads(json.dumps(answer.to_dict(), default=lambda x: x.tolist()))


def hits_of(client, **body):
    answer = post(client, "search", **body)
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 3, "columns": ["year"]},
        {"k": 1000},
        {"filter": "kind = 'red'", "allowed": [5, 6, 7]},
        {"group_by": "year", "k": 4},
        {"radius": 9},
        {"radius": 9, "k": 2},
        {"radius": 0},
        {"rerank": False},
    ],
)
def test_search(client, n, kind, options):
    codes = ENCODER.encode(Q[:n])
    local = {"vectors": Q[:n], "codes": codes, "ids": [4, 9, 7, 8, 0][:n]}[kind]
    sent = {"vectors": ROWS[:n], "codes": [c.tobytes().hex() for c in codes]}
    found = post(client, "search", **{kind: sent.get(kind, local)}, **options)
    assert found.status_code == 200
    assert found.json() == plain(COLLECTION.search(**{kind: local}, **options))
    assert found.json()["version"] == COLLECTION.version


def test_search_by_arrow(client):
    table = pa.table({"vectors": [*Q]})
    sent = write_stream(table, '{"k": 3}')
    headers = {"Content-Type": ARROW, "Accept": ARROW}
    answer = client.post("/v1/search", content=sent, headers=headers)
    found, fields = read_stream(answer.content)
    wanted = COLLECTION.search(Q, 3)
    assert found.equals(wanted.to_arrow())
    assert json.loads(fields) == {
        "metric": "hamming",
        "rerank": False,
        "version": COLLECTION.version,
        "n_queries": 5,
        "k": 3,
        "columns": COLLECTION.columns,
        "out_of_distribution": None,
    }


def test_more_within_a_radius_than_may_be_answered(client_of):
    client = client_of(max_k=50)
    for options in ({"radius": N_BITS}, {"radius": N_BITS, "k": 51}, {"k": 51}):
        answer = post(client, "search", vectors=ROWS[:1], **options)
        assert answer.status_code == 422
        assert "50" in answer.json()["error"]["message"]
    assert len(hits_of(client, vectors=ROWS[:1], radius=N_BITS, k=50)[0]) == 50


def test_explain(client):
    found = post(client, "explain", vectors=ROWS[:2], k=200).json()
    assert [found["metric"], found["codes"]] == [
        "hamming",
        [code.tobytes().hex() for code in ENCODER.encode(Q[:2])],
    ]
    for code, hits, counts in zip(
        found["codes"], found["hits"], found["histograms"], strict=True
    ):
        distances = [hit["distance"] for hit in hits]
        assert counts == np.bincount(distances, minlength=N_BITS + 1).tolist()
        assert sum(counts) == 200
        for hit in hits:
            apart = int(code, 16) ^ int(hit["code"], 16)
            assert apart.bit_count() == hit["distance"]
    some = post(client, "explain", vectors=ROWS[:1], filter="kind = 'red'").json()
    assert sum(some["histograms"][0]) == 100
    assert post(client, "explain", vectors=ROWS * 4).status_code == 422


def test_encode(client):
    codes = ENCODER.encode(Q)
    texts = [code.tobytes().hex() for code in codes]
    found = post(client, "encode", vectors=ROWS)
    assert found.json() == {"n_bits": N_BITS, "codes": texts}
    packed = post(client, "encode", {"Accept": BYTES}, vectors=ROWS)
    assert packed.content == codes.tobytes()
    stream = post(client, "encode", {"Accept": ARROW}, vectors=ROWS).content
    table, fields = read_stream(stream)
    assert b"".join(table["_code"].to_pylist()) == codes.tobytes()
    assert json.loads(fields) == {"n_bits": N_BITS}
    stored = post(client, "encode", ids=[4]).json()["codes"]
    assert stored == [COLLECTION.codes[4].tobytes().hex()]


def test_items(client):
    found = post(client, "items", ids=[7, 3]).json()["items"]
    assert [each["id"] for each in found] == [7, 3]
    assert [each["columns"] for each in found] == COLLECTION.get([7, 3])
    codes = [code.tobytes().hex() for code in COLLECTION.codes[[7, 3]]]
    assert [each["code"] for each in found] == codes
    assert found == post(client, "items", positions=[7, 3]).json()["items"]
    some = post(client, "items", positions=[7, 3, 6], filter="kind = 'red'").json()
    assert [each["id"] for each in some["items"]] == [6]
    known = post(client, "items", ids=[7, 10**6], missing_ok=True).json()["items"]
    assert known == found[:1]
    assert post(client, "items", ids=[7, 10**6]).status_code == 422
    assert post(client, "items", positions=[200]).status_code == 422
    assert post(client, "items", positions=[1], ids=[1]).status_code == 422


def test_items_as_files(client):
    body = {"ids": [7, 3]}
    csv = post(client, "items", {"Accept": "text/csv"}, **body)
    kind = "application/vnd.apache.parquet"
    table = parquet.read_table(
        io.BytesIO(post(client, "items", {"Accept": kind}, **body).content)
    )
    stream = post(client, "items", {"Accept": ARROW}, **body).content
    assert table.equals(read_stream(stream)[0])
    frame = pd.read_csv(io.BytesIO(csv.content), dtype={"_code": str})
    assert frame["id"].tolist() == table["id"].to_pylist() == [7, 3]
    assert frame["year"].tolist() == table["year"].to_pylist()
    codes = [code.hex() for code in table["_code"].to_pylist()]
    assert frame["_code"].tolist() == codes


def test_items_by_a_filter_alone(client, client_of):
    found = post(client, "items", filter="year = 2003 and kind = 'green'").json()
    assert [item["id"] for item in found["items"]] == [*range(3, 200, 20)]
    few = client_of(small_collection(), max_hits=10)
    assert len(post(few, "items", filter="year = 2003").json()["items"]) == 10
    answer = few.post("/v1/items", json={"filter": "year < 2002"})
    assert answer.status_code == 422
    assert "at most 10 items, got 20" in answer.json()["error"]["message"]
    part = {"positions": [*range(10)], "filter": "year < 2002"}
    assert len(post(few, "items", **part).json()["items"]) == 2


def test_an_item_by_its_address(client, client_of):
    (found,) = post(client, "items", ids=[7]).json()["items"]
    assert client.get("/v1/items/7").json() == found
    named = client_of(small_collection(ids=[f"a/{i}" for i in range(200)]))
    assert named.get("/v1/items/a/7").json()["id"] == "a/7"
    for path in ("7777", "x", "7/nothing"):
        answer = client.get(f"/v1/items/{path}")
        assert answer.status_code == 404
        assert path in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/items", "/v1/map/x", "/v2"])
def test_a_route_that_is_not_there_names_those_that_are(client, path):
    answer = client.get(path)
    message = answer.json()["error"]["message"]
    if answer.status_code == 404:
        assert f"GET {path}" in message
        assert "/v1/map/points" in message
    assert "\n" not in message


@pytest.mark.parametrize("kind", ["application/json", "text/csv", ARROW])
def test_an_item_is_asked_for_once(client, kind):
    twice = post(client, "items", {"Accept": kind}, positions=[3, 7, 3])
    assert twice.status_code == 422
    assert "once" in twice.json()["error"]["message"]


def test_bytes_of_items_are_bounded(client_of):
    long = pa.array(["x" * 10_000] * 200, pa.large_string())
    collection = Collection.create(
        None, vectors(200), encoder=ENCODER, columns={"text": long}
    )
    client = client_of(collection, max_held_bytes=1_000_000)
    many = post(client, "items", {"Accept": ARROW}, positions=[*range(200)])
    assert many.status_code == 422
    assert "in parts" in many.json()["error"]["message"]
    few = post(client, "items", {"Accept": ARROW}, positions=[*range(20)])
    assert few.status_code == 200


@pytest.mark.parametrize(
    ("sent", "local"),
    [
        ({"decoder": "nearest"}, {"decoder": "nearest"}),
        (
            {"decoder": {"name": "bounded", "radius": 2}},
            {"decoder": Bounded(radius=2)},
        ),
        ({"label": "kind", "k": 3}, {"label": "kind", "k": 3}),
        ({"label": "kind", "linear": True}, {"label": "kind", "linear": True}),
        ({"top": 2}, {"top": 2}),
    ],
)
def test_classify(client, sent, local):
    found = post(client, "classify", vectors=ROWS, **sent)
    assert found.status_code == 200, found.text
    assert found.json() == plain(COLLECTION.classify(Q, **local))


def test_items_are_reranked_and_classified_by_id(client_of):
    client = client_of(small_collection(keep_vectors="float32"))
    assert client.get("/v1/facts").json()["item_features"]
    X = vectors(200)[[4, 9]].tolist()
    by_id = hits_of(client, ids=[4, 9], rerank=True, k=3)
    by_vector = hits_of(client, vectors=X, rerank=True, k=4)
    assert [[hit["id"] for hit in hits[1:]] for hits in by_vector] == [
        [hit["id"] for hit in hits] for hits in by_id
    ]
    found = post(client, "classify", ids=[4, 9]).json()
    assert found == post(client, "classify", vectors=X).json()


@pytest.mark.parametrize(
    ("path", "options"),
    [("search", {"rerank": True}), ("classify", {"decoder": "soft"})],
)
def test_codes_alone_have_no_scores(client, path, options):
    assert not client.get("/v1/facts").json()["item_features"]
    refused = post(client, path, ids=[4], **options)
    assert refused.status_code == 422
    assert "keeps none" in refused.json()["error"]["message"]
    assert post(client, path, ids=[4]).status_code == 200


def test_like_duplicates_and_recall(client_of):
    collection = small_collection(keep_vectors="float32")
    client = client_of(collection)
    options = {"good_ids": [1, 2], "bad_ids": [3], "k": 4}
    found = post(client, "like", good={"vectors": ROWS[:1]}, **options).json()
    assert found == plain(collection.like(Q[:1], **options))
    pairs = collection.duplicates(6, max_vector_distance=8.0)
    sent = {"radius": 6, "max_vector_distance": 8.0}
    answer = post(client, "duplicates", **sent)
    assert answer.json() == {"pairs": pairs.to_list()}
    stream = post(client, "duplicates", {"Accept": ARROW}, **sent).content
    assert read_stream(stream)[0].equals(pairs.to_arrow())
    options = {"k": 3, "n_queries": 4}
    found = post(client, "recall", queries={"vectors": ROWS}, **options).json()
    estimates = collection.recall(queries=Q, **options)
    assert found == {"estimates": [each.to_dict() for each in estimates]}


def test_facts(client):
    facts = client.get("/v1/facts").json()
    kind, year = facts["columns"]
    assert (facts["n_items"], facts["n_bits"], facts["id_type"]) == (200, 32, "integer")
    assert kind == {"name": "kind", "type": "string", "is_class": True, "n_distinct": 2}
    assert year == {"name": "year", "type": "int64", "is_class": True, "n_distinct": 20}
    assert facts["summary"] == COLLECTION.summary()
    assert facts["limits"]["max_k"] == 10_000
    assert (facts["id_name"], facts["id_column"]) == ("id", None)


def test_values_that_json_does_not_know(client_of):
    days = pa.array([1, None], pa.date32())
    columns = {"day": days, "score": [float("nan"), 1.5], "tags": [["a"], []]}
    collection = Collection.create(None, Q[:2], encoder=ENCODER, columns=columns)
    client = client_of(collection)
    found = post(client, "items", ids=[0, 1]).json()["items"]
    assert [each["columns"] for each in found] == [
        {"day": "1970-01-02", "score": "NaN", "tags": ["a"]},
        {"day": None, "score": 1.5, "tags": []},
    ]
    (hits,) = hits_of(client, vectors=ROWS[:1], k=1)
    assert hits[0]["columns"] == found[0]["columns"]
    csv = post(client, "items", {"Accept": "text/csv"}, ids=[0, 1]).text
    assert '"[""a""]"' in csv


def test_an_unknown_field_within_a_change_is_named(client_of):
    client = client_of(writable=True)
    answer = client.post("/v1/changes", json={"changes": [{"zap": 1}]})
    message = answer.json()["error"]["message"]
    assert "'changes.0.zap'" in message
    assert "did you mean" not in message


def test_changes(client_of, tmp_path):
    small_collection(path=tmp_path / "c")
    client = client_of(tmp_path / "c", writable=True)
    before = client.get("/v1/health").headers["Fewbits-Snapshot"]
    row = {"_id": 900, "_vector": ROWS[0], "kind": "new", "year": 1}
    added = post(client, "add", rows=[row]).json()
    assert (added["n_changed"], added["n_items"]) == (1, 201)
    assert added["snapshot"] != before
    found = post(client, "search", vectors=ROWS[:1], k=1)
    assert found.headers["Fewbits-Snapshot"] == added["snapshot"]
    hit = {"rank": 1, "id": 900, "distance": 0, "columns": {"kind": "new", "year": 1}}
    assert found.json()["hits"] == [[hit]]
    row = {"key": 900, "v": ROWS[1], "kind": "newer", "year": 2}
    upserted = post(client, "upsert", rows=[row], id="key", column="v").json()
    now = client.get("/v1/health").json()["snapshot"]
    assert upserted == {"n_changed": 1, "n_items": 201, "snapshot": now}
    code = ENCODER.encode(Q[2:3])[0].tobytes().hex()
    row = {"_id": 901, "hash": code, "kind": "a code", "year": 3}
    answer = post(client, "add", rows=[row], codes="hash")
    assert answer.json().get("n_changed") == 1, answer.text
    assert hits_of(client, codes=[code], k=1)[0][0]["id"] == 901
    updated = post(client, "update", rows=[{"id": 901, "kind": "changed"}]).json()
    assert updated["n_changed"] == 1
    assert hits_of(client, codes=[code], k=1)[0][0]["columns"]["kind"] == "changed"
    deleted = post(client, "delete", filter="year = 2").json()
    assert (deleted["n_changed"], deleted["n_items"]) == (1, 201)
    assert post(client, "compact").json()["n_items"] == 201
    assert len(Collection.open(tmp_path / "c")) == 201


@pytest.mark.parametrize("path", ["add", "upsert"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rows": []},
        {"rows": [{"_id": 1, "_vector": [1.0], "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "_vector": ROWS[0], "kind": "x", "year": "old"}]},
        {"rows": [{"_id": 900, "_vector": ROWS[0], "_code": "00"}]},
        {"rows": [{"_id": 900, "_code": "00", "kind": "x", "year": 1}]},
        {"rows": [{"a": 1}, {"b": 2}]},
    ],
)
def test_rows_that_do_not_fit(client_of, path, body):
    client = client_of(writable=True)
    answer = post(client, path, **body)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]
    assert client.get("/v1/facts").json()["n_items"] == 200


def test_columns_that_lack_or_are_unknown_are_told(client_of):
    client = client_of(writable=True)
    row = {"_id": 900, "_vector": ROWS[0], "kind": "x", "colour": "red"}
    answer = post(client, "add", rows=[row]).json()
    assert answer["n_changed"] == 1
    lacking, unknown = answer["warnings"]
    assert "'year'" in lacking
    assert "'colour'" in unknown
    (item,) = post(client, "items", ids=[900]).json()["items"]
    assert item["columns"] == {"kind": "x", "year": None}
    refused = post(client, "upsert", rows=[row])  # null would replace a value
    assert refused.status_code == 422
    assert "year" in refused.json()["error"]["message"]


HOSTILE = {
    "search": [
        b'{"vectors": [[NaN]]}',
        b'{"vectors": [[Infinity]]}',
        b'{"vectors": [[1e999]]}',
        b"\xff\xfe",
        b'{"ids": ["\xff"]}',
        b'{"ids": ["\\ud800"]}',
        b"null",
        b"[]",
        b'{"ids": [1e0]}',
        b'{"ids": [true]}',
        b'{"ids": [-1]}',
        b'{"ids": [1], "k": true}',
        b'{"ids": [1], "k": 1.0}',
        b'{"ids": [1], "k": 99999999999999999999}',
        b'{"ids": [1], "k": -4611686018427387904}',
        b'{"ids": [1], "shortlist": 4611686018427387904}',
        b'{"ids": [1], "filter": "\\u0000"}',
        b'{"ids": [1], "rerank": 1}',
        b'{"ids": [1], "columns": "year"}',
        b'{"ids": [1], "limit": 3}',
    ],
    "classify": [
        {"ids": [1], "decoder": decoder}
        for decoder in (
            {},
            {"name": {}},
            {"name": "bounded", "radius": 1e300},
            {"name": "bounded", "nothing": 1},
            {"name": "orbgrand", "max_queries": 10**12},
            {"name": "bounded", "radius": float("inf")},
            "x" * 5000,
        )
    ],
    "like": [
        {"good_ids": [1], "C": 1e-300},
        {"good_ids": [1], "random_state": 2**62},
        {"good_ids": [1], "n_random": 10**9},
        {"good": {"vectors": [[1]]}},
        {"good": {"ids": [1]}},
        {"good": {}},
    ],
    "recall": [
        b'{"confidence": NaN}',
        {"vectors": [[1.0]]},
        {"random_state": -5},
        {"confidence": 1e308},
        {"queries": {}},
        {"k": 2**62},
    ],
    "duplicates": [{}, {"radius": "1"}, {"radius": 1, "max_vector_distance": -1}],
    "add": [
        *(
            b'{"rows": [{"_id": 9, "_vector": %b, "kind": "x", "year": %b}]}'
            % (json.dumps(ROWS[0]).encode(), number)
            for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999")
        ),
        {"rows": [{"_id": [1], "_vector": ROWS[0], "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "_vector": [None] * 32, "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "_code": 5, "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "v": ROWS[0], "kind": "x", "year": 1}], "id": "none"},
        {"rows": [{"v": ROWS[0], "kind": "x", "year": 1}], "column": ["v", "v"]},
    ],
    "update": [
        {"rows": [{"id": 1, "_id": 2}]},
        {"rows": [{"id": 1, "_code": 2}]},
        {"rows": [{"id": 1, "": 2}]},
        {"rows": [{"id": 1, "year": "x"}]},
    ],
    "delete": [{}, {"ids": [1], "timeout": -1}, {"filter": "1 = 1 or"}],
}


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_bodies_are_refused_in_a_line(client_of, path):
    client = client_of(small_collection(keep_vectors="float32"), writable=True)
    for body in HOSTILE[path]:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        answer = client.post(f"/v1/{path}", content=content, headers=headers)
        assert answer.status_code == 422, (body, answer.text)
        message = answer.json()["error"]["message"]
        assert 0 < len(message) <= 1000
        assert "\n" not in message


TWICE = [
    ("search", b'{"ids": [1], "k": 1, "k": 2}', "k"),
    ("search", b'{"ids": [1], "k": 1, "\\u006b": 2}', "k"),
    ("search", b'{"ids": [1], "ids": [2]}', "ids"),
    ("like", b'{"good": {"ids": [1], "ids": [2]}}', "ids"),
    ("classify", b'{"ids": [1], "decoder": {"name": "soft", "name": "exact"}}', "name"),
    ("upsert", b'{"rows": [{"id": 1, "year": 1, "year": 2}]}', "year"),
]


@pytest.mark.parametrize(("path", "body", "name"), TWICE)
def test_keys_that_come_twice(client_of, path, body, name):
    client = client_of(small_collection(), writable=True)
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"/v1/{path}", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == f"give '{name}' once"


def test_fields_of_arrow_that_come_twice(client):
    sent = write_stream(pa.table({"vectors": [*Q]}), '{"k": 3, "k": 4}')
    answer = client.post("/v1/search", content=sent, headers={"Content-Type": ARROW})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "give 'k' once"


def test_colons_in_values(client):
    found = post(client, "search", ids=[1], filter="kind = ':::\"k\":'")
    assert found.json()["hits"] == [[]]


def test_read_only(client):
    for path, body in [("add", {"rows": [{}]}), ("delete", {"ids": [1]})]:
        answer = post(client, path, **body)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "read_only"


@pytest.mark.parametrize("path", ["add", "upsert", "update", "delete", "compact"])
def test_a_full_disk(client_of, tmp_path, monkeypatch, path):
    small_collection(path=tmp_path / "c")
    client = client_of(tmp_path / "c", writable=True)
    real = os.open

    def full(name, flags, *args, **options):
        if flags & os.O_CREAT and str(tmp_path) in str(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(name))
        return real(name, flags, *args, **options)

    row = {"_id": 1, "_vector": ROWS[0], "kind": "new", "year": 1}
    bodies = {
        "add": {"rows": [{**row, "_id": 900}]},
        "upsert": {"rows": [row]},
        "update": {"rows": [{"id": 1, "year": 3}]},
        "delete": {"ids": [1]},
    }
    post(client, "delete", ids=[0])  # which `compact` takes off the disk
    monkeypatch.setattr(os, "open", full)
    answer = post(client, path, **bodies.get(path, {}))
    assert answer.status_code == 507, answer.text
    assert answer.json()["error"]["code"] == "disk_full"
    assert str(tmp_path) not in answer.text
    assert len(hits_of(client, ids=[1])[0]) == 10
    monkeypatch.setattr(os, "open", real)
    assert post(client, path, **bodies.get(path, {})).status_code == 200


def test_images(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection)
    sent = base64.b64encode(paths[2].read_bytes()).decode()
    assert hits_of(client, images=[sent], k=1)[0][0]["id"] == 2
    assert post(client, "like", good={"images": [sent]}, k=1).status_code == 200
    answer = client.get("/v1/items/2/image")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(answer.content)).size == (32, 32)
    for id in ("77", "--5", "-", "1" * 30):
        assert client.get(f"/v1/items/{id}/image").status_code == 404
    paths[2].unlink()
    assert client.get("/v1/items/2/image").status_code == 404


def test_pictures_of_ids_with_slashes(client_of, tmp_path, monkeypatch):
    collection, _ = image_collection(tmp_path, monkeypatch, 2, ids=["a/b", "a/image"])
    client = client_of(collection)
    for id in ("a/b", "a%2Fb", "a/image"):
        assert client.get(f"/v1/items/{id}/image").status_code == 200
    assert client.get("/v1/items/a/image").status_code == 404


def test_no_picture_of_what_is_no_image(client):
    assert client.get("/v1/items/2/image").status_code == 404


def test_a_collection_without_rows(client_of, tmp_path):
    encoder = Collection.create(None, Q, encoder=ENCODER)
    empty = Collection.create(None, encoder=encoder, schema=pa.schema([]))
    client = client_of(empty)
    assert client.get("/v1/facts").json()["n_items"] == 0
    assert post(client, "encode", vectors=ROWS).status_code == 200
    assert hits_of(client, vectors=ROWS) == [[]] * 5
    assert post(client, "duplicates", radius=1).json() == {"pairs": []}
    assert post(client, "items", ids=[1]).status_code == 422


def test_an_encoder_alone(client_of):
    from fewbits.learners import LSH

    X = vectors()
    client = client_of(Collection.from_learner(LSH(N_BITS, random_state=0).fit(X), X))
    assert client.get("/v1/health").json()["status"] == "ok"
    assert client.get("/v1/facts").json()["n_items"] == 0
    assert post(client, "encode", vectors=ROWS).status_code == 200
    for path, body in [
        ("search", {"vectors": ROWS}),
        ("duplicates", {"radius": 1}),
        ("items", {"ids": [1]}),
    ]:
        answer = post(client, path, **body)
        assert answer.status_code == 422
        assert "no rows yet" in answer.json()["error"]["message"]


def test_metrics(client_of):
    client = client_of()
    for _ in range(3):
        post(client, "search", vectors=ROWS[:1])
    client.get("/v1/nothing")
    text = client.get("/metrics").text
    line = 'fewbits_requests_total{method="POST",route="/v1/search",status="200"} 3.0'
    assert line in text
    assert 'route="other",status="404"' in text
    assert "fewbits_batch_queries_count 3.0" in text
    assert "fewbits_items 200.0" in text
    assert "fewbits_waiting 0.0" in text
    assert "fewbits_snapshot_age_seconds" in text


def test_the_explorer_loads(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    for name in ("app.js", "icon.svg", "views/map.js", "theme.js"):
        assert client.get(f"/{name}").status_code == 200
    paths = create_app(small_collection(20)).openapi()["paths"]
    for path in ("/v1/bits", "/v1/quality", "/v1/map", "/v1/bits/1"):
        assert client.get(path).status_code == 200
    assert {"/v1/bits", "/v1/quality", "/v1/map"} < {*paths}


def test_what_to_send_in_place_of_what_came(client):
    answer = client.post("/search", json={"texts": ["arm"]})
    assert "routes: POST /v1/search" in answer.json()["error"]["message"]
    answer = client.post("/v1/search", data={"texts": "arm"})
    assert (answer.status_code, "--json" in answer.text) == (415, True)
    answer = client.post("/v1/search", json={"vectors": ["hello"]})
    assert "got 'hello'" in answer.json()["error"]["message"]
