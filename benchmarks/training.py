"""Deep codes: an epoch of ours beside the plainest loop, and what the posterior costs.

    python -m benchmarks.training [--json PATH] [--repeats N]

Both train a linear head on the same cached features with the same loss, optimiser and
batches; they run in turn. *ratio* is ours over the peer, in seconds per epoch.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from fewbits.learners.deep import DeepHash, PosteriorControl
from fewbits.learners.deep._targets import Targets
from fewbits.learners.deep.losses import LOSSES, Setting

N, D, CLASSES, BATCH = 2900, 1280, 100, 64
LENGTHS = (16, 32, 64)
N_EPOCHS = 4  # the first warms up
#: Ratios to reach: the trainer's own cost, and the posterior's with a linear head.
TARGETS = {"trainer": 1.1, "posterior": 5.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    y = np.arange(N) % CLASSES
    X = rng.standard_normal((N, D), np.float32)
    rows = []
    for loss in ("csq", "hashnet"):
        for bits in LENGTHS:
            rows += measure(X, y, loss, bits, options.repeats)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def measure(X: np.ndarray, y: np.ndarray, loss: str, bits: int, repeats: int) -> list:
    """Return the ratios of one loss and length."""
    times: dict[str, list[float]] = {"plain": [], "ours": [], "posterior": []}
    for _ in range(repeats):
        times["plain"].append(plain(X, y, loss, bits))
        times["ours"].append(ours(X, y, loss, bits, None))
        times["posterior"].append(ours(X, y, loss, bits, PosteriorControl()))
    median = {name: float(np.median(each)) for name, each in times.items()}
    rows = []
    for name, one, other in (
        ("trainer", "ours", "plain"),
        ("posterior", "posterior", "ours"),
    ):
        ratio = float(np.median(np.divide(times[one], times[other])))
        row = {"name": name, "loss": loss, "bits": bits, "seconds": median[one]}
        rows.append(row | {"ratio": ratio, "target": TARGETS[name]})
        print(f"{name:10} {loss:8} {bits:3} bits {median[one]:.3f} s, {ratio:.2f}")
    return rows


def ours(
    X: np.ndarray, y: np.ndarray, loss: str, bits: int, control: PosteriorControl | None
) -> float:
    """Return the median seconds of an epoch, without the look at codes after it."""
    learner = DeepHash(
        bits, loss=loss, control=control, n_iter=N_EPOCHS, validation=0, random_state=0
    )
    history = learner.fit(X, y).history_
    return float(np.median([record["seconds"] for record in history[1:]]))


def plain(X: np.ndarray, y: np.ndarray, loss: str, bits: int) -> float:
    """Return the same for the loop that everybody writes."""
    features, classes = torch.from_numpy(X), torch.from_numpy(y)
    features = (features - features.mean(dim=0)) / features.std(dim=0)
    targets = Targets(classes, None, CLASSES)
    model, criterion = nn.Linear(D, bits), LOSSES[loss]()
    criterion.start(Setting(bits, targets, seed=0))
    parameters = [*model.parameters(), *criterion.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=True)
    seconds = []
    for _ in range(N_EPOCHS):
        start = time.perf_counter()
        for rows in torch.randperm(N).split(BATCH):
            value = criterion(model(features[rows]), targets[rows])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:]))


if __name__ == "__main__":
    main()
