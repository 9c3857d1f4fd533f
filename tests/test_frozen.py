"""Frozen arrays cannot be made writeable, and no other array shares their memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fewbits._frozen import frozen_array, is_frozen, read_only

DTYPES = ["u1", "i1", "i8", ">i4", "f2", "f4", "f8", "?", "U5", "S3", "M8[D]", "c8"]


def bases(array):
    while isinstance(array, np.ndarray):
        yield array
        array = array.base


def cannot_be_written(array):
    for each in bases(array):
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            each.flags.writeable = True
    return True


@given(
    array=st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0))
    ),
    transposed=st.booleans(),
)
def test_any_array_is_kept_apart(array, transposed):
    given = array.T if transposed else array
    before = given.tobytes()
    frozen = frozen_array(given)
    assert frozen.dtype == given.dtype
    assert frozen.shape == given.shape
    array.reshape(-1).view(np.uint8)[:] ^= 1
    assert frozen.tobytes() == before
    assert is_frozen(frozen)
    assert frozen_array(frozen) is frozen
    assert cannot_be_written(frozen)
    assert cannot_be_written(frozen[...])


def test_a_flag_alone_freezes_nothing():
    array = np.arange(3)
    array.flags.writeable = False
    view = array[:]
    for each in (array, view):
        frozen = frozen_array(each)
        assert not is_frozen(each)
        array.flags.writeable = True
        array[0] += 7
        array.flags.writeable = False
        assert frozen[0] == array[0] - 7


@pytest.mark.parametrize(
    ("mode", "kept"), [("r", True), ("r+", False), ("c", False)], ids=str
)
def test_memory_maps_opened_for_reading_are_not_copied(tmp_path, mode, kept):
    np.save(tmp_path / "a.npy", np.arange(10))
    mapped = np.load(tmp_path / "a.npy", mmap_mode=mode)
    for array in (mapped, mapped[2:], np.asarray(mapped)):
        assert is_frozen(array) == kept
        assert np.shares_memory(frozen_array(array), array) == kept


def test_a_read_only_view_of_what_can_be_written_is_copied():
    buffer = bytearray(b"abc")
    array = np.frombuffer(memoryview(buffer).toreadonly(), np.uint8)
    frozen = frozen_array(array)
    buffer[0] = 0
    assert frozen.tobytes() == b"abc"


def test_objects_cannot_be_frozen():
    with pytest.raises(TypeError, match="dtype object cannot be frozen"):
        frozen_array(np.array([[1], None], object))


def test_views_share_memory_but_cannot_be_written():
    array = np.arange(6.0).reshape(2, 3)
    view = read_only(array)
    array[0, 0] = 9
    assert view[0, 0] == 9
    assert cannot_be_written(view)
    assert read_only(array[:0]).shape == (0, 3)
