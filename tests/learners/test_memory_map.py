"""Training from a file that is larger than the memory that may be used."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.learners import ITQ, FastNeighbourCodes
from tests.learners._made import made

FIT = """
import resource, sys
import numpy as np
from fewbits.learners import (
    BRE, CBE, CCAITQ, ITQ, LSH, BilinearProjections, FastNeighbourCodes,
    NeighbourCodes, SparseProjections, SpectralHashing, Thresholding,
)
from fewbits.learners import FastNeighbourTraining, NeighbourTraining

def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * resource.getpagesize()

y = np.arange(600_000) % 5
CCAITQ(2).fit(np.random.default_rng(0).normal(size=(999, 9)), y[:999])  # starts BLAS
X = np.load(sys.argv[1], mmap_mode="r")
limit = used() + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
for learner in [
    LSH(16),
    Thresholding("median"),
    ITQ(16, n_iter=1),
    ITQ(99, n_iter=1),
    CCAITQ(16, n_iter=1),
    SparseProjections(16, density=0.5, n_iter=1),
    CBE(16, n_iter=1),
    BilinearProjections(16, n_iter=1),
    SpectralHashing(16),
    BRE(16, n_iter=1),
    NeighbourCodes(
        16, training=NeighbourTraining(n_rows=5000, n_anchors=500), n_iter=1
    ),
    FastNeighbourCodes(
        16, training=FastNeighbourTraining(n_rows=5000, n_anchors=500), n_iter=1
    ),
]:
    # A median passes over the rows many times: half of them do not fit, either.
    n = 300_000 if isinstance(learner, Thresholding) else len(X)
    print(learner.fit(X[:n], y[:n]).encoder_)
try:
    np.array(X)
except MemoryError:
    print("no room for a copy")
"""
#: The memory that threads take beside the rows is the same on every machine.
ALIKE = {
    "FEWBITS_NUM_THREADS": "2",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
ALLOWED = 72 << 20


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "X.npy"
    X = np.lib.format.open_memmap(path, "w+", np.float32, (600_000, 80))
    some = np.random.default_rng(0).normal(size=(1000, 80)).astype(np.float32)
    X[:] = np.tile(some, (600, 1))
    X.flush()
    assert X.nbytes > 2.5 * ALLOWED
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and RLIMIT_DATA")
def test_fit_from_a_file_of_two_and_a_half_times_the_memory(path):
    run = subprocess.run(
        [sys.executable, "-c", FIT, str(path), str(ALLOWED)],
        capture_output=True,
        text=True,
        env={**os.environ, **ALIKE},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("bits)") == 12
    assert run.stdout.endswith("no room for a copy\n")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_memory_map_gives_the_same_encoder(tmp_path, dtype):
    X = np.random.default_rng(0).normal(size=(300, 8)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = ITQ(6, random_state=0).fit(X).transform(X)
    np.testing.assert_array_equal(
        ITQ(6, random_state=0).fit(mapped).transform(mapped), expected
    )


def test_too_large_to_keep_it_gives_the_same_encoder(tmp_path):
    X = np.random.default_rng(0).normal(size=(45_000, 400)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    learner = ITQ(6, n_iter=1, random_state=0)
    stored, streamed = (clone(learner).fit(rows) for rows in (X, mapped))
    np.testing.assert_array_equal(streamed.encode(X[:999]), stored.encode(X[:999]))


def test_rows_that_are_drawn_are_not_copied():
    X = np.random.default_rng(0).normal(size=(20_000, 400))
    options = {"n_iter": 1, "n_rows": 19_999, "n_anchors": 20, "validation": 0}
    learner = made(FastNeighbourCodes, 16, **options)
    tracemalloc.start()
    learner.fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes  # half of it for the rows in float32
