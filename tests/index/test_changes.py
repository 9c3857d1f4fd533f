"""No index changes another, and a frozen one does not change at all."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.errors import ArgumentError
from fewbits.index import FlatIndex

COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda index: copy.copy(copy.deepcopy(index)),
    lambda index: pickle.loads(pickle.dumps(index)),
]


def codes_of(values):
    return np.array(values, np.uint8)[:, None]


def content(index):
    return index.codes[:, 0].tolist(), index.ids.tolist()


class Model:
    """What an index should hold: codes and ids in lists of its own."""

    def __init__(self, codes, ids):
        self.codes, self.ids = list(codes), list(ids)

    def change(self, index, step):
        new = max(self.ids, default=-1) + 1
        if step % 3 == 0 and self.ids:
            gone = step % len(self.ids)
            index.remove([self.ids[gone]])
            del self.codes[gone], self.ids[gone]
        else:
            # Every other time an id that does not rise.
            chosen = new + step % 7 if step % 2 else None
            index.add(codes_of([step % 256]), None if chosen is None else [chosen])
            self.codes.append(step % 256)
            self.ids.append(new if chosen is None else chosen)

    def check(self, index):
        assert content(index) == (self.codes, self.ids)
        found = index.search(codes_of([0]), max(1, len(self.ids)))
        pairs = sorted(
            (code.bit_count(), i) for code, i in zip(self.codes, self.ids, strict=True)
        )
        expected = [i for _, i in pairs] or [-1]
        assert found.ids[0].tolist() == expected


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 1000), st.booleans()), max_size=25
    ),
    how=st.sampled_from(COPIES),
)
def test_copies_go_their_own_ways(steps, how):
    """Indexes that are copies of one another, changed and copied in any order."""
    start = codes_of([5, 9])
    indexes = [(FlatIndex(start, [4, 2]), Model([5, 9], [4, 2]))]
    for which, step, copies in steps:
        index, model = indexes[which % len(indexes)]
        if copies and len(indexes) < 4:
            indexes.append((how(index), Model(model.codes, model.ids)))
        model.change(index, step)
        for each, expected in indexes:
            expected.check(each)
    assert start[:, 0].tolist() == [5, 9]


def grown():
    """Return an index with room for more than it holds."""
    index = FlatIndex(codes_of([1, 2, 3]), [5, 7, 6])
    return index.add(codes_of([4]))


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


def arrays_reached(index):
    for array in (index.codes, index.ids):
        while isinstance(array, np.ndarray):
            yield array
            array = array.base


def test_arrays_handed_out_are_no_way_in():
    for array in arrays_reached(FlatIndex(codes_of([1]))):
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            array.flags.writeable = True
    for array in (grown().codes, grown().ids):
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            array.flags.writeable = True
    index = grown()
    handed = index.codes
    handed.shape = (2, 2)
    assert index.codes.shape == (4, 1)


def test_what_was_handed_out_does_not_change():
    index = grown()
    codes, ids = index.codes, index.ids
    index.add(codes_of([200])).remove([5]).add(codes_of([100]))
    assert codes[:, 0].tolist() == [1, 2, 3, 4]
    assert ids.tolist() == [5, 7, 6, 8]


def test_a_memory_map_opened_for_reading_is_not_copied(tmp_path):
    np.save(tmp_path / "codes.npy", codes_of([1, 2, 3]))
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    index = FlatIndex(mapped)
    assert np.shares_memory(index.codes, mapped)
    assert np.shares_memory(copy.copy(index).codes, mapped)
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


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        (np.array([1, 0, 0], np.uint8), "could be a mask or ids, got bytes"),
        ([1, 0, 0], "could be a mask or ids, got 3 numbers that are all 0 and 1"),
        ([True, False, False], "whole numbers"),
        (np.ma.array([1, 2], mask=[True, False]), "1 masked entries"),
    ],
)
def test_a_mask_of_what_to_remove_is_refused(gone, message):
    index = FlatIndex(codes_of([1, 2, 3]))
    with pytest.raises(ArgumentError, match=message):
        index.remove(gone)
    assert len(index) == 3


def test_two_ids_of_two_rows_are_ids():
    index = FlatIndex(codes_of([0, 1]))
    for allowed in ([0, 1], np.array([1, 0])):
        assert index.search(codes_of([0]), 2, allowed=allowed).ids.tolist() == [[0, 1]]
    with pytest.raises(ArgumentError, match=r"pass \.astype"):
        index.search(codes_of([0]), 2, allowed=np.array([0, 1], np.uint8))
