"""Nearest decoding, by comparing with all classes or by multi-index hashing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify._table_search import TableSearch
from fewbits.classify.decoders import Nearest
from fewbits.classify.decoders import _nearest as module
from fewbits.codes import pack
from fewbits.errors import ArgumentError


def check(found, expected):
    for array, wanted in zip(
        (found.distances, found.rows, found.ties), expected, strict=True
    ):
        np.testing.assert_array_equal(array, wanted)


@given(data=st.data())
def test_every_way_finds_the_nearest(drawn, nearest_of, data):
    case = drawn(data)
    if not len(case.codes):
        return
    for method in ("auto", "look-ups", "exhaustive"):
        found = Nearest(method=method).decode(case.book, case.codes)
        check(found, nearest_of(case.distances))


@given(data=st.data())
def test_tables_alone_find_the_nearest(drawn, nearest_of, data):
    case = drawn(data)
    if not len(case.codes):
        return
    tables = TableSearch(case.book.codes, case.book.n_bits)
    found = tables.nearest(case.codes, work=1 << 40)
    check(found, nearest_of(case.distances))


@pytest.mark.parametrize("n_bits", [20, 64, 100])
def test_among_many(make, nearest_of, n_bits):
    case = make(5000, n_bits, 200, 0)
    for method in ("look-ups", "exhaustive"):
        found = Nearest(method=method).decode(case.book, case.codes)
        check(found, nearest_of(case.distances))


def test_what_takes_too_long_is_compared_with_all(make, nearest_of):
    case = make(3000, 40, 300, 1)
    found = module._look_up(case.book, case.codes, 60)
    check(found, nearest_of(case.distances))
    given_up = found.comparisons >= 3000
    assert 0 < given_up.sum() < 300
    work = (found.lookups + found.comparisons)[~given_up]
    assert work.max() <= 60


def test_tables_give_up_what_takes_too_long(make):
    case = make(3000, 40, 50, 1)
    found = case.book.multi_index.nearest(case.codes, work=0)
    assert (found.rows == -1).all()
    assert (found.ties == 0).all()
    assert (found.distances == -1).all()


def test_a_substring_that_is_the_same_in_all_codes():
    rng = np.random.default_rng(0)
    bits = rng.random((3000, 40)) < 0.5
    bits[:, :30] = False
    book = Codebook(pack(bits), 40)
    plain = Nearest(method="exhaustive").decode(book, book.codes[:50])
    found = Nearest(method="look-ups").decode(book, book.codes[:50])
    np.testing.assert_array_equal(found.rows, plain.rows)
    np.testing.assert_array_equal(found.ties, plain.ties)


def test_many_items_among_very_many_classes_are_looked_up(make, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 1000)
    case = make(2000, 64, 500, 2, noise=0.3)
    some = Nearest().decode(case.book, case.codes[:100])
    everything = Nearest().decode(case.book, case.codes)
    assert not some.lookups.any()
    assert everything.lookups.any()
    np.testing.assert_array_equal(everything.rows[:100], some.rows)


def test_counts_comparisons(make):
    case = make(70, 12, 5, 0)
    found = Nearest().decode(case.book, case.codes)
    assert found.comparisons.tolist() == [70] * 5
    assert found.lookups.tolist() == [0] * 5


def test_unknown_method(make):
    case = make(3, 8, 2, 0)
    with pytest.raises(ArgumentError, match="method must be one of auto"):
        Nearest(method="fast").decode(case.book, case.codes)
