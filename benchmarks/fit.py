"""Fitting: ITQ beside faiss's, and the memory that fits from files take.

    python -m benchmarks.fit [--json PATH] [--repeats N] [--only WORD] [--full]

Rows are random, of length 1 as faiss makes them, their spread falling from one
principal axis to the next as that of real features does. ITQ and faiss's ITQ take the
same rows and number of iterations, one thread, in turn; medians of processor time are
compared.
faiss's ITQTransform begins with principal components, too, where bits are fewer than
features. The *loss* is the mean squared distance of scores, scaled to a mean square of
1, and bits: what ITQ minimises.

Memory is the peak of a process that fits from a file, without the pages of the file;
the room that NumPy and our modules take is in it. `--full` adds the widest maps, which
takes hours. What is measured is added to the results at once, in place of what was
there of the same sizes, so that parts may be measured one after the other.
"""

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import faiss
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.encode import interleaved
from fewbits.learners import ITQ, PCAH, SparseProjections

T = TypeVar("T")

#: Rows, features and bits.
SIZES = ((10_000, 128, 64), (10_000, 256, 256), (5_000, 512, 512))
WIDE = ((10_000, 1024, 256), (10_000, 1024, 1024))
N_ITER = 10
#: Fields that identify a measurement.
ALIKE = ("part", "method", "n", "d", "bits", "iterations")
METHODS = {
    "PCAH": lambda bits: PCAH(bits),
    "ITQ": lambda bits: ITQ(bits, n_iter=N_ITER, random_state=0),
    "SP": lambda bits: SparseProjections(bits, n_iter=N_ITER, random_state=0),
}
#: Method, rows, features, bits and iterations of fits from a file.
FILES = (
    ("ITQ", 1_000_000, 128, 64, 1),
    ("SP", 300, 25_600, 16_384, 1),
)
FULL_FILES = (
    ("ITQ", 10_000, 25_600, 16_384, 1),
    ("SP", 10_000, 25_600, 16_384, 1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="parts whose name holds this word")
    parser.add_argument("--full", action="store_true", help="the widest maps, too")
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        if options.only in "time":
            for size in SIZES + (WIDE if options.full else ()):
                keep(times(*size, options.repeats), options.json)
        if options.only in "memory":
            for case in FILES + (FULL_FILES if options.full else ()):
                keep([memory(*case)], options.json)


def keep(rows: list[dict], path: Path | None) -> None:
    """Add rows to those of a file, in place of those that were measured alike."""
    if path is None:
        return
    known = json.loads(path.read_text()) if path.exists() else []
    table = {tuple(row[key] for key in ALIKE): row for row in (*known, *rows)}
    path.write_text(json.dumps(list(table.values()), indent=1))


def features(n: int, d: int) -> np.ndarray:
    """Return random rows with a falling spread, turned in space."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), np.float32)
    X *= np.arange(1, d + 1, dtype=np.float32) ** -0.5
    X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def times(n: int, d: int, bits: int, repeats: int) -> list[dict]:
    """Return the seconds of each method at one size, and ITQ's loss beside faiss's."""
    X, fitted = features(n, d), {}

    def fit(name: str) -> None:
        fitted[name] = METHODS[name](bits).fit(X).encoder_.project(X)

    def fit_faiss() -> None:
        fitted["faiss"] = faiss_itq(X, bits).apply(X)

    ways = {name: lambda name=name: fit(name) for name in METHODS}
    ways["faiss"] = fit_faiss
    ms = interleaved(ways, repeats, 1, clock=time.process_time)
    rows = []
    for name in ways:
        row = {"part": "time", "method": name, "n": n, "d": d, "bits": bits}
        row |= {"iterations": N_ITER, "seconds": ms[name] / 1e3}
        row["loss"] = loss(fitted[name]) if name in ("ITQ", "faiss") else None
        row["ratio"] = ms["faiss"] / ms["ITQ"] if name == "ITQ" else None
        rows.append(row)
        print(json.dumps(row), flush=True)
    return rows


def faiss_itq(X: np.ndarray, bits: int) -> faiss.ITQTransform:
    """Return faiss's ITQ of all rows."""
    n, d = X.shape
    peer = faiss.ITQTransform(d, bits, bits < d)
    peer.itq.max_iter = N_ITER
    peer.max_train_per_dim = n
    peer.train(X)
    return peer


def loss(scores: np.ndarray) -> float:
    """Return the mean squared distance of scaled scores and their signs."""
    scores = scores.astype(np.float64)
    return float(2 - 2 * np.mean(np.abs(scores)) / np.sqrt(np.mean(scores**2)))


def memory(method: str, n: int, d: int, bits: int, n_iter: int) -> dict:
    """Return the peak memory of a process that fits from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X.npy")
        write(path, n, d)
        with get_context("spawn").Pool(1) as pool:
            seconds, peak = pool.apply(fit_from_file, (path, method, bits, n_iter))
        row = {"part": "memory", "method": method, "n": n, "d": d, "bits": bits}
        row |= {"iterations": n_iter, "file_bytes": path.stat().st_size}
    row |= {"seconds": seconds, "peak_bytes": peak}
    print(json.dumps(row), flush=True)
    return row


def write(path: Path, n: int, d: int) -> None:
    """Write random rows, block by block."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    spread = np.arange(1, d + 1, dtype=np.float32) ** -0.5
    for start in range(0, n, 1000):
        block = X[start : start + 1000]
        block[:] = rng.standard_normal(block.shape, np.float32) * spread
    X.flush()


def fit_from_file(path: Path, method: str, bits: int, n_iter: int) -> tuple[float, int]:
    """Fit from a file, and return the seconds of processor time and the peak."""
    X = np.load(path, mmap_mode="r")
    learner = METHODS[method](bits).set_params(n_iter=n_iter)
    with threadpool_limits(1):
        _, seconds, peak = watched(lambda: learner.fit(X), time.process_time)
    return seconds, peak


def watched(
    work: Callable[[], T], clock: Callable[[], float] = time.perf_counter
) -> tuple[T, float, int]:
    """Return what some work returns, its seconds, and the peak of private memory."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            peak[0] = max(peak[0], private_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = clock()
    try:
        found = work()
    finally:
        seconds = clock() - start
        ended.set()
        watcher.join()
    return found, seconds, peak[0]


def private_bytes() -> int:
    """Return the memory of this process that is no page of a file (Linux)."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("this system does not tell what memory is private")


if __name__ == "__main__":
    main()
