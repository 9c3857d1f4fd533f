"""Processes that run ``fewbits add`` on one collection at the same time."""

import os
import subprocess
import sys

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.store import Store
from tests.store._sizes import NIGHTLY

CLI = "from fewbits.cli import main; main()"
N = 8 if NIGHTLY else 2  # processes that wait
X = np.random.default_rng(0).normal(size=(5 * N + 9, 6)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    encoder = LinearEncoder(np.eye(6), np.zeros(6))
    options = {"encoder": encoder, "keep_vectors": "float32"}
    Collection.create(tmp_path / "b", X[:4], **options)
    return tmp_path / "b"


def add(folder, i, *options):
    """Start a process that adds rows ``4 + 5 i`` to ``8 + 5 i``."""
    np.save(folder.parent / f"{i}.npy", X[4 + 5 * i : 9 + 5 * i])
    command = [sys.executable, "-c", CLI, "add", str(folder)]
    return subprocess.Popen(
        [*command, str(folder.parent / f"{i}.npy"), *options],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_nothing_is_lost_when_all_add_at_once(folder):
    holder = f"{folder} is being changed by process {os.getpid()} on "
    (rows,) = folder.glob("rows-*")
    with Store(rows).writer():
        running = [add(folder, i) for i in range(N)]
        hurried = add(folder, N, "--timeout", "0")
        told = hurried.communicate()[1]
        assert (hurried.returncode, told.count("\n"), holder in told) == (2, 1, True)
        # So all of them wait for the lock when it is given back.
        waiting = [each.stderr.readline() for each in running]
    rest = [each.communicate() for each in running]
    assert [each.returncode for each in running] == [0] * N, rest
    assert all(holder in line for line in waiting)
    collection = Collection.open(folder)
    assert collection.ids.tolist() == list(range(5 * N + 4))
    found, added = collection.vectors, X[: 5 * N + 4]
    np.testing.assert_array_equal(sorted(found.tolist()), sorted(added.tolist()))
    assert Collection.verify_folder(folder).is_intact
