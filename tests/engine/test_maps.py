"""Maps of collections: what is kept, colours, neighbours, export."""

import threading
import time
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

from fewbits.bundle import Bundle
from fewbits.codes import hamming_distances, unpack
from fewbits.encoders import LinearEncoder
from fewbits.engine.maps import (
    MapUpdates,
    map_collection,
    map_colours,
    map_neighbours,
    map_outliers,
    map_table,
)
from fewbits.errors import ArgumentError, CodeError

N, N_BITS = 300, 20
KINDS = [f"kind {i:02d}" for i in range(14)]


def bundle_of(n=N, **columns):
    X = np.random.default_rng(0).normal(size=(n, N_BITS))
    given = {"kind": [KINDS[min(i % 20, 13)] for i in range(n)], **columns}
    given["kind"][5] = None
    return Bundle(LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))).with_items(
        X, ids=[f"n{i}" for i in range(n)], columns=given
    )


@pytest.fixture(scope="module")
def made():
    bundle = bundle_of()
    return bundle, map_collection(bundle)


def test_every_item_is_on_the_map_once(made):
    bundle, found = made
    assert sorted(found.rows.tolist()) == list(range(N))
    assert found.rows[:10].tolist() != list(range(10))
    points = found.points_of(np.array([7, 0]))
    assert found.rows[points].tolist() == [7, 0]
    alone = found.layout.place(bundle.collection.codes[7:8])
    np.testing.assert_array_equal(alone[0], found.places[points[0]])
    assert found.to_dict()["trust"]["share"] > found.trust.by_chance


def test_a_larger_collection_is_sampled():
    found = map_collection(bundle_of(), max_points=100)
    assert len(found) == len(np.unique(found.rows)) == 100
    assert found.rows.max() > 200
    assert (found.points_of(np.arange(N)) < 0).sum() == 200


def test_more_rows_keep_the_layout(made):
    bundle, found = made
    larger = bundle_of(N + 50)
    calls = []
    later = map_collection(larger, earlier=found, progress=lambda *at: calls.append(at))
    before, after = (
        each.places[each.points_of(np.arange(N))] for each in (found, later)
    )
    np.testing.assert_array_equal(before, after)
    new = np.arange(N, N + 50)
    np.testing.assert_array_equal(
        later.places[later.points_of(new)],
        found.layout.place(larger.collection.codes[new]),
    )
    # Only new codes are placed: no more than 50.
    assert next(total for stage, _, total in calls if stage == "places") <= 50
    assert "layout" not in {stage for stage, _, _ in calls}
    assert bundle.encoder.fingerprint == larger.encoder.fingerprint


def test_an_empty_collection_has_no_map():
    empty = Bundle(LinearEncoder(np.eye(2), np.zeros(2))).with_items(np.eye(2))
    with pytest.raises(ArgumentError, match="at least one item"):
        map_collection(empty.with_codes(np.empty((0, 1), np.uint8)))


def test_frequent_classes_have_colours_of_their_own(made):
    bundle, found = made
    colours = map_colours(bundle, found, "class:kind")
    kinds = bundle.collection.column("kind")[found.rows]
    counts = {kind: (kinds == kind).sum() for kind in KINDS}
    order = sorted(KINDS, key=lambda kind: (-counts[kind], kind))
    assert [each["label"] for each in colours.legend] == order[:10]
    assert [each["count"] for each in colours.legend] == [
        counts[kind] for kind in order[:10]
    ]
    assert colours.rest == {
        "n_classes": 4,
        "count": sum(counts[kind] for kind in order[10:]),
    }
    assert colours.n_missing == 1
    for value, kind in zip(colours.values, kinds, strict=True):
        expected = 255 if kind is None else order.index(kind)
        assert value == (254 if 10 <= expected < 255 else expected)


def test_bits_and_distances(made):
    bundle, found = made
    codes = bundle.collection.codes[found.rows]
    bits = map_colours(bundle, found, "bit:19")
    np.testing.assert_array_equal(bits.values, unpack(codes, N_BITS)[:, 19])
    assert bits.legend[1]["count"] == bits.values.sum()
    code = bundle.collection.codes[4:5]
    expected = hamming_distances(code, codes)[0]
    for given in ({"id": "n4"}, {"code": code[0].tobytes().hex()}):
        far = map_colours(bundle, found, "distance", **given)
        high = far.scale["high"]
        assert (far.scale["low"], high) == (0, expected.max())
        np.testing.assert_allclose(far.values * high / 253, expected, atol=0.05)
    trust = map_colours(bundle, found, "trust")
    order = np.argsort(found.trust.around(found.places))
    assert (np.diff(trust.values[order].astype(int)) >= 0).all()


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
    bundle = Bundle(LinearEncoder(np.eye(40), np.zeros(40)))
    bundle = bundle.with_items(X, columns={"kind": kinds})
    found = map_outliers(bundle, map_collection(bundle), labels="kind", n=5, k=5)
    apart = hamming_distances(bundle.collection.codes, bundle.collection.codes)
    apart = apart + 1000 * np.eye(120, dtype=int)
    nearest = apart.min(axis=1)
    assert found.nearest_distance_p95 == np.quantile(nearest, 0.95, method="higher")
    far = sorted(nearest[nearest > found.nearest_distance_p95], reverse=True)[:5]
    assert [each["distance"] for each in found.outliers] == far
    assert {each["row"] for each in found.outliers} & {20, 50}
    (confused,) = [each for each in found.confusions if each["row"] == 14]
    own = kinds[14 + n_groups]
    assert (confused["class"], confused["other"]) == ("kind 3", own)
    for each in found.confusions:
        row = each["row"]
        near = [kinds[i] for i in np.lexsort((np.arange(120), apart[row]))[:5]]
        assert each["class"] == kinds[row] != each["other"]
        votes = max(near.count(kind) for kind in {*near} - {kinds[row], None})
        assert votes == each["votes"] > 2


def test_outliers_of_few_items_and_no_classes():
    for n in (1, 2):
        bundle = Bundle(LinearEncoder(np.eye(8), np.zeros(8))).with_items(
            np.ones((n, 8))
        )
        found = map_outliers(bundle, map_collection(bundle))
        assert (found.outliers, found.confusions, found.k) == ([], None, n - 1)


@pytest.mark.parametrize(
    ("by", "given", "message"),
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
def test_mistakes_of_colours(made, by, given, message):
    with pytest.raises(ArgumentError, match=message):
        map_colours(*made, by, **given)


@pytest.mark.parametrize("code", ["xy", "00", "0000ff", "ffffff"])
def test_mistakes_of_codes(made, code):
    with pytest.raises(CodeError):
        map_colours(*made, "distance", code=code)


def test_neighbours_come_from_all_items():
    bundle = bundle_of()
    found = map_collection(bundle, max_points=100)
    row = int(found.rows[0])
    near = map_neighbours(bundle, found, row=row, k=12)
    codes = bundle.collection.codes
    far = hamming_distances(codes[row : row + 1], codes)[0]
    others = sorted((far[i], i) for i in range(N) if i != row)[:12]
    assert [(x["distance"], x["row"]) for x in near.neighbours] == others
    on_map = set(found.rows.tolist())
    for each in near.neighbours:
        assert each["id"] == f"n{each['row']}"
        assert each["on_map"] == (each["row"] in on_map)
        assert each["on_map"] == (each["place"] is not None)
    assert {each["on_map"] for each in near.neighbours} == {True, False}
    assert map_neighbours(bundle, found, id=f"n{row}", k=12) == near
    hidden = next(i for i in range(N) if i not in on_map)
    assert map_neighbours(bundle, found, row=hidden).item["place"] is None


@pytest.mark.parametrize(
    "given", [{}, {"row": 1, "id": "n1"}, {"row": N}, {"row": -1}, {"id": "no"}]
)
def test_mistakes_of_neighbours(made, given):
    with pytest.raises(ArgumentError):
        map_neighbours(*made, **given)


def test_export_of_a_selection():
    bundle = bundle_of(user=list(range(N)))
    found = map_collection(bundle, max_points=100)
    on_map = int(found.rows[0])
    hidden = next(i for i in range(N) if i not in set(found.rows.tolist()))
    table = map_table(bundle, found, np.array([on_map, hidden]), n_neighbours=3)
    names = ["_id", "_x", "_y", "_neighbours", "_distances", "kind", "user"]
    assert table.column_names == names
    first, second = table.to_pylist()
    assert [first["_x"], first["_y"]] == found.places[0].tolist()
    assert second["_x"] is second["_y"] is None
    assert (first["user"], second["user"]) == (on_map, hidden)
    near = map_neighbours(bundle, found, row=hidden, k=3).neighbours
    assert second["_neighbours"] == [each["id"] for each in near]
    assert second["_distances"] == [each["distance"] for each in near]
    without = map_table(bundle, found, np.array([on_map]), n_neighbours=0)
    assert "_neighbours" not in without.column_names
    with pytest.raises(ArgumentError, match="rows are from 0"):
        map_table(bundle, found, np.array([N]))


def test_neighbours_of_duplicates_leave_the_item_out():
    codes = np.zeros((40, 1), np.uint8)
    bundle = Bundle(LinearEncoder(np.eye(8), np.zeros(8))).with_codes(codes)
    found = map_collection(bundle)
    table = map_table(bundle, found, np.arange(40), n_neighbours=5)
    for row, ids in enumerate(table["_neighbours"].to_pylist()):
        assert len(set(ids)) == 5
        assert row not in ids
    near = map_neighbours(bundle, found, row=39, k=5)
    assert len(near.neighbours) == 5
    assert 39 not in [each["row"] for each in near.neighbours]
    assert near.item["n_same"] == 5


Of = namedtuple("Of", ["bundle", "version"])


def wait(updates, bundle, version):
    for _ in range(2000):
        state = updates.state(Of(bundle, version))
        if state.stage in ("ready", "failed"):
            return state
        time.sleep(0.01)
    raise AssertionError("no map")


def test_updates_make_each_map_once_and_keep_the_layout():
    calls = []

    def make(bundle, *, earlier, progress):
        calls.append(earlier)
        return map_collection(bundle, earlier=earlier, progress=progress)

    updates, small, large = MapUpdates(make), bundle_of(), bundle_of(N + 9)
    first = wait(updates, small, "1").made.found
    assert wait(updates, small, "1").made.found is first
    second = wait(updates, large, "2").made.found
    assert calls == [None, first]
    assert second.layout is first.layout
    other = Bundle(LinearEncoder(-np.eye(N_BITS), np.zeros(N_BITS)))
    wait(updates, other.with_items(np.eye(N_BITS)), "3")
    assert calls[2] is None


def test_updates_tell_progress_and_faults():
    go, seen = threading.Event(), threading.Event()

    def make(bundle, *, earlier, progress):
        progress("layout", 3, 9)
        seen.set()
        go.wait(10)
        raise ArgumentError("this one has no map")

    updates = MapUpdates(make)
    bundle = bundle_of(20)
    assert updates.state(Of(bundle, "1")).made is None
    assert seen.wait(10)
    told = updates.state(Of(bundle, "1")).to_dict()
    assert told == {
        "ready": False, "stage": "layout", "done": 3, "total": 9, "fault": None
    }  # fmt: skip
    go.set()
    state = wait(updates, bundle, "1")
    assert (state.made, state.fault) == (None, "this one has no map")


def test_steady_changes_leave_the_newest_map():
    go = threading.Semaphore(0)

    def make(bundle, *, earlier, progress):
        assert go.acquire(timeout=10)
        return map_collection(bundle, earlier=earlier)

    updates, bundles = MapUpdates(make), [bundle_of(20 + i) for i in range(8)]
    go.release()
    first = wait(updates, bundles[0], "0").made
    for i in range(1, 8):  # every look meets another state, and a map that is whole
        state = updates.state(Of(bundles[i], f"{i}"))
        assert state.stage != "ready"
        made = state.made
        assert len(made.found) == len(made.of.bundle.collection)
        go.release(2)
    wait(updates, bundles[7], "7")
    assert updates.held("7").of.bundle is bundles[7]
    assert updates.held("0") in (first, None)


def test_the_last_four_maps_are_held():
    updates, bundle = MapUpdates(), bundle_of(20)
    for i in range(6):
        wait(updates, bundle, f"{i}")
    held = [updates.held(f"{i}") is not None for i in range(6)]
    assert held == [False, False, True, True, True, True]


def test_closed_updates_stop():
    began, go, ended = (threading.Event() for _ in range(3))

    def make(bundle, *, earlier, progress):
        began.set()
        go.wait(10)
        try:
            progress("layout", 1, 2)
        finally:
            ended.set()
        raise AssertionError("not stopped")

    updates = MapUpdates(make)
    updates.state(Of(bundle_of(20), "1"))
    assert began.wait(10)
    updates.close()
    go.set()
    assert ended.wait(10)


def test_landmarks_come_from_the_label_column():
    bundle = bundle_of()
    stages = []
    found = map_collection(
        bundle,
        classes="kind",
        n_landmarks=40,
        progress=lambda stage, *_: stages.append(stage),
    )
    assert len(found.layout) == 40
    assert list(dict.fromkeys(stages)) == ["layout", "places", "trust"]
    with pytest.raises(ArgumentError, match="no column 'other'"):
        partial(map_collection, bundle, classes="other")()
