"""An index does not change, whatever becomes of the arrays around it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fewbits.index import FlatIndex


def codes_of(values):
    return np.array(values, np.uint8)[:, None]


def content(index):
    return index.codes[:, 0].tolist(), index.ids.tolist()


@pytest.mark.parametrize("ids", [[0, 1, 2], [2, 0, 1]])
def test_arrays_given_are_no_way_in(ids):
    codes, given = codes_of([1, 2, 4]), np.array(ids)
    view = codes[:]
    view.flags.writeable = False
    for array in (codes, view):
        index = FlatIndex(array, given)
        before = content(index), index.search(codes_of([3]), 3)
        codes ^= 255
        given += 9
        assert content(index) == before[0]
        np.testing.assert_array_equal(index.search(codes_of([3]), 3).ids, before[1].ids)
        codes ^= 255
        given -= 9


def test_arrays_handed_out_are_no_way_in():
    index = FlatIndex(codes_of([1, 2, 3, 4]), [5, 7, 6, 8])
    for each in (FlatIndex(codes_of([1])), index):
        for array in (each.codes, each.ids):
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                array.flags.writeable = True
    handed = index.codes
    handed.shape = (2, 2)
    assert index.codes.shape == (4, 1)


def test_a_memory_map_opened_for_reading_is_not_copied(tmp_path):
    np.save(tmp_path / "codes.npy", codes_of([1, 2, 3]))
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    index = FlatIndex(mapped)
    assert np.shares_memory(index.codes, mapped)
    written = np.load(tmp_path / "codes.npy", mmap_mode="r+")
    assert not np.shares_memory(FlatIndex(written).codes, written)


def test_indexes_answer_many_threads():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (2000, 8), dtype=np.uint8)
    index = FlatIndex(codes, rng.permutation(2000))
    expected = index.search(codes[:50], 5).ids
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda i: index.search(codes[i : i + 1], 5).ids[0], range(50))
    np.testing.assert_array_equal(list(found), expected)
