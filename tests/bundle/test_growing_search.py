"""Everything that answers from rows, after changes, against a bundle made anew."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.bundle import Bundle, vote_answers
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

ENCODER = LinearEncoder(np.eye(8), np.zeros(8))
N = 80
X = np.random.default_rng(0).normal(size=(N, 8)).astype(np.float32)


def table(rows):
    """Return rows of vectors; group and label follow from the number of the vector."""
    rows = np.asarray(rows, np.int64)
    return pa.table(
        {
            "sku": [f"item-{row}" for row in rows],
            "v": list(X[rows]),
            "group": pa.array([f"g{row % 5}" for row in rows]),
            "label": (X[rows, 0] > 0).astype(np.int64),
        }
    )


def made(rows, keep_vectors):
    return Bundle(ENCODER).with_items(
        table(rows), vectors="v", id="sku", keep_vectors=keep_vectors
    )


def grown(steps, keep_vectors, folder):
    """Return a bundle of several segments with deleted rows, and its vectors' rows."""
    made(range(20), keep_vectors).save(folder)
    bundle, rows = Bundle.load(folder), list(range(20))
    for kind, chosen in steps:
        names = [f"item-{row}" for row in chosen]
        if kind == "upsert":
            bundle = bundle.upsert(table(chosen), vectors="v")
            rows = [row for row in rows if row not in chosen] + chosen
        elif set(chosen) < set(rows):
            bundle = bundle.delete(names)
            rows = [row for row in rows if row not in chosen]
    return bundle, rows


def reranked(bundle):
    return replace(bundle, metadata=replace(bundle.metadata, shortlist=20))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "delete"]),
        st.lists(st.integers(0, N - 1), unique=True, min_size=1, max_size=15),
    ),
    min_size=1,
    max_size=6,
)


def answers(bundle, allowed):
    """Return what a bundle answers, as plain values."""
    Q, ids = X[-3:], bundle.collection.ids
    chosen = ids[allowed]
    first = [ids[0], ids[-1]]
    ranges = bundle.range_search(Q, 3, allowed=allowed)
    pairs = bundle.duplicates(1, allowed=allowed)
    found = [
        bundle.search(Q, 4),
        bundle.search(Q, 4, filter="label = 1"),
        bundle.search(Q, 4, filter="bit(2) = 1 and \"group\" <> 'g1'"),
        bundle.search(Q, 4, allowed=allowed),
        bundle.search(Q, 4, allowed=chosen),
        bundle.search(Q, 4, allowed=allowed, filter="label = 0"),
        bundle.search_reranked(Q, 4),
        bundle.search_reranked(Q, 4, allowed=allowed),
        ranges,
        (pairs.distances, pairs.rows, pairs.ids),
        bundle.search_by_example(ids=first, k=5, n_random=20),
        bundle.search_by_example(
            X[:1] + 9, not_ids=first[:1], k=5, n_random=20, allowed=allowed
        ),
        bundle.prefix(5).search(Q, 4),
    ]
    plain = [[np.asarray(each).tolist() for each in one] for one in found]
    records = [
        bundle.search_records(Q, 4, rerank=rerank, group_by=by, allowed=allowed)
        for rerank in (False, True)
        for by in (None, "group", "label")
    ]
    labels = bundle.collection.classes("label")
    others = Bundle(ENCODER).with_collection_of(bundle)
    classes = [
        vote_answers(bundle, Q, "label", 3),
        vote_answers(reranked(bundle), Q, "label", 3),
        bundle.with_novelty_radius(labels).novelty_radius,
        others.search(Q, 4, allowed=allowed).ids.tolist(),
    ]
    return plain, records, classes


@pytest.mark.parametrize("keep_vectors", [None, "float16", "float32", "int8"])
@settings(max_examples=4, deadline=None)
@given(steps=STEPS, seed=st.integers(0, 99))
def test_as_a_bundle_made_anew(tmp_path_factory, keep_vectors, steps, seed):
    folder = tmp_path_factory.mktemp("b") / "b"
    bundle, rows = grown(steps, keep_vectors, folder)
    new = made(rows, keep_vectors)
    allowed = np.random.default_rng(seed).random(len(rows)) < 0.6
    allowed[0] = True
    wanted = answers(new, allowed)
    assert answers(bundle, allowed) == wanted
    assert answers(bundle.compact(), allowed) == wanted
    assert answers(Bundle.load(folder), allowed) == wanted


@pytest.mark.parametrize("home", ["memory", "folder"])
@pytest.mark.parametrize("keep_vectors", [None, "float16", "int8"])
def test_all_rows_go_and_others_come(tmp_path, home, keep_vectors):
    bundle = made(range(4), keep_vectors)
    if home == "folder":
        bundle.save(tmp_path / "b")
        bundle = Bundle.load(tmp_path / "b")
    empty = bundle.delete([f"item-{row}" for row in range(4)])
    assert empty.search(X[:1], 2).ids.tolist() == [[None, None]]
    assert empty.search_records(X[:1], group_by="group") == [[]]
    assert len(empty.duplicates(8)) == 0
    with pytest.raises(ArgumentError, match="no item with id 'item-1'"):
        empty.delete(["item-1"])
    back = empty.upsert(table([5, 1]), vectors="v").add(table([6]), vectors="v")
    assert back.search_reranked(X[[1, 5]], 1).ids.tolist() == [["item-1"], ["item-5"]]


def test_a_deleted_row_is_no_matter_to_a_filter(tmp_path):
    years = [2**63 - 1, 1, 2, 3]
    bundle = Bundle(ENCODER).with_items(X[:4], columns={"year": years})
    bundle.save(tmp_path / "b")
    bundle = Bundle.load(tmp_path / "b")
    with pytest.raises(ArgumentError, match="overflow"):
        bundle.search(X[:1], filter="year + 1 > 2")
    ids = bundle.delete([0]).search(X[:1], 4, filter="year + 1 > 2").ids[0]
    assert sorted(ids.tolist()) == [-1, -1, 2, 3]
