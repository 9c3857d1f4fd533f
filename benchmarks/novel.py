"""Search by example: learning a class from a few codes, and ranking a million.

    python -m benchmarks.novel [--json PATH] [--repeats N]

The peer is NumPy: bits unpacked block by block, times the weights. *share* is the part
of the memory's bandwidth, of which the codes need a whole read.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.encode import limits
from fewbits import _kernels
from fewbits.classify import LinearModel, best_scores, learn_class

N_CODES, N_BITS = 1_000_000, 2048
N_POSITIVES, N_NEGATIVES = 5, 1000
TARGETS = {"rank": 0.25, "learn and rank": 1.0}  # seconds, two threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (N_CODES, N_BITS // 8), dtype=np.uint8)
    bandwidth = limits()[1]
    report = {"bandwidth": bandwidth, "rows": []}
    for threads in (1, 2):
        _kernels.set_num_threads(threads)
        with threadpool_limits(threads):
            found = measure(codes, options.repeats if threads == 2 else 3)
        for name, seconds in found.items():
            target = TARGETS.get(name) if threads == 2 else None
            share = codes.nbytes / 1e9 / seconds / bandwidth if name == "rank" else None
            report["rows"].append(
                {
                    "name": name,
                    "threads": threads,
                    "seconds": seconds,
                    "target": target,
                    "share": share,
                }
            )
            print(f"{name:28} {threads} T {seconds:8.3f} s, target {target}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


def measure(codes: np.ndarray, repeats: int) -> dict[str, float]:
    """Return the median seconds of each step; the steps run in turn."""
    positives, negatives = codes[:N_POSITIVES], codes[-N_NEGATIVES:]
    times: dict[str, list[float]] = {}

    def timed(name, function, *arguments):
        start = time.perf_counter()
        result = function(*arguments)
        times.setdefault(name, []).append(time.perf_counter() - start)
        return result

    for _ in range(repeats):
        model = timed("learn", learn_class, positives, negatives, N_BITS)
        timed("rank", rank, model, codes)
    median = {name: float(np.median(each)) for name, each in times.items()}
    median["learn and rank"] = median["learn"] + median["rank"]
    timed("rank with NumPy", rank_with_numpy, model, codes)  # seconds: once will do
    return {**median, "rank with NumPy": times["rank with NumPy"][0]}


def rank(model: LinearModel, codes: np.ndarray) -> np.ndarray:
    return best_scores(model.scores(codes), 25)


def rank_with_numpy(model: LinearModel, codes: np.ndarray) -> np.ndarray:
    scores = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), 10_000):
        bits = np.unpackbits(codes[start : start + 10_000], axis=1)
        scores[start : start + 10_000] = bits.astype(np.float32) @ model.weights
    return best_scores(scores + np.float32(model.bias), 25)


if __name__ == "__main__":
    main()
