"""Pairs and groups of duplicates take little memory beside the codes."""

import os
import subprocess
import sys

import pytest

from fewbits import _kernels
from tests.store._sizes import NIGHTLY

#: Half of the codes are changed copies of others: nearly as many pairs as codes.
PROGRAM = """
import sys
import numpy as np
from fewbits.index import FlatIndex

what, n = sys.argv[1], int(sys.argv[2])
codes = np.empty((n, 8), np.uint8)
rng = np.random.default_rng(0)
for start in range(0, n, 5000):
    block = rng.integers(0, 256, (5000, 8), dtype=np.uint8)
    block[2500:] = block[:2500]
    block[2500:, 3] ^= 0b10101
    codes[start : start + 5000] = block

def find(index):
    if what == "groups":
        return index.groups_within(3).n_pairs
    return sum(len(pairs.ids) for pairs in index.pairs_within(3))

def peak():  # not ru_maxrss, which begins with that of the process before
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(x.split()[1]) for x in lines if x.startswith("VmHWM"))

find(FlatIndex(codes[:5000]))  # imports, threads and their stacks
index = FlatIndex(codes)
before = peak()
print(find(index), peak() - before)
"""


@pytest.mark.skipif(not _kernels.COMPILED, reason="a scan, which takes minutes")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("what", ["pairs", "groups"])
def test_duplicates_take_at_most_six_times_the_memory_of_the_codes(what):
    n = 1_000_000 if NIGHTLY else 500_000
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    said = subprocess.check_output(
        [sys.executable, "-c", PROGRAM, what, str(n)], env=environment, text=True
    )
    n_pairs, n_bytes = map(int, said.split())
    assert n_pairs == n // 2
    assert 0 < n_bytes <= 5 * 8 * n  # and once the codes
