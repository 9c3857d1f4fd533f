"""Table 2 end to end: CIFAR-10 from pixels, by a residual network from nothing.

Losses alone and with D, for one all controls. Nothing is chosen but the epoch that is
kept, on a tenth of the training images.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from fewbits.backbones import pixels
from fewbits.codes import pack
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners import ITQ
from fewbits.learners.deep import DeepHash, NetworkConfig, TrainingConfig
from fewbits.learners.deep._network import reproducible
from fewbits.learners.deep.losses import LOSSES
from research.common import datasets
from research.common.problems import Problem, load_problem
from research.common.resnet import resnet
from research.common.splits import standard_split
from research.core.record import Metrics
from research.core.runner import Task, task
from research.studies.lower_bound.nets import CONTROLS

Scores = NDArray[np.float32]
#: The loss with all controls.
N_BITS, CONTROLLED = 16, "csq"
WEIGHT, RATE, DECAY, SIDE = 0.1, 1e-3, 0.05, 32


class Size(NamedTuple):
    """The size of the network, and the length of its training."""

    blocks: tuple[int, ...]
    width: int
    max_epochs: int
    batch_size: int


SIZES = {
    "small": Size((1, 1, 1), 8, 30, 64),
    "tiny": Size((1,), 8, 1, 64),
}


class Cell(NamedTuple):
    """A network that is trained."""

    data: str
    size: str
    bits: int
    method: str
    control: str
    seed: int


def tasks(data: str, size: str, seed: int) -> Iterator[Task]:
    """Yield the cells of one seed."""
    for method in LOSSES:
        for control in CONTROLS if method == CONTROLLED else ("", "D"):
            cell = Cell(data, size, N_BITS, method, control, seed)
            yield task("pixels", cell._asdict(), partial(measure, cell))


@lru_cache(maxsize=1)
def load_images(name: str, seed: int) -> Problem:
    """Return the images as the network sees them, split as the field does."""
    if name == "digits":
        found = load_problem("digits", seed)
        images = np.repeat(found.X.reshape(-1, 1, 8, 8), 3, axis=1) / np.float32(16)
        return Problem(images, found.labels, found.train, found.query, found.base)
    data = datasets.load_cifar10()
    labels = data.labels["class"]
    split = standard_split("cifar10", labels, random_state=seed)
    X: Any = pixels(data.items, SIDE)
    return Problem(X, labels, split.train, split.query, split.database)


def measure(cell: Cell) -> Metrics:
    """Train the network, then rank the base for the queries and vote by it."""
    problem, learner = load_images(cell.data, cell.seed), make(cell)
    start = time.perf_counter()
    problem.learn(learner)
    seconds = time.perf_counter() - start
    sides = [learner.extract(problem.X[rows]) for rows in (problem.query, problem.base)]
    scores = [learner.encoder_.project(side) for side in sides]
    asked, labels = problem.labels[problem.query], problem.labels[problem.base]
    history = learner.history_
    return {
        "rotated": _rotated(sides, asked, labels, cell),
        **by_codes(scores, asked, labels),
        "seconds_per_epoch": float(np.median([each["seconds"] for each in history])),
        "fit_seconds": round(seconds, 2),
        "device": "GPU" if torch.cuda.is_available() else "CPU",
        "history": {
            key: [round(each[key], 4) for each in history if key in each]
            for key in ("map", "bound")
        },
    }


def by_codes(scores: list[Scores], asked: Any, labels: Any) -> Metrics:
    """Rank by Hamming distances, and let the nearest 100 vote."""
    query, base = (pack(side >= 0) for side in scores)
    found = mean_average_precision(query, base, same_label(asked, labels))
    votes = knn_accuracy(base, labels, query, asked, k=100)
    return {"map": found.value, "accuracy": votes.value}


def _rotated(sides: list[Scores], asked: Any, labels: Any, cell: Cell) -> float:
    """Return the mAP by signs of rotated principal components of the features."""
    learner = ITQ(cell.bits, n_iter=0, random_state=cell.seed)
    query, base = map(learner.fit(sides[1]).encoder_.encode, sides)
    return mean_average_precision(query, base, same_label(asked, labels)).value


def make(cell: Cell) -> DeepHash:
    """Return an untrained learner with a network that depends on the seed only."""
    size = SIZES[cell.size]
    with reproducible(cell.seed):
        network = NetworkConfig(backbone=resnet(size.blocks, size.width))
    training = TrainingConfig(
        max_epochs=size.max_epochs,
        batch_size=size.batch_size,
        backbone_rate=1.0,
        learning_rate=RATE,
        weight_decay=DECAY,
        mixed_precision=torch.cuda.is_available(),
    )
    return DeepHash(
        cell.bits,
        loss=cell.method,
        control=CONTROLS[cell.control](weight=WEIGHT) if cell.control else None,
        network=network,
        training=training,
        random_state=cell.seed,
    )
