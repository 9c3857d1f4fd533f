"""Limits of threads: small products are left to one, and blocks may say so."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fewbits.learners import ITQ
from fewbits.learners._core._device import threads_for


def n_threads():
    return {each["num_threads"] for each in threadpool_info() if is_blas(each)}


def is_blas(library):
    return library["user_api"] == "blas"


@pytest.fixture(autouse=True)
def two():
    with threadpool_limits(2, user_api="blas"):
        assert n_threads() == {2}  # OpenBLAS has them on one core, too
        yield


def test_who_leaves_last_does_not_leave_one_for_good():
    inside, left = Barrier(2, timeout=60), Barrier(2, timeout=60)

    def last():
        with threads_for(1, 1, 1):
            inside.wait()
            left.wait()

    other = Thread(target=last)
    with threads_for(1, 1, 1):
        other.start()
        inside.wait()
        assert n_threads() == {1}
    left.wait()
    other.join()
    assert n_threads() == {2}
    with threads_for(1, 1, 1):
        assert n_threads() == {1}


LATER = """
import sys
from pathlib import Path
from shutil import copy
from threadpoolctl import threadpool_info
from fewbits.learners._core._device import threads_for, threads_limited

with threads_for(1, 1, 1):
    pass
known = next(x["filepath"] for x in threadpool_info() if x["user_api"] == "blas")
folder = Path(sys.argv[1])
copied = copy(known, folder / Path(known).name)  # which is another library, for that
load = f"from ctypes import CDLL; blas = CDLL({str(copied)!r})"
(folder / "later.py").write_text(load)
sys.path.insert(0, sys.argv[1])
import later

with threads_for(1, 1, 1):
    found = {x["filepath"]: x["num_threads"] for x in threadpool_info()}
print(found[str(copied)])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="copies a library")
def test_libraries_that_come_later_are_limited(tmp_path):
    folder = Path(next(filter(is_blas, threadpool_info()))["filepath"]).parent
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "2",
        "LD_LIBRARY_PATH": str(folder),  # for what the copy needs
    }
    command = [sys.executable, "-c", LATER, str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.stdout == "1\n", run.stderr


def test_a_fit_leaves_them_as_they_were():
    X = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
    ITQ(8, n_iter=3, random_state=0).fit(X)
    assert n_threads() == {2}
