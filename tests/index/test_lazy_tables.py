"""Tables are read or made once scans have cost as much, and not before."""

import threading

import numpy as np
import pytest

from fewbits import _kernels
from fewbits.index import FlatIndex, MultiIndexHashing, _costs, _lazy_tables, _outcomes
from fewbits.index import _multi_index as module
from fewbits.index._lazy_tables import LazyTables
from fewbits.index._outcomes import Outcomes
from fewbits.index._tables import build_tables
from fewbits.index._worthwhile import worthwhile_tables
from tests.index._indexes import lazy_of

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, (1000, 4), dtype=np.uint8)
MADE = build_tables(CODES)
PRICE = _costs.BUILD * len(CODES) * (len(MADE.cuts) - 1)


def test_they_are_made_once_they_have_paid():
    lazy = LazyTables(CODES, None, None)
    assert lazy.get(0) is None
    assert lazy.get(0.6 * PRICE) is None
    made = lazy.get(0.6 * PRICE)
    np.testing.assert_array_equal(made.rows, MADE.rows)
    assert lazy.get(0) is lazy.get(PRICE) is made


def test_reading_them_pays_sooner():
    share = _costs.READ / _costs.BUILD
    assert LazyTables(CODES, None, lambda codes: MADE).get(share * PRICE) is MADE


def test_what_cannot_be_read_is_made_when_that_pays():
    lazy = LazyTables(CODES, None, lambda codes: None)
    assert lazy.get(0.9 * PRICE) is None
    assert lazy.get(0.9 * PRICE) is not None


def test_without_memory_there_are_none(monkeypatch):
    def build(*args):
        raise MemoryError

    monkeypatch.setattr(_lazy_tables, "build_tables", build)
    index = MultiIndexHashing(CODES, use_scan=False)
    for _ in range(2):
        found = index.search(CODES[:3], 2)
        np.testing.assert_array_equal(
            found.ids, FlatIndex(CODES).search(CODES[:3], 2).ids
        )


def test_while_one_thread_makes_them_others_scan(monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def build(*args):
        started.set()
        assert go_on.wait(10)
        return MADE

    monkeypatch.setattr(_lazy_tables, "build_tables", build)
    lazy = LazyTables(CODES, None, None)
    thread = threading.Thread(target=lazy.get)
    thread.start()
    assert started.wait(10)
    assert lazy.get(PRICE) is None
    go_on.set()
    thread.join()
    assert lazy.get(0) is MADE


def clustered(n, n_bytes, flipped):
    """Return codes near 500 centres."""
    centres = rng.integers(0, 256, (500, n_bytes), dtype=np.uint8)
    noise = np.packbits(rng.random((n, 8 * n_bytes)) < flipped, axis=1)
    return centres[rng.integers(0, 500, n)] ^ noise


def test_small_collections_and_wide_codes_have_none():
    for codes in (CODES, rng.integers(0, 256, (70_000, 32), dtype=np.uint8)):
        index, queries = MultiIndexHashing(codes), np.repeat(codes[:70], 50, axis=0)
        index.search(queries, 10)
        assert lazy_of(index).get(0) is None


def test_many_queries_near_others_pay_for_them(monkeypatch):
    monkeypatch.setattr(_costs, "_SCAN", {"portable": _costs._SCAN["portable"]})
    codes = clustered(70_000, 8, 0.01)
    index, flat = MultiIndexHashing(codes).freeze(), FlatIndex(codes)
    index.search(codes[:1], 10)
    assert lazy_of(index).get(0) is None
    for _ in range(2):  # before and after
        found, expected = (each.search(codes[:3000], 10) for each in (index, flat))
        np.testing.assert_array_equal(found.distances, expected.distances)
        np.testing.assert_array_equal(found.ids, expected.ids)
    assert lazy_of(index).get(0) is not None


@pytest.mark.parametrize("live", [None, rng.random(70_000) < 0.7])
def test_tables_are_kept_where_they_find_neighbours_sooner(monkeypatch, live):
    monkeypatch.setattr(_costs, "_SCAN", {"portable": _costs._SCAN["portable"]})
    assert worthwhile_tables(clustered(70_000, 8, 0.01), live) is not None
    random = rng.integers(0, 256, (70_000, 16), dtype=np.uint8)
    assert worthwhile_tables(random, live) is None


def test_tables_are_kept_of_many_codes_only():
    assert worthwhile_tables(clustered(module._FEWEST - 1, 8, 0.01), None) is None


def test_tables_of_codes_that_could_change_are_not_those_of_a_frozen_index():
    codes = CODES.copy()
    index = MultiIndexHashing(codes, use_scan=False)
    index.search(codes[:1], 1)
    index.freeze()
    codes[:] = 0
    assert index.search(CODES[5:6], 1).ids.tolist() == [[5]]


def test_what_did_not_pay_is_left_out_for_a_while():
    outcomes = Outcomes()
    assert outcomes.promise("k")
    outcomes.learn("k", 1.5, 32)
    promised = [outcomes.promise("k") for _ in range(2 * _outcomes._AGAIN)]
    assert sum(promised) == 2
    assert outcomes.promise("radius")
    for _ in range(9):
        outcomes.learn("k", 0.5, 32)
    assert outcomes.promise("k")


def test_single_queries_learn_from_those_before(monkeypatch):
    codes = rng.integers(0, 256, (70_000, 8), dtype=np.uint8)
    monkeypatch.setattr(_costs, "_SCAN", {"portable": _costs._SCAN["portable"]})
    index, looked_up = MultiIndexHashing(codes), []
    lazy_of(index).get()
    search = _kernels.multi_index_topk
    monkeypatch.setattr(
        _kernels, "multi_index_topk", lambda *args: looked_up.append(1) or search(*args)
    )
    for k, counts in ((1000, {3, 4, 5}), (1, {40})):
        looked_up.clear()
        for query in codes[:40]:
            found = index.search(query[None], k)
            assert found.distances[0, 0] == 0
        assert len(looked_up) in counts
