"""Routes of the map, as a page uses them."""

import io
import time
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from fastapi.testclient import TestClient

from fewbits import Collection
from fewbits.client.wire import ARROW
from fewbits.server import Settings, create_app
from fewbits.server._maps import MapUpdates, map_collection
from tests.server._running import small_collection, vectors

N, ON_MAP = 200, 120


def ready(client):
    for _ in range(1000):
        answer = client.get("/v1/map")
        assert answer.status_code == 200
        if answer.json()["ready"] and answer.json()["current"]:
            return answer.json()
        time.sleep(0.02)
    raise AssertionError(answer.text)


def client_for(source, **options):
    app = create_app(source, Settings())
    make = partial(map_collection, max_points=ON_MAP, **options)
    app.state.service.maps = MapUpdates(make)
    return TestClient(app, base_url="http://localhost")


@pytest.fixture(scope="module")
def mapped():
    collection = small_collection(N)
    with client_for(collection) as client:
        client.facts = ready(client)
        client.plane = map_collection(collection, max_points=ON_MAP)
        yield client


def test_facts(mapped):
    facts = mapped.facts
    assert (facts["n_points"], facts["n_items"]) == (ON_MAP, N)
    trust = facts["trust"]
    assert trust["by_chance"] < trust["share"] <= 1
    low, high = trust["interval"]
    assert low <= trust["share"] <= high
    assert facts["version"] == mapped.get("/v1/facts").json()["snapshot"]


def test_points_come_in_parts(mapped):
    places, rows = [], []
    for start in range(0, ON_MAP, 50):
        answer = mapped.get("/v1/map/points", params={"start": start, "count": 50})
        assert answer.headers["content-type"] == "application/octet-stream"
        n = len(answer.content) // 8
        places.append(np.frombuffer(answer.content, "<u2", 2 * n).reshape(n, 2))
        rows.append(np.frombuffer(answer.content, "<u4", n, 4 * n))
    np.testing.assert_array_equal(np.concatenate(places), mapped.plane.places)
    np.testing.assert_array_equal(np.concatenate(rows), mapped.plane.positions)
    assert mapped.get("/v1/map/points?start=1000").content == b""


def test_a_hundred_thousand_points_take_less_than_a_megabyte(mapped):
    one = len(mapped.get("/v1/map/points").content) / ON_MAP
    assert 100_000 * one < 1e6


@pytest.mark.parametrize(
    "by", ["class:kind", "class:year", "bit:3", "trust", "distance&id=7"]
)
def test_colours_and_their_legend(mapped, by):
    legend = mapped.get(f"/v1/map/legend?by={by}").json()
    values = np.frombuffer(mapped.get(f"/v1/map/colours?by={by}").content, np.uint8)
    assert len(values) == ON_MAP
    for value, entry in enumerate(legend["legend"]):
        assert (values == value).sum() == entry["count"]
    if legend["rest"]:
        assert (values == 254).sum() == legend["rest"]["count"]
    assert legend["kind"] == {"c": "classes", "b": "bit"}.get(by[0], "scale")


def test_neighbours_that_are_not_on_the_map_are_listed(mapped):
    row = int(mapped.plane.positions[0])
    answer = mapped.get("/v1/map/neighbours", params={"row": row, "k": 20}).json()
    truth = mapped.post("/v1/search", json={"ids": [row], "k": 20}).json()
    hits = [hit["id"] for hit in truth["hits"][0]]
    assert [each["id"] for each in answer["neighbours"]] == hits
    on_map = [each["on_map"] for each in answer["neighbours"]]
    assert on_map == [id in mapped.plane.positions for id in hits]
    assert not all(on_map)
    same = mapped.get("/v1/map/neighbours", params={"id": row, "k": 20}).json()
    assert same == answer


def test_outliers_are_on_the_map(mapped):
    seen = mapped.get("/v1/map/outliers").json()
    assert seen["confusions"] is None
    assert seen["n_points"] == ON_MAP
    assert all(each["row"] in mapped.plane.positions for each in seen["outliers"])


def test_export_as_csv_parquet_and_arrow(mapped):
    rows = mapped.plane.positions[:3].tolist()
    asked = {"positions": rows, "neighbours": 2}

    def export(kind):
        answer = mapped.post("/v1/map/export", json=asked, headers={"Accept": kind})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith(kind)
        return io.BytesIO(answer.content)

    as_csv = pa.csv.read_csv(export("text/csv"))
    parquet = pa.parquet.read_table(export("application/vnd.apache.parquet"))
    arrow = pa.ipc.open_stream(export(ARROW)).read_all()
    assert parquet.to_pylist() == arrow.to_pylist()
    for table in (as_csv, parquet):
        assert table["_id"].to_pylist() == rows
        found = np.stack([table["_x"].to_numpy(), table["_y"].to_numpy()], axis=1)
        np.testing.assert_array_equal(found, mapped.plane.places[:3])
    assert all(len(each) == 2 for each in parquet["_neighbours"].to_pylist())
    assert as_csv.column_names == parquet.column_names


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/map/points?start=-1", 422),
        ("/v1/map/points?count=0", 422),
        ("/v1/map/colours", 422),
        ("/v1/map/colours?by=class:no", 422),
        ("/v1/map/legend?by=bit:32", 422),
        ("/v1/map/legend?by=distance", 422),
        ("/v1/map/legend?by=distance&code=zz", 422),
        ("/v1/map/legend?by=distance&id=x", 404),
        ("/v1/map/outliers?label=no", 422),
        ("/v1/map/neighbours", 422),
        ("/v1/map/neighbours?row=200", 422),
        ("/v1/map/neighbours?row=1&k=0", 422),
        ("/v1/map/points?version=other", 409),
        ("/v1/map/neighbours?row=1&version=other", 409),
    ],
)
def test_mistakes_are_told_in_one_shape(mapped, path, status):
    answer = mapped.get(path)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert "\n" not in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"positions": []},
        {"positions": [N]},
        {"positions": [-1]},
        {"positions": [1], "x": 1},
    ],
)
def test_mistakes_of_exports(mapped, body):
    assert mapped.post("/v1/map/export", json=body).status_code == 422


def test_before_the_map_is_made_others_are_told_so():
    with client_for(small_collection(N)) as client:
        answer = client.get("/v1/map/points")
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "map_not_ready"
        assert answer.headers["retry-after"]
        ready(client)
        assert client.get("/v1/map/points").status_code == 200


def test_a_larger_collection_keeps_its_map(tmp_path):
    small_collection(N, tmp_path / "b")
    with client_for(tmp_path / "b") as client:
        before = ready(client)
        first = places_by_row(client)
        Collection.open(tmp_path / "b").add(
            vectors(10, seed=9),
            ids=range(1000, 1010),
            columns={"kind": ["red"] * 10, "year": [1999] * 10},
        )
        client.app.state.service.refresh()
        after = ready(client)
        assert after["version"] != before["version"]
        assert after["n_items"] == N + 10
        assert places_by_row(client, before["version"]) == first
        second = places_by_row(client)
    both = first.keys() & second.keys()
    assert both
    assert all(first[row] == second[row] for row in both)


def places_by_row(client, version=None):
    asked = {} if version is None else {"version": version}
    data = client.get("/v1/map/points", params=asked).content
    n = len(data) // 8
    places = np.frombuffer(data, "<u2", 2 * n).reshape(n, 2).tolist()
    return dict(zip(np.frombuffer(data, "<u4", n, 4 * n).tolist(), places, strict=True))


def test_a_map_is_looked_at_while_the_collection_changes(tmp_path):
    small_collection(N, tmp_path / "b")
    with client_for(tmp_path / "b") as client:
        before = ready(client)
        version = before["version"]
        row = int(map_collection(small_collection(N), max_points=ON_MAP).positions[0])
        for id in range(3):  # each takes a row from before all others
            Collection.open(tmp_path / "b").delete([id])
            client.app.state.service.refresh()
            assert client.get("/v1/map").json()["ready"]
            asked = {"row": row, "version": version}
            near = client.get("/v1/map/neighbours", params=asked).json()
            assert near["item"]["id"] == row
            export = client.post(
                "/v1/map/export",
                json={"positions": [row], "version": version},
                headers={"Accept": "application/json"},
            )
            assert export.status_code == 200, export.text
            assert [each["id"] for each in export.json()["items"]] == [row]


def test_a_collection_without_items_has_no_map():
    collection = small_collection(N)
    collection.delete(filter="year > 0")
    with client_for(collection) as client:
        for _ in range(500):
            told = client.get("/v1/map").json()
            if told["stage"] == "failed":
                break
            time.sleep(0.01)
        assert "at least one item" in told["fault"]
