"""A system that gives no more threads gets its answer from those there are."""

import subprocess
import sys

import pytest

NOT_PERMITTED = 77
CODE = f"""
import os, resource, sys, threading
import numpy as np
from fewbits import _kernels
from fewbits.codes import hamming_topk

codes = np.random.default_rng(0).integers(0, 256, (100_000, 8), np.uint8)
_kernels.set_num_threads(1)
expected = hamming_topk(codes[:1], codes, 5)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    if os.geteuid() == 0:  # who may have as many as there are
        os.setuid(65534)
except OSError:
    sys.exit({NOT_PERMITTED})
try:
    threading.Thread(target=int).start()
except RuntimeError:
    pass
else:
    sys.exit({NOT_PERMITTED})
_kernels.set_num_threads(8)
found = hamming_topk(codes[:1], codes, 5)
assert (found.ids == expected.ids).all()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits threads")
def test_too_few_threads():
    command = [sys.executable, "-c", CODE]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == NOT_PERMITTED:
        pytest.skip("the number of threads cannot be limited here")
    assert (result.returncode, result.stderr) == (0, "")
