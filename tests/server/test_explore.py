"""What the explorer asks, against what NumPy counts."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation.statistics import mean_interval
from fewbits.inputs.by_hand import read_names
from fewbits.learners import AdditiveCodes
from fewbits.server.routes.bits import (
    bit_examples,
    meaning_of_bit,
    names_of_bits,
    names_path,
    save_names,
    use_of_bits,
)
from fewbits.server.routes.duplicates import largest_groups
from fewbits.server.routes.quality import novelty_of, quality_of, recall_of

N, N_BITS = 300, 12


def make(n=N, *, vectors=True, columns=None, path=None):
    """Return a collection whose bit 5 is dead, 7 equals 2, and 8 is its opposite."""
    X = np.random.default_rng(0).normal(size=(n, N_BITS)).astype(np.float32)
    X[:, 5] = 1
    X[:, 7] = X[:, 2]
    X[:, 8] = -X[:, 2]
    collection = Collection.create(
        path,
        X,
        encoder=LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS)),
        columns=columns or {"kind": [f"k{i % 5}" for i in range(n)]},
        keep_vectors="float32" if vectors else None,
    )
    return collection, X


def test_bits_are_counted():
    collection, X = make()
    use = use_of_bits(collection)
    bits = use["bits"]
    assert [bit["share"] for bit in bits] == (X > 0).mean(axis=0).tolist()
    assert [bit["bit"] for bit in bits if bit["dead"]] == [5]
    alike = [bit["same_as"] for bit in bits if bit["same_as"]]
    assert alike == [[7, 8], [2, 8], [2, 7]]
    assert use["n_groups"] == N_BITS - 3  # a dead one, and two that repeat another


def test_names_of_bits_are_proposed_from_labels():
    X = np.random.default_rng(0).normal(size=(N, 2))
    labels = np.where(X[:, 0] > 0, "hot", "cold")
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    columns = {"label": labels.tolist()}
    collection = Collection.create(None, X, encoder=encoder, columns=columns)
    use = use_of_bits(collection)
    assert use["bits"][0]["proposed"] == ["cold", "hot"]
    assert use["n_read"] == N
    assert use_of_bits(collection, proposals=False)["n_read"] == 0
    assert [word["word"] for word in use["bits"][0]["words"][1]] == ["hot"]


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
    X = np.repeat([[1.0], [-1.0]], 200, axis=0)
    encoder = LinearEncoder(np.eye(1), np.zeros(1))
    columns = {"label": ones + zeros}
    collection = Collection.create(None, X, encoder=encoder, columns=columns)
    (bit,) = use_of_bits(collection)["bits"]
    assert bit["proposed"][1] == name
    assert "frost" in [word["word"] for word in bit["words"][1]]  # the evidence stays


@pytest.mark.parametrize("bit", [0, 5, 11])
def test_examples_of_a_bit_have_the_largest_scores(bit):
    collection, X = make()
    by, _, extremes = bit_examples(collection)
    meaning = meaning_of_bit(collection, bit, extremes, k=4)
    assert by == "vectors"
    order = np.argsort(-X[:, bit], kind="stable")
    expected = order[X[order, bit] > 0][:4]
    assert [item["id"] for item in meaning["ones"]] == expected.tolist()
    assert [item["score"] for item in meaning["ones"]] == X[expected, bit].tolist()
    order = np.argsort(X[:, bit], kind="stable")
    expected = order[X[order, bit] < 0][:4]
    assert [item["id"] for item in meaning["zeros"]] == expected.tolist()


def test_without_vectors_examples_are_near_the_majority_of_their_side():
    collection, X = make(vectors=False)
    by, _, extremes = bit_examples(collection)
    meaning = meaning_of_bit(collection, 0, extremes, k=N)
    assert (by, extremes) == ("codes", None)
    bits = (X > 0).astype(int)
    for value, side in enumerate([meaning["zeros"], meaning["ones"]]):
        rows = np.flatnonzero(bits[:, 0] == value)
        majority = bits[rows].mean(axis=0) >= 0.5
        apart = (bits[rows] != majority).sum(axis=1)
        order = np.argsort(apart, kind="stable")
        assert [item["id"] for item in side] == rows[order].tolist()
        assert [item["distance"] for item in side] == apart[order].tolist()


def test_classes_of_a_bit():
    collection, X = make()
    examples = bit_examples(collection)[2]
    classes = meaning_of_bit(collection, 3, examples, label="kind")["classes"]
    kinds = np.arange(N) % 5
    shares = {f"k{i}": float((X[kinds == i, 3] > 0).mean()) for i in range(5)}
    assert {row["class"]: row["share"] for row in classes} == pytest.approx(shares)
    assert [row["n"] for row in classes] == [N // 5] * 5
    assert [row["share"] for row in classes] == sorted(shares.values())


def test_of_many_classes_the_ends_are_shown():
    collection, _ = make(columns={"kind": [f"k{i % 100}" for i in range(N)]})
    meaning = meaning_of_bit(collection, 3, bit_examples(collection)[2], label="kind")
    assert meaning["n_classes"] == 100
    assert len(meaning["classes"]) == 16


def test_nothing_is_told_of_an_empty_collection():
    collection, _ = make()
    collection.delete(np.arange(N))
    for function in (use_of_bits, quality_of, novelty_of, bit_examples, recall_of):
        with pytest.raises(ArgumentError, match="empty"):
            function(collection)


names = st.one_of(
    st.none(), st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200)
)


@given(zeros=names, ones=names, bit=st.integers(0, N_BITS - 1))
def test_names_come_back(tmp_path_factory, zeros, ones, bit):
    folder = tmp_path_factory.mktemp("names")
    collection, _ = make(2)
    saved = save_names(folder, collection, bit, zeros, ones)
    assert saved == tuple((name or "").strip() or None for name in (zeros, ones))
    known = names_of_bits(folder, collection)
    assert known == ({} if saved == (None, None) else {bit: saved})
    # The command line reads the same file.
    assert read_names(names_path(folder, collection)) == known


def test_a_name_can_be_taken_away(tmp_path):
    collection, _ = make(2)
    save_names(tmp_path, collection, 3, "a", "b")
    save_names(tmp_path, collection, 4, None, "c")
    save_names(tmp_path, collection, 3, " ", None)
    assert names_of_bits(tmp_path, collection) == {4: (None, "c")}


@pytest.mark.parametrize(
    ("name", "message"),
    [("x" * 201, "201 characters"), ("a\nb", "control"), ("\ud800", "control")],
)
def test_names_that_no_page_could_show(tmp_path, name, message):
    collection, _ = make(2)
    with pytest.raises(ArgumentError, match=message):
        save_names(tmp_path, collection, 0, name, None)
    assert list(tmp_path.iterdir()) == []


def test_names_are_those_of_one_encoder(tmp_path):
    collection, _ = make(2)
    save_names(tmp_path, collection, 0, "a", None)
    encoder = LinearEncoder(2 * np.eye(N_BITS), np.zeros(N_BITS))
    other = Collection.create(None, np.eye(N_BITS), encoder=encoder)
    assert names_of_bits(tmp_path, other) == {}
    assert names_of_bits(None, collection) == {}


def test_many_name_bits_at_once(tmp_path):
    collection, _ = make(2)

    def name(bit):
        save_names(tmp_path, collection, bit, str(bit), None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(name, range(N_BITS)))
    expected = {bit: (str(bit), None) for bit in range(N_BITS)}
    assert names_of_bits(tmp_path, collection) == expected
    assert len(list(tmp_path.iterdir())) == 1


def test_names_survive_changes_and_another_save(tmp_path):
    folder = tmp_path / "collection"
    collection, _ = make(path=folder)
    save_names(folder, collection, 0, "a", "b")
    collection.delete([0, 1])
    collection.compact()
    assert names_of_bits(folder, Collection.open(folder)) == {0: ("a", "b")}
    make()[0].save(folder, overwrite=True)
    assert names_of_bits(folder, Collection.open(folder)) == {0: ("a", "b")}


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_groups_of_duplicates(radius):
    collection, X = make()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    near = apart <= radius
    reach = near.copy()
    while (again := reach @ near).any() and (again != reach).any():
        reach = again
    expected = {tuple(np.flatnonzero(row)) for row in reach if row.sum() > 1}
    groups = collection.duplicates(radius).groups()
    shown = largest_groups(collection, groups, 1000)
    first = {members[:100] for members in expected}
    assert {tuple(x["id"] for x in group) for group in shown["groups"]} == first
    assert shown["n_groups"] == len(expected)
    assert shown["n_items"] == sum(map(len, expected))
    assert shown["n_pairs"] == (np.triu(near, 1)).sum()
    for group in shown["groups"]:
        first = group[0]["id"]
        for item in group:
            assert item["distance"] == apart[first, item["id"]]
    assert shown["sizes"] == sorted(map(len, expected), reverse=True)
    counted = largest_groups(collection, groups, 0)
    assert (counted["n_groups"], counted["groups"]) == (len(expected), [])


def test_novelty_leaves_the_item_out_and_then_its_class():
    collection, X = make()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2).astype(float)
    np.fill_diagonal(apart, np.inf)
    answer = novelty_of(collection, "kind", n_samples=N)
    radii, nearest = np.arange(N_BITS + 1)[:, None], apart.min(axis=1)
    known = (nearest <= radii).mean(axis=1)
    assert answer["threshold"] == np.sort(nearest)[math.ceil(0.95 * (N + 1)) - 1]
    assert answer["known"] == pytest.approx(known.tolist())
    kinds = np.arange(N) % 5
    apart[kinds[:, None] == kinds] = np.inf
    within = apart.min(axis=1) <= radii
    assert answer["unknown"] == pytest.approx(within.mean(axis=1).tolist())
    # Means of five classes of equal size.
    own = within[:, np.argsort(kinds)].reshape(-1, 5, N // 5).mean(axis=2)
    limits = [mean_interval(shares)[1:3] for shares in own]
    assert np.allclose(answer["unknown_interval"], limits)
    without = novelty_of(collection)
    assert without["unknown"] is without["unknown_interval"] is None
    assert without["threshold"] == answer["threshold"]


def test_one_large_class_tells_little_of_others():
    def interval(sizes):
        codes = np.zeros((100, 1), np.uint8)
        columns = {"kind": np.repeat(range(5), sizes).tolist()}
        collection = Collection.create(None, codes=codes, columns=columns)
        return novelty_of(collection, "kind")["unknown_interval"][0]

    even, uneven = interval([20] * 5), interval([96, 1, 1, 1, 1])
    assert even == pytest.approx(mean_interval([1.0] * 5)[1:3])
    assert uneven[0] < 0.25 < even[0] < even[1] == uneven[1] == 1


def test_novelty_needs_two_classes():
    collection, _ = make(columns={"kind": ["one"] * N})
    with pytest.raises(ArgumentError, match="one class only"):
        novelty_of(collection, "kind")


def test_quality_knows_every_byte_on_the_disk(tmp_path):
    collection, _ = make(2000, path=tmp_path / "collection")
    collection.delete([3, 4, 5])
    answer = quality_of(collection)
    files = [path for path in (tmp_path / "collection").rglob("*") if path.is_file()]
    sizes = answer["bytes"]
    assert sum(sizes.values()) == sum(path.stat().st_size for path in files)
    assert sizes["codes"] == 2000 * 2
    assert sizes["vectors"] > 2000 * N_BITS * 4
    assert (answer["n_items"], answer["n_dead_rows"]) == (1997, 3)
    assert answer["n_dead_bits"] == 1
    json.dumps(answer, allow_nan=False)


def test_quality_of_a_collection_in_memory():
    answer = quality_of(make()[0])
    assert (answer["version"], answer["n_files"]) == (None, 0)
    sizes = {"codes": N * 2, "corrections": 0, "vectors": N * N_BITS * 4}
    assert answer["bytes"] == sizes


@pytest.mark.parametrize("in_memory", [True, False])
def test_corrections_count_beside_codes(in_memory, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 12)).astype(np.float32)
    encoder = AdditiveCodes(24, correction=True, random_state=0).fit(X).encoder_
    path = None if in_memory else tmp_path / "collection"
    sizes = quality_of(Collection.create(path, X, encoder=encoder))["bytes"]
    assert (sizes["codes"], sizes["corrections"]) == (300, 200)


def test_recall_is_that_of_the_collection():
    collection, _ = make()
    answer = recall_of(collection, 5)
    assert answer["truth"] == "vectors"
    expected = collection.recall(5, n_queries=N)
    assert answer["estimates"] == [estimate.to_dict() for estimate in expected]
    assert "no vectors" in recall_of(make(vectors=False)[0])["reason"]
