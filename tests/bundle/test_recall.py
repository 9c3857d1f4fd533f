"""Estimated recall against brute force, and how often its interval has the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle, Metadata, _recall_sample
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError, FeatureError

N, WIDTH, N_BITS = 150, 8, 24
FORMS = ["float32", "float16", "int8"]


def clustered(n, seed=0, n_clusters=30):
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(n_clusters, WIDTH))
    near = centres[rng.integers(0, n_clusters, n)] + rng.normal(size=(n, WIDTH))
    return near.astype(np.float32)


# Nothing here goes through a BLAS whose last bit could matter: codes and scores are the
# same everywhere, and neighbours are exact.
ENCODER = LinearEncoder(
    np.random.default_rng(1).normal(size=(WIDTH, N_BITS)), np.zeros(N_BITS)
)
X = clustered(N + 40)
HELD_OUT = X[N:]


def built(home, folder, keep_vectors, vectors=X[:N], **known):
    """Return a collection of some vectors, in memory or in segments with holes."""
    empty = Bundle(ENCODER, metadata=Metadata(**known))
    if home == "memory":
        return empty.with_items(vectors, keep_vectors=keep_vectors)
    half, junk = len(vectors) // 2, 3 * vectors[:9]
    bundle = empty.with_items(
        np.concatenate([junk, vectors[:half]]), keep_vectors=keep_vectors
    )
    bundle.save(folder / "b")
    bundle = Bundle.load(folder / "b").add(vectors[half:]).add(junk)
    last = len(vectors) + 9
    return bundle.delete([*range(9), *range(last, last + 9)])


def brute_force(bundle, queries, own, k, **options):
    """Return the recall of each way, by asking for one query after another.

    ``own`` are rows of the queries, -1 for those that are held out.
    """
    n = len(bundle.collection)
    ids = bundle.collection.ids
    stored = bundle.collection.some_vectors(np.arange(n)).astype(np.float64)
    ways = {
        "hamming": lambda b, q, a: b.search(q, k, allowed=a),
        "asymmetric": lambda b, q, a: b.search_reranked(q, k, allowed=a, **options),
        "euclidean": lambda b, q, a: b.search_reranked(q, k, allowed=a, **options),
    }
    without = Bundle(
        bundle.encoder, bundle.collection.without_vectors(), metadata=bundle.metadata
    )
    recalls = {way: [] for way in ways}
    for query, row in zip(queries, own, strict=True):
        allowed = np.arange(n) != row
        apart = np.sqrt(((stored - query.astype(np.float64)) ** 2).sum(axis=1))
        apart[~allowed] = np.inf
        nearest = set(ids[np.argsort(apart, kind="stable")[:k]].tolist())
        for way, search in ways.items():
            asked = without if way == "asymmetric" else bundle
            found = search(asked, query[None], allowed).ids[0]
            recalls[way].append(len(nearest & {*found.tolist()}) / k)
    return {way: np.mean(each) for way, each in recalls.items()}


def told(found):
    return {each.search: each.recall for each in found}


@pytest.mark.parametrize(("home", "k"), [("memory", 1), ("folder", 10)])
@pytest.mark.parametrize("form", FORMS)
def test_rows_of_the_collection(tmp_path, home, form, k):
    bundle = built(home, tmp_path, form)
    found = bundle.estimate_recall(k, n_queries=N)
    queries = bundle.collection.some_vectors(np.arange(N))
    expected = brute_force(bundle, queries, np.arange(N), k)
    assert told(found) == pytest.approx(expected, abs=1e-12)
    assert {each.n_queries for each in found} == {N}


@pytest.mark.parametrize("home", ["memory", "folder"])
@pytest.mark.parametrize("form", FORMS)
def test_held_out_queries(tmp_path, home, form):
    bundle = built(home, tmp_path, form)
    found = bundle.estimate_recall(5, queries=HELD_OUT)
    expected = brute_force(bundle, HELD_OUT, np.full(40, -1), 5)
    assert told(found) == pytest.approx(expected, abs=1e-12)
    assert [each.n_queries for each in found] == [40] * 3
    few = bundle.estimate_recall(5, queries=HELD_OUT, n_queries=7)
    assert [each.n_queries for each in few] == [7] * 3


@pytest.mark.parametrize("given", [None, 9])
@pytest.mark.parametrize("held_out", [True, False])
def test_a_shortlist_is_what_search_takes(tmp_path, given, held_out):
    bundle = built("memory", tmp_path, "float32", shortlist=4)
    own = np.full(40, -1) if held_out else np.arange(N)
    queries = HELD_OUT if held_out else X[:N]
    asked = {"queries": HELD_OUT} if held_out else {}
    found = bundle.estimate_recall(3, shortlist=given, **asked)
    size = given or 4
    expected = brute_force(bundle, queries, own, 3, shortlist=size)
    assert told(found) == pytest.approx(expected, abs=1e-12)
    assert [each.shortlist for each in found] == [None, size, size]


@pytest.mark.parametrize(("k", "size"), [(1, 100), (10, 100), (12, 120)])
def test_the_usual_shortlist(tmp_path, k, size):
    found = built("memory", tmp_path, "float32").estimate_recall(k, n_queries=9)
    assert [each.shortlist for each in found] == [None, size, size]


@settings(max_examples=30)
@given(st.integers(0, 100), st.integers(2, 12), st.integers(1, 4), st.integers(1, 3))
def test_many_equal_items(seed, n, k, n_kinds):
    """A row that stands behind many of the same distance is left out as well."""
    if k >= n:
        return
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_kinds, WIDTH))[rng.integers(0, n_kinds, n)]
    bundle = Bundle(ENCODER).with_items(vectors, keep_vectors="float32")
    found = bundle.estimate_recall(k, n_queries=n)
    kept = bundle.collection.some_vectors(np.arange(n))
    expected = brute_force(bundle, kept, np.arange(n), k)
    assert told(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("home", ["memory", "folder"])
def test_vectors_are_read_in_blocks(tmp_path, home, monkeypatch):
    bundle = built(home, tmp_path, "float16")
    whole = bundle.estimate_recall(4)
    monkeypatch.setattr(_recall_sample, "_NUMBERS", 25 * WIDTH)
    monkeypatch.setattr(_recall_sample, "_QUERIES", 7)
    read, done = [], []
    at = _recall_sample.Stored.at

    def counted(stored, rows):
        read.append(len(rows))
        return at(stored, rows)

    monkeypatch.setattr(_recall_sample.Stored, "at", counted)
    parts = bundle.estimate_recall(4, progress=lambda *so_far: done.append(so_far))
    assert parts == whole
    assert sorted(read) == [1, *[25] * 6, N]  # and the rows that are asked for
    assert done == [(25 * i, N) for i in range(1, 7)]


@pytest.mark.parametrize("home", ["memory", "folder"])
def test_vectors_that_are_given(tmp_path, home):
    kept = built(home, tmp_path, "float32")
    plain = Bundle(ENCODER, kept.collection.without_vectors())
    whole = kept.estimate_recall(6, n_queries=100)
    assert plain.estimate_recall(6, n_queries=100, vectors=X[:N]) == whole[:2]
    held_out = kept.estimate_recall(6, queries=HELD_OUT)
    given = plain.estimate_recall(6, queries=HELD_OUT, vectors=X[:N].tolist())
    assert given == held_out[:2]
    # The truth of full precision, for a search by what was kept in fewer bytes.
    coarse = built("memory", tmp_path, "int8").estimate_recall(6, vectors=X[:N])
    assert coarse[:2] == kept.estimate_recall(6)[:2]
    assert coarse[2].recall < 1


def test_rounded_vectors_are_those_of_the_items():
    bundle = Bundle(ENCODER).with_items(X)
    assert bundle.estimate_recall(vectors=X.astype(np.float16))[0].recall > 0


def test_codes_of_another_system():
    codes = ENCODER.encode(X)
    bundle = Bundle(PackedEncoder(N_BITS)).with_items(codes)
    own = Bundle(ENCODER).with_items(X)
    expected = own.estimate_recall(3, vectors=X)[:1]
    assert bundle.estimate_recall(3, vectors=X) == expected
    assert bundle.prefix(9).estimate_recall(3, vectors=X)[0].recall > 0
    with pytest.raises(ArgumentError, match="queries of this bundle are codes"):
        bundle.estimate_recall(3, vectors=X, queries=codes)


def test_draws_are_repeated_by_their_seed():
    bundle = Bundle(ENCODER).with_items(X, keep_vectors="float32")
    one, same, other = (
        bundle.estimate_recall(n_queries=30, random_state=seed) for seed in (1, 1, 2)
    )
    assert one == same != other
    assert bundle.estimate_recall(n_queries=30, random_state=0)[0].n_queries == 30
    assert bundle.estimate_recall()[0].n_queries == len(X)  # no more than there are


@pytest.mark.parametrize(
    ("k", "form", "known"),
    [(1, "float32", {}), (10, "int8", {"shortlist": 30}), (20, "float16", {})],
)
def test_intervals_contain_the_truth(k, form, known):
    """The recall of all rows, in nearly all of 100 samples of a few."""
    bundle = Bundle(ENCODER, metadata=Metadata(**known))
    bundle = bundle.with_items(clustered(1500, seed=3), keep_vectors=form)
    truth = told(bundle.estimate_recall(k, n_queries=1500))
    hits = dict.fromkeys(truth, 0)
    for seed in range(100):
        for each in bundle.estimate_recall(k, n_queries=40, random_state=seed):
            assert 0 <= each.low <= each.recall <= each.high <= 1
            hits[each.search] += each.low <= truth[each.search] <= each.high
    assert min(hits.values()) >= 90


def test_all_found_leaves_a_doubt():
    bundle = Bundle(ENCODER).with_items(X[:12], keep_vectors="float32")
    found = bundle.estimate_recall(11)
    assert [each.recall for each in found] == [1, 1, 1]
    assert all(each.low < 0.9 and each.high == 1 for each in found)


PLAIN = Bundle(ENCODER).with_items(X[:20])
KEPT = Bundle(ENCODER).with_items(X[:20], keep_vectors="float32")
HOLE = np.where(np.arange(20)[:, None] == 7, np.nan, X[:20])


@pytest.mark.parametrize(
    ("bundle", "options", "error", "message"),
    [
        (Bundle(ENCODER), {}, ArgumentError, "holds no items yet"),
        (PLAIN, {}, ArgumentError, "keeps no vectors to find the true neighbours"),
        (PLAIN, {"vectors": X[:19]}, ArgumentError, "of the 20 items, got 19"),
        (PLAIN, {"vectors": X[:20, :3]}, FeatureError, "8 features, got 3"),
        (PLAIN, {"vectors": X[20:0:-1]}, ArgumentError, "not those of the items, in"),
        (PLAIN, {"vectors": HOLE}, FeatureError, "vectors must be .* in row 7"),
        (KEPT, {"k": 20}, ArgumentError, "k=20 asks for more .* the 19 other items"),
        (KEPT, {"k": 21, "queries": X}, ArgumentError, "than the 20 items"),
        (KEPT, {"k": 0}, ArgumentError, "k must be at least 1"),
        (KEPT, {"queries": X[:1]}, ArgumentError, "at least 2 queries, got 1"),
        (KEPT, {"queries": X[:9, :2]}, FeatureError, "8 features, got 2"),
        (KEPT, {"n_queries": 1}, ArgumentError, "n_queries must be at least 2"),
        (KEPT, {"confidence": 95}, ArgumentError, "confidence must be a number"),
        (KEPT, {"shortlist": 0}, ArgumentError, "shortlist must be at least 1"),
        (KEPT, {"random_state": "a"}, ArgumentError, "random_state is not a seed"),
    ],
)
def test_mistakes(bundle, options, error, message):
    with pytest.raises(error, match=message) as caught:
        bundle.estimate_recall(**options)
    assert "\n" not in str(caught.value)


def test_an_emptied_collection():
    empty = Bundle(ENCODER).with_items(X[:3], keep_vectors="float32").delete(range(3))
    for queries in (None, X[:2]):
        with pytest.raises(ArgumentError, match="the collection is empty"):
            empty.estimate_recall(2, queries=queries)


def test_texts_are_asked_by_their_features():
    pytest.importorskip("wordllama")
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "river", "bank", "broken", "arm", "asleep", "shark"]
    texts = [" ".join(rng.choice(words, 4)) for _ in range(60)]
    encoder = LinearEncoder(rng.normal(size=(256, 32)), np.zeros(32))
    bundle = Bundle(encoder, backbone="wordllama-256")
    bundle = bundle.with_items(texts[:40], keep_vectors="float32")
    features = bundle.features(texts)
    own = Bundle(encoder).with_items(features[:40], keep_vectors="float32")
    found = bundle.estimate_recall(3, queries=texts[40:])
    assert found == own.estimate_recall(3, queries=features[40:])
    plain = Bundle(encoder, backbone="wordllama-256").with_items(texts[:40])
    given = plain.estimate_recall(3, queries=texts[40:], vectors=features[:40])
    assert given == found[:2]
