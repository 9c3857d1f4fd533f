"""Forged files whose checksums fit take neither memory nor time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store._sizes import NIGHTLY

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space")
def test_forged_files_are_refused(tmp_path):
    n = 4000 if NIGHTLY else 200
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(names, "1")}
    # The other allocators of Arrow reserve a gigabyte before they use any.
    environment["TMPDIR"] = str(tmp_path)
    environment["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    run = subprocess.run(
        [sys.executable, "-m", "tests.store._hostile", str(n)],
        **{"cwd": ROOT, "env": environment, "text": True, "capture_output": True},
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    told, undetected, longest = run.stdout.split()
    assert int(told) > n / 2
    assert int(undetected) < n / 20
    assert float(longest) < 1
