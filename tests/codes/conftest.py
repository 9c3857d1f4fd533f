"""Compare the compiled searches with the NumPy ones, under one instruction set."""

import hashlib
from contextlib import contextmanager

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


_KNOWN = {}


def definition(search, args):
    """Return what NumPy finds; in a large database once, not for each ISA."""
    if len(args[1]) < 10_000:
        return search(_reference, *args)
    key = search, *map(identity, args)
    if key not in _KNOWN:
        _KNOWN[key] = search(_reference, *args)
    return _KNOWN[key]


def identity(value):
    if isinstance(value, np.ndarray):
        return value.shape, hashlib.blake2b(np.ascontiguousarray(value)).digest()
    return value


class Compiled:
    """The compiled searches, with the ISA `name` while one of them runs."""

    def __init__(self, name):
        self._name = name

    @contextmanager
    def _forced(self):
        before = _native.active_isa()
        assert _native.force_isa(self._name)
        try:
            yield
        finally:
            assert _native.force_isa(before)

    def _run(self, search, args, threads):
        with self._forced():
            return search(_native, *args, threads)

    def topk(self, *args, threads=1):
        return self._run(topk, args, threads)

    def within(self, *args, threads=1):
        return self._run(within, args, threads)

    def check_distances(self, *args):
        return self._check(distances, args, (1, 2, 8))

    def check_topk(self, *args, threads=(1, 2, 8)):
        return self._check(topk, args, threads)

    def check_within(self, *args, threads=(1, 2, 8)):
        return self._check(within, args, threads)

    def _check(self, search, args, threads):
        expected = definition(search, args)
        for n in threads:
            for a, b in zip(self._run(search, args, n), expected, strict=True):
                np.testing.assert_array_equal(a, b)
        return expected


@pytest.fixture(scope="session", params=_native.isas() if COMPILED else [])
def compiled(request):
    return Compiled(request.param)
