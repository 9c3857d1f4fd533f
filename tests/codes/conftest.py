"""Compare the compiled searches with the NumPy ones, under instruction sets."""

from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest

from fewbits._kernels import COMPILED, _reference

if COMPILED:
    from fewbits._kernels import _native


def distances(module, queries, database, threads=1):
    out = np.full((len(queries), len(database)), 77, np.int32)
    module.hamming_distances(queries, database, out, threads)
    return (out,)


def topk(module, queries, database, k, mask, threads=1):
    found = np.full((len(queries), k), 77, np.int32)
    rows = np.full((len(queries), k), 77, np.int64)
    module.hamming_topk(queries, database, mask, found, rows, threads)
    return found, rows


def within(module, queries, database, radius, mask, threads=1):
    offsets = np.zeros(len(queries) + 1, np.int64)
    counts = np.full(len(queries), 77, np.int64)
    args = queries, database, radius, mask
    hits = module.HammingHits(*args, threads)
    hits.counts(offsets[1:])
    module.hamming_within_count(*args, counts, threads)
    np.testing.assert_array_equal(counts, offsets[1:])
    np.cumsum(offsets, out=offsets)
    found = np.full(offsets[-1], 77, np.int32)
    rows = np.full(offsets[-1], 77, np.int64)
    hits.write(found, rows)
    return offsets, found, rows


@contextmanager
def forced(isa):
    before = _native.active_isa()
    assert _native.force_isa(isa)
    try:
        yield
    finally:
        assert _native.force_isa(before)


class Compiled:
    """The compiled searches, under each of some instruction sets."""

    def __init__(self, *isas):
        self._isas = isas

    def topk(self, *args):
        """Return what the first finds."""
        with forced(self._isas[0]):
            return topk(_native, *args)

    def within(self, *args):
        with forced(self._isas[0]):
            return within(_native, *args)

    def check_distances(self, *args):
        return self._check(distances, args, (1, 2, 8))

    def check_topk(self, *args, threads=(1, 2, 8)):
        return self._check(topk, args, threads)

    def check_within(self, *args, threads=(1, 2, 8)):
        return self._check(within, args, threads)

    def _check(self, search, args, threads):
        expected = search(_reference, *args)
        for isa, n in product(self._isas, threads):
            with forced(isa):
                found = search(_native, *args, n)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b, f"{isa}, {n} threads")
        return expected


@pytest.fixture(scope="session", params=_native.isas() if COMPILED else [])
def compiled(request):
    return Compiled(request.param)


@pytest.fixture(scope="session")
def every_isa():
    """Return all at once, where NumPy takes the most time."""
    return Compiled(*(_native.isas() if COMPILED else []))
