"""Fitting on a GPU beside all cores of the processor: how fast, and how alike.

    python -m benchmarks.gpu [--json PATH] [--only alike|deep|wide] [--rows N]
    python -m benchmarks.gpu --only alike --method NeighbourCodes [--method ...]
    python -m benchmarks.gpu --device cpu [--json PATH]

*alike* fits the same learner to the same random rows by NumPy and on the GPU, and
compares the objective, the bits of all rows and the recall of held-out rows, where
there are some; faiss's ITQ takes its turn up to 512 features. *deep* trains a small
convolutional network from pixels. *wide* fits the widest maps from a file of `--rows`
rows, on the GPU alone, and reports the peaks of memory of both. Seconds are wall-clock
seconds, medians of three where fits are short; the processor has all of its cores.

With `--device cpu` torch does *alike* on the processor, which shows what another order
of sums does by itself. What is measured is added to the results at once, in place of
what was there of the same sizes.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.encode import interleaved
from benchmarks.fit import N_ITER, faiss_itq, features, keep, watched, write
from benchmarks.training import backbone
from fewbits.learners import (
    ITQ,
    PCAH,
    FastNeighbourCodes,
    NeighbourCodes,
    SparseProjections,
)
from fewbits.learners.deep import DeepHash, NetworkConfig, TrainingConfig
from fewbits.learners.fitting import on_device

#: Rows, features and bits.
SIZES = (
    (10_000, 256, 256),
    (5_000, 512, 512),
    (10_000, 1024, 1024),
    (10_000, 2048, 2048),
)
#: The most features of what takes no longer than a minute on the processor, and of what
#: is fitted three times after the first time, not once.
MOST_FAISS, MOST_REPEATED = 512, 1024
#: Those that take 50 steps in each iteration: fitted once.
LONG = ("NeighbourCodes", "FastNeighbourCodes")
METHODS: dict[str, Callable[[int], Any]] = {
    "PCAH": lambda bits: PCAH(bits),
    "ITQ": lambda bits: ITQ(bits, n_iter=N_ITER, random_state=0),
    "SP": lambda bits: SparseProjections(bits, n_iter=N_ITER, random_state=0),
    "NeighbourCodes": lambda bits: NeighbourCodes(bits, n_iter=N_ITER, random_state=0),
    "FastNeighbourCodes": lambda bits: FastNeighbourCodes(
        bits, n_iter=N_ITER, random_state=0
    ),
}
#: Features, bits and iterations of the widest maps.
WIDE = 25_600, 16_384, 5
#: Images, their sides, classes, bits and epochs, of which the first warms up.
DEEP = 4096, 64, 64, 64, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--only", default="", help="parts whose name holds this word")
    parser.add_argument("--rows", type=int, default=17_000, help="of the widest maps")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--method", action="append", choices=(*METHODS, "faiss"))
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch finds no GPU here")
    if options.only in "alike":
        for size in SIZES:
            rows = alike(*size, options.device, options.method or (*METHODS, "faiss"))
            keep(rows, options.json)
    if options.device == "cpu":
        return
    if options.only in "deep":
        keep([deep()], options.json)
    if options.only in "wide":
        for method in ("ITQ", "SP"):
            keep([wide(method, options.rows)], options.json)


def alike(
    n: int, d: int, bits: int, device: str, methods: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the seconds of each method on either, and how alike their results are."""
    part = "alike" if device == "cuda" else "alike, by torch"
    X, rows = features(n, d), []
    for name in (each for each in METHODS if each in methods):
        repeats = 3 if d <= MOST_REPEATED and name not in LONG else 1
        row = {"part": part, "method": name, "n": n, "d": d, "bits": bits}
        found = compared(X, partial(METHODS[name], bits), device, repeats)
        rows.append(told(row | found, device))
    if d <= MOST_FAISS and device == "cuda" and "faiss" in methods:
        row = {"part": part, "method": "faiss", "n": n, "d": d, "bits": bits}
        ms = interleaved({"faiss": lambda: faiss_itq(X, bits)}, 3, 1)
        row |= {"iterations": N_ITER, "seconds": ms["faiss"] / 1e3}
        rows.append(told(row, device))
    return rows


def compared(
    X: np.ndarray, make: Callable[[], Any], device: str, repeats: int
) -> dict[str, float | int]:
    """Return what fits by NumPy and on a device take, and differ by."""
    fitted = {}

    def fit() -> None:
        fitted["numpy"] = make().fit(X)

    def fit_there() -> None:
        with on_device(device):
            fitted["device"] = make().fit(X)

    ms = interleaved({"numpy": fit, "device": fit_there}, repeats, 1)
    ours, other = fitted["numpy"], fitted["device"]
    ends = [float(np.ravel(each.objective_)[-1]) for each in (ours, other)]
    flipped = np.bitwise_count(ours.encode(X) ^ other.encode(X)).sum()
    kept = {}
    if hasattr(ours, "recalls_"):
        kept["recall"] = float(ours.recalls_.max())
        kept["device_recall"] = float(other.recalls_.max())
    return {
        **kept,
        "iterations": N_ITER,
        "seconds": ms["numpy"] / 1e3,
        "device_seconds": ms["device"] / 1e3,
        "ratio": ms["numpy"] / ms["device"],
        "objective": ends[0],
        "device_objective": ends[1],
        "flipped": float(flipped) / (len(X) * ours.n_bits),
    }


def deep() -> dict[str, Any]:
    """Return the seconds of an epoch of a small network on either, and its losses."""
    n, side, classes, bits, n_epochs = DEEP
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (n, 3, side, side), np.uint8)
    row: dict[str, Any] = {"part": "deep", "method": "DeepHash", "n": n}
    row |= {"d": 3 * side**2, "bits": bits, "iterations": n_epochs}
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        learner = DeepHash(
            bits,
            loss="csq",
            network=NetworkConfig(backbone=backbone()),
            training=TrainingConfig(max_epochs=n_epochs),
            device=device,
            random_state=0,
        )
        history = learner.fit(X, np.arange(n) % classes).history_
        prefix = "" if device == "cpu" else "device_"
        seconds = [record["seconds"] for record in history[1:]]
        row[f"{prefix}seconds"] = float(np.median(seconds))
        row[f"{prefix}objective"] = float(learner.objective_[-1])
    row["ratio"] = row["seconds"] / row["device_seconds"]
    return told(row)


def wide(method: str, n: int) -> dict[str, Any]:
    """Return what the widest maps take on the GPU, fitted from a file."""
    d, bits, n_iter = WIDE
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X.npy")
        write(path, n, d)
        X = np.load(path, mmap_mode="r")
        learner = METHODS[method](bits).set_params(n_iter=n_iter)
        with on_device("cuda"):
            learner, seconds, peak = watched(lambda: learner.fit(X))
    row = {"part": "wide", "method": method, "n": n, "d": d, "bits": bits}
    row |= {"iterations": n_iter, "device_seconds": seconds, "peak_bytes": peak}
    row["device_peak_bytes"] = torch.cuda.max_memory_allocated()
    objective = np.array(learner.objective_)
    return told(row | {"device_objective": float(objective[-1])})


def told(row: dict[str, Any], device: str = "cuda") -> dict[str, Any]:
    """Return a row that was printed, with what it was measured on."""
    row["device"] = torch.cuda.get_device_name() if device == "cuda" else "processor"
    row["cores"] = len(os.sched_getaffinity(0))
    print(json.dumps(row), flush=True)
    return row


if __name__ == "__main__":
    main()
