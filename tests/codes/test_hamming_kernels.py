"""The compiled searches equal the NumPy ones: any ISA, batch size and thread count."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st


def packed_mask(rng, n, kind):
    """All rows, all of them written down, none, a few or half of them."""
    if kind == "free":
        return None
    share = {"all": 1, "none": 0, "few": 0.03, "half": 0.5}[kind]
    return np.packbits(rng.random(n) < share)


def codes_of(rng, shape, kind):
    if kind == "random":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    low, high = {"ties": (0, 2), "zeros": (0, 1), "ones": (255, 256)}[kind]
    return rng.integers(low, high, shape, dtype=np.uint8)


widths = st.one_of(
    st.integers(1, 20),
    st.sampled_from([24, 31, 32, 33, 48, 63, 64, 65, 96, 128]),
    st.integers(1, 300),
)
edges = [n for border in (64, 128, 256, 1024) for n in (border - 1, border, border + 1)]
sizes = st.one_of(
    st.integers(0, 40), st.sampled_from(edges), st.sampled_from([4097, 9000])
)
masks = st.sampled_from(["free", "all", "none", "few", "half"])
kinds = st.sampled_from(["random", "ties", "zeros", "ones"])


@st.composite
def problems(draw):
    """Draw queries and a database that may hold copies and complements of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, width, kind = draw(sizes), draw(widths), draw(kinds)
    n_queries = draw(st.sampled_from([0, 1, 2, 3, 7, 11, 12, 13, 33]))
    database = codes_of(rng, (n, width), kind)
    queries = codes_of(rng, (n_queries, width), draw(kinds))
    if n and n_queries:
        some = rng.integers(0, n, 1 + n // 10)
        flip = rng.choice(np.array([0, 255], np.uint8), (len(some), 1))
        database[some] = queries[rng.integers(0, n_queries, len(some))] ^ flip
    return queries, database, packed_mask(rng, n, draw(masks)), rng


@given(problem=problems())
def test_distances(every_isa, problem):
    every_isa.check_distances(*problem[:2])


@given(problem=problems(), choice=st.sampled_from(["one", "few", "n - 1", "n"]))
def test_topk(every_isa, problem, choice):
    queries, database, mask, rng = problem
    n = len(database)
    if n == 0:
        return
    k = {"one": 1, "few": int(rng.integers(1, 1 + min(n, 20))), "n - 1": n - 1, "n": n}
    every_isa.check_topk(queries, database, max(1, k[choice]), mask)


@given(problem=problems(), share=st.sampled_from([0, 0.01, 0.3, 0.5, 0.99, 1]))
def test_within(every_isa, problem, share):
    queries, database, mask, _ = problem
    radius = round(8 * database.shape[1] * share)
    every_isa.check_within(queries, database, radius, mask)


@pytest.mark.parametrize("width", [31, 32, 33, 64])
def test_complements_are_as_far_as_can_be(every_isa, width):
    rng = np.random.default_rng(0)
    queries = rng.integers(0, 256, (5, width), dtype=np.uint8)
    database = np.repeat(~queries, 40, axis=0)
    found, _ = every_isa.check_topk(queries, database, 200, None)
    assert (found.max(axis=1) == 8 * width).all()
    offsets, *_ = every_isa.check_within(queries, database, 8 * width - 1, None)
    assert offsets[-1] == 5 * 160
    offsets, *_ = every_isa.check_within(queries, database, 8 * width, None)
    assert offsets[-1] == 5 * 200


@pytest.mark.parametrize("width", [8, 32, 8192])
def test_batches(compiled, width):
    """More queries than share one pass over the database, then one by one."""
    rng = np.random.default_rng(1)
    queries = rng.integers(0, 256, (1300 if width < 100 else 12, width), dtype=np.uint8)
    database = np.concatenate([queries[::2], ~queries[::2], queries[::-1]])
    together = compiled.check_topk(queries, database, 7, None)
    for q, query in list(enumerate(queries))[::9]:
        alone = compiled.topk(query[None], database, 7, None)
        for a, b in zip(alone, together, strict=True):
            np.testing.assert_array_equal(a[0], b[q])


tiny = st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=12)


@given(
    queries=tiny, codes=tiny, allowed=st.integers(0, 2**12 - 1), k=st.integers(1, 12)
)
@example(queries=[0] * 5, codes=[0xFFFF, 0, 0xFFFF, 0], allowed=0b1011, k=3)
def test_python_integers(compiled, queries, codes, allowed, k):
    rows = [i for i in range(len(codes)) if allowed >> i & 1]
    mask = np.packbits([allowed >> i & 1 for i in range(len(codes))])
    q, c = (np.array(x, ">u2").view(np.uint8).reshape(-1, 2) for x in (queries, codes))
    k = min(k, len(codes))
    found, ids = compiled.topk(q, c, k, mask)
    offsets, near, near_ids = compiled.within(q, c, 8, mask)
    for j, query in enumerate(queries):
        pairs = sorted(((query ^ codes[i]).bit_count(), i) for i in rows)
        padded = (pairs + [(-1, -1)] * k)[:k]
        assert list(zip(found[j], ids[j], strict=True)) == padded
        span = slice(offsets[j], offsets[j + 1])
        inside = [pair for pair in pairs if pair[0] <= 8]
        assert list(zip(near[span], near_ids[span], strict=True)) == inside
