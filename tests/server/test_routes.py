"""Routes against the engine that the command line uses."""

import base64
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from fewbits import engine
from fewbits._json import to_json
from fewbits.bundle import Bundle
from fewbits.client.wire import ARROW, BYTES, read_stream
from tests.server._images import image_bundle
from tests.server._running import ENCODER, N_BITS, small_bundle, vectors

BUNDLE = small_bundle()
Q = vectors(5, seed=1)
ROWS = Q.tolist()


def post(client, path, headers=None, **body):
    return client.post(f"/v1/{path}", json=body, headers=headers)


def plain(response):
    return json.loads(to_json(response.to_dict()))


SEARCHES = [
    {},
    {"k": 3},
    {"k": 1000},
    {"filter": "kind = 'red'"},
    {"allowed": [5, 6, 7]},
    {"group_by": "year", "k": 4},
    {"columns": ["year"]},
    {"explain": True, "k": 2},
]


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("options", SEARCHES)
def test_search(client, n, options):
    request = engine.SearchRequest(Q[:n].astype(float), **options)
    found = post(client, "search", vectors=ROWS[:n], **options)
    assert found.status_code == 200
    assert found.json() == plain(engine.search(BUNDLE, request))


def test_search_by_items_and_codes(client):
    codes = BUNDLE.collection.codes[[4, 9]]
    texts = [code.tobytes().hex() for code in codes]
    by_id = post(client, "search", ids=[4, 9], k=3).json()
    by_code = post(client, "search", codes=texts, k=3).json()
    hits = [each["hits"] for each in by_id["results"]]
    assert hits == [each["hits"] for each in by_code["results"]]
    assert [each[0]["id"] for each in hits] == [4, 9]
    assert [each["query"] for each in by_id["results"]] == ["4", "9"]
    assert [each["query"] for each in by_code["results"]] == texts


def test_histogram_counts_all_items(client):
    found = post(client, "search", vectors=ROWS[:1], explain=True, k=200).json()
    (result,) = found["results"]
    distances = [hit["distance"] for hit in result["hits"]]
    wanted = np.bincount(distances, minlength=N_BITS + 1).tolist()
    assert result["histogram"] == wanted
    assert sum(wanted) == 200
    for hit in result["hits"]:
        apart = int(result["code"], 16) ^ int(hit["code"], 16)
        assert apart.bit_count() == hit["distance"]


@pytest.mark.parametrize("radius", [0, 9, 32])
def test_range_search(client, radius):
    request = engine.RangeRequest(Q, radius)
    found = post(client, "range-search", vectors=ROWS, radius=radius).json()
    assert found == plain(engine.range_search(BUNDLE, request))
    assert not found["truncated"]


def test_range_search_is_cut_off(client):
    body = {"vectors": ROWS, "radius": 12}
    whole = post(client, "range-search", **body).json()
    cut = post(client, "range-search", **body, limit=3).json()
    assert cut["truncated"]
    for few, all_hits in zip(cut["results"], whole["results"], strict=True):
        assert few["hits"] == all_hits["hits"][:3]


def test_encode(client):
    codes = ENCODER.encode(Q)
    found = post(client, "encode", vectors=ROWS)
    assert found.json() == {
        "n_bits": N_BITS,
        "codes": [code.tobytes().hex() for code in codes],
    }
    packed = post(client, "encode", {"Accept": BYTES}, vectors=ROWS)
    assert packed.content == codes.tobytes()
    table, fields = read_stream(
        post(client, "encode", {"Accept": ARROW}, vectors=ROWS).content
    )
    assert b"".join(table["_code"].to_pylist()) == codes.tobytes()
    assert json.loads(fields) == {"n_bits": N_BITS}


def test_items(client):
    found = post(client, "items", ids=[7, 3]).json()
    assert found == plain(engine.items(BUNDLE, engine.ItemsRequest([7, 3])))
    assert found == post(client, "items", positions=[7, 3]).json()
    assert found["items"][0]["columns"] == {"kind": "green", "year": 2007}


def test_items_as_files(client):
    body = {"ids": [7, 3]}
    csv = post(client, "items", {"Accept": "text/csv"}, **body)
    kind = "application/vnd.apache.parquet"
    columns = post(client, "items", {"Accept": kind}, **body)
    table = parquet.read_table(io.BytesIO(columns.content))
    stream = post(client, "items", {"Accept": ARROW}, **body).content
    assert table.equals(read_stream(stream)[0])
    frame = pd.read_csv(io.BytesIO(csv.content), dtype={"_code": str})
    assert frame["_id"].tolist() == table["_id"].to_pylist() == [7, 3]
    assert frame["year"].tolist() == table["year"].to_pylist()
    codes = [code.hex() for code in table["_code"].to_pylist()]
    assert frame["_code"].tolist() == codes


@pytest.mark.parametrize("kind", ["application/json", "text/csv", ARROW])
def test_items_are_bounded(client, monkeypatch, kind):
    twice = post(client, "items", {"Accept": kind}, positions=[3, 7, 3])
    assert twice.status_code == 422
    assert "once" in twice.json()["error"]["message"]
    monkeypatch.setattr("fewbits.server._exports._MOST_BYTES", 100)
    monkeypatch.setattr("fewbits.server._exports._FEW", 1)
    many = post(client, "items", {"Accept": kind}, positions=[*range(100)])
    assert many.status_code == 422
    assert "in parts" in many.json()["error"]["message"]


def test_classify(client):
    request = engine.ClassifyRequest(Q.astype(float), decoder="nearest")
    wanted = plain(engine.classify(BUNDLE, request))
    assert post(client, "classify", vectors=ROWS, decoder="nearest").json() == wanted
    votes = engine.ClassifyRequest(Q.astype(float), labels="kind", k=3)
    found = post(client, "classify", vectors=ROWS, labels="kind", k=3).json()
    assert found == plain(engine.classify(BUNDLE, votes))
    bounded = {"name": "bounded", "radius": 2}
    assert post(client, "classify", vectors=ROWS, decoder=bounded).status_code == 200


def test_items_are_reranked_and_classified_by_id(client_of):
    client = client_of(small_bundle(keep_vectors="float32"))
    assert client.get("/v1/facts").json()["item_features"]
    X = vectors(200)[[4, 9]].tolist()
    asked = [
        post(client, "search", rerank=True, k=3, **each).json()["results"]
        for each in ({"ids": [4, 9]}, {"vectors": X})
    ]
    by_id, by_vector = [[each["hits"] for each in results] for results in asked]
    assert by_id == by_vector
    found = post(client, "classify", ids=[4, 9]).json()["results"]
    raw = post(client, "classify", vectors=X).json()["results"]
    assert [each["item"] for each in found] == ["4", "9"]
    assert [each["class"] for each in found] == [each["class"] for each in raw]
    stream = post(client, "classify", {"Accept": ARROW}, ids=[4]).content
    distances = read_stream(stream)[0]["distances"].to_pylist()
    assert distances == [found[0]["distance"]]


@pytest.mark.parametrize(
    ("path", "options"),
    [("search", {"rerank": True}), ("classify", {"decoder": "soft"})],
)
def test_codes_alone_have_no_scores(client, path, options):
    assert not client.get("/v1/facts").json()["item_features"]
    refused = post(client, path, ids=[4], **options)
    assert refused.status_code == 422
    assert "keeps none: give raw items" in refused.json()["error"]["message"]
    assert post(client, path, ids=[4]).status_code == 200


def test_like_and_duplicates(client):
    wanted = engine.like(BUNDLE, engine.LikeRequest(ids=[1, 2], not_ids=[3], k=4))
    found = post(client, "like", ids=[1, 2], not_ids=[3], k=4).json()
    assert found == {**plain(wanted), "none_fits": wanted.none_fits}
    pairs = engine.duplicates(BUNDLE, engine.DuplicatesRequest(6))
    assert post(client, "duplicates", radius=6).json() == plain(pairs)


def test_facts(client):
    facts = client.get("/v1/facts").json()
    kind, year = facts["columns"]
    assert (facts["n_items"], facts["n_bits"], facts["id_type"]) == (200, 32, "integer")
    assert kind == {"name": "kind", "type": "string", "is_class": True, "n_distinct": 2}
    assert year == {"name": "year", "type": "int64", "is_class": True, "n_distinct": 20}
    assert facts["summary"] == BUNDLE.summary()
    assert facts["limits"]["max_k"] == 10_000


def test_values_that_json_does_not_know(client_of):
    days = pa.array([1, None], pa.date32())
    bundle = Bundle(ENCODER).with_items(
        Q[:2], columns={"day": days, "score": [float("nan"), 1.5], "tags": [["a"], []]}
    )
    client = client_of(bundle)
    found = post(client, "items", ids=[0, 1]).json()["items"]
    first = {"day": "1970-01-02", "score": None, "tags": ["a"]}
    assert [each["columns"] for each in found] == [
        first,
        {"day": None, "score": 1.5, "tags": []},
    ]
    csv = post(client, "items", {"Accept": "text/csv"}, ids=[0, 1]).text
    assert '"[""a""]"' in csv


def test_changes(client_of, tmp_path):
    small_bundle().save(tmp_path / "b")
    client = client_of(tmp_path / "b", writable=True)
    before = client.get("/v1/health").headers["Fewbits-Snapshot"]
    row = {"_id": 900, "_vector": ROWS[0], "kind": "new", "year": 1}
    added = post(client, "add", rows=[row]).json()
    assert added["n_items"] == 201
    assert added["snapshot"] != before
    found = post(client, "search", vectors=ROWS[:1], k=1)
    assert found.headers["Fewbits-Snapshot"] == added["snapshot"]
    assert found.json()["results"][0]["hits"] == [
        {"id": 900, "distance": 0, "columns": {"kind": "new", "year": 1}}
    ]
    row = {"key": 900, "v": ROWS[1], "kind": "newer", "year": 2}
    assert post(client, "upsert", rows=[row], id="key", vectors="v").json() == {
        "n_items": 201,
        "snapshot": client.get("/v1/health").json()["snapshot"],
    }
    assert post(client, "delete", filter="year = 2").json()["n_items"] == 200
    assert len(Bundle.load(tmp_path / "b").collection) == 200


@pytest.mark.parametrize("path", ["add", "upsert"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rows": []},
        {"rows": [{"_vector": ROWS[0], "kind": "x"}]},
        {"rows": [{"_id": 1, "_vector": [1.0], "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "kind": "x", "year": 1}]},
        {"rows": [{"_id": 900, "_vector": ROWS[0], "kind": "x", "year": "old"}]},
        {"rows": [{"_id": 900, "_vector": ROWS[0], "_text": "a"}]},
        {"rows": [{"a": 1}, {"b": 2}]},
        {"rows": [{"_id": 900, "_vector": ROWS[0], "kind": "x", "year": 1, "z": 1}]},
    ],
)
def test_rows_that_do_not_fit(client_of, path, body):
    client = client_of(writable=True)
    answer = post(client, path, **body)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]
    assert client.get("/v1/facts").json()["n_items"] == 200


def test_read_only(client):
    for path, body in [("add", {"rows": [{}]}), ("delete", {"ids": [1]})]:
        answer = post(client, path, **body)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "read_only"


def test_images(client_of, tmp_path, monkeypatch):
    bundle, paths = image_bundle(tmp_path, monkeypatch)
    client = client_of(bundle)
    sent = base64.b64encode(paths[2].read_bytes()).decode()
    found = post(client, "search", images=[sent], k=1).json()
    assert found["results"][0]["hits"][0]["id"] == 2
    answer = client.get("/v1/items/2/image")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(answer.content)).size == (32, 32)
    for id in ("77", "--5", "-", "1" * 30):
        assert client.get(f"/v1/items/{id}/image").status_code == 404
    paths[2].unlink()
    assert client.get("/v1/items/2/image").status_code == 404


def test_pictures_of_ids_with_slashes(client_of, tmp_path, monkeypatch):
    bundle, paths = image_bundle(tmp_path, monkeypatch, n=2)
    columns = {"path": list(map(str, paths))}
    client = client_of(
        bundle.with_items(paths, ids=["a/b", "a/image"], columns=columns)
    )
    for id in ("a/b", "a%2Fb", "a/image"):
        assert client.get(f"/v1/items/{id}/image").status_code == 200
    assert client.get("/v1/items/a/image").status_code == 404


def test_no_picture_of_what_is_no_image(client):
    assert client.get("/v1/items/2/image").status_code == 404


def test_a_bundle_without_items(client_of):
    client = client_of(Bundle(ENCODER))
    assert client.get("/v1/facts").json()["n_items"] == 0
    assert post(client, "encode", vectors=ROWS).status_code == 200
    for path, body in [
        ("search", {"vectors": ROWS}),
        ("duplicates", {"radius": 1}),
        ("items", {"ids": [1]}),
    ]:
        assert post(client, path, **body).status_code == 422


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
