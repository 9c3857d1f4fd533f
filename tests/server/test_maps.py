"""Maps of collections: what is kept, colours, neighbours, export, updates."""

import threading
import time
from collections import namedtuple

import numpy as np
import pytest

from fewbits import Collection
from fewbits.codes import hamming_distances, unpack
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, CodeError
from fewbits.server._maps import MapUpdates, map_collection

N, N_BITS = 300, 20
KINDS = [f"kind {i:02d}" for i in range(14)]


def of_signs(X, sign=1, **options):
    """Return a collection whose codes are the signs of vectors."""
    width = np.shape(X)[1]
    encoder = LinearEncoder(sign * np.eye(width), np.zeros(width))
    return Collection.create(None, X, encoder=encoder, **options)


def of_kinds(n=N, **columns):
    X = np.random.default_rng(0).normal(size=(n, N_BITS))
    kinds = [KINDS[min(i % 20, 13)] for i in range(n)]
    kinds[5] = None
    ids = [f"n{i}" for i in range(n)]
    return of_signs(X, ids=ids, columns={"kind": kinds, **columns})


@pytest.fixture(scope="module")
def plane():
    return map_collection(of_kinds())


def test_every_item_is_on_the_map_once(plane):
    assert sorted(plane.positions.tolist()) == list(range(N))
    assert plane.positions[:10].tolist() != list(range(10))
    points = plane.points_of(np.array([7, 0]))
    assert plane.positions[points].tolist() == [7, 0]
    alone = plane.layout.place(plane.collection.codes[7:8])
    np.testing.assert_array_equal(alone[0], plane.places[points[0]])
    assert plane.facts()["trust"]["share"] > plane.trust.by_chance


def test_a_larger_collection_is_sampled():
    plane = map_collection(of_kinds(), max_points=100)
    assert len(plane) == len(np.unique(plane.positions)) == 100
    assert plane.positions.max() > 200
    assert (plane.points_of(np.arange(N)) < 0).sum() == 200


def test_more_rows_keep_the_layout(plane):
    larger = of_kinds(N + 50)
    calls = []
    later = map_collection(larger, earlier=plane, progress=lambda *at: calls.append(at))
    before, after = (p.places[p.points_of(np.arange(N))] for p in (plane, later))
    np.testing.assert_array_equal(before, after)
    new = np.arange(N, N + 50)
    np.testing.assert_array_equal(
        later.places[later.points_of(new)], plane.layout.place(larger.codes[new])
    )
    # Only new codes are placed: no more than 50.
    assert next(total for stage, _, total in calls if stage == "places") <= 50
    assert "layout" not in {stage for stage, _, _ in calls}


def test_an_empty_collection_has_no_map():
    empty = Collection.create(None, codes=np.empty((0, 1), np.uint8))
    with pytest.raises(ArgumentError, match="at least one item"):
        map_collection(empty)


def test_frequent_classes_have_colours_of_their_own(plane):
    colours, legend = plane.colours("class:kind")
    kinds = plane.collection.column("kind")[plane.positions]
    counts = {kind: (kinds == kind).sum() for kind in KINDS}
    order = sorted(KINDS, key=lambda kind: (-counts[kind], kind))
    assert legend["legend"] == [
        {"label": kind, "count": counts[kind]} for kind in order[:10]
    ]
    assert legend["rest"] == {
        "n_classes": 4,
        "count": sum(counts[kind] for kind in order[10:]),
    }
    assert legend["n_missing"] == 1
    for value, kind in zip(colours, kinds, strict=True):
        expected = 255 if kind is None else order.index(kind)
        assert value == (254 if 10 <= expected < 255 else expected)


def test_bits_and_distances(plane):
    codes = plane.collection.codes[plane.positions]
    values, legend = plane.colours("bit:19")
    np.testing.assert_array_equal(values, unpack(codes, N_BITS)[:, 19])
    assert legend["legend"][1]["count"] == values.sum()
    code = plane.collection.codes[4:5]
    expected = hamming_distances(code, codes)[0]
    for origin in ({"id": "n4"}, {"code": code[0].tobytes().hex()}):
        values, legend = plane.colours("distance", **origin)
        high = legend["scale"]["high"]
        assert (legend["scale"]["low"], high) == (0, expected.max())
        np.testing.assert_allclose(values * high / 253, expected, atol=0.05)
    trust = plane.colours("trust").values
    order = np.argsort(plane.trust.around(plane.places))
    assert (np.diff(trust[order].astype(int)) >= 0).all()


@pytest.mark.parametrize("n_groups", [4, 14])
def test_outliers_and_confusions(n_groups):
    """Against distances of all pairs; 14 is of the wrong class, and 99 has none."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_groups, 40))
    numbers = np.arange(120) % n_groups
    X = centres[numbers] + 0.4 * rng.normal(size=(120, 40))
    X[[20, 50]] = 3 * rng.normal(size=(2, 40))
    kinds = [f"kind {i}" for i in numbers]
    kinds[14], kinds[99] = "kind 3", None
    col = of_signs(X, columns={"kind": kinds})
    seen = map_collection(col).outliers("kind", n=5, k=5)
    apart = hamming_distances(col.codes, col.codes) + 1000 * np.eye(120, dtype=int)
    nearest, p95 = apart.min(axis=1), seen["nearest_distance_p95"]
    assert p95 == np.quantile(nearest, 0.95, method="higher")
    far = sorted(nearest[nearest > p95], reverse=True)[:5]
    assert [item["distance"] for item in seen["outliers"]] == far
    assert {item["row"] for item in seen["outliers"]} & {20, 50}
    (confused,) = [item for item in seen["confusions"] if item["row"] == 14]
    own = kinds[14 + n_groups]
    assert (confused["class"], confused["other"]) == ("kind 3", own)
    for item in seen["confusions"]:
        row = item["row"]
        near = [kinds[i] for i in np.lexsort((np.arange(120), apart[row]))[:5]]
        assert item["class"] == kinds[row] != item["other"]
        votes = max(near.count(kind) for kind in {*near} - {kinds[row], None})
        assert votes == item["votes"] > 2


@pytest.mark.parametrize("n", [1, 2])
def test_outliers_of_few_items_and_no_classes(n):
    seen = map_collection(of_signs(np.ones((n, 8)))).outliers()
    assert (seen["outliers"], seen["confusions"], seen["k"]) == ([], None, n - 1)


@pytest.mark.parametrize(
    ("by", "origin", "message"),
    [
        ("kind", {}, "class:COLUMN"),
        ("class:", {}, "class:COLUMN"),
        ("class:no", {}, "no column 'no'"),
        ("bit:20", {}, "from 0 to 19|20 bits|at most"),
        ("bit:x", {}, "bit:NUMBER"),
        ("bit:²", {}, "bit:NUMBER"),
        ("distance", {}, "exactly one of id and code"),
        ("distance", {"id": "n1", "code": "00"}, "exactly one of id and code"),
        ("distance", {"id": "nowhere"}, "nowhere"),
        ("trust", {"id": "n1"}, "for colours by distance"),
    ],
)
def test_mistakes_of_colours(plane, by, origin, message):
    with pytest.raises(ArgumentError, match=message):
        plane.colours(by, **origin)


@pytest.mark.parametrize("code", ["xy", "00", "0000ff", "ffffff"])
def test_mistakes_of_codes(plane, code):
    with pytest.raises(CodeError):
        plane.colours("distance", code=code)


def test_neighbours_come_from_all_items():
    plane = map_collection(of_kinds(), max_points=100)
    codes, on_map = plane.collection.codes, {*plane.positions.tolist()}
    row = int(plane.positions[0])
    near = plane.neighbours(row=row, k=12)
    far = hamming_distances(codes[row : row + 1], codes)[0]
    others = sorted((far[i], i) for i in range(N) if i != row)[:12]
    assert [(x["distance"], x["row"]) for x in near["neighbours"]] == others
    for item in near["neighbours"]:
        assert item["id"] == f"n{item['row']}"
        assert item["on_map"] == (item["row"] in on_map)
        assert item["on_map"] == (item["place"] is not None)
    assert {item["on_map"] for item in near["neighbours"]} == {True, False}
    assert plane.neighbours(id=f"n{row}", k=12) == near
    hidden = next(i for i in range(N) if i not in on_map)
    assert plane.neighbours(row=hidden)["item"]["place"] is None


@pytest.mark.parametrize(
    "item", [{}, {"row": 1, "id": "n1"}, {"row": N}, {"row": -1}, {"id": "no"}]
)
def test_mistakes_of_neighbours(plane, item):
    with pytest.raises(ArgumentError):
        plane.neighbours(**item)


def test_export_of_a_selection():
    plane = map_collection(of_kinds(user=list(range(N))), max_points=100)
    on_map = int(plane.positions[0])
    hidden = next(i for i in range(N) if i not in set(plane.positions.tolist()))
    table = plane.table(np.array([on_map, hidden]), n_neighbours=3)
    names = ["_id", "_x", "_y", "_neighbours", "_distances", "kind", "user"]
    assert table.column_names == names
    first, second = table.to_pylist()
    assert [first["_x"], first["_y"]] == plane.places[0].tolist()
    assert second["_x"] is second["_y"] is None
    assert (first["user"], second["user"]) == (on_map, hidden)
    near = plane.neighbours(row=hidden, k=3)["neighbours"]
    assert second["_neighbours"] == [item["id"] for item in near]
    assert second["_distances"] == [item["distance"] for item in near]
    without = plane.table(np.array([on_map]), n_neighbours=0)
    assert "_neighbours" not in without.column_names
    with pytest.raises(ArgumentError, match="rows are from 0"):
        plane.table(np.array([N]))


def test_neighbours_of_duplicates_leave_the_item_out():
    plane = map_collection(
        Collection.create(None, codes=np.zeros((40, 1), np.uint8), bits=8)
    )
    table = plane.table(np.arange(40), n_neighbours=5)
    for row, ids in enumerate(table["_neighbours"].to_pylist()):
        assert len(set(ids)) == 5
        assert row not in ids
    near = plane.neighbours(row=39, k=5)
    assert len(near["neighbours"]) == 5
    assert 39 not in [item["row"] for item in near["neighbours"]]
    assert near["item"]["n_same"] == 5


def test_stages_of_a_map_are_told():
    stages = []
    plane = map_collection(
        of_kinds(), n_landmarks=40, progress=lambda stage, *_: stages.append(stage)
    )
    assert len(plane.layout) == 40
    assert list(dict.fromkeys(stages)) == ["layout", "places", "trust"]


# Updates.

Snapshot = namedtuple("Snapshot", ["collection", "version"])


def wait(updates, collection, version):
    for _ in range(2000):
        state = updates.state(Snapshot(collection, version))
        if state.stage in ("ready", "failed"):
            return state
        time.sleep(0.01)
    raise AssertionError("no map")


def test_updates_make_each_map_once_and_keep_the_layout():
    calls = []

    def make(collection, *, earlier, progress):
        calls.append(earlier)
        return map_collection(collection, earlier=earlier, progress=progress)

    updates, small, large = MapUpdates(make), of_kinds(), of_kinds(N + 9)
    first = wait(updates, small, "1").made.map
    assert wait(updates, small, "1").made.map is first
    second = wait(updates, large, "2").made.map
    assert calls == [None, first]
    assert second.layout is first.layout
    wait(updates, of_signs(np.eye(N_BITS), -1), "3")
    assert calls[2] is None


def test_updates_tell_progress_and_faults():
    go, seen = threading.Event(), threading.Event()

    def make(collection, *, earlier, progress):
        progress("layout", 3, 9)
        seen.set()
        go.wait(10)
        raise ArgumentError("this one has no map")

    updates, col = MapUpdates(make), of_kinds(20)
    assert updates.state(Snapshot(col, "1")).made is None
    assert seen.wait(10)
    facts = updates.state(Snapshot(col, "1")).to_dict()
    assert facts == {
        "ready": False, "stage": "layout", "done": 3, "total": 9, "fault": None
    }  # fmt: skip
    go.set()
    state = wait(updates, col, "1")
    assert (state.made, state.fault) == (None, "this one has no map")


def test_steady_changes_leave_the_newest_map():
    go = threading.Semaphore(0)

    def make(collection, *, earlier, progress):
        assert go.acquire(timeout=10)
        return map_collection(collection, earlier=earlier)

    updates, versions = MapUpdates(make), [of_kinds(20 + i) for i in range(8)]
    go.release()
    first = wait(updates, versions[0], "0").made
    for i in range(1, 8):  # every look meets another version, and a map that is whole
        state = updates.state(Snapshot(versions[i], f"{i}"))
        assert state.stage != "ready"
        made = state.made
        assert len(made.map) == len(made.view.collection)
        go.release(2)
    wait(updates, versions[7], "7")
    assert updates.held("7").view.collection is versions[7]
    assert updates.held("0") in (first, None)


def test_the_last_four_maps_are_held():
    updates, col = MapUpdates(), of_kinds(20)
    for i in range(6):
        wait(updates, col, f"{i}")
    held = [updates.held(f"{i}") is not None for i in range(6)]
    assert held == [False, False, True, True, True, True]


def test_closing_ends_what_is_being_made():
    began, ended = threading.Event(), threading.Event()

    def make(collection, *, earlier, progress):
        began.set()
        try:
            while True:
                progress("layout", 1, 2)
        finally:
            ended.set()

    updates = MapUpdates(make)
    updates.state(Snapshot(of_kinds(20), "1"))
    assert began.wait(10)
    updates.close()
    assert ended.is_set()
