"""Corrections of a collection are those of its rows, whatever happens to these."""

import numpy as np
import pytest

from fewbits import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from fewbits.index import Corrections, FlatIndex
from fewbits.learners import AdditiveCodes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 12)).astype(np.float32) + 1
QUERIES = X[:9] + np.float32(0.1)


@pytest.fixture(scope="module")
def encoder():
    return AdditiveCodes(24, correction=True, random_state=0).fit(X).encoder_


def check(bundle, encoder, rows):
    """Compare what is stored and found with what an index of these rows gives."""
    codes = encoder.encode(rows)
    corrections = encoder.corrections(rows, codes)
    np.testing.assert_array_equal(bundle.collection.codes, codes)
    np.testing.assert_array_equal(bundle.collection.corrections, corrections.values)
    expected = FlatIndex(codes).search_reranked(
        encoder.encode(QUERIES),
        5,
        scores=encoder.query_scores(QUERIES),
        offsets=corrections,
    )
    found = bundle.search_reranked(QUERIES, 5)
    ids = bundle.collection.ids[expected.ids]
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.fixture(params=["memory", "store"])
def bundle(request, encoder, tmp_path):
    made = Bundle(encoder).with_items(X[:100])
    if request.param == "memory":
        return made
    made.save(tmp_path / "b")
    return Bundle.load(tmp_path / "b")


def test_count_as_bytes_of_items(bundle):
    facts = bundle.summary()
    assert (facts["bytes_per_code"], facts["bytes_per_item"]) == (3, 5)
    assert (
        bundle.with_items(X, keep_vectors="float32").summary()["bytes_per_item"] == 53
    )


def test_follow_rows_that_come_and_go(bundle, encoder):
    check(bundle, encoder, X[:100])
    bundle = bundle.add(X[100:150])
    check(bundle, encoder, X[:150])
    bundle = bundle.delete(np.arange(10, 40))
    check(bundle, encoder, np.concatenate([X[:10], X[40:150]]))
    bundle = bundle.upsert(X[200:205], ids=[3, 50, 60, 70, 149])
    gone = [3, 50, 60, 70, 149, *range(10, 40)]
    rows = np.concatenate([np.delete(X[:150], gone, axis=0), X[200:205]])
    check(bundle, encoder, rows)
    check(bundle.compact(), encoder, rows)


def test_are_stored(encoder, tmp_path):
    Bundle(encoder).with_items(X).save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    check(loaded, encoder, X)
    assert loaded.collection.columns == []
    assert loaded.collection.bytes_per_item == 3 + 2
    assert Bundle.verify(tmp_path / "b").is_intact


def test_damage_to_them_is_told(encoder, tmp_path):
    Bundle(encoder).with_items(X).save(tmp_path / "b")
    stored = Bundle.load(tmp_path / "b").collection.corrections.tobytes()
    (path,) = (tmp_path / "b").glob("items-*/seg-*.arrow")
    data = bytearray(path.read_bytes())
    at = data.find(stored)
    data[at + 2 * 7] ^= 3  # two bits: one could be put back
    path.write_bytes(data)
    (damage,) = Bundle.verify(tmp_path / "b").damages
    assert "_correction" in damage.columns
    with pytest.raises(ArtefactError, match="damaged"):
        Bundle.load(tmp_path / "b").search_reranked(QUERIES, 5)
    assert Bundle.repair(tmp_path / "b").n_damaged == len(X)


def test_another_encoder_makes_its_own(encoder):
    bundle = Bundle(encoder).with_items(X, keep_vectors="float32")
    other = AdditiveCodes(31, correction=True, random_state=1).fit(X).encoder_
    changed = Bundle(other).reencode(bundle)
    expected = other.corrections(X, other.encode(X)).values
    np.testing.assert_array_equal(changed.collection.corrections, expected)
    np.testing.assert_array_equal(changed.collection.vectors, X)
    plain = LinearEncoder(np.eye(12), np.zeros(12))
    assert Bundle(plain).reencode(bundle).collection.corrections is None
    back = Bundle(encoder).reencode(Bundle(plain).reencode(bundle))
    check(back.with_items(X), encoder, X)


def test_codes_without_features_or_of_a_prefix_have_none(encoder):
    bundle = Bundle(encoder).with_items(X)
    assert bundle.prefix(9).collection.corrections is None
    bundle.prefix(9).search_reranked(QUERIES, 3)
    coded = Bundle(encoder).with_codes(encoder.encode(X))
    assert coded.collection.corrections is None
    coded.search_reranked(QUERIES, 3)


def test_are_estimated_by_the_recall(encoder):
    bundle = Bundle(encoder).with_items(X, keep_vectors="float32")
    found = {each.search: each for each in bundle.estimate_recall(k=5, shortlist=300)}
    scored = bundle.index.search_reranked(
        bundle.collection.codes,
        6,
        scores=encoder.query_scores(X),
        offsets=Corrections(bundle.collection.corrections, encoder.correction_table),
        shortlist=301,
    ).ids
    near = np.argsort(np.square(X[:, None] - X).sum(axis=2), axis=1, kind="stable")
    hits = [
        len(set(found_ids[found_ids != i][:5]) & set(order[order != i][:5])) / 5
        for i, (found_ids, order) in enumerate(zip(scored, near, strict=True))
    ]
    assert found["asymmetric"].recall == pytest.approx(np.mean(hits))
