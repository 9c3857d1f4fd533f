"""Each kind of request against brute force, and hostile values."""

import json
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fewbits import backbones, engine
from fewbits.bundle import Bundle, Items, Metadata
from fewbits.classify import Codebook
from fewbits.classify.decoders import Bounded
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.ood import learn_rejection

N, N_BITS = 50, 16
rng = np.random.default_rng(0)
X = rng.normal(size=(N, N_BITS)).astype(np.float32)
Q = rng.normal(size=(7, N_BITS)).astype(np.float32)
KINDS = ["red", "green"] * 25
IDS = [f"sku-{i}" for i in range(N)]
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
BOOK = Codebook(ENCODER.encode(X[:3]), N_BITS, ["ant", "bee", "cat"])


def built(**known):
    empty = Bundle(ENCODER, metadata=Metadata(**known), codebook=BOOK)
    columns = {"kind": KINDS, "row": list(range(N))}
    return empty.with_items(X, ids=IDS, columns=columns)


@pytest.fixture(scope="module")
def bundle():
    return built()


def nearest(query, k, rows=range(N)):
    """Return (row, bits that differ), by comparing with every item."""
    apart = ((X > 0) != (query > 0)).sum(axis=1)
    return sorted((int(apart[i]), i) for i in rows)[:k]


def hits(pairs):
    return [
        {"id": IDS[i], "distance": d, "columns": {"kind": KINDS[i], "row": i}}
        for d, i in pairs
    ]


def search(bundle, *given, **options):
    return engine.search(bundle, engine.SearchRequest(*given, **options))


@pytest.mark.parametrize("k", [1, 5, 10**9])
def test_search(bundle, k):
    found = search(bundle, Q, k)
    assert found.to_dict() == {
        "metric": "hamming",
        "results": [
            {"query": f"query {i}", "hits": hits(nearest(query, k))}
            for i, query in enumerate(Q)
        ],
    }


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"filter": "kind = 'red'"}, range(0, N, 2)),
        ({"allowed": IDS[10:20]}, range(10, 20)),
        ({"allowed": np.arange(N) < 3}, range(3)),
        ({"filter": "row >= 40", "allowed": IDS[38:45]}, range(40, 45)),
    ],
)
def test_search_among_some(bundle, options, rows):
    results = search(bundle, Q, 6, **options).results
    for query, found in zip(Q, results, strict=True):
        assert found.hits == hits(nearest(query, 6, rows))


@pytest.mark.parametrize("kept", [None, "float32"])
@pytest.mark.parametrize(
    ("shortlist", "rerank", "again"),
    [(None, None, False), (20, None, True), (20, False, False), (None, True, True)],
)
def test_reranking_is_what_was_asked_or_tuned(kept, shortlist, rerank, again):
    bundle = built(shortlist=shortlist, keep_vectors=kept)
    found = search(bundle, Q, 4, rerank=rerank)
    metric = ("euclidean" if kept else "asymmetric") if again else "hamming"
    assert found.metric == metric
    records = bundle.search_records(Q, 4, rerank=rerank)
    assert [each.hits for each in found.results] == records
    assert {hit.get("metric") for hits in records for hit in hits} == {
        metric if again else None
    }
    if again:
        ids = bundle.search_reranked(Q, 4).ids.tolist()
        assert [[hit["id"] for hit in hits] for hits in records] == ids


def test_what_is_unknown_is_told_where_distances_are_comparable():
    bundle = built()
    known = bundle.with_novelty_radius(KINDS)
    radius = known.novelty_radius
    far = [nearest(query, 1)[0][0] > radius for query in [*X[:2], *Q]]
    asked = np.concatenate([X[:2], Q])
    told = [each.out_of_distribution for each in search(known, asked).results]
    assert told == far
    assert not far[0]
    for options in ({"filter": "row > 3"}, {"allowed": IDS[:9]}, {"rerank": True}):
        (one,) = search(known, X[:1], **options).results
        assert one.out_of_distribution is None
        assert "out_of_distribution" not in one.to_dict()
    (one,) = search(bundle, X[:1]).results
    assert one.out_of_distribution is None


def test_columns_are_looked_up_once(bundle, monkeypatch):
    calls = []
    records = Items.records
    monkeypatch.setattr(
        Items, "records", lambda self, *some: calls.append(1) or records(self, *some)
    )
    search(bundle, Q, 9)
    engine.duplicates(bundle, engine.DuplicatesRequest(4))
    engine.like(bundle, engine.LikeRequest(ids=IDS[:2]))
    assert len(calls) == 3


@pytest.mark.parametrize("queries", [pd.DataFrame(Q), Q.tolist()])
def test_queries_of_other_types(bundle, queries):
    assert search(bundle, queries).to_dict() == search(bundle, Q).to_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 2.5},
        {"k": "9"},
        {"k": None},
        {"rerank": "yes"},
        {"rerank": 1},
        {"filter": 5},
        {"filter": "row >"},
        {"filter": "nothing = 1"},
        {"filter": "1; drop table items"},
        {"allowed": "sku-1"},
        {"allowed": ["sku-1", "other"]},
        {"allowed": [1, 2]},
        {"allowed": np.ones(3, bool)},
        {"allowed": {"a": 1}},
        {"queries": None},
        {"queries": "text"},
        {"queries": Q[:, :3]},
        {"queries": np.full((1, N_BITS), np.nan)},
        {"queries": np.zeros((2, N_BITS, 2))},
    ],
)
def test_hostile_searches_are_told_in_one_line(bundle, options):
    with pytest.raises(FewbitsError, match=r"\S") as caught:
        search(bundle, **{"queries": Q, **options})
    assert "\n" not in str(caught.value)


def test_like_ranks_what_a_linear_model_does(bundle):
    request = engine.LikeRequest(X[:2], ids=IDS[2:5], not_ids=IDS[5:7], k=N)
    found = engine.like(bundle, request)
    scores, ids = bundle.search_by_example(X[:2], ids=IDS[2:5], not_ids=IDS[5:7], k=N)
    assert [hit["id"] for hit in found.hits] == ids.tolist()
    assert [hit["score"] for hit in found.hits] == scores.tolist()
    assert not {hit["id"] for hit in found.hits} & set(IDS[2:7])
    for hit in found.hits:
        row = IDS.index(hit["id"])
        assert hit["columns"] == {"kind": KINDS[row], "row": row}
    assert found.to_dict() == {"hits": found.hits}
    assert not found.none_fits


def test_like_among_some(bundle):
    request = engine.LikeRequest(ids=IDS[:1], k=N, filter="row < 9", allowed=IDS[:7])
    found = {hit["id"] for hit in engine.like(bundle, request).hits}
    assert found == set(IDS[1:7])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ids": ["other"]},
        {"ids": [3]},
        {"ids": IDS[:1], "not_ids": IDS[:1]},
        {"examples": X[:1], "counterexamples": X[:1]},
        {"ids": IDS[:1], "k": 0},
        {"ids": IDS[:1], "n_random": -1},
        {"ids": IDS[:1], "random_state": "x"},
        {"examples": "text"},
        {"ids": IDS[:1], "filter": 3},
    ],
)
def test_hostile_examples(bundle, options):
    with pytest.raises(FewbitsError, match=r"\S") as caught:
        engine.like(bundle, engine.LikeRequest(**options))
    assert "\n" not in str(caught.value)


def test_duplicates(bundle):
    found = engine.duplicates(bundle, engine.DuplicatesRequest(3, filter="row < 40"))
    bits = X > 0
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    expected = [
        {"ids": [IDS[i], IDS[j]], "distance": int(apart[i, j])}
        for i in range(40)
        for j in range(i + 1, 40)
        if apart[i, j] <= 3
    ]
    assert found.pairs == expected
    assert expected
    assert {hit["id"] for group in found.groups for hit in group} == {
        each for pair in expected for each in pair["ids"]
    }
    for first, *others in found.groups:
        assert first["distance"] == 0
        for hit in others:
            i, j = first["columns"]["row"], hit["columns"]["row"]
            assert i < j
            assert hit == {
                "id": IDS[j],
                "distance": int(apart[i, j]),
                "columns": {"kind": KINDS[j], "row": j},
            }
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_confirmed_duplicates():
    bundle = built(keep_vectors="float32")
    request = engine.DuplicatesRequest(N_BITS, max_vector_distance=4.5)
    pairs = engine.duplicates(bundle, request).pairs
    apart = np.linalg.norm(X[:, None].astype(float) - X[None], axis=2)
    first, second = np.nonzero(np.triu(apart <= 4.5, 1))
    assert [pair["ids"] for pair in pairs] == [
        [IDS[i], IDS[j]] for i, j in zip(first, second, strict=True)
    ]
    told = [pair["vector_distance"] for pair in pairs]
    np.testing.assert_allclose(told, apart[first, second])


def test_no_duplicates(bundle):
    request = engine.DuplicatesRequest(0, allowed=[])
    assert engine.duplicates(bundle, request).to_dict() == {"groups": [], "pairs": []}


def classify(bundle, *given, **options):
    return engine.classify(bundle, engine.ClassifyRequest(*given, **options))


def test_classes_by_their_codes(bundle):
    found = classify(bundle, X[:9], decoder="nearest")
    apart = ((X[:9, None] > 0) != (X[None, :3] > 0)).sum(axis=2)
    assert found.to_dict() == {
        "results": [
            {
                "item": f"item {i}",
                "class": ["ant", "bee", "cat"][row.argmin()],
                "distance": int(row.min()),
            }
            for i, row in enumerate(apart)
        ]
    }


def test_a_request_carries_the_decoder(bundle):
    request = engine.ClassifyRequest(X[:9], decoder="bounded")
    assert request.decoder == Bounded(radius=1)
    apart = ((X[:9, None] > 0) != (X[None, :3] > 0)).sum(axis=2).min(axis=1)
    for radius in (0, 2, int(apart.max())):
        found = classify(bundle, X[:9], decoder=Bounded(radius=radius)).results
        accepted = [each["class"] is not None for each in found]
        assert accepted == (apart <= radius).tolist()


def test_classes_by_votes_and_by_linear_models(bundle):
    voted = classify(bundle, X[:4], labels="kind", k=1).results
    assert [each["class"] for each in voted] == KINDS[:4]
    linear = classify(bundle, X[:4], labels="kind", linear=True).results
    assert set(linear[0]) == {"item", "class", "score"}


def test_rejection_tells_what_to_expect(bundle):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    known = X[y] + 0.1 * rng.normal(size=(60, N_BITS))
    bundle = replace(bundle, rejection=learn_rejection(known, y))
    items = np.concatenate([X[:3], Q])
    found = classify(bundle, items, max_false_reject_rate=0.1)
    held = bundle.rejection.threshold(max_false_reject_rate=0.1)
    assert found.accepted == held._asdict()
    rejected = [each["class"] is None for each in found.results]
    assert rejected == (bundle.rejection.score(items) < held.threshold).tolist()
    assert sum(rejected[:3]) < sum(rejected[3:])
    assert found.to_dict()["results"][0]["accepted"] == found.accepted


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"linear": True},
        {"labels": "kind", "decoder": "soft"},
        {"labels": "kind", "top": 3},
        {"labels": "kind", "linear": True, "k": 3},
        {"labels": "other"},
        {"labels": "kind", "k": 0},
        {"decoder": "best"},
        {"max_false_accept_rate": 7},
        {"max_false_reject_rate": 0.1},
        {"top": -1},
        {"items": None},
    ],
)
def test_hostile_classifications(bundle, options):
    with pytest.raises(FewbitsError, match=r"\S") as caught:
        classify(bundle, **{"items": Q, **options})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", ["float32", None])
def test_items_are_classified_without_their_own_vote(kept):
    bundle = Bundle(ENCODER, codebook=BOOK)
    bundle = bundle.with_items(X, columns={"kind": KINDS}, keep_vectors=kept)
    rows = [3, 8, 40]
    voted = classify(bundle, ids=rows, labels="kind", k=5).results
    for row, found in zip(rows, voted, strict=True):
        near = nearest(X[row], N, [i for i in range(N) if i != row])
        inner = [KINDS[i] for d, i in near if d < near[4][0]]
        tied = [KINDS[i] for d, i in near if d == near[4][0]]
        share = inner.count(found["class"])
        share += tied.count(found["class"]) / len(tied) * (5 - len(inner))
        assert found["item"] == str(row)
        assert found["share"] == pytest.approx(share / 5)
        assert found["share"] >= 0.5  # of two classes
    decoder = "soft" if kept else "nearest"  # codes alone have no scores
    raw = classify(bundle, X[rows], decoder=decoder).results
    by_id = classify(bundle, ids=rows).results
    assert [each["class"] for each in by_id] == [each["class"] for each in raw]


def test_reranked_votes_leave_the_item_out():
    bundle = Bundle(ENCODER, metadata=Metadata(shortlist=N))
    bundle = bundle.with_items(X, columns={"kind": KINDS}, keep_vectors="float32")
    apart = np.linalg.norm(X[:6, None] - X[None], axis=2)
    apart[np.arange(6), np.arange(6)] = np.inf
    voted = classify(bundle, ids=range(6), labels="kind", k=13).results
    for row, found in zip(apart.argsort(axis=1)[:, :13], voted, strict=True):
        red = sum(KINDS[i] == "red" for i in row)
        assert found["class"] == ("red" if red > 6 else "green")
        assert found["share"] == pytest.approx(max(red, 13 - red) / 13)


def test_items_are_reranked_by_their_vectors(bundle):
    kept = Bundle(ENCODER).with_items(X, keep_vectors="float32")
    found = search(kept, ids=[7, 3], k=4, rerank=True)
    apart = np.linalg.norm(X[[7, 3], None] - X[None], axis=2)
    order = np.argsort(apart, axis=1, kind="stable")[:, :4].tolist()
    assert [[hit["id"] for hit in each.hits] for each in found.results] == order
    assert found.metric == "euclidean"
    with pytest.raises(ArgumentError, match="keeps none: give raw items"):
        search(bundle, ids=[IDS[0]], rerank=True)


def test_several_labels_take_no_decoder():
    bundle = built(several_labels=True)
    assert set(classify(bundle, Q, top=2).results[0]) == {"item", "ranked"}
    with pytest.raises(ArgumentError, match="decoder is for items of one class"):
        classify(bundle, Q, decoder="soft")


def test_recall_is_that_of_the_bundle(bundle):
    request = engine.RecallRequest(3, queries=Q, vectors=X, confidence=0.9)
    found = engine.recall(bundle, request)
    own = bundle.estimate_recall(3, queries=Q, vectors=X, confidence=0.9)
    assert found.estimates == own
    told = json.loads(json.dumps(found.to_dict()))
    assert told["held_out"] is True
    assert told["estimates"][0]["recall"] == own[0].recall
    drawn = engine.RecallRequest(3, vectors=X, n_queries=9, random_state=4)
    assert engine.recall(bundle, drawn).held_out is False
    assert engine.recall(bundle, drawn).estimates == bundle.estimate_recall(
        3, vectors=X, n_queries=9, random_state=4
    )


@pytest.mark.parametrize(
    "options",
    [
        {"vectors": None},
        {"k": N},
        {"k": "9"},
        {"queries": "text"},
        {"queries": Q[:, :3]},
        {"vectors": X[:-1]},
        {"vectors": "x.npy"},
        {"vectors": np.zeros((N, N_BITS, 2))},
        {"n_queries": 2.5},
        {"confidence": 1},
        {"confidence": "high"},
        {"random_state": "a"},
    ],
)
def test_hostile_recalls(bundle, options):
    request = engine.RecallRequest(**{"vectors": X, **options})
    with pytest.raises(FewbitsError, match=r"\S") as caught:
        engine.recall(bundle, request)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [x for x in engine.__all__ if x.endswith("Request")])
def test_requests_do_not_change(name):
    kind = getattr(engine, name)
    request = kind(1) if name != "LikeRequest" else kind()
    for each in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(request, each.name, 1)


@pytest.mark.parametrize("make", [list, pd.Series, pa.array])
def test_texts_label_their_results(make):
    texts = ["broken arm", "cannot sleep"]
    wordllama = backbones.load("wordllama-256")
    words = Bundle(
        LinearEncoder(np.eye(wordllama.n_features)[:, :16], np.zeros(16)),
        backbone=wordllama.id,
    ).with_items(texts)
    found = engine.search(words, engine.SearchRequest(make(texts), k=1))
    assert [each.query for each in found.results] == texts
