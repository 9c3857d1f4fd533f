"""Cheap projections against BLAS, SciPy's CSR and SciPy's FFT.

    python -m benchmarks.encode_projections [--json PATH] [--repeats N] [--only WORD]

As many bits as features. One process, one thread; all methods of a size run in turn,
and the best processor time of several turns counts: other work on the machine would
lengthen the long calls of BLAS more often than the short ones beside them.
CSR is the same matrix of 10 % density as *sparse 10%*; FFT is a circulant product in
float32. *share* is the part of the processor's multiply-adds, which count as two
operations: kernels that add without multiplying reach a half of it at best. *memory* is
the part of its bandwidth that reading the encoder and the rows once would take; what
stays in a cache between calls can be above it.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.fft import irfft, rfft
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from benchmarks.encode import interleaved, limits
from fewbits import _kernels
from fewbits.encoders import (
    AnchorEncoder,
    BilinearEncoder,
    BlockHadamardEncoder,
    CirculantEncoder,
    EigenfunctionEncoder,
    Encoder,
    HadamardEncoder,
    LinearEncoder,
    MLPEncoder,
    SparseEncoder,
)

SIZES = {1024: 1024, 4096: 256, 16_384: 32}  # features, and rows of a batch
TARGETS = {
    "hadamard 3 rounds": {"batch": 35.0, "single": 150.0},
    "circulant": {"batch": 10.0},
    "bilinear": {"batch": 18.0},
    "sparse 10%": {"batch": 5.5},
}
SHARE_TARGETS = {"sparse 10%": {"batch": 0.5}}
#: How many bits of spectral hashing share an axis; and units of the hidden layer.
AXES, HIDDEN = 4, 512
#: Anchors of binary reconstructive embeddings, and how many of them a bit has.
ANCHORS, OF_A_BIT = 1000, 20
best_of = partial(interleaved, pick=np.min, clock=time.process_time, warm=True)


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
    share_target: float | None
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="sizes whose name holds this word")
    options = parser.parse_args()
    limit = limits()
    peak, bandwidth = limit
    print(f"instruction set {_kernels.active_isa()}, one thread: ", end="")
    print(f"{peak:.0f} GFLOP/s, {bandwidth:.0f} GB/s")
    print(f"{'':34}{'ms':>9}{'BLAS ms':>10}{'CSR ms':>9}{'FFT ms':>9}", end="")
    print(f"{'x BLAS':>8}{'target':>8}{'share':>7}{'memory':>8}")
    rows = []
    _kernels.set_num_threads(1)
    for d, batch in SIZES.items():
        for n in (batch, 1):
            count = "single" if n == 1 else f"batch {n}"
            if options.only in f"{count} {d}":
                rows += measure(d, n, count, options.repeats, limit)
    if options.json:
        machine = {"gflops": peak, "gb_per_s": bandwidth, "isa": _kernels.active_isa()}
        result = {"machine": machine, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(result, indent=1))


def measure(
    d: int, n: int, count: str, repeats: int, limit: tuple[float, float]
) -> list[Row]:
    peak, bandwidth = limit
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), np.float32)
    csr = kept_at_random(d, 0.1, rng)
    projections = encoders(csr, rng)
    methods: dict[str, Callable[[], object]] = peers(X, csr, rng)
    for name, (encoder, _) in projections.items():
        methods[name] = lambda encoder=encoder: encoder.encode(X)
    with threadpool_limits(1):
        ms = best_of(methods, repeats, 10 if n == 1 else 1)
    others = [ms[peer] for peer in ("blas", "csr", "fft")]
    rows = []
    for name, (encoder, operations) in projections.items():
        read = X.nbytes + sum(tensor.nbytes for tensor in encoder.tensors().values())
        memory = 1e-6 * read / ms[name] / bandwidth
        share = 1e-6 * n * operations / ms[name] / peak
        ratio = ms["blas"] / ms[name]
        least = target_of(TARGETS, name, count, d)
        share_target = target_of(SHARE_TARGETS, name, count, d)
        title = f"{name} {count} {d}"
        figures = ratio, least, share, share_target, memory
        row = Row(title, ms[name], *others, *figures)
        rows.append(row)
        show(row)
    return rows


def target_of(targets: dict, name: str, count: str, d: int) -> float | None:
    """Return what a method should reach; targets were set for 4096 features."""
    return targets.get(name, {}).get(count.split()[0]) if d == 4096 else None


def show(row: Row) -> None:
    target = f"{row.target:8.1f}" if row.target else " " * 8
    goals = (row.ratio, row.target), (row.share, row.share_target)
    missed = " missed" if any(goal and got < goal for got, goal in goals) else ""
    print(f"{row.name:34}{row.ms:9.3f}{row.blas_ms:10.2f}{row.csr_ms:9.2f}", end="")
    print(f"{row.fft_ms:9.3f}{row.ratio:8.1f}{target}{row.share:7.0%}", end="")
    print(f"{row.memory:8.0%}{missed}")


def kept_at_random(d: int, density: float, rng: np.random.Generator) -> csr_matrix:
    """Return a square matrix with a random one of some neighbours in a row."""
    few, step = int(d * density), int(1 / density)
    places = np.arange(few) * step + rng.integers(0, step, (d, few), np.int32)
    values = rng.standard_normal(d * few, np.float32)
    return csr_matrix((values, places.ravel(), np.arange(d + 1) * few), (d, d))


def peers(
    X: np.ndarray, csr: csr_matrix, rng: np.random.Generator
) -> dict[str, Callable[[], object]]:
    """Return what others do with `X`, with packing, as we do."""
    d = X.shape[1]
    dense = rng.standard_normal((d, d), np.float32)
    columns, spectrum = np.ascontiguousarray(X.T), rfft(X[0])
    return {
        "blas": lambda: np.packbits(X @ dense > 0, axis=1),
        "csr": lambda: np.packbits((csr @ columns).T > 0, axis=1),
        "fft": lambda: np.packbits(irfft(rfft(X) * spectrum, d) > 0, axis=1),
    }


def encoders(
    csr: csr_matrix, rng: np.random.Generator
) -> dict[str, tuple[Encoder, float]]:
    """Return each projection, with the number of operations for one row."""
    d = csr.shape[0]
    zeros, stages, side = np.zeros(d), np.log2(d), int(np.sqrt(d))
    dense = LinearEncoder(rng.standard_normal((d, d), np.float32), zeros)
    found: dict[str, tuple[Encoder, float]] = {"dense": (dense, 2 * d * d)}
    encoder: Encoder
    for rounds in (1, 2, 3):
        signs = rng.integers(0, 256, (1, rounds, d // 8))
        name = f"hadamard {rounds} round{'s' if rounds > 1 else ''}"
        encoder = HadamardEncoder(signs, zeros, d)
        found[name] = encoder, rounds * d * (stages + 1)
    for rounds in (1, 2):
        blocks = rng.standard_normal((1, rounds, d, 16), np.float32)
        name = f"{rounds} round{'s' if rounds > 1 else ''} of blocks"
        encoder = BlockHadamardEncoder(blocks, zeros, d)
        found[name] = encoder, rounds * d * (stages + 2 * 16)
    diagonals = rng.standard_normal((1, 3, d, 1), np.float32)
    encoder = BlockHadamardEncoder(diagonals, zeros, d)
    found["3 rounds of diagonals"] = encoder, 3 * d * (stages + 2)
    circulant = CirculantEncoder(
        rng.normal(size=(1, d)), np.zeros(d // 8, np.uint8), zeros
    )
    found["circulant"] = circulant, 2 * 5 * d * stages
    left, right = rng.normal(size=(2, side, side))
    found["bilinear"] = BilinearEncoder(left, right, zeros, d), 4 * d * side
    for percent in (5, 10, 15):
        kept = csr if percent == 10 else kept_at_random(d, percent / 100, rng)
        sparse = SparseEncoder(kept.indptr, kept.indices, kept.data, zeros, d)
        found[f"sparse {percent}%"] = sparse, 2 * kept.nnz
    one = np.arange(d)
    threshold = SparseEncoder(np.arange(d + 1), one, np.ones(d), zeros, d)
    found["thresholds"] = threshold, 2 * d
    axes = rng.standard_normal((d, d // AXES), np.float32)
    modes = 1 + one // (d // AXES)
    waves = EigenfunctionEncoder(axes, one % (d // AXES), modes, zeros)
    found[f"spectral hashing, {AXES} bits an axis"] = waves, 2 * d * (d // AXES)
    layers = [rng.standard_normal(shape) for shape in ((d, HIDDEN), (HIDDEN, d))]
    network = MLPEncoder(layers, [np.zeros(HIDDEN), zeros])
    found[f"a hidden layer of {HIDDEN}"] = network, 4 * d * HIDDEN
    anchors = rng.standard_normal((ANCHORS, d)) / np.sqrt(d)
    places = rng.permuted(np.tile(np.arange(ANCHORS), (d, 1)), axis=1)[:, :OF_A_BIT]
    starts, values = np.arange(d + 1) * OF_A_BIT, rng.standard_normal(places.size)
    behind = SparseEncoder(starts, np.sort(places).ravel(), values, zeros, ANCHORS)
    curved = AnchorEncoder(behind, anchors, np.zeros(d), 1.0)
    operations = 2 * d * ANCHORS + 2 * places.size
    found[f"{ANCHORS:,} anchors, {OF_A_BIT} a bit"] = curved, operations
    return found


if __name__ == "__main__":
    main()
