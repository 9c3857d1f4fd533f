"""The public searches: what they answer at the edges, and what they refuse."""

import numpy as np
import pytest

from fewbits.codes import hamming_distances, hamming_range_search, hamming_topk
from fewbits.errors import ArgumentError, CodeError

RNG = np.random.default_rng(0)
QUERIES = RNG.integers(0, 256, (3, 5), dtype=np.uint8)
DATABASE = RNG.integers(0, 256, (20, 5), dtype=np.uint8)
EMPTY = np.zeros((0, 5), np.uint8)

SEARCHES = {
    "distances": hamming_distances,
    "topk": lambda queries, database: hamming_topk(queries, database, 2),
    "within": lambda queries, database: hamming_range_search(queries, database, 20),
}
each_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)


def refuses(kind, call, *args, **kwargs):
    with pytest.raises(kind) as error:
        call(*args, **kwargs)
    message = str(error.value)
    assert message
    assert "\n" not in message


@each_search
@pytest.mark.parametrize(
    "codes",
    [
        np.zeros((3, 5), np.int64),
        np.zeros((3, 5), np.float32),
        np.zeros((3, 5), bool),
        np.zeros(5, np.uint8),
        np.zeros((1, 3, 5), np.uint8),
        np.zeros((3, 0), np.uint8),
        np.zeros((3, 8193), np.uint8),
        np.zeros((3, 4), np.uint8),
        None,
        [[1], [1, 2]],
    ],
    ids=lambda codes: (
        f"{getattr(codes, 'dtype', codes)}{np.shape(codes)}"
        if isinstance(codes, np.ndarray)
        else repr(codes)
    ),
)
def test_bad_codes(search, codes):
    refuses(CodeError, search, codes, DATABASE)
    refuses(CodeError, search, QUERIES, codes)


def test_both_too_wide_or_empty():
    for width in (0, 8193):
        codes = np.zeros((2, width), np.uint8)
        for search in SEARCHES.values():
            refuses(CodeError, search, codes, codes)


@pytest.mark.parametrize(
    "k", [0, -1, 10**9, 2**31, 2**63, "a", 2.5, None, [1], np.nan, np.eye(3)], ids=repr
)
def test_bad_k(k):
    refuses(ArgumentError, hamming_topk, QUERIES, DATABASE, k)


@pytest.mark.parametrize("radius", [-1, -(2**70), "a", 2.5, None, [1], np.eye(3)])
def test_bad_radius(radius):
    refuses(ArgumentError, hamming_range_search, QUERIES, DATABASE, radius)


@pytest.mark.parametrize(
    "allowed",
    [
        np.ones(19, bool),
        np.ones(21, bool),
        np.ones((20, 1), bool),
        np.bool_(True),
        np.ones(20),
        np.full(20, np.nan),
        [0.0, 1.0],
        [20],
        [-1],
        [2**40],
        [2**70],
        np.array([2**63], np.uint64),
        [[1, 2]],
        [[1], [1, 2]],
        3,
        "rows",
        ["rows"],
        [None],
        {1, 2},
    ],
    ids=repr,
)
def test_bad_allowed(allowed):
    refuses(ArgumentError, hamming_topk, QUERIES, DATABASE, 2, allowed=allowed)
    refuses(ArgumentError, hamming_range_search, QUERIES, DATABASE, 9, allowed=allowed)


def test_bad_allowed_of_an_empty_database():
    refuses(ArgumentError, hamming_topk, QUERIES, EMPTY, 2, allowed=[0])
    refuses(ArgumentError, hamming_topk, QUERIES, EMPTY, 2, allowed=[True])
    refuses(ArgumentError, hamming_range_search, QUERIES, EMPTY, 2, allowed=[0])


def test_rows_and_masks_agree():
    mask = np.arange(20) % 3 == 0
    rows = np.flatnonzero(mask)
    expected = hamming_topk(QUERIES, DATABASE, 9, allowed=mask)
    assert (expected.ids[:, 7:] == -1).all()
    assert (expected.distances[:, 7:] == -1).all()
    for same in (mask.tolist(), rows, rows.tolist(), rows[::-1].astype(np.uint16)):
        found = hamming_topk(QUERIES, DATABASE, 9, allowed=same)
        np.testing.assert_array_equal(found.ids, expected.ids)
    repeated = np.repeat(rows, 2)
    found = hamming_range_search(QUERIES, DATABASE, 40, allowed=repeated)
    assert len(found.ids) == 3 * len(rows)


@pytest.mark.parametrize("allowed", [[], np.zeros(20, bool), np.zeros(0, np.int64)])
def test_nothing_allowed(allowed):
    distances, ids = hamming_topk(QUERIES, DATABASE, 2, allowed=allowed)
    assert (ids == -1).all()
    assert (distances == -1).all()
    found = hamming_range_search(QUERIES, DATABASE, 40, allowed=allowed)
    np.testing.assert_array_equal(found.offsets, np.zeros(4))


def test_more_neighbours_than_codes():
    distances, ids = hamming_topk(QUERIES, DATABASE, 23)
    assert distances.dtype == np.int32
    assert ids.dtype == np.int64
    np.testing.assert_array_equal(np.sort(ids[:, :20]), np.tile(np.arange(20), (3, 1)))
    assert (distances[:, :20] >= 0).all()
    assert (ids[:, 20:] == -1).all()
    assert (distances[:, 20:] == -1).all()


@pytest.mark.parametrize("allowed", [None, []])
def test_empty_database(allowed):
    assert hamming_distances(QUERIES, EMPTY).shape == (3, 0)
    distances, ids = hamming_topk(QUERIES, EMPTY, 2, allowed=allowed)
    np.testing.assert_array_equal(distances, np.full((3, 2), -1))
    np.testing.assert_array_equal(ids, np.full((3, 2), -1))
    found = hamming_range_search(QUERIES, EMPTY, 9, allowed=allowed)
    np.testing.assert_array_equal(found.offsets, np.zeros(4))


def test_empty_queries():
    assert hamming_distances(EMPTY, DATABASE).shape == (0, 20)
    assert hamming_topk(EMPTY, DATABASE, 2).ids.shape == (0, 2)
    assert hamming_topk(EMPTY, EMPTY, 10**9).ids.shape == (0, 10**9)
    np.testing.assert_array_equal(hamming_range_search(EMPTY, DATABASE, 9).offsets, [0])


@pytest.mark.parametrize("radius", [40, 41, 2**31, 2**70, np.int64(40)])
def test_everything_within(radius):
    found = hamming_range_search(QUERIES, DATABASE, radius)
    np.testing.assert_array_equal(found.offsets, [0, 20, 40, 60])


def read_only(codes):
    codes = codes.copy()
    codes.flags.writeable = False
    return codes


@each_search
@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda codes: np.repeat(codes, 2, axis=0)[::2],
        lambda codes: np.repeat(codes, 3, axis=1)[:, ::3],
        lambda codes: codes[::-1].copy()[::-1],
        read_only,
    ],
    ids=["fortran", "every second row", "every third column", "reversed", "read-only"],
)
def test_layouts(search, change):
    queries, database = change(QUERIES), change(DATABASE)
    expected = search(QUERIES, DATABASE)
    for found in (search(queries, DATABASE), search(QUERIES, database)):
        np.testing.assert_array_equal(np.array(found[0]), np.array(expected[0]))
        np.testing.assert_array_equal(np.array(found[-1]), np.array(expected[-1]))
