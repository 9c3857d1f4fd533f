"""What the registers of one core give a Hamming scan, measured by a loop in C++."""

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from fewbits import _kernels

SOURCE = Path(__file__).with_name("_roofline.cpp")
FLAGS = ("-O2", "-shared", "-fPIC", "-mavx512f", "-mavx512vpopcntdq")
ROUNDS = 500_000
WORDS_PER_ROUND = 64


def gigawords_per_second(repeats: int = 9) -> float | None:
    """Return the best of several runs, or None without AVX-512 VPOPCNTDQ."""
    if "avx512" not in _kernels.isas():
        return None
    loop = _loop()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        loop(ROUNDS)
        times.append(time.thread_time() - start)
    return WORDS_PER_ROUND * ROUNDS / min(times) / 1e9


@cache
def _loop() -> Callable[[int], int]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "roofline.so")
        command = ["c++", *FLAGS, str(SOURCE), "-o", str(library)]
        subprocess.run(command, check=True)
        loop = ctypes.CDLL(str(library)).compare_registers
    loop.argtypes = [ctypes.c_int64]
    loop.restype = ctypes.c_int64
    return loop
