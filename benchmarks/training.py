"""Deep codes: an epoch of ours beside the plainest loop, and what the posterior costs.

    python -m benchmarks.training [--json PATH] [--repeats N]

Both train a linear head on the same cached features with the same loss, optimiser and
batches; they run in turn. *ratio* is ours over the peer, in seconds per epoch, without
the look at codes after each (bound, and mAP on held-out items; `eval_every` makes
it rarer), or with it. What the posterior costs is measured behind a small convolutional
backbone, too, trained along from pixels, where it also stands beside the paper's
variants (table 1): in place of the loss, or binary cross-entropy with the centres, or a
Cauchy likelihood. Memory is the peak of a process that does one of them only.
"""

import argparse
import json
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from torch import nn

from fewbits.learners.deep import (
    CentreControl,
    Control,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep.losses import LOSSES, LossContext, Targets
from research.common.losses import CauchyControl

N, D, CLASSES, BATCH = 2900, 1280, 100, 64
LENGTHS = (16, 32, 64)
LOSSES_MEASURED = ("csq", "hashnet")
N_EPOCHS = 8  # the first warms up
#: Of images for the backbone: how many, and their sides.
N_IMAGES, SIDE = 128, 48
#: Ratios to reach: the trainer's own cost, and the posterior's with either network.
TARGETS = {
    "trainer": 1.1,
    "trainer, with a look at codes": None,
    "posterior": 5.0,
    "posterior, convolutional": 1.07,
    "posterior for BCE, convolutional": 1.07,
    "posterior for Cauchy, convolutional": 1.07,
}
CONTROLS: dict[str, Control] = {
    "posterior": PosteriorControl(),
    "only posterior": PosteriorControl(mode="replace"),
    "only BCE": CentreControl(mode="replace"),
    "only Cauchy": CauchyControl(mode="replace"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for loss in LOSSES_MEASURED:
        for bits in LENGTHS:
            rows += measure(loss, bits, options.repeats)
    rows += [memory(name) for name in ("plain", "ours", "posterior")]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def features() -> tuple[np.ndarray, np.ndarray]:
    """Return random features, and classes."""
    X = np.random.default_rng(0).standard_normal((N, D), np.float32)
    return X, np.arange(N) % CLASSES


def images() -> tuple[np.ndarray, np.ndarray]:
    """Return random images, and classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (N_IMAGES, 3, SIDE, SIDE), np.uint8)
    return X, np.arange(N_IMAGES) % CLASSES


def backbone() -> nn.Module:
    """Return a small convolutional network, with the shape of the first ResNets."""
    parts: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 128)):
        parts += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after)]
        parts += [nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def run(name: str, loss: str, bits: int) -> float:
    """Return the seconds of an epoch of one of the ways."""
    if name == "plain":
        return plain(*features(), loss, bits)
    if name == "ours, looking":
        return ours(*features(), loss, bits, None, validation=0.1)
    control = CONTROLS.get(name.removesuffix(", convolutional"))
    if "convolutional" in name:
        return ours(*images(), loss, bits, control, backbone())
    return ours(*features(), loss, bits, control)


def measure(loss: str, bits: int, repeats: int) -> list:
    """Return the ratios of one loss and length."""
    pairs = {"trainer": ("ours", "plain"), "posterior": ("posterior", "ours")}
    pairs["trainer, with a look at codes"] = "ours, looking", "plain"
    if loss == LOSSES_MEASURED[0]:  # behind a backbone, losses differ little
        name = "posterior, convolutional"
        pairs[name] = (name, "ours, convolutional")
        for other in ("BCE", "Cauchy"):
            both = tuple(f"only {each}, convolutional" for each in ("posterior", other))
            pairs[f"posterior for {other}, convolutional"] = both
    times: dict[str, list[float]] = {way: [] for pair in pairs.values() for way in pair}
    for _ in range(repeats):
        for way, each in times.items():
            each.append(run(way, loss, bits))
    rows = []
    for name, (one, other) in pairs.items():
        ratios = np.divide(times[one], times[other])
        row = {"name": name, "loss": loss, "bits": bits, "target": TARGETS[name]}
        row |= {"seconds": float(np.median(times[one])), "ratios": ratios.tolist()}
        rows.append(row | {"ratio": float(np.median(ratios))})
        print(
            f"{name:35} {loss:8} {bits:3} bits {row['seconds']:.3f} s, "
            f"{rows[-1]['ratio']:.2f}"
        )
    return rows


def memory(name: str) -> dict:
    """Return the peak memory of a process that trains one way."""
    with get_context("spawn").Pool(1) as pool:
        peak = pool.apply(peak_bytes, (name,))
    print(f"memory {name:28} {peak / 2**20:.0f} MiB")
    return {"name": "memory", "way": name, "peak_bytes": peak}


def peak_bytes(name: str) -> int:
    """Train one way, and return this process's peak."""
    torch.set_num_threads(1)
    run(name, "csq", max(LENGTHS))
    # What `getrusage` reports of a process began with its parent's peak.
    status = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def ours(
    X: np.ndarray,
    y: np.ndarray,
    loss: str,
    bits: int,
    control: Control | None,
    module: nn.Module | None = None,
    validation: float = 0.0,
) -> float:
    """Return the median seconds of an epoch.

    With items held out for `validation` they are fewer that are trained on, so the
    steps' time is scaled up, and that of the look at codes is added.
    """
    learner = DeepHash(
        bits,
        loss=loss,
        control=control,
        network=NetworkConfig(backbone=module),
        training=TrainingConfig(max_epochs=N_EPOCHS, validation=validation),
        random_state=0,
    )
    history = learner.fit(X, y).history_[1:]
    steps = np.median([record["seconds"] for record in history]) / (1 - validation)
    looks = np.median([record["metrics_seconds"] for record in history])
    return float(steps + looks if validation else steps)


def plain(X: np.ndarray, y: np.ndarray, loss: str, bits: int) -> float:
    """Return the same for a plain training loop."""
    features, classes = torch.from_numpy(X), torch.from_numpy(y)
    features = (features - features.mean(dim=0)) / features.std(dim=0)
    targets = Targets(classes, None, CLASSES)
    model, criterion = nn.Linear(D, bits), LOSSES[loss]()
    criterion.start(LossContext(bits, targets, seed=0))
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
