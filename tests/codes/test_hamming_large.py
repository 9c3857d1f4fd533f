"""Databases large enough for sampled thresholds and for copies of the allowed rows.

From 65,536 rows on the compiled search guesses how near the k-th code is from a sample
of evenly spaced rows. A wrong guess must cost time only: where fewer than `k` codes
turn up, the search starts again without it.
"""

import numpy as np
import pytest

N = 140_000
SAMPLED = 48  # every 48th row is in the sample, for few queries and for many
MASKS = {"free": None, "even": 2, "few": 20, "rare": 40_000}


def evenly(n, step):
    if step is None:
        return None
    return np.packbits(np.arange(n) % step == 0)


@pytest.fixture(scope="module", params=[8, 32, 33])
def problem(request):
    rng = np.random.default_rng(request.param)
    queries = rng.integers(0, 256, (16, request.param), dtype=np.uint8)
    database = rng.integers(0, 256, (N, request.param), dtype=np.uint8)
    database[::1000] = ~queries[0]
    database[1::1000] = queries[1]
    return queries, database


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("few", [True, False])
def test_topk(every_isa, problem, mask, few):
    """Every two of a mask, a number of queries and k meet, if not all three."""
    queries, database = problem
    n_queries, k = 1 if few else 16, 1 if few == (mask in ("free", "few")) else 300
    chosen = evenly(N, MASKS[mask])
    every_isa.check_topk(queries[:n_queries], database, k, chosen, threads=(1, 8))


@pytest.mark.parametrize("mask", ["free", "few"])
def test_within(every_isa, problem, mask):
    queries, database = problem
    radius = 3 * database.shape[1]
    chosen = evenly(N, MASKS[mask])
    every_isa.check_within(queries, database, radius, chosen, threads=(1, 8))


@pytest.mark.parametrize("n_queries", [1, 16])
def test_a_sample_of_the_copied_rows(every_isa, n_queries):
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (600_000, 4), dtype=np.uint8)
    queries = rng.integers(0, 256, (n_queries, 4), dtype=np.uint8)
    mask = np.packbits(rng.random(len(database)) < 0.12)
    every_isa.check_topk(queries, database, 40, mask, threads=(1, 8))


def test_more_allowed_rows_than_are_gathered_at_once(every_isa):
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (115_000, 3), dtype=np.uint8)
    queries = rng.integers(0, 256, (20, 3), dtype=np.uint8)
    mask = np.packbits(np.arange(len(database)) % 5 < 3)
    every_isa.check_topk(queries, database, 30, mask, threads=(1, 8))
    every_isa.check_within(queries, database, 3, mask, threads=(1, 8))


@pytest.mark.parametrize("n_queries", [1, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_threads_that_bound_each_other(every_isa, n_queries, reverse):
    """Codes in order of distance, tied: the earliest rows are found."""
    n = 120_000
    ones = np.minimum(np.arange(n) // 20_000, 3)
    database = np.array([0, 1, 3, 7], np.uint8)[ones[::-1] if reverse else ones]
    queries = np.zeros((n_queries, 1), np.uint8)
    for k in (1, 20_000, 20_001):
        every_isa.check_topk(queries, database[:, None], k, None, threads=(1, 2, 8))


def misleading(near, width=9):
    """All zeros in the rows `near`, half ones to all ones elsewhere."""
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (N, width), dtype=np.uint8)
    database |= np.uint8(0b01010101)
    database[near] = 0
    return np.zeros((16, width), np.uint8), database


@pytest.mark.parametrize("mask", ["free", "even"])
@pytest.mark.parametrize("n_queries", [1, 16])
def test_near_codes_in_the_sample_only(every_isa, n_queries, mask):
    """The sample promises a thousand codes at distance 0, and 300 are there."""
    queries, database = misleading(np.arange(300) * SAMPLED)
    chosen = evenly(N, MASKS[mask])
    found, _ = every_isa.check_topk(
        queries[:n_queries], database, 1000, chosen, threads=(1, 8)
    )
    assert np.count_nonzero(found == 0) == 300 * n_queries


@pytest.mark.parametrize("n_queries", [1, 16])
@pytest.mark.parametrize("k", [10, 5000])
def test_near_codes_between_the_samples_only(every_isa, n_queries, k):
    """Codes in falling order of distance, so that every row is a hit for a while."""
    between = np.arange(10_000) * SAMPLED % N + 1
    queries, database = misleading(between)
    order = np.argsort(
        -np.bitwise_count(database).sum(axis=1, dtype=int), kind="stable"
    )
    for codes in (database, database[order], database[order[::-1]]):
        every_isa.check_topk(queries[:n_queries], codes, k, None, threads=(1, 8))
