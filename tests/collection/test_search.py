"""Searches against brute force: kinds of queries, order of ties, radius, re-ranking."""

import contextlib
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.index import FlatIndex
from fewbits.learners import LSH, AdditiveCodes
from tests.store._sizes import NIGHTLY, small_segments

N, N_BITS = 60, 12
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(N, N_BITS)) * 4) / 4 + 0.125
X[20:30] = X[:10]  # equal items
Q = np.round(rng.normal(size=(7, N_BITS)) * 4) / 4 + 0.125
IDS = [f"sku-{N - i}" for i in range(N)]
KINDS = ["red", "green", "blue"] * 20
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
FORMS = [None, "float16", "float32", "int8"]


def made(form=None, ids=IDS, **options):
    columns = {"kind": KINDS, "row": np.arange(N)}
    return Collection.create(
        None, X, encoder=ENCODER, ids=ids, columns=columns, keep_vectors=form, **options
    )


def hamming(queries):
    """Return the distance of each query to each item."""
    return ((np.asarray(queries)[:, None] > 0) != (X > 0)).sum(axis=2)


def nearest(distances, k, mask=None):
    """Return (rows, distances) of the nearest for each query, ties by row."""
    rows = np.arange(distances.shape[1]) if mask is None else np.flatnonzero(mask)
    answers = []
    for line in distances:
        best = rows[np.argsort(line[rows], kind="stable")][:k]
        answers.append([(int(row), line[row]) for row in best])
    return answers


def answers(hits):
    """Return (row, distance) of each hit."""
    return [[(hit["row"], hit.distance) for hit in some] for some in hits]


@pytest.mark.parametrize("k", [1, 5, 10**9])
@pytest.mark.parametrize("index", ["flat", "multi-index"])
def test_nearest_items_ties_in_their_order(home, k, index):
    col = home(made(index=index))
    hits = col.search(Q, k)
    assert answers(hits) == nearest(hamming(Q), k)
    assert hits.ids.shape == hits.distances.shape == (len(Q), min(k, N))
    assert (hits.metric, hits.version) == ("hamming", col.version)
    assert hits.distances.dtype == np.int32
    for some in hits:
        assert [hit.rank for hit in some] == [*range(1, len(some) + 1)]
        assert [hit.id for hit in some] == [IDS[hit["row"]] for hit in some]
        assert [hit["kind"] for hit in some] == [KINDS[hit["row"]] for hit in some]


def test_ten_items_where_no_number_is_given(home):
    assert home(made()).search(Q).ids.shape == (len(Q), 10)


@pytest.mark.parametrize("form", FORMS)
def test_kinds_of_queries_are_one(home, form):
    col = home(made(form))
    first = col.search(X[:5], 4, rerank=False).to_list()
    for queries in (X[:5].tolist(), pd.DataFrame(X[:5]), pa.array(X[:5].tolist())):
        assert col.search(queries, 4, rerank=False).to_list() == first
    assert col.search(vectors=X[:5], k=4, rerank=False).to_list() == first
    assert col.search(codes=ENCODER.encode(X[:5]), k=4).to_list() == first
    assert col.search(codes=col.encode(ids=IDS[:5]), k=4).to_list() == first
    np.testing.assert_array_equal(col.encode(X), col.codes)
    np.testing.assert_array_equal(col.encode(codes=col.codes[:3]), col.codes[:3])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"queries": Q, "ids": IDS[:1]},
        {"vectors": Q, "codes": ENCODER.encode(Q)},
        {"texts": ["a"]},
        {"images": ["a.png"]},
        {"ids": ["other"]},
        {"ids": [1]},
        {"ids": "sku-1"},
        {"codes": Q},
        {"codes": ENCODER.encode(Q)[:, :1]},
        {"codes": ENCODER.encode(Q) | 1},
        {"queries": "text"},
        {"queries": Path("leg.jpg")},
        {"vectors": "text"},
        {"codes": "text"},
        {"queries": Q[0]},
        {"queries": Q[:, :3]},
        {"queries": np.full((1, N_BITS), np.nan)},
        {"queries": np.zeros((2, N_BITS, 2))},
        {"queries": iter(Q)},
        {"queries": Q, "k": 0},
        {"queries": Q, "k": 2.5},
        {"queries": Q, "k": "9"},
        {"queries": Q, "k": 2**31},
        {"queries": Q, "rerank": "yes"},
        {"queries": Q, "rerank": 1},
        {"queries": Q, "shortlist": 9},
        {"queries": Q, "rerank": True, "shortlist": 0},
        {"queries": Q, "radius": -1},
        {"queries": Q, "radius": 1.5},
        {"queries": Q, "radius": "3"},
        {"queries": Q, "radius": 1, "rerank": True},
        {"queries": Q, "radius": 1, "shortlist": 9},
        {"queries": Q, "radius": 1, "group_by": "kind"},
        {"queries": Q, "radius": 1, "k": 0},
        {"queries": Q, "columns": "kind"},
        {"queries": Q, "columns": ["colour"]},
        {"queries": Q, "columns": ["_code"]},
        {"queries": Q, "columns": [["kind"]]},
        {"codes": ENCODER.encode(Q), "rerank": True},
        {"ids": IDS[:1], "rerank": True},
    ],
)
def test_mistakes_are_told_in_one_line(options):
    with pytest.raises(FewbitsError, match=r"\S") as caught:
        made().search(**options)
    assert "\n" not in str(caught.value)


def test_columns_of_hits():
    col = made()
    assert dict(col.search(Q, 1, columns=["row"])[0][0].columns).keys() == {"row"}
    assert dict(col.search(Q, 1, columns=[])[0][0].columns) == {}
    assert [*col.search(Q, 1, columns=["row", "kind", "row"])[0][0].columns] == [
        "row",
        "kind",
    ]


# Items of the collection as queries.


@pytest.mark.parametrize("k", [1, 3, N, 99])
@pytest.mark.parametrize("form", [None, "float32"])
def test_items_are_left_out_of_their_own_answers(home, k, form):
    col, rows = home(made(form)), [3, 23, 59, 3]
    hits = col.search(ids=[IDS[row] for row in rows], k=k, rerank=False)
    distances = hamming(X[rows]).astype(float)
    distances[np.arange(4), rows] = np.inf
    assert answers(hits) == nearest(distances, min(k, N - 1))
    assert hits.ids.shape == (4, min(k, N - 1))
    only = col.search(ids=[IDS[3]], k=k, allowed=[IDS[3]], rerank=False)
    assert only.to_list() == [[]]
    two = col.search(ids=[IDS[3]], k=k, allowed=[IDS[3], IDS[9]], rerank=False)
    assert answers(two) == [[(9, hamming(X[3:4])[0, 9])]]


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 14), st.integers(1, 3))
def test_items_behind_many_of_the_same_distance(seed, n, k, n_kinds):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_kinds, N_BITS))[rng.integers(0, n_kinds, n)]
    col = Collection.create(None, values, encoder=ENCODER, keep_vectors="float32")
    apart = np.linalg.norm(values[:, None] - values.astype("f4"), axis=2).round(4)
    bits = ((values[:, None] > 0) != (values > 0)).sum(axis=2).astype(float)
    for distances, rerank in ((bits, False), (apart, True)):
        distances[np.arange(n), np.arange(n)] = np.inf
        hits = col.search(ids=range(n), k=k, rerank=rerank)
        assert hits.ids.tolist() == [
            [row for row, _ in line] for line in nearest(distances, min(k, n - 1))
        ]


def test_the_only_item_finds_nothing(home):
    col = home(Collection.create(None, X[:1], encoder=ENCODER))
    for options in ({"k": 3}, {"radius": 3}, {"radius": 3, "k": 2}):
        assert col.search(ids=[0], **options).to_list() == [[]]


# Within a radius.


@pytest.mark.parametrize("radius", [0, 4, 99])
@pytest.mark.parametrize("k", [None, 6, 10**9])
@pytest.mark.parametrize("index", ["flat", "multi-index"])
def test_all_items_within_a_radius(home, radius, k, index):
    col = home(made(index=index))
    mask = np.arange(N) % 5 > 0
    for options, chosen in (({}, None), ({"allowed": mask}, mask)):
        hits = col.search(Q, k, radius=radius, **options)
        expected = [
            [(row, d) for row, d in line if d <= radius]
            for line in nearest(hamming(Q), N if k is None else k, chosen)
        ]
        assert answers(hits) == expected
        longest = max(map(len, expected))
        assert hits.ids.shape == (len(Q), longest)
        assert (hits.distances[hits.ids == None] == -1).all()  # noqa: E711
        assert hits.metric == "hamming"
    own = col.search(ids=IDS[:3], radius=radius, k=k)
    for row, line in enumerate(answers(own)):
        every = nearest(hamming(X[row : row + 1]), N)[0]
        every = [(r, d) for r, d in every if r != row and d <= radius]
        assert line == every[:k]


# Ranked again.


def stored(col):
    return np.asarray(col.vectors, np.float64)


@pytest.mark.parametrize("form", ["float16", "float32", "int8"])
def test_kept_vectors_rank_again_unless_told_otherwise(home, form):
    col = home(made(form))
    apart = np.linalg.norm(Q[:, None] - stored(col), axis=2)
    for options in ({}, {"rerank": True}):
        hits = col.search(Q, 6, shortlist=N, **options)
        assert hits.metric == "euclidean"
        rows = [[row for row, _ in line] for line in answers(hits)]
        expected = nearest(apart.round(5), 6)
        assert rows == [[row for row, _ in line] for line in expected]
        np.testing.assert_allclose(
            hits.distances, [[d for _, d in line] for line in expected], rtol=1e-4
        )
    assert col.search(Q, 6, rerank=False).metric == "hamming"
    own = col.search(ids=[IDS[7], IDS[3]], k=4)
    assert own.metric == "euclidean"
    between = np.linalg.norm(stored(col)[[7, 3], None] - stored(col), axis=2)
    between[[0, 1], [7, 3]] = np.inf
    assert [[row for row, _ in line] for line in answers(own)] == [
        [row for row, _ in line] for line in nearest(between.round(5), 4)
    ]
    # Codes alone have no vectors to compare: they are not re-ranked by themselves.
    assert col.search(codes=ENCODER.encode(Q), k=6).metric == "hamming"


@pytest.mark.parametrize("shortlist", [None, 1, 6, 17])
@pytest.mark.parametrize("form", FORMS)
def test_a_shortlist_by_codes_is_what_is_ranked_again(form, shortlist):
    col, k = made(form), 5
    hits = col.search(Q, k, rerank=True, shortlist=shortlist)
    size = max(k, shortlist or 100)
    for query, some in zip(Q, hits, strict=True):
        short = [row for row, _ in nearest(hamming(query[None]), size)[0]]
        if form is None:
            apart = np.abs(query) @ ((X > 0) != (query > 0)).T
        else:
            apart = np.linalg.norm(query - stored(col), axis=1)
        mask = np.isin(np.arange(N), short)
        expected = nearest(apart[None].round(5), k, mask)[0]
        assert [hit["row"] for hit in some] == [row for row, _ in expected]


def test_scores_rank_codes_again(home):
    col = home(made())
    assert col.search(Q, 5).metric == "hamming"
    hits = col.search(Q, 5, rerank=True, shortlist=N)
    assert hits.metric == "scores"
    cost = np.abs(Q)[:, None] * ((X > 0) != (Q[:, None] > 0))
    assert answers(hits) == nearest(cost.sum(axis=2), 5)
    with pytest.raises(ArgumentError, match="keeps none: give the items"):
        col.search(ids=IDS[:1], rerank=True)


def test_recall_from_codes_alone_is_that_of_a_full_asymmetric_scan(tmp_path):
    n, n_queries, width, k, n_bits = 100_000 if NIGHTLY else 4000, 60, 32, 10, 64
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n // 100, width))
    places = rng.integers(0, len(centres), n + n_queries)
    every = centres[places] + 0.7 * rng.normal(size=(len(places), width))
    every = np.round(16 * every).astype(np.float32)  # every sum of squares is exact
    items, queries = every[:n], every[n:]
    weights = rng.integers(-9, 10, (width, n_bits)) / 16  # whose products are exact
    encoder = LinearEncoder(weights, np.zeros(n_bits))
    col = Collection.create(tmp_path / "c", items, encoder=encoder)
    squares = (items * items).sum(axis=1) - 2 * queries @ items.T
    truth = np.argsort(squares, axis=1, kind="stable")[:, :k]
    bits = np.unpackbits(col.codes, axis=1, count=n_bits).astype(np.float64)
    scores = (queries @ weights).astype(np.float64)
    cost = np.maximum(scores, 0).sum(axis=1)[:, None] - scores @ bits.T
    scan = np.argsort(cost, axis=1, kind="stable")[:, :k]

    def recall(ids):
        pairs = zip(ids.tolist(), truth.tolist(), strict=True)
        return np.mean([len({*some} & {*others}) / k for some, others in pairs])

    full, plain = recall(scan), recall(col.search(queries, k).ids)
    assert recall(col.search(queries, k, rerank=True).ids) >= full - 0.01
    assert full > plain + 0.03  # or there is nothing to win


def test_recall_with_int8_is_within_2_thousandths_of_float32():
    """Of real vectors, by brute force in NumPy; nothing is drawn but the codes.

    Digits have many equal distances, whole numbers squared: what was found counts where
    it is no farther than the tenth nearest.
    """
    digits = load_digits().data.astype(np.float32)
    items, queries = digits[200:], digits[:200]
    encoder = LSH(256, random_state=0).fit(items).encoder_
    squares = np.square(queries[:, None].astype(np.int64) - items).sum(axis=2)
    tenth = np.sort(squares, axis=1)[:, 9:10]
    recall = {}
    for form in ("float32", "int8"):
        col = Collection.create(None, items, encoder=encoder, keep_vectors=form)
        ids = col.search(queries, 10, shortlist=100).ids
        recall[form] = (np.take_along_axis(squares, ids, axis=1) <= tenth).mean()
    assert recall["float32"] > 0.98
    assert recall["int8"] >= recall["float32"] - 0.002


# Corrections: two bytes a row beside the codes.


WIDE = np.random.default_rng(0).normal(size=(300, 12)).astype(np.float32) + 1


@pytest.fixture(scope="module")
def corrected():
    """Return an encoder that keeps two bytes a row for re-ranking by scores."""
    return AdditiveCodes(24, correction=True, random_state=0).fit(WIDE).encoder_


def check_corrections(col, encoder, rows):
    """Compare what is found with what an index of these rows finds."""
    queries, codes = WIDE[:9] + np.float32(0.1), encoder.encode(rows)
    np.testing.assert_array_equal(col.codes, codes)
    expected = FlatIndex(codes).search_reranked(
        encoder.encode(queries),
        5,
        scores=encoder.query_scores(queries),
        offsets=encoder.corrections(rows, codes),
    )
    hits = col.search(queries, 5, rerank=True)
    assert hits.metric == "scores"
    np.testing.assert_array_equal(hits.ids, col.ids[expected.ids])
    np.testing.assert_array_equal(hits.distances, expected.distances)


def test_corrections_follow_rows_that_come_and_go(home, corrected, monkeypatch):
    small_segments(monkeypatch)
    col = home(Collection.create(None, WIDE[:100], encoder=corrected))
    assert col.summary()["bytes_per_item"] == 3 + 2
    check_corrections(col, corrected, WIDE[:100])
    col.add(WIDE[100:150])
    check_corrections(col, corrected, WIDE[:150])
    col.delete(np.arange(10, 40))
    col.upsert(WIDE[200:205], ids=[3, 50, 60, 70, 149])
    gone = [3, 50, 60, 70, 149, *range(10, 40)]
    rows = np.concatenate([np.delete(WIDE[:150], gone, axis=0), WIDE[200:205]])
    check_corrections(col, corrected, rows)
    col.compact()
    check_corrections(home(col), corrected, rows)
    assert col.columns == []


def test_another_encoder_makes_its_own_corrections(home, corrected):
    col = home(Collection.create(None, WIDE, encoder=corrected, keep_vectors="float32"))
    other = AdditiveCodes(31, correction=True, random_state=1).fit(WIDE).encoder_
    plain = LinearEncoder(np.eye(12), np.zeros(12))
    for encoder, n_bytes in ((other, 4 + 2 + 48), (plain, 2 + 48), (corrected, 53)):
        col.reencode(encoder)
        assert col.summary()["bytes_per_item"] == n_bytes
        np.testing.assert_array_equal(col.vectors, WIDE)
    without = Collection.create(None, WIDE, encoder=other)
    check_corrections(without, other, WIDE)


def test_a_prefix_has_no_corrections(corrected):
    short = Collection.create(None, WIDE, encoder=corrected).prefix(9)
    assert short.summary()["bytes_per_item"] == 2
    assert short.search(WIDE[:2], 3, rerank=True).metric == "scores"


# Other lengths, other modalities.


@pytest.mark.parametrize("bits", [1, 8, 9])
def test_first_bits(home, bits):
    col = home(made("float16"))
    short = col.prefix(bits)
    apart = ((Q[:, None, :bits] > 0) != (X[:, :bits] > 0)).sum(axis=2)
    assert answers(short.search(Q, 5, rerank=False)) == nearest(apart, 5)
    assert (short.ids.tolist(), short.columns) == (IDS, ["kind", "row"])
    assert short.facts.prefix_of == N_BITS
    assert home(short).prefix(1).facts.prefix_of == N_BITS
    np.testing.assert_array_equal(short.vectors, col.vectors)
    for wrong in (0, N_BITS + 1):
        with pytest.raises(ArgumentError, match="must have between 1 and 12 bits"):
            col.prefix(wrong)


def test_codes_are_ranked_again_by_their_bits(home):
    codes = ENCODER.encode(X)
    col = home(Collection.create(None, codes=codes, bits=N_BITS))
    plain = col.search(ENCODER.encode(Q), 5)
    again = col.search(ENCODER.encode(Q), 5, rerank=True)
    assert (plain.metric, again.metric) == ("hamming", "scores")
    np.testing.assert_array_equal(again.ids, plain.ids)
    for wrong in (X, codes.view(np.int8), codes[:, :1], codes | 1, [["a"]]):
        for door in (col.search, col.encode, col.like, col.add, col.classify):
            with pytest.raises(FewbitsError) as caught:
                door(wrong)
            assert "\n" not in str(caught.value)


def test_first_bits_of_codes_are_asked_by_whole_codes():
    codes = ENCODER.encode(X)
    short = Collection.create(None, codes=codes, bits=N_BITS).prefix(5)
    apart = ((Q[:, None, :5] > 0) != (X[:, :5] > 0)).sum(axis=2)
    hits = short.search(ENCODER.encode(Q), 5)
    assert hits.ids.tolist() == [[r for r, _ in line] for line in nearest(apart, 5)]
    with pytest.raises(FewbitsError, match="12 bits need 2 bytes"):
        short.search(codes[:3, :1])


def test_texts_are_searched_by_their_features():
    pytest.importorskip("wordllama")
    texts = ["broken arm", "cannot sleep", "a shark bite", "sleepless nights"]
    col = Collection.create(None, texts, bits=64, keep_vectors="float32")
    features = col.features(texts)
    for make in (list, pd.Series, pa.array):
        by_text = col.search(make(texts), 2)
        assert by_text.ids[:, 0].tolist() == [0, 1, 2, 3]
        assert by_text.to_list() == col.search(texts=make(texts), k=2).to_list()
    assert col.search(vectors=features, k=2).to_list() == by_text.to_list()
    with pytest.raises(ArgumentError, match="takes texts, got images"):
        col.search(images=["a.png"])
    plain = Collection.create(None, texts, encoder=col)
    again = plain.search(ids=[1], k=1, rerank=True)  # texts are kept: scores are known
    assert (again.metric, again.ids.tolist()) == ("scores", [[3]])


# Encoding and loading.


def test_progress_of_encoding():
    seen = []
    made().encode(X, progress=lambda *done: seen.append(done))
    assert seen == [(N, N)]


def test_threads_share_a_handle(home):
    """Searches while rows come and go: each answer is that of one version."""
    col = home(made("float32"))
    stop, raised, counts = threading.Event(), [], set()

    def searches():
        with contextlib.suppress(StopIteration):
            while not stop.is_set():
                try:
                    hits = col.search(X[:3], 999, rerank=False)
                    n = sum(hit["kind"] == "new" for hit in hits[0])
                    counts.add(n)
                    assert len(hits[0]) == N + n
                except Exception as error:
                    raised.append(error)
                    return

    threads = [threading.Thread(target=searches) for _ in range(3)]
    for thread in threads:
        thread.start()
    for step in range(6):
        rows = {"kind": ["new"] * 2, "row": [1, 2]}
        col.add(X[:2], ids=[f"n{step}", f"m{step}"], columns=rows)
    col.delete(filter="kind = 'new'")
    stop.set()
    for thread in threads:
        thread.join()
    assert not raised
    assert counts <= {0, 2, 4, 6, 8, 10, 12}
