"""All pairs, whatever parts the codes are sorted by."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from fewbits._kernels import _reference
from fewbits.index import _pairs


def joined(module, codes, mask, parts, radius, threads=1, before=None):
    before = len(codes) if before is None else before
    join = module.PairJoin(codes, mask, parts, radius, before, threads)
    found = []
    while join.advance():
        distances = np.full(len(join), 7, np.int32)
        pairs = np.full((len(join), 2), 7, np.int64)
        join.write(distances, pairs)
        found += zip(*pairs.T.tolist(), distances.tolist(), strict=True)
    return found


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, width = draw(st.integers(0, 200)), draw(st.integers(1, 20))
    codes = rng.integers(0, 256, (n, width), dtype=np.uint8)
    if n and draw(st.booleans()):
        codes = codes[rng.integers(0, min(n, 9), n)]
    codes ^= np.packbits(rng.random((n, 8 * width)) < 0.02, axis=1)
    mask = None
    if draw(st.booleans()):
        mask = np.packbits(rng.random(n) < 0.7)
    return codes, mask


@given(
    problem=problems(),
    radius=st.integers(0, 12),
    m=st.integers(1, 14),
    threads=st.integers(1, 3),
)
def test_pairs_are_those_of_a_scan(every_compiled, problem, radius, m, threads):
    codes, mask = problem
    n_bits = 8 * codes.shape[1]
    radius = min(radius, n_bits)
    m = max(min(m, radius + 1, n_bits), -(-radius // 3), 1)
    parts = _pairs.parts_of(n_bits, radius, m)
    expected, before = joined(_reference, codes, mask, parts, radius), len(codes) // 3
    first = joined(_reference, codes, mask, parts, radius, 1, before)
    for compiled in every_compiled:
        note(compiled.isa)
        found = joined(compiled, codes, mask, parts, radius, threads)
        # A stable order, which the number of threads does not change.
        assert found == joined(compiled, codes, mask, parts, radius)
        assert sorted(found) == expected
        some = joined(compiled, codes, mask, parts, radius, threads, before)
        assert sorted(some) == first


@pytest.mark.parametrize("n", [2, 800])
def test_equal_codes_are_all_pairs(compiled, n):
    codes = np.full((n, 8), 9, np.uint8)
    codes[-1, 0] = 8
    parts = _pairs.parts_of(64, 1, 2)
    found = joined(compiled, codes, None, parts, 1, 2)
    assert len(found) == len(set(found)) == n * (n - 1) // 2
    assert sum(distance for *_, distance in found) == n - 1
