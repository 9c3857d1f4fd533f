"""The map, as a page asks for it: points, colours, neighbours, outliers, export."""

import io
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from fewbits import Collection
from fewbits.client.wire import ARROW
from fewbits.codes import hamming_distances, unpack
from fewbits.encoders import LinearEncoder

N, N_BITS, ON_MAP = 300, 20, 120
KINDS = [f"kind {i:02d}" for i in range(14)]
JSON = {"Accept": "application/json"}


def of_signs(X, path=None, **options):
    """Return a collection whose codes are the signs of vectors."""
    width = np.shape(X)[1]
    encoder = LinearEncoder(np.eye(width), np.zeros(width))
    return Collection.create(path, X, encoder=encoder, **options)


def of_kinds(path=None):
    X = np.random.default_rng(0).normal(size=(N, N_BITS))
    kinds = [KINDS[min(i % 20, 13)] for i in range(N)]
    kinds[5] = None
    ids = [f"n{i}" for i in range(N)]
    return of_signs(X, path, ids=ids, columns={"kind": kinds, "user": range(N)})


def ready(client):
    for _ in range(1000):
        answer = client.get("/v1/map")
        assert answer.status_code == 200
        facts = answer.json()
        if facts["stage"] == "failed" or (facts["ready"] and facts["current"]):
            return facts
        time.sleep(0.02)
    raise AssertionError(answer.text)


def points_of(client, **asked):
    """Return the positions of the points of a map, and their places."""
    data = client.get("/v1/map/points", params=asked).content
    n = len(data) // 8
    places = np.frombuffer(data, "<u2", 2 * n).reshape(n, 2)
    return np.frombuffer(data, "<u4", n, 4 * n).astype(int), places


def colours(client, by, **asked):
    asked = {"by": by, **asked}
    legend = client.get("/v1/map/legend", params=asked)
    assert legend.status_code == 200, legend.text
    values = client.get("/v1/map/colours", params=asked).content
    return np.frombuffer(values, np.uint8), legend.json()


def neighbours(client, **asked):
    answer = client.get("/v1/map/neighbours", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def col():
    return of_kinds()


@pytest.fixture(scope="module")
def mapped(col, module_client_of):
    client = module_client_of(col, max_points=ON_MAP)
    client.facts = ready(client)
    client.positions, client.places = points_of(client)
    return client


def test_a_larger_collection_is_sampled(mapped):
    facts, positions = mapped.facts, mapped.positions
    assert (facts["n_points"], facts["n_items"]) == (ON_MAP, N)
    assert len(np.unique(positions)) == ON_MAP
    assert positions[:10].tolist() != list(range(10))
    assert positions.max() > N // 2
    trust = facts["trust"]
    assert trust["by_chance"] < trust["share"] <= 1
    low, high = trust["interval"]
    assert low <= trust["share"] <= high
    assert facts["version"] == mapped.get("/v1/facts").json()["snapshot"]


def test_points_come_in_parts(mapped):
    starts = range(0, ON_MAP, 50)
    parts = [points_of(mapped, start=start, count=50) for start in starts]
    positions, places = map(np.concatenate, zip(*parts, strict=True))
    np.testing.assert_array_equal(places, mapped.places)
    np.testing.assert_array_equal(positions, mapped.positions)
    answer = mapped.get("/v1/map/points?start=1000")
    assert answer.content == b""
    assert answer.headers["content-type"] == "application/octet-stream"


def test_frequent_classes_have_colours_of_their_own(mapped, col):
    values, legend = colours(mapped, "class:kind")
    kinds = col.column("kind")[mapped.positions]
    counts = {kind: int((kinds == kind).sum()) for kind in KINDS}
    order = sorted(KINDS, key=lambda kind: (-counts[kind], kind))
    assert legend["legend"] == [
        {"label": kind, "count": counts[kind]} for kind in order[:10]
    ]
    rest = sum(counts[kind] for kind in order[10:])
    assert legend["rest"] == {"n_classes": 4, "count": rest}
    assert legend["n_missing"] == (5 in mapped.positions)
    for value, kind in zip(values, kinds, strict=True):
        expected = 255 if kind is None else order.index(kind)
        assert value == (254 if 10 <= expected < 255 else expected)


def test_bits_distances_and_trust(mapped, col):
    codes = col.codes[mapped.positions]
    values, legend = colours(mapped, "bit:19")
    np.testing.assert_array_equal(values, unpack(codes, N_BITS)[:, 19])
    assert legend["legend"][1]["count"] == values.sum()
    code = col.codes[4:5]
    expected = hamming_distances(code, codes)[0]
    for origin in ({"id": "n4"}, {"code": code[0].tobytes().hex()}):
        values, legend = colours(mapped, "distance", **origin)
        low, high = legend["scale"]["low"], legend["scale"]["high"]
        assert (low, high) == (expected.min(), expected.max())
        shown = low + values * (high - low) / 253
        np.testing.assert_allclose(shown, expected, atol=0.05)
    values, legend = colours(mapped, "trust")
    scale = legend["scale"]
    for point in (0, 50):
        near = neighbours(mapped, row=int(mapped.positions[point]))
        share = scale["low"] + values[point] * (scale["high"] - scale["low"]) / 253
        assert near["item"]["trust"] == pytest.approx(share, abs=0.01)


def test_neighbours_come_from_all_items(mapped, col):
    codes, on_map = col.codes, {*mapped.positions.tolist()}
    row = int(mapped.positions[0])
    near = neighbours(mapped, row=row, k=12)
    far = hamming_distances(codes[row : row + 1], codes)[0]
    others = sorted((far[i], i) for i in range(N) if i != row)[:12]
    assert [(x["distance"], x["row"]) for x in near["neighbours"]] == others
    for item in near["neighbours"]:
        assert item["id"] == f"n{item['row']}"
        assert item["on_map"] == (item["row"] in on_map)
        assert item["on_map"] == (item["place"] is not None)
    assert {item["on_map"] for item in near["neighbours"]} == {True, False}
    assert neighbours(mapped, id=f"n{row}", k=12) == near
    hidden = next(i for i in range(N) if i not in on_map)
    assert neighbours(mapped, row=hidden)["item"]["place"] is None


@pytest.mark.parametrize("n_groups", [4, 14])
def test_outliers_and_confusions(client_of, n_groups):
    """Against distances of all pairs; 14 is of the wrong class, and 99 has none."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_groups, 40))
    numbers = np.arange(120) % n_groups
    X = centres[numbers] + 0.4 * rng.normal(size=(120, 40))
    X[[20, 50]] = 3 * rng.normal(size=(2, 40))
    kinds = [f"kind {i}" for i in numbers]
    kinds[14], kinds[99] = "kind 3", None
    col = of_signs(X, columns={"kind": kinds})
    client = client_of(col)
    ready(client)
    result = client.get("/v1/map/outliers?label=kind").json()
    apart = hamming_distances(col.codes, col.codes) + 1000 * np.eye(120, dtype=int)
    nearest, p95 = apart.min(axis=1), result["nearest_distance_p95"]
    assert p95 == np.quantile(nearest, 0.95, method="higher")
    far = sorted(nearest[nearest > p95], reverse=True)[:5]
    assert [item["distance"] for item in result["outliers"]] == far
    assert {item["row"] for item in result["outliers"]} & {20, 50}
    assert result["k"] == 10
    for item in result["confusions"]:
        row = item["row"]
        near = [kinds[i] for i in np.lexsort((np.arange(120), apart[row]))[:10]]
        assert item["class"] == kinds[row] != item["other"]
        votes = max(near.count(kind) for kind in {*near} - {kinds[row], None})
        assert votes == item["votes"] > 5
    if n_groups == 4:
        (confused,) = [item for item in result["confusions"] if item["row"] == 14]
        assert (confused["class"], confused["other"]) == ("kind 3", "kind 2")


@pytest.mark.parametrize("n", [1, 2])
def test_outliers_of_few_items_and_no_classes(client_of, n):
    client = client_of(of_signs(np.ones((n, 8))))
    ready(client)
    result = client.get("/v1/map/outliers").json()
    assert (result["outliers"], result["confusions"], result["k"]) == ([], None, n - 1)


def test_export_of_a_selection(mapped):
    on_map = int(mapped.positions[0])
    hidden = next(i for i in range(N) if i not in mapped.positions)
    params = {"positions": [on_map, hidden], "neighbours": 3}

    def export(kind, **options):
        asked_for = {**params, **options}
        answer = mapped.post("/v1/map/export", json=asked_for, headers={"Accept": kind})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith(kind)
        return io.BytesIO(answer.content)

    parquet = "application/vnd.apache.parquet"
    table = pa.parquet.read_table(export(parquet))
    names = ["_id", "_x", "_y", "_neighbours", "_distances", "kind", "user"]
    assert table.column_names == names
    assert pa.csv.read_csv(export("text/csv")).column_names == names
    assert pa.ipc.open_stream(export(ARROW)).read_all().to_pylist() == table.to_pylist()
    first, second = table.to_pylist()
    assert [first["_x"], first["_y"]] == mapped.places[0].tolist()
    assert second["_x"] is second["_y"] is None
    assert (first["user"], second["user"]) == (on_map, hidden)
    near = neighbours(mapped, row=hidden, k=3)["neighbours"]
    assert second["_neighbours"] == [item["id"] for item in near]
    assert second["_distances"] == [item["distance"] for item in near]
    without = pa.parquet.read_table(export(parquet, neighbours=0))
    assert "_neighbours" not in without.column_names


def test_neighbours_of_duplicates_leave_the_item_out(client_of):
    client = client_of(Collection.create(None, codes=np.zeros((40, 1), np.uint8)))
    ready(client)
    params = {"positions": list(range(40)), "neighbours": 5}
    parquet = {"Accept": "application/vnd.apache.parquet"}
    answer = client.post("/v1/map/export", json=params, headers=parquet)
    table = pa.parquet.read_table(io.BytesIO(answer.content))
    for row, ids in enumerate(table["_neighbours"].to_pylist()):
        assert len(set(ids)) == 5
        assert row not in ids
    near = neighbours(client, row=39, k=5)
    assert len(near["neighbours"]) == 5
    assert 39 not in [item["row"] for item in near["neighbours"]]
    assert near["item"]["n_same"] == 5


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("points?start=-1", 422, "start"),
        ("points?count=0", 422, "count"),
        ("colours", 422, "by"),
        ("colours?by=kind", 422, "class:COLUMN"),
        ("colours?by=class:", 422, "class:COLUMN"),
        ("colours?by=class:no", 422, "no column 'no'"),
        ("legend?by=bit:20", 422, "bit"),
        ("legend?by=bit:x", 422, "bit:NUMBER"),
        ("legend?by=bit:²", 422, "bit:NUMBER"),
        ("legend?by=distance", 422, "exactly one of id and code"),
        ("legend?by=distance&id=n1&code=00", 422, "exactly one of id and code"),
        ("legend?by=distance&code=zz", 422, "code"),
        ("legend?by=distance&code=00", 422, "code"),
        ("legend?by=distance&code=ffffff", 422, "code"),
        ("legend?by=distance&id=nowhere", 422, "nowhere"),
        ("legend?by=trust&id=n1", 422, "for colours by distance"),
        ("outliers?label=no", 422, "no column 'no'"),
        ("neighbours", 422, "exactly one of row and id"),
        ("neighbours?row=1&id=n1", 422, "exactly one of row and id"),
        ("neighbours?row=300", 422, "0 to 299"),
        ("neighbours?row=-1", 422, "row"),
        ("neighbours?id=no", 422, "'no'"),
        ("neighbours?row=1&k=0", 422, "k"),
        ("points?version=other", 409, "load the map again"),
        ("neighbours?row=1&version=other", 409, "load the map again"),
    ],
)
def test_mistakes_are_told_in_one_line(mapped, path, status, message):
    answer = mapped.get(f"/v1/map/{path}")
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert message in error["message"]
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"positions": []},
        {"positions": [N]},
        {"positions": [-1]},
        {"positions": [1, 1]},
        {"positions": [1], "x": 1},
    ],
)
def test_mistakes_of_exports(mapped, body):
    assert mapped.post("/v1/map/export", json=body).status_code == 422


def test_before_the_map_is_made_others_are_told_so(client_of):
    client = client_of(of_kinds())
    answer = client.get("/v1/map/points")
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "map_not_ready"
    assert answer.headers["retry-after"]
    ready(client)
    assert client.get("/v1/map/points").status_code == 200


def test_a_collection_without_items_has_no_map(client_of):
    empty = client_of(Collection.create(None, codes=np.empty((0, 1), np.uint8)))
    assert "at least one item" in ready(empty)["fault"]


# Maps of a collection that changes.


def places_by_id(client, version=None):
    positions, places = points_of(client, **({"version": version} if version else {}))
    params = {"positions": positions.tolist(), "neighbours": 0, "version": version}
    answer = client.post("/v1/map/export", json=params, headers=JSON)
    ids = [item["id"] for item in answer.json()["items"]]
    return dict(zip(ids, places.tolist(), strict=True))


def test_more_rows_keep_the_places(client_of):
    client = client_of(of_kinds(), writable=True)
    before = ready(client)
    first = places_by_id(client)
    X = np.random.default_rng(1).normal(size=(9, N_BITS)).tolist()
    rows = [{"_id": f"new {i}", "_vector": x} for i, x in enumerate(X)]
    answer = client.post("/v1/add", json={"rows": rows})
    assert answer.status_code == 200, answer.text
    after = ready(client)
    assert after["version"] != before["version"]
    assert after["n_points"] == N + 9
    second = places_by_id(client)
    assert {id: second[id] for id in first} == first
    assert places_by_id(client, before["version"]) == first


def test_another_encoder_has_another_layout(client_of, tmp_path):
    of_kinds(tmp_path / "c")
    client = client_of(tmp_path / "c", refresh_seconds=0.02)
    ready(client)
    first = places_by_id(client)
    X = np.random.default_rng(0).normal(size=(N, N_BITS))
    encoder = LinearEncoder(np.eye(N_BITS)[::-1], np.zeros(N_BITS))
    other = Collection.create(None, X, encoder=encoder, ids=[f"n{i}" for i in range(N)])
    snapshot = client.get("/v1/health").json()["snapshot"]
    other.save(tmp_path / "c", overwrite=True)
    while client.get("/v1/health").json()["snapshot"] == snapshot:
        time.sleep(0.01)
    ready(client)
    assert places_by_id(client) != first


def test_a_map_is_looked_at_while_the_collection_changes(client_of):
    """The maps of four versions are held; the newest is shown until the next."""
    client = client_of(of_kinds(), writable=True, max_points=ON_MAP)
    versions, row = [ready(client)["version"]], int(points_of(client)[0][0])
    for i in range(5):
        victim = next(id for id in range(N) if id not in (row, *range(i)))
        answer = client.post("/v1/delete", json={"ids": [f"n{victim}"]})
        assert answer.status_code == 200, answer.text
        assert client.get("/v1/map").json()["ready"]
        params = {"row": row, "version": versions[0]}
        if i < 3:
            near = neighbours(client, **params)
            assert near["item"]["id"] == f"n{row}"
            exported = client.post(
                "/v1/map/export",
                json={"positions": [row], "version": versions[0]},
                headers=JSON,
            )
            assert [x["id"] for x in exported.json()["items"]] == [f"n{row}"]
        versions.append(ready(client)["version"])
    is_kept = [
        client.get(f"/v1/map/points?version={version}").status_code == 200
        for version in versions
    ]
    assert is_kept == [False, False, True, True, True, True]
