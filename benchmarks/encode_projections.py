"""Projections that form no matrix against BLAS, SciPy's CSR and SciPy's FFT.

    python -m benchmarks.encode_projections [--json PATH] [--repeats N] [--only WORD]

As many bits as features. One process, one thread; all methods of a size run in turn,
and medians are compared. CSR is a matrix of 10 % density; FFT is a circulant product in
float32. *share* is the part of the processor's multiply-adds, which count as two
operations: kernels that add without multiplying reach a half of it at best.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.fft import irfft, rfft
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from benchmarks.encode import interleaved, limits
from fewbits import _kernels
from fewbits.encoders import (
    BilinearEncoder,
    CirculantEncoder,
    Encoder,
    HadamardEncoder,
)

SIZES = {1024: 1024, 4096: 256, 16_384: 32}  # features, and rows of a batch
TARGETS = {
    "hadamard 3 rounds": {"batch": 35.0, "single": 150.0},
    "circulant": {"batch": 10.0},
    "bilinear": {"batch": 18.0},
}


@dataclass
class Row:
    name: str
    ms: float
    blas_ms: float
    csr_ms: float
    fft_ms: float
    ratio: float  # to BLAS
    target: float | None  # at 4096
    share: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="sizes whose name holds this word")
    options = parser.parse_args()
    peak, _ = limits()
    print(f"instruction set {_kernels.active_isa()}, one thread: {peak:.0f} GFLOP/s")
    print(f"{'':34}{'ms':>9}{'BLAS ms':>10}{'CSR ms':>9}{'FFT ms':>9}", end="")
    print(f"{'x BLAS':>8}{'target':>8}{'share':>7}")
    rows = []
    _kernels.set_num_threads(1)
    for d, batch in SIZES.items():
        for n in (batch, 1):
            count = "single" if n == 1 else f"batch {n}"
            if options.only in f"{count} {d}":
                rows += measure(d, n, count, options.repeats, peak)
    if options.json:
        machine = {"gflops": peak, "isa": _kernels.active_isa()}
        result = {"machine": machine, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(result, indent=1))


def measure(d: int, n: int, count: str, repeats: int, peak: float) -> list[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), np.float32)
    projections = encoders(d, rng)
    methods: dict[str, Callable[[], object]] = peers(X, rng)
    for name, (encoder, _) in projections.items():
        methods[name] = lambda encoder=encoder: encoder.encode(X)
    with threadpool_limits(1):
        ms = interleaved(methods, repeats, 10 if n == 1 else 1)
    blas, csr, fft = (ms[peer] for peer in ("blas", "csr", "fft"))
    rows = []
    for name, (_, operations) in projections.items():
        targets = TARGETS.get(name, {}) if d == 4096 else {}
        share = 1e-6 * n * operations / ms[name] / peak
        ratio, target = blas / ms[name], targets.get(count.split()[0])
        row = Row(f"{name} {count} {d}", ms[name], blas, csr, fft, ratio, target, share)
        rows.append(row)
        show(row)
    return rows


def show(row: Row) -> None:
    target = f"{row.target:8.0f}" if row.target else " " * 8
    missed = " missed" if row.target and row.ratio < row.target else ""
    print(f"{row.name:34}{row.ms:9.3f}{row.blas_ms:10.2f}{row.csr_ms:9.2f}", end="")
    print(f"{row.fft_ms:9.3f}{row.ratio:8.1f}{target}{row.share:7.0%}{missed}")


def peers(X: np.ndarray, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """Return what others do with `X`; dense and FFT with packing, as we do."""
    d = X.shape[1]
    dense = rng.standard_normal((d, d), np.float32)
    few = d // 10
    places = rng.integers(0, d, (d, few), np.int32)
    places.sort(axis=1)
    values = rng.standard_normal(d * few, np.float32)
    csr = csr_matrix((values, places.ravel(), np.arange(d + 1) * few), (d, d))
    columns, spectrum = np.ascontiguousarray(X.T), rfft(X[0])
    return {
        "blas": lambda: np.packbits(X @ dense > 0, axis=1),
        "csr": lambda: np.packbits((csr @ columns).T > 0, axis=1),
        "fft": lambda: np.packbits(irfft(rfft(X) * spectrum, d) > 0, axis=1),
    }


def encoders(d: int, rng: np.random.Generator) -> dict[str, tuple[Encoder, float]]:
    """Return each projection, with the number of operations for one row."""
    zeros, stages, side = np.zeros(d), np.log2(d), int(np.sqrt(d))
    found: dict[str, tuple[Encoder, float]] = {}
    for rounds in (1, 2, 3):
        signs = rng.integers(0, 256, (1, rounds, d // 8))
        name = f"hadamard {rounds} round{'s' if rounds > 1 else ''}"
        encoder = HadamardEncoder(signs, zeros, d)
        found[name] = encoder, rounds * d * (stages + 1)
    circulant = CirculantEncoder(rng.normal(size=(1, d)), np.zeros(d // 8), zeros)
    found["circulant"] = circulant, 2 * 5 * d * stages
    left, right = rng.normal(size=(2, side, side))
    found["bilinear"] = BilinearEncoder(left, right, zeros, d), 4 * d * side
    return found


if __name__ == "__main__":
    main()
