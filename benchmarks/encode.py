"""Encoding speed against NumPy's BLAS product and SciPy's CSR product.

    python benchmarks/encode.py [--json PATH] [--repeats N] [--only WORD]

One process; the methods of a row run in turn, and medians are compared. Single vectors
are encoded ten times in a row, as a service would. *share* is the part of what the
processor can do, measured here by small loops in C: of its multiply-adds for batches,
of its memory's bandwidth for single vectors of a dense map larger than the caches.
"""

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from fewbits import _kernels
from fewbits.encoders import LinearEncoder, SparseEncoder

LIMITS = r"""
#include <stddef.h>
typedef float Lanes __attribute__((vector_size(FLOATS * 4)));
#define EACH(DO) DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h) DO(i) DO(j)
#define START(v) Lanes v = factor;
#define STEP(v) v = v * factor + factor; __asm__ volatile("" : "+VECTOR"(v));
#define TOTAL(v) + v[0]
float multiply_adds(size_t n) {
    Lanes factor = {0};
    EACH(START)
    for (size_t k = 0; k < n; k++) { EACH(STEP) }
    return 0 EACH(TOTAL);
}
#define READ(v) v += *(const Lanes *)(data + k); k += FLOATS;
float read_memory(const float *data, size_t n) {
    Lanes factor = {0};
    EACH(START)
    for (size_t k = 0; k < n;) { EACH(READ) }
    return 0 EACH(TOTAL);
}
"""
FLOATS = {"avx512": 16, "avx2": 8}  # in a register; 4 elsewhere


@dataclass
class Row:
    name: str
    ms: float
    blas_ms: float
    scipy_ms: float | None
    ratio: float  # to BLAS
    target: float | None
    share: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="rows whose name holds this word")
    options = parser.parse_args()
    peak, bandwidth = limits()
    print(f"instruction set {_kernels.active_isa()}, one thread:", end=" ")
    print(f"{peak:.0f} GFLOP/s, {bandwidth:.0f} GB/s from memory")
    print(f"{'':38}{'ms':>10}{'BLAS ms':>10}{'CSR ms':>10}", end="")
    print(f"{'x BLAS':>9}{'target':>8}{'share':>8}")
    rows = []
    for case in CASES:
        if options.only in case.name:
            rows.append(case.measure(options.repeats, peak, bandwidth))
            show(rows[-1])
    if options.json:
        machine = {"gflops": peak, "gb_per_s": bandwidth, "isa": _kernels.active_isa()}
        result = {"machine": machine, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(result, indent=1))


def show(row: Row) -> None:
    scipy = f"{row.scipy_ms:10.3f}" if row.scipy_ms else " " * 10
    target = f"{row.target:8.2f}" if row.target else " " * 8
    share = f"{row.share:8.0%}" if row.share else " " * 8
    missed = " missed" if row.target and row.ratio < row.target else ""
    print(f"{row.name:38}{row.ms:10.3f}{row.blas_ms:10.3f}{scipy}", end="")
    print(f"{row.ratio:9.2f}{target}{share}{missed}", flush=True)


@dataclass
class Case:
    n: int
    d: int
    b: int
    density: float = 1.0
    threads: int = 1
    target: float | None = None

    @property
    def name(self) -> str:
        kind = "dense" if self.density == 1 else f"sparse {self.density:.0%}"
        count = "single" if self.n == 1 else f"batch {self.n}"
        return f"{kind} {count} {self.d} -> {self.b}, {self.threads} T"

    def measure(self, repeats: int, peak: float, bandwidth: float) -> Row:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.n, self.d)).astype(np.float32)
        weights = rng.normal(size=(self.d, self.b)).astype(np.float32)
        scores, bias = np.empty((self.n, self.b), np.float32), np.zeros(self.b)
        methods = {"blas": lambda: np.matmul(X, weights, out=scores)}
        weights_used = weights
        if self.density < 1:
            weights_used = weights * (rng.random(weights.shape) < self.density)
            csr, rows = csr_matrix(weights_used.T), np.ascontiguousarray(X.T)
            methods["scipy"] = lambda: np.packbits((csr @ rows).T > 0, axis=1)
            encoder = SparseEncoder.from_dense(weights_used, bias)
        else:
            encoder = LinearEncoder(weights, bias)
        methods["fewbits"] = lambda: encoder.encode(X)
        _kernels.set_num_threads(self.threads)
        with threadpool_limits(self.threads):
            ms = interleaved(methods, repeats, 10 if self.n == 1 else 1)
        work = 2e-6 * self.n * np.count_nonzero(weights_used) / ms["fewbits"]
        share = work / peak if self.n > 1 else None
        if self.n == 1 and self.density == 1 and weights.nbytes > 1 << 25:
            share = weights.nbytes / 1e6 / ms["fewbits"] / bandwidth
        ratio = ms["blas"] / ms["fewbits"]
        scipy = ms.get("scipy")
        share = share if self.threads == 1 else None
        return Row(
            self.name, ms["fewbits"], ms["blas"], scipy, ratio, self.target, share
        )


def interleaved(
    methods: dict,
    repeats: int,
    inner: int,
    pick=np.median,
    clock=time.perf_counter,
    *,
    warm: bool = False,
) -> dict[str, float]:
    """Return the median time of one call of each method, in milliseconds.

    A `clock` of processor time leaves out what other programs took meanwhile: it suits
    methods of one thread whose calls are of very different length. `warm` methods are
    called once more before each turn, as the one before, of a large matrix perhaps, has
    emptied the caches: else short ones would be slower for their place in the order.
    """
    times = {name: [] for name in methods}
    for method in methods.values():
        method()
    for _ in range(repeats):
        for name, method in methods.items():
            if warm:
                method()
            start = clock()
            for _ in range(inner):
                method()
            times[name].append((clock() - start) / inner * 1e3)
    return {name: float(pick(values)) for name, values in times.items()}


def limits() -> tuple[float, float]:
    """Return one thread's GFLOP/s and its GB/s from memory, as C compiled here has."""
    floats = FLOATS.get(_kernels.active_isa(), 4)
    vector = "w" if _kernels.active_isa() == "neon" else "v" if floats == 16 else "x"
    source = LIMITS.replace("VECTOR", vector)
    flags = ["-O3", "-march=native", f"-DFLOATS={floats}", "-shared", "-fPIC"]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "limits.so")
        command = ["cc", *flags, "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=source.encode(), check=True)
        c = ctypes.CDLL(str(library))
    data = np.ones(1 << 26, np.float32)
    steps = 4_000_000
    c.read_memory.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    c.multiply_adds.argtypes = [ctypes.c_size_t]
    pointer = data.ctypes.data + -data.ctypes.data % 64
    methods = {
        "fma": lambda: c.multiply_adds(steps),
        "read": lambda: c.read_memory(pointer, data.size - 1024),
    }
    # What is possible: the best.
    ms = interleaved(methods, 30, 1, pick=np.min, clock=time.process_time)
    return steps * 10 * floats * 2 / ms["fma"] / 1e6, data.nbytes / ms["read"] / 1e6


CASES = [
    Case(1024, 4096, 4096, target=0.85),
    Case(1024, 4096, 4096, threads=2),
    Case(1024, 1024, 1024),
    Case(100_000, 256, 64),
    Case(16, 4096, 4096),
    Case(1, 4096, 4096),
    Case(1, 4096, 4096, threads=2),
    Case(1, 1024, 1024),
    *(
        Case(n, size, size, density, target=target if size == 4096 else None)
        for n, targets in ((1024, (9.0, 5.0, 3.5)), (1, (8.0, 4.0, 2.0)))
        for size in (4096, 1024)
        for density, target in zip((0.05, 0.10, 0.15), targets, strict=True)
    ),
    Case(1024, 4096, 4096, 0.10, threads=2),
    Case(1, 4096, 4096, 0.10, threads=2),
]

if __name__ == "__main__":
    main()
