"""Tables equal those of NumPy, and a search in them a comparison with every code."""

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

from fewbits import _kernels
from fewbits._kernels import _reference
from fewbits.index import _tables

NO_LIMIT = 2**60


@st.composite
def problems(draw):
    """Codes with many ties and near codes, queries, and a mask of those allowed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, width = draw(st.integers(1, 300)), draw(st.integers(1, 20))
    codes = rng.integers(0, 256, (n, width), dtype=np.uint8)
    if draw(st.booleans()):
        codes = codes[rng.integers(0, min(n, 5), n)]
    codes ^= np.packbits(rng.random((n, 8 * width)) < 0.03, axis=1)
    queries = codes[rng.integers(0, n, 4)]
    queries ^= np.packbits(rng.random((4, 8 * width)) < 0.03, axis=1)
    mask = None
    if draw(st.booleans()):
        mask = np.packbits(rng.random(n) < draw(st.sampled_from([0, 0.1, 0.6])))
    least = -(-8 * width // 12)  # so short that all values are soon looked up
    number = draw(st.integers(least, min(8 * width, 4 * least)))
    return codes, queries, mask, number


def built(module, codes, number, inside, threads=1):
    cuts = np.linspace(0, 8 * codes.shape[1], number + 1).astype(np.int64)
    most, _tables._MOST = _tables._MOST, 10**9 if inside else 0
    n_starts, n_entries = _tables.sizes(codes.shape, cuts)
    _tables._MOST = most
    starts = np.full(n_starts, 7, np.uint32)
    rows = np.full((number, len(codes)), 7, np.uint32)
    entries = np.zeros(n_entries, np.uint8) if n_entries else None
    module.multi_index_build(codes, cuts, starts, rows, entries, threads)
    return module.MultiIndexTables(codes, cuts, starts, rows, entries), (
        starts,
        rows,
        entries,
    )


@given(problem=problems(), inside=st.booleans(), threads=st.integers(1, 5))
def test_tables_are_sorted_by_substring(every_compiled, problem, inside, threads):
    codes, _, _, number = problem
    expected = built(_reference, codes, number, inside)[1]
    assert (expected[2] is None) != inside
    for compiled in every_compiled:
        note(compiled.isa)
        found = built(compiled, codes, number, inside, threads)[1]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@given(
    problem=problems(),
    inside=st.booleans(),
    k=st.integers(1, 300),
    limit=st.sampled_from([NO_LIMIT, 30, 300]),
    threads=st.integers(1, 3),
)
def test_neighbours_are_those_of_a_scan(
    every_compiled, problem, inside, k, limit, threads
):
    codes, queries, mask, number = problem
    shape = len(queries), min(k, len(codes))
    expected = np.empty(shape, np.int32), np.empty(shape, np.int64)
    _reference.hamming_topk(queries, codes, mask, *expected, 1)
    budget = _kernels.Budget(1, 1, limit)
    for compiled in every_compiled:
        note(compiled.isa)
        tables, _ = built(compiled, codes, number, inside)
        found = np.full(shape, 7, np.int32), np.full(shape, 7, np.int64)
        work, done = np.full((4, 2), 7, np.int64), np.full(4, 7, np.uint8)
        compiled.multi_index_topk(
            queries, tables, mask, budget, *found, work, done, threads
        )
        if limit == NO_LIMIT:
            assert done.all()
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one[done == 1], other[done == 1])
            assert (one[done == 0] == -1).all()
        assert (work[done == 1].sum(axis=1) <= limit).all()


@given(
    problem=problems(),
    inside=st.booleans(),
    k=st.integers(1, 9),
    limit=st.sampled_from([NO_LIMIT, 30, 300, 2000]),
)
def test_work_is_what_numpy_counts(every_compiled, problem, inside, k, limit):
    codes, queries, mask, number = problem
    queries, k = queries[:2], min(k, len(codes))
    answers = []
    for module in (_reference, *every_compiled):
        tables, _ = built(module, codes, number, inside)
        found = np.full((2, k), 7, np.int32), np.full((2, k), 7, np.int64)
        work, done = np.full((2, 2), 7, np.int64), np.full(2, 7, np.uint8)
        budget = module.Budget(3, 2, limit)
        module.multi_index_topk(queries, tables, mask, budget, *found, work, done, 1)
        one = np.full(2, 7, np.int32), np.full(2, 7, np.int64), np.full(2, 7, np.int64)
        counts = np.full((2, 2), 7, np.int64), np.full(2, 7, np.uint8)
        module.multi_index_nearest(queries, tables, budget, *one, *counts, 1)
        hits = module.RangeHits(queries, tables, mask, min(k, 8), budget, 1)
        near = np.full(2, 7, np.int64), np.full((2, 2), 7, np.int64), done.copy()
        hits.counts(*near)
        answers.append([*found, work, done, *one, *counts, *near])
    for expected, *others in zip(*answers, strict=True):
        for found in others:
            np.testing.assert_array_equal(found, expected)


@given(
    problem=problems(),
    inside=st.booleans(),
    radius=st.integers(0, 40),
    threads=st.integers(1, 3),
)
def test_ranges_are_those_of_a_scan(compiled, problem, inside, radius, threads):
    codes, queries, mask, number = problem
    radius = min(radius, 8 * codes.shape[1])
    tables, _ = built(compiled, codes, number, inside)
    budget = _kernels.Budget(1, 1, NO_LIMIT)
    hits = compiled.RangeHits(queries, tables, mask, radius, budget, threads)
    counts, expected = np.full(5, 0, np.int64), np.full(5, 0, np.int64)
    work, done = np.empty((4, 2), np.int64), np.empty(4, np.uint8)
    hits.counts(counts[1:], work, done)
    assert done.all()
    _reference.hamming_within_count(queries, codes, radius, mask, expected[1:], 1)
    np.testing.assert_array_equal(counts, expected)
    offsets = np.cumsum(counts)
    both = [
        (np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int64))
        for _ in range(2)
    ]
    hits.write(*both[0])
    _reference.HammingHits(queries, codes, radius, mask, 1).write(*both[1])
    np.testing.assert_array_equal(both[0][0], both[1][0])
    np.testing.assert_array_equal(both[0][1], both[1][1])


def test_many_ties_make_room_for_the_lowest_rows(compiled):
    codes = np.zeros((20_000, 4), np.uint8)
    codes[::7, 0] = 1
    tables, _ = built(compiled, codes, 4, True)
    found = np.empty((1, 10), np.int32), np.empty((1, 10), np.int64)
    work, done = np.empty((1, 2), np.int64), np.empty(1, np.uint8)
    budget = _kernels.Budget(1, 1, NO_LIMIT)
    query = np.array([[1, 0, 0, 0]], np.uint8)
    compiled.multi_index_topk(query, tables, None, budget, *found, work, done, 1)
    assert found[0].tolist() == [[0] * 10]
    assert found[1].tolist() == [list(range(0, 70, 7))]
