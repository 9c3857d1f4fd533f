"""Vectors that are kept in a byte a number."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.bundle import Bundle
from fewbits.bundle._attributes import report_of, write_attributes
from fewbits.codes import unpack
from fewbits.inputs import read
from fewbits.learners import LSH
from fewbits.training import evaluate_bundle

DIGITS = load_digits().data.astype(np.float32)
ITEMS, QUERIES = DIGITS[200:], DIGITS[:200]
BUNDLE = Bundle(LSH(128, random_state=0).fit(ITEMS).encoder_)
K = 10


@pytest.fixture(scope="module")
def built():
    return {
        form: BUNDLE.with_items(ITEMS, keep_vectors=form)
        for form in ("float32", "int8")
    }


def test_a_loaded_bundle_gives_the_same_distances(built, tmp_path):
    built["int8"].save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    before, after = (
        each.search_reranked(QUERIES, K) for each in (built["int8"], loaded)
    )
    np.testing.assert_array_equal(before.ids, after.ids)
    np.testing.assert_array_equal(before.distances, after.distances)
    assert built["int8"].search_records(
        QUERIES, K, rerank=True
    ) == loaded.search_records(QUERIES, K, rerank=True)
    np.testing.assert_array_equal(
        loaded.collection.some_vectors(), built["int8"].collection.some_vectors()
    )


def test_distances_are_those_to_the_numbers_that_are_kept(built):
    found = built["int8"].search_reranked(QUERIES, K)
    numbers = built["int8"].collection.some_vectors().astype(np.float64)
    by_hand = np.linalg.norm(QUERIES[:, None] - numbers[found.ids], axis=2)
    np.testing.assert_allclose(found.distances, by_hand, rtol=1e-6)


def test_recall_at_10_with_int8_is_within_2_thousandths_of_float32():
    """Of real vectors, by brute force in NumPy; nothing is drawn but the codes.

    Digits have many equal distances, whole numbers squared: what was found counts where
    it is no farther than the tenth nearest.
    """
    bundle = Bundle(LSH(256, random_state=0).fit(ITEMS).encoder_)
    squares = np.square(QUERIES[:, None].astype(np.int64) - ITEMS).sum(axis=2)
    tenth = np.sort(squares, axis=1)[:, K - 1 : K]
    recall = {}
    for form in ("float32", "int8"):
        kept = bundle.with_items(ITEMS, keep_vectors=form)
        found = kept.search_reranked(QUERIES, K, shortlist=100).ids
        recall[form] = (np.take_along_axis(squares, found, axis=1) <= tenth).mean()
    assert recall["float32"] > 0.98
    assert recall["int8"] >= recall["float32"] - 0.002


@pytest.mark.parametrize("form", ["float32", "int8"])
def test_items_given_as_examples_are_left_out(built, form):
    rows = [3, 77, 500]
    found = built[form].search_by_example(ITEMS[rows], k=len(ITEMS)).ids
    same = (ITEMS[:, None] == ITEMS[rows]).all(axis=2).any(axis=1)
    assert not np.intersect1d(found, np.flatnonzero(same)).size
    assert len(found) == len(ITEMS) - same.sum()


def test_evaluation_ranks_again_by_what_is_kept(built):
    rows = evaluate_bundle(built["int8"], read(QUERIES), read(ITEMS)).comparison
    assert rows[-1].name == "128 bits, re-ranked by vectors"
    # Of 64 features there are two blocks, with a scale and an offset each.
    assert rows[-1].bytes_per_item == 16 + 64 + 2 * 8
    assert rows[-1].recall > rows[-2].recall


def test_pages_about_bits(tmp_path):
    few = BUNDLE.with_items(ITEMS[:60], keep_vectors="int8")
    write_attributes(few, tmp_path / "page.html", bits=[0, 1])
    assert "<html" in (tmp_path / "page.html").read_text()
    ones = unpack(few.collection.codes, 128).sum(axis=0)
    np.testing.assert_allclose(report_of(few).balance, ones / 60)
