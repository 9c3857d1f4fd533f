"""What the explorer asks, against what NumPy counts."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.bundle import Bundle, Metadata, read_names
from fewbits.encoders import LinearEncoder
from fewbits.engine import explore
from fewbits.engine.explore._novelty import _interval
from fewbits.errors import ArgumentError
from fewbits.evaluation.statistics import mean_interval

N, N_BITS = 300, 12


def made(n=N, *, vectors=True, seed=0, columns=None):
    """Return a bundle whose bit 5 is dead, 7 equals 2, and 8 is its opposite."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_BITS)).astype(np.float32)
    X[:, 5] = 1
    X[:, 7] = X[:, 2]
    X[:, 8] = -X[:, 2]
    columns = columns or {"kind": [f"k{i % 5}" for i in range(n)]}
    bundle = Bundle(LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS)))
    keep = {"keep_vectors": "float32"} if vectors else {}
    return bundle.with_items(X, columns=columns, **keep), X


def test_bits_are_counted():
    bundle, X = made()
    found = explore.bits(bundle)
    assert [each.share for each in found.bits] == (X > 0).mean(axis=0).tolist()
    assert [each.bit for each in found.bits if each.is_dead] == [5]
    assert [each.same_as for each in found.bits if each.same_as] == [
        (7, 8),
        (2, 8),
        (2, 7),
    ]
    assert found.n_groups == N_BITS - 3  # a dead one, and two that repeat another


def test_names_of_bits_are_proposed_from_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    labels = np.where(X[:, 0] > 0, "hot", "cold")
    bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    bundle = bundle.with_items(X, columns={"label": labels.tolist()})
    found = explore.bits(bundle)
    assert found.bits[0].proposal.names == ("cold", "hot")
    assert found.n_read == N
    assert explore.bits(bundle, explore.BitsRequest(proposals=False)).n_read == 0
    named = found.named({0: ("frosty", None)})
    assert named.to_dict()["bits"][0]["names"] == ["frosty", None]
    assert [each["word"] for each in found.bits[0].evidence()["words"][1]] == ["hot"]


@pytest.mark.parametrize(
    ("ones", "zeros", "name"),
    [
        (["frost"] * 40 + ["Ankle boot"] * 160, ["x"] * 200, "Ankle boot, frost"),
        (["frost"] * 60 + ["x"] * 140, ["x"] * 200, "frost"),
        (["frost"] * 40 + ["x"] * 160, ["x"] * 200, ""),  # of a fifth of the side
        (["frost"] * 120 + ["x"] * 80, ["frost"] * 50 + ["x"] * 150, ""),  # of both
        (["ice"] * 30 + ["frost"] * 30 + ["x"] * 140, ["x"] * 200, "frost, ice"),
        (["frost"] * 120 + ["x"] * 80, ["frost"] * 38 + ["x"] * 162, "frost"),
    ],
)
def test_a_name_says_what_a_side_is_or_there_is_none(ones, zeros, name):
    codes = np.repeat(np.array([[128], [0]], np.uint8), 200, axis=0)
    metadata = Metadata(label_column="label")
    bundle = Bundle(LinearEncoder(np.eye(1), np.zeros(1)), metadata=metadata)
    bundle = bundle.with_codes(codes, columns={"label": ones + zeros})
    (bit,) = explore.bits(bundle).to_dict()["bits"]
    assert bit["proposed"][1] == name
    words = explore.bits(bundle).bits[0].evidence()["words"][1]
    assert "frost" in [each["word"] for each in words]  # the evidence stays


@pytest.mark.parametrize("bit", [0, 5, 11])
def test_examples_of_a_bit_have_the_largest_scores(bit):
    bundle, X = made()
    found = explore.bit(bundle, explore.BitRequest(bit, k=4))
    assert found.by == "vectors"
    order = np.argsort(-X[:, bit], kind="stable")
    wanted = order[X[order, bit] > 0][:4]
    assert [hit["id"] for hit in found.ones] == wanted.tolist()
    assert [hit["score"] for hit in found.ones] == X[wanted, bit].tolist()
    order = np.argsort(X[:, bit], kind="stable")
    wanted = order[X[order, bit] < 0][:4]
    assert [hit["id"] for hit in found.zeros] == wanted.tolist()


def test_without_vectors_examples_are_near_the_majority_of_their_side():
    bundle, X = made(vectors=False)
    found = explore.bit(bundle, explore.BitRequest(0, k=N))
    assert found.by == "codes"
    bits = (X > 0).astype(int)
    for value, side in enumerate([found.zeros, found.ones]):
        rows = np.flatnonzero(bits[:, 0] == value)
        majority = bits[rows].mean(axis=0) >= 0.5
        apart = (bits[rows] != majority).sum(axis=1)
        order = np.argsort(apart, kind="stable")
        assert [hit["id"] for hit in side] == rows[order].tolist()
        assert [hit["distance"] for hit in side] == apart[order].tolist()


def test_classes_of_a_bit():
    bundle, X = made()
    found = explore.bit(bundle, explore.BitRequest(3, labels="kind")).classes
    kinds = np.arange(N) % 5
    shares = {f"k{i}": float((X[kinds == i, 3] > 0).mean()) for i in range(5)}
    assert {each["class"]: each["share"] for each in found} == pytest.approx(shares)
    assert [each["n"] for each in found] == [N // 5] * 5
    assert [each["share"] for each in found] == sorted(shares.values())


def test_of_many_classes_the_ends_are_shown():
    bundle, _ = made(columns={"kind": [f"k{i % 100}" for i in range(N)]})
    found = explore.bit(bundle, explore.BitRequest(3, labels="kind"))
    assert found.n_classes == 100
    assert len(found.classes) == 16


@pytest.mark.parametrize("bit", [-1, N_BITS])
def test_a_bit_that_is_not_there(bit):
    bundle, _ = made()
    with pytest.raises(ArgumentError, match=f"between 0 and {N_BITS - 1}, got {bit}"):
        explore.bit(bundle, explore.BitRequest(bit))


def test_nothing_is_told_of_an_empty_collection():
    bundle, _ = made()
    empty = bundle.delete(np.arange(N))
    for ask in (explore.bits, explore.quality, explore.novelty, explore.bit_examples):
        with pytest.raises(ArgumentError, match="empty"):
            ask(empty)


names = st.one_of(
    st.none(), st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200)
)


@given(zeros=names, ones=names, bit=st.integers(0, N_BITS - 1))
def test_names_come_back(tmp_path_factory, zeros, ones, bit):
    folder = tmp_path_factory.mktemp("names")
    bundle, _ = made(2)
    saved = explore.name_bit(folder, bundle, bit, zeros, ones)
    assert saved == tuple((each or "").strip() or None for each in (zeros, ones))
    known = explore.bit_names(folder, bundle)
    assert known == ({} if saved == (None, None) else {bit: saved})
    # The command line reads the same file.
    assert read_names(explore.bit_names_path(folder, bundle)) == known


def test_a_name_can_be_taken_away(tmp_path):
    bundle, _ = made(2)
    explore.name_bit(tmp_path, bundle, 3, "a", "b")
    explore.name_bit(tmp_path, bundle, 4, None, "c")
    explore.name_bit(tmp_path, bundle, 3, " ", None)
    assert explore.bit_names(tmp_path, bundle) == {4: (None, "c")}


@pytest.mark.parametrize(
    ("name", "message"),
    [("x" * 201, "201 characters"), ("a\nb", "control"), ("\ud800", "control")],
)
def test_names_that_no_page_could_show(tmp_path, name, message):
    bundle, _ = made(2)
    with pytest.raises(ArgumentError, match=message):
        explore.name_bit(tmp_path, bundle, 0, name, None)
    assert list(tmp_path.iterdir()) == []


def test_names_are_those_of_one_encoder(tmp_path):
    bundle, _ = made(2)
    explore.name_bit(tmp_path, bundle, 0, "a", None)
    other = Bundle(LinearEncoder(2 * np.eye(N_BITS), np.zeros(N_BITS)))
    assert explore.bit_names(tmp_path, other) == {}
    assert explore.bit_names(None, bundle) == {}


def test_many_name_bits_at_once(tmp_path):
    bundle, _ = made(2)
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda bit: explore.name_bit(tmp_path, bundle, bit, str(bit), None),
                range(N_BITS),
            )
        )
    wanted = {bit: (str(bit), None) for bit in range(N_BITS)}
    assert explore.bit_names(tmp_path, bundle) == wanted
    assert len(list(tmp_path.iterdir())) == 1


def test_names_survive_a_bundle_that_is_saved_again(tmp_path):
    bundle, _ = made()
    bundle.save(tmp_path / "bundle")
    explore.name_bit(tmp_path / "bundle", bundle, 0, "a", "b")
    bundle.delete([0, 1]).save(tmp_path / "bundle")
    loaded = Bundle.load(tmp_path / "bundle")
    assert explore.bit_names(tmp_path / "bundle", loaded) == {0: ("a", "b")}


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_groups_of_duplicates(radius):
    bundle, X = made()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    near = apart <= radius
    reach = near.copy()
    while (again := reach @ near).any() and (again != reach).any():
        reach = again
    groups = {tuple(np.flatnonzero(row)) for row in reach if row.sum() > 1}
    asked = explore.DuplicateGroupsRequest(radius, max_groups=1000)
    found = explore.duplicate_groups(bundle, asked)
    shown = {tuple(item["id"] for item in group) for group in found.groups}
    assert shown == groups
    assert found.n_groups == len(groups)
    assert found.n_items == sum(map(len, groups))
    assert found.n_pairs == (np.triu(near, 1)).sum()
    for group in found.groups:
        first = group[0]["id"]
        for item in group:
            assert item["distance"] == apart[first, item["id"]]
    sizes = [len(group) for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    counted = explore.duplicate_groups(
        bundle, explore.DuplicateGroupsRequest(radius, max_groups=0)
    )
    assert (counted.n_groups, counted.groups) == (len(groups), [])


def test_novelty_leaves_the_item_out_and_then_its_class():
    bundle, X = made()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2).astype(float)
    np.fill_diagonal(apart, np.inf)
    asked = explore.NoveltyRequest("kind", n_samples=N)
    found = explore.novelty(bundle, asked)
    radii = np.arange(N_BITS + 1)[:, None]
    known = (apart.min(axis=1) <= radii).mean(axis=1)
    assert found.threshold == np.sort(apart.min(axis=1))[math.ceil(0.95 * (N + 1)) - 1]
    assert found.known == pytest.approx(known.tolist())
    kinds = np.arange(N) % 5
    apart[kinds[:, None] == kinds] = np.inf
    unknown = (apart.min(axis=1) <= radii).mean(axis=1)
    assert found.unknown == pytest.approx(unknown.tolist())
    # Means of five classes of equal size.
    own = (apart.min(axis=1) <= radii)[:, np.argsort(kinds)].reshape(-1, 5, N // 5)
    limits = [mean_interval(each)[1:3] for each in own.mean(axis=2)]
    assert np.allclose(found.unknown_interval, limits)
    without = explore.novelty(bundle)
    assert without.unknown is without.unknown_interval is None
    assert without.threshold == found.threshold


def test_one_large_class_tells_little_of_others():
    even, uneven = (
        _interval(np.zeros(100, np.int32), np.repeat(range(5), sizes), 1)[0]
        for sizes in ([20] * 5, [96, 1, 1, 1, 1])
    )
    assert even == pytest.approx(mean_interval([1.0] * 5)[1:3])
    assert uneven[0] < 0.25 < even[0] < even[1] == uneven[1] == 1


def test_novelty_needs_two_classes():
    bundle, _ = made(columns={"kind": ["one"] * N})
    with pytest.raises(ArgumentError, match="one class only"):
        explore.novelty(bundle, explore.NoveltyRequest("kind"))


def test_quality_knows_every_byte_on_the_disk(tmp_path):
    bundle, _ = made(2000)
    bundle.save(tmp_path / "bundle")
    bundle = Bundle.load(tmp_path / "bundle").delete([3, 4, 5])
    found = explore.quality(bundle, tmp_path / "bundle")
    files = [path for path in (tmp_path / "bundle").rglob("*") if path.is_file()]
    assert sum(found.bytes.values()) == sum(path.stat().st_size for path in files)
    assert found.bytes["codes"] == 2000 * 2
    assert found.bytes["vectors"] > 2000 * N_BITS * 4
    assert (found.n_items, found.n_dead_rows) == (1997, 3)
    assert found.n_dead_bits == 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_quality_of_a_collection_in_memory():
    bundle, _ = made()
    found = explore.quality(bundle)
    assert found.commit is None
    sizes = {"codes": N * 2, "corrections": 0, "vectors": N * N_BITS * 4}
    assert found.bytes == sizes


def test_recall_is_that_of_the_bundle():
    bundle, _ = made()
    found = explore.recall_of_bundle(bundle, 5)
    assert found.truth == "vectors"
    assert found.estimates == bundle.estimate_recall(5, n_queries=N)
    bare, _ = made(vectors=False)
    assert "no vectors" in explore.recall_of_bundle(bare).reason
