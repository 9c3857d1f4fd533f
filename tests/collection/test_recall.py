"""Estimated recall against brute force, and how often its interval has the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import AdditiveCodes
from tests.store._sizes import small_segments

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


def made(form, items=X[:N]):
    return Collection.create(None, items, encoder=ENCODER, keep_vectors=form)


def grown(home, form, monkeypatch):
    """Return a collection of segments with holes."""
    small_segments(monkeypatch)
    half, junk = N // 2, 3 * X[:9]
    col = home(made(form, np.concatenate([junk, X[:half]])))
    col.add(X[half:N])
    col.add(junk)
    col.delete([*range(9), *range(N + 9, N + 18)])
    return col


def brute_force(col, queries, own, k, **options):
    """Return the recall of each way, by searching for one query after another.

    ``own`` are positions of the queries, -1 for those that are held out.
    """
    n, ids = len(col), col.ids
    stored = col.vectors.astype(np.float64)
    plain = Collection.create(None, col.vectors, ids=ids, encoder=col)
    same = (plain.codes == col.codes).all()  # of rounded vectors codes may be others
    recalls = {"hamming": [], "scores": [], "euclidean": []}
    for query, position in zip(queries, own, strict=True):
        allowed = np.arange(n) != position
        apart = np.sqrt(((stored - query.astype(np.float64)) ** 2).sum(axis=1))
        apart[~allowed] = np.inf
        nearest = set(ids[np.argsort(apart, kind="stable")[:k]].tolist())
        codes = col.encode(vectors=query[None])
        ways = {
            "hamming": col.search(codes=codes, k=k, allowed=allowed),
            "euclidean": col.search(query[None], k, allowed=allowed, **options),
        }
        if same:
            ways["scores"] = plain.search(
                query[None], k, allowed=allowed, rerank=True, **options
            )
        for way, hits in ways.items():
            recalls[way].append(len(nearest & {*hits.ids[0].tolist()}) / k)
    return {way: np.mean(shares) for way, shares in recalls.items() if shares}


def shares(estimates, known=("hamming", "scores", "euclidean")):
    return {each.search: each.recall for each in estimates if each.search in known}


@pytest.mark.parametrize(("form", "k"), [("float32", 10), ("float16", 1), ("int8", 10)])
def test_items_of_the_collection(home, form, k, monkeypatch):
    col = grown(home, form, monkeypatch)
    estimates = col.recall(k, n_queries=N)
    expected = brute_force(col, col.vectors, np.arange(N), k)
    assert shares(estimates, expected) == pytest.approx(expected, abs=1e-12)
    assert "scores" in expected or form != "float32"
    assert [each.search for each in estimates] == ["hamming", "scores", "euclidean"]
    assert {each.n_queries for each in estimates} == {N}
    assert {each.held_out for each in estimates} == {False}


@pytest.mark.parametrize("form", FORMS)
def test_held_out_queries(home, form, monkeypatch):
    col = grown(home, form, monkeypatch)
    estimates = col.recall(5, queries=HELD_OUT)
    expected = brute_force(col, HELD_OUT, np.full(40, -1), 5)
    assert shares(estimates, expected) == pytest.approx(expected, abs=1e-12)
    assert [each.n_queries for each in estimates] == [40] * 3
    assert {each.held_out for each in estimates} == {True}
    few = col.recall(5, queries=HELD_OUT, n_queries=7)
    assert [each.n_queries for each in few] == [7] * 3


@pytest.mark.parametrize("held_out", [True, False])
def test_a_shortlist_is_what_search_takes(held_out):
    col = made("float32")
    own = np.full(40, -1) if held_out else np.arange(N)
    queries = HELD_OUT if held_out else X[:N]
    options = {"queries": HELD_OUT} if held_out else {}
    estimates = col.recall(3, shortlist=9, **options)
    expected = brute_force(col, queries, own, 3, shortlist=9)
    assert shares(estimates) == pytest.approx(expected, abs=1e-12)
    assert [each.shortlist for each in estimates] == [None, 9, 9]


@pytest.mark.parametrize(("k", "size"), [(1, 100), (10, 100), (12, 120)])
def test_the_usual_shortlist(k, size):
    estimates = made("float32").recall(k, n_queries=9)
    assert [each.shortlist for each in estimates] == [None, size, size]


@settings(max_examples=20)
@given(st.integers(0, 100), st.integers(3, 12), st.integers(1, 4), st.integers(1, 3))
def test_many_equal_items(seed, n, k, n_kinds):
    """An item that stands behind many of the same distance is left out as well."""
    k = min(k, n - 1)
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_kinds, WIDTH))[rng.integers(0, n_kinds, n)]
    col = made("float32", vectors)
    expected = brute_force(col, col.vectors, np.arange(n), k)
    estimates = col.recall(k, n_queries=n)
    assert shares(estimates) == pytest.approx(expected, abs=1e-12)


def test_vectors_that_are_given(home, monkeypatch):
    kept = grown(home, "float32", monkeypatch)
    plain = home(made(None))
    whole = kept.recall(6, n_queries=100)
    assert plain.recall(6, n_queries=100, vectors=X[:N]) == whole[:2]
    held_out = kept.recall(6, queries=HELD_OUT)
    given = plain.recall(6, queries=HELD_OUT, vectors=X[:N].tolist())
    assert given == held_out[:2]
    # The truth of full precision, for a search by what was kept in fewer bytes.
    coarse = home(made("int8")).recall(6, vectors=X[:N])
    assert coarse[:2] == kept.recall(6)[:2]
    assert coarse[2].recall < 1
    assert plain.recall(vectors=X[:N].astype(np.float16))[0].recall > 0


def test_progress_counts_items():
    seen = []
    made("float32").recall(3, progress=lambda *done: seen.append(done))
    assert seen[-1] == (N, N)


def test_corrections_count(home):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 12)).astype(np.float32) + 1
    encoder = AdditiveCodes(24, correction=True, random_state=0).fit(rows).encoder_
    plain = home(Collection.create(None, rows, encoder=encoder))
    estimates = plain.recall(5, shortlist=300, vectors=rows, n_queries=300)
    apart = np.square(rows[:, None] - rows).sum(axis=2)
    near = np.argsort(apart, axis=1, kind="stable")
    hits = plain.search(rows, 6, rerank=True, shortlist=301).ids
    found = [
        len({*some[some != i][:5]} & {*order[order != i][:5]}) / 5
        for i, (some, order) in enumerate(zip(hits, near, strict=True))
    ]
    assert shares(estimates)["scores"] == pytest.approx(np.mean(found))


def test_codes_of_another_system(home):
    codes = ENCODER.encode(X)
    col = home(Collection.create(None, codes=codes, bits=N_BITS))
    own = Collection.create(None, X, encoder=ENCODER)
    expected = own.recall(3, vectors=X)[:1]
    assert col.recall(3, vectors=X) == expected
    assert col.prefix(9).recall(3, vectors=X)[0].recall > 0
    with pytest.raises(ArgumentError, match="queries of this collection are codes"):
        col.recall(3, vectors=X, queries=codes)


def test_draws_are_repeated_by_their_seed():
    col = Collection.create(None, X, encoder=ENCODER, keep_vectors="float32")
    one, same, other = (col.recall(n_queries=30, random_state=s) for s in (1, 1, 2))
    assert one == same != other
    assert col.recall(n_queries=30, random_state=0)[0].n_queries == 30
    assert col.recall()[0].n_queries == len(X)  # no more than there are
    assert one[0].to_dict()["recall"] == one[0].recall


@pytest.mark.parametrize(("k", "form"), [(1, "float32"), (10, "int8"), (20, "float16")])
def test_intervals_contain_the_truth(k, form):
    """The recall of all items, in nearly all of 60 samples of a few."""
    items = clustered(1000, seed=3)
    col = made(form, items)
    truth = shares(col.recall(k, n_queries=1000, shortlist=30))
    hits = dict.fromkeys(truth, 0)
    for seed in range(60):
        for each in col.recall(k, n_queries=40, random_state=seed, shortlist=30):
            assert 0 <= each.low <= each.recall <= each.high <= 1
            hits[each.search] += each.low <= truth[each.search] <= each.high
    assert min(hits.values()) >= 53


def test_all_found_leaves_a_doubt():
    estimates = made("float32", X[:12]).recall(11)
    assert [each.recall for each in estimates] == [1, 1, 1]
    assert all(each.low < 0.9 and each.high == 1 for each in estimates)
    sure = made("float32", X[:12]).recall(11, confidence=0.5)
    assert all(a.low < b.low for a, b in zip(estimates, sure, strict=True))


HOLE = np.where(np.arange(20)[:, None] == 7, np.nan, X[:20])


@pytest.mark.parametrize(
    ("form", "options", "error", "message"),
    [
        (None, {}, ArgumentError, "keeps no vectors to find the true neighbours"),
        (None, {"vectors": X[:19]}, ArgumentError, "of the 20 items, got 19"),
        (None, {"vectors": X[:20, :3]}, FeatureError, "8 features, got 3"),
        (None, {"vectors": X[20:0:-1]}, ArgumentError, "not those of the items, in"),
        (None, {"vectors": HOLE}, FeatureError, ".* in row 7"),
        (None, {"vectors": "x.npy"}, ArgumentError, "."),
        ("float32", {"k": 20}, ArgumentError, "k=20 asks for more .* the 19 other"),
        ("float32", {"k": 21, "queries": X}, ArgumentError, "than the 20 items"),
        ("float32", {"k": 0}, ArgumentError, "k must be at least 1"),
        ("float32", {"k": "9"}, ArgumentError, "k must be a whole number"),
        ("float32", {"queries": X[:1]}, ArgumentError, "at least 2 queries, got 1"),
        ("float32", {"queries": X[:9, :2]}, FeatureError, "8 features, got 2"),
        ("float32", {"queries": "text"}, ArgumentError, "."),
        ("float32", {"n_queries": 1}, ArgumentError, "n_queries must be at least 2"),
        ("float32", {"n_queries": 2.5}, ArgumentError, "n_queries must be a whole"),
        ("float32", {"confidence": 95}, ArgumentError, "confidence must be a number"),
        ("float32", {"confidence": "high"}, ArgumentError, "confidence must be"),
        ("float32", {"shortlist": 0}, ArgumentError, "shortlist must be at least 1"),
        ("float32", {"random_state": "a"}, ArgumentError, "random_state is not a seed"),
    ],
)
def test_mistakes(form, options, error, message):
    with pytest.raises(error, match=message) as caught:
        made(form, X[:20]).recall(**options)
    assert "\n" not in str(caught.value)


def test_an_emptied_collection(home):
    empty = home(made("float32", X[:3]))
    empty.delete(range(3))
    for queries in (None, X[:2]):
        with pytest.raises(ArgumentError, match="the collection is empty"):
            empty.recall(2, queries=queries)


def test_texts_are_asked_by_their_features():
    pytest.importorskip("wordllama")
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "river", "bank", "broken", "arm", "asleep", "shark"]
    texts = [" ".join(rng.choice(words, 4)) for _ in range(60)]
    encoder = LinearEncoder(rng.normal(size=(256, 32)), np.zeros(32))
    options = {"encoder": encoder, "backbone": "wordllama-256"}
    col = Collection.create(None, texts[:40], keep_vectors="float32", **options)
    features = col.features(texts)
    own = Collection.create(
        None, features[:40], encoder=encoder, keep_vectors="float32"
    )
    estimates = col.recall(3, queries=texts[40:])
    assert estimates == own.recall(3, queries=features[40:])
    plain = Collection.create(None, texts[:40], **options)
    given = plain.recall(3, queries=texts[40:], vectors=features[:40])
    assert given == estimates[:2]
