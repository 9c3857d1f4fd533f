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
from fewbits.evaluation.statistics import mean_interval
from fewbits.inputs.by_hand import read_names
from fewbits.learners import AdditiveCodes

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


def answer(client, path, **asked):
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def ask(client_of):
    """Return a function that asks a service of a collection."""
    return lambda source, path, **asked: answer(client_of(source), path, **asked)


def test_bits_are_counted(ask):
    collection, X = make()
    use = ask(collection, "/v1/bits")
    bits = use["bits"]
    assert [bit["share"] for bit in bits] == (X > 0).mean(axis=0).tolist()
    assert [bit["bit"] for bit in bits if bit["dead"]] == [5]
    alike = [bit["same_as"] for bit in bits if bit["same_as"]]
    assert alike == [[7, 8], [2, 8], [2, 7]]
    assert use["n_groups"] == N_BITS - 3  # a dead one, and two that repeat another


def of_labels(bits, labels):
    """Return a collection with labels, whose names are proposed from these."""
    width = np.shape(bits)[1]
    encoder = LinearEncoder(np.eye(width), np.zeros(width))
    return Collection.create(None, bits, encoder=encoder, columns={"label": labels})


def test_names_of_bits_are_proposed_from_labels(client_of):
    X = np.random.default_rng(0).normal(size=(N, 2))
    labels = np.where(X[:, 0] > 0, "hot", "cold").tolist()
    client = client_of(of_labels(X, labels))
    use = answer(client, "/v1/bits")
    assert use["bits"][0]["proposed"] == ["cold", "hot"]
    assert use["n_read"] == N
    assert answer(client, "/v1/bits", proposals=False)["n_read"] == 0
    words = answer(client, "/v1/bits/0")["words"]
    assert [word["word"] for word in words[1]] == ["hot"]


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
def test_a_name_says_what_a_side_is_or_there_is_none(ask, ones, zeros, name):
    collection = of_labels(np.repeat([[1.0], [-1.0]], 200, axis=0), ones + zeros)
    bit = ask(collection, "/v1/bits/0")
    assert bit["proposed"][1] == name
    assert "frost" in [word["word"] for word in bit["words"][1]]  # the evidence stays


def test_examples_of_a_bit_have_the_largest_scores(client_of):
    collection, X = make()
    client = client_of(collection)
    for bit in (0, 5, 11):
        meaning = answer(client, f"/v1/bits/{bit}", k=4)
        assert meaning["by"] == "vectors"
        for side, sign in (("ones", -1), ("zeros", 1)):
            order = np.argsort(sign * X[:, bit], kind="stable")
            expected = order[sign * X[order, bit] < 0][:4]
            items = meaning[side]
            assert [item["id"] for item in items] == expected.tolist()
            assert [item["score"] for item in items] == X[expected, bit].tolist()


def test_without_vectors_examples_are_near_the_majority_of_their_side(ask):
    collection, X = make(vectors=False)
    meaning = ask(collection, "/v1/bits/0", k=100)
    assert meaning["by"] == "codes"
    bits = (X > 0).astype(int)
    for value, side in enumerate([meaning["zeros"], meaning["ones"]]):
        rows = np.flatnonzero(bits[:, 0] == value)
        majority = bits[rows].mean(axis=0) >= 0.5
        apart = (bits[rows] != majority).sum(axis=1)
        order = np.argsort(apart, kind="stable")[:100]
        assert [item["id"] for item in side] == rows[order].tolist()
        assert [item["distance"] for item in side] == apart[order].tolist()


def test_classes_of_a_bit(ask):
    collection, X = make()
    classes = ask(collection, "/v1/bits/3", label="kind")["classes"]
    kinds = np.arange(N) % 5
    shares = {f"k{i}": float((X[kinds == i, 3] > 0).mean()) for i in range(5)}
    assert {row["class"]: row["share"] for row in classes} == pytest.approx(shares)
    assert [row["n"] for row in classes] == [N // 5] * 5
    assert [row["share"] for row in classes] == sorted(shares.values())


def test_of_many_classes_the_ends_are_shown(ask):
    collection, _ = make(columns={"kind": [f"k{i % 100}" for i in range(N)]})
    meaning = ask(collection, "/v1/bits/3", label="kind")
    assert meaning["n_classes"] == 100
    assert len(meaning["classes"]) == 16


def test_nothing_is_told_of_an_empty_collection(client_of):
    collection, _ = make()
    collection.delete(np.arange(N))
    client = client_of(collection)
    for path in ("bits", "bits/0", "quality", "quality/recall", "novelty"):
        refusal = client.get(f"/v1/{path}")
        assert refusal.status_code == 422
        assert "empty" in refusal.json()["error"]["message"]


# Names that people give.


def name_bit(client, bit, zeros, ones):
    return client.put(f"/v1/bits/{bit}", json={"zeros": zeros, "ones": ones})


def names_of(client):
    bits = answer(client, "/v1/bits", proposals=False)["bits"]
    return {bit["bit"]: tuple(bit["names"]) for bit in bits if any(bit["names"])}


@pytest.fixture
def writer(client_of, tmp_path):
    make(2, path=tmp_path / "collection")
    return client_of(tmp_path / "collection", writable=True)


names = st.one_of(
    st.none(), st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names") / "collection"
    make(2, path=folder)
    return folder


@pytest.fixture(scope="module")
def namer(module_client_of, folder):
    return module_client_of(folder, writable=True)


@given(zeros=names, ones=names)
def test_names_come_back(namer, folder, zeros, ones):
    saved = name_bit(namer, 7, zeros, ones).json()["names"]
    assert saved == [(name or "").strip() or None for name in (zeros, ones)]
    known = names_of(namer)
    assert known == ({7: tuple(saved)} if any(saved) else {})
    # The command line reads the same file.
    for path in folder.glob("bit-names-*.json"):
        assert read_names(path) == known


def test_a_name_can_be_taken_away(writer):
    name_bit(writer, 3, "a", "b")
    name_bit(writer, 4, None, "c")
    name_bit(writer, 3, " ", None)
    assert names_of(writer) == {4: (None, "c")}


@pytest.mark.parametrize(
    ("name", "message"),
    [("x" * 201, "201 characters"), ("a\nb", "control"), ("\ud800", "")],
)
def test_names_that_no_page_could_show(writer, name, message):
    content = json.dumps({"zeros": name, "ones": None}).encode()
    kind = {"Content-Type": "application/json"}
    refusal = writer.put("/v1/bits/0", content=content, headers=kind)
    assert refusal.status_code == 422
    assert message in refusal.json()["error"]["message"]
    assert names_of(writer) == {}


def test_many_name_bits_at_once(writer):
    with ThreadPoolExecutor(8) as pool:
        pool.map(lambda bit: name_bit(writer, bit, str(bit), None), range(N_BITS))
    assert names_of(writer) == {bit: (str(bit), None) for bit in range(N_BITS)}


def test_names_survive_changes_and_are_those_of_one_encoder(client_of, tmp_path):
    folder = tmp_path / "collection"
    make(path=folder)
    client = client_of(folder, writable=True)
    name_bit(client, 0, "a", "b")
    client.post("/v1/delete", json={"ids": [0, 1]})
    client.post("/v1/compact", json={})
    assert names_of(client) == {0: ("a", "b")}
    make()[0].save(folder, overwrite=True)
    assert names_of(client_of(folder)) == {0: ("a", "b")}
    encoder = LinearEncoder(2 * np.eye(N_BITS), np.zeros(N_BITS))
    other = Collection.create(None, np.eye(N_BITS), encoder=encoder)
    other.save(folder, overwrite=True)
    assert names_of(client_of(folder)) == {}


# Duplicates, novelty, quality, recall.


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_groups_of_duplicates(client_of, radius):
    collection, X = make()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    near = apart <= radius
    reach = near.copy()
    while (again := reach @ near).any() and (again != reach).any():
        reach = again
    expected = {tuple(np.flatnonzero(row)) for row in reach if row.sum() > 1}
    client = client_of(collection)
    params = {"radius": radius, "max_groups": 1000}
    shown = client.post("/v1/duplicate-groups", json=params).json()
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
    params = {"radius": radius, "max_groups": 0}
    counted = client.post("/v1/duplicate-groups", json=params).json()
    assert (counted["n_groups"], counted["groups"]) == (len(expected), [])


def test_novelty_leaves_the_item_out_and_then_its_class(client_of):
    collection, X = make()
    bits = (X > 0).astype(int)
    apart = (bits[:, None] != bits[None]).sum(axis=2).astype(float)
    np.fill_diagonal(apart, np.inf)
    client = client_of(collection)
    rates = answer(client, "/v1/novelty", label="kind")
    radii, nearest = np.arange(N_BITS + 1)[:, None], apart.min(axis=1)
    known = (nearest <= radii).mean(axis=1)
    assert rates["threshold"] == np.sort(nearest)[math.ceil(0.95 * (N + 1)) - 1]
    assert rates["known"] == pytest.approx(known.tolist())
    kinds = np.arange(N) % 5
    apart[kinds[:, None] == kinds] = np.inf
    within = apart.min(axis=1) <= radii
    assert rates["unknown"] == pytest.approx(within.mean(axis=1).tolist())
    # Means of five classes of equal size.
    own = within[:, np.argsort(kinds)].reshape(-1, 5, N // 5).mean(axis=2)
    limits = [mean_interval(shares)[1:3] for shares in own]
    assert np.allclose(rates["unknown_interval"], limits)
    without = answer(client, "/v1/novelty")
    assert without["unknown"] is without["unknown_interval"] is None
    assert without["threshold"] == rates["threshold"]


def test_one_large_class_tells_little_of_others(ask):
    def interval(sizes):
        codes = np.zeros((100, 1), np.uint8)
        columns = {"kind": np.repeat(range(5), sizes).tolist()}
        collection = Collection.create(None, codes=codes, columns=columns)
        rates = ask(collection, "/v1/novelty", label="kind")
        return rates["unknown_interval"][0]

    even, uneven = interval([20] * 5), interval([96, 1, 1, 1, 1])
    assert even == pytest.approx(mean_interval([1.0] * 5)[1:3])
    assert uneven[0] < 0.25 < even[0] < even[1] == uneven[1] == 1


def test_novelty_needs_two_classes(client_of):
    collection, _ = make(columns={"kind": ["one"] * N})
    refusal = client_of(collection).get("/v1/novelty?label=kind")
    assert refusal.status_code == 422
    assert "one class only" in refusal.text


def test_quality_knows_every_byte_on_the_disk(ask, tmp_path):
    collection, _ = make(2000, path=tmp_path / "collection")
    collection.delete([3, 4, 5])
    quality = ask(tmp_path / "collection", "/v1/quality")
    files = [path for path in (tmp_path / "collection").rglob("*") if path.is_file()]
    sizes = quality["bytes"]
    assert sum(sizes.values()) == sum(path.stat().st_size for path in files)
    assert sizes["codes"] == 2000 * 2
    assert sizes["vectors"] > 2000 * N_BITS * 4
    assert (quality["n_items"], quality["n_dead_rows"]) == (1997, 3)
    assert quality["n_dead_bits"] == 1


def test_quality_of_a_collection_in_memory(ask):
    quality = ask(make()[0], "/v1/quality")
    assert (quality["version"], quality["n_files"]) == (None, 0)
    sizes = {"codes": N * 2, "corrections": 0, "vectors": N * N_BITS * 4}
    assert quality["bytes"] == sizes


@pytest.mark.parametrize("in_memory", [True, False])
def test_corrections_count_beside_codes(ask, in_memory, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 12)).astype(np.float32)
    encoder = AdditiveCodes(24, correction=True, random_state=0).fit(X).encoder_
    path = None if in_memory else tmp_path / "collection"
    sizes = ask(Collection.create(path, X, encoder=encoder), "/v1/quality")["bytes"]
    assert (sizes["codes"], sizes["corrections"]) == (300, 200)


def test_recall_is_that_of_the_collection(ask):
    collection, _ = make()
    recall = ask(collection, "/v1/quality/recall", k=5)
    assert recall["truth"] == "vectors"
    expected = collection.recall(5, n_queries=N)
    assert recall["estimates"] == [estimate.to_dict() for estimate in expected]
    without = ask(make(vectors=False)[0], "/v1/quality/recall")
    assert "no vectors" in without["reason"]
