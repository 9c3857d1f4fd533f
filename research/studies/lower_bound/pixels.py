"""Table 2 end to end: CIFAR-10 from pixels, by a residual network from nothing.

Losses alone and with D, for one all controls, codebooks of LLC whose codes are decoded,
too, and a network that classifies by real numbers, which rank by their cosine and by
the predicted class. SVD and CCA make their codebook of what such a network has learned.
Nothing is chosen but the epoch that is kept, on a tenth of the training images; of real
numbers, whose signs are beside the point, it is the last.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from fewbits import datasets
from fewbits.backbones import pixels
from fewbits.codes import pack
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.evaluation.classification import knn_accuracy
from fewbits.evaluation.splits import standard_split
from fewbits.learners import ITQ
from fewbits.learners.deep import (
    LLC,
    CodebookConfig,
    DeepHash,
    NetworkConfig,
    TrainingConfig,
)
from fewbits.learners.deep._torch import reproducible
from fewbits.learners.deep.losses import LOSSES
from research.common.class_codes import RealValued
from research.common.decoders import decoded
from research.common.problems import Problem, load_problem
from research.common.resnet import resnet
from research.core.record import Metrics
from research.core.runner import Task, task
from research.studies.lower_bound.nets import CONTROLS

REAL = "real-valued, learnt"
Scores = NDArray[np.float32]
#: Codebooks, and the lengths of their codes beside those of losses.
BOOKS: dict[str, tuple[int, ...]] = {
    "LLC": (4, 6, 8, 16),
    "random": (4, 6, 8, 16),
    "SVD": (4, 6, 8),
    "CCA": (4, 6, 8),
    "LLC with a bias": (8, 16),
    "LLC, published rate": (16,),
}
#: Codebooks of a network that has learned to classify; the loss with all controls.
OF_CLASSIFIER, CONTROLLED = {"SVD": "svd", "CCA": "cca"}, "csq"
WEIGHT, RATE, DECAY, SIDE, LONGEST = 0.1, 1e-3, 0.05, 32, 64


class Size(NamedTuple):
    """How large the network is, and how long it is trained."""

    blocks: tuple[int, ...]
    width: int
    max_epochs: int
    batch_size: int
    codebook_epochs: int


SIZES = {
    "small": Size((1, 1, 1), 8, 30, 64, 10),
    "tiny": Size((1,), 8, 1, 64, 1),
}


class Cell(NamedTuple):
    """What is trained."""

    data: str
    size: str
    bits: int
    method: str
    control: str
    seed: int


def tasks(data: str, size: str, seed: int) -> Iterator[Task]:
    """Yield the cells of one seed."""
    for method in (*LOSSES, *BOOKS, REAL):
        controls = ("", "D") if method in LOSSES else ("",)
        for n_bits in BOOKS.get(method, (16,)):
            for control in CONTROLS if method == CONTROLLED else controls:
                cell = Cell(data, size, n_bits, method, control, seed)
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
    if cell.method in OF_CLASSIFIER:
        learner.set_params(codebook=codebook_of_classifier(cell))
    start = time.perf_counter()
    problem.learn(learner)
    seconds = time.perf_counter() - start
    sides = [learner.extract(problem.X[rows]) for rows in (problem.query, problem.base)]
    scores = [learner.encoder_.project(side) for side in sides]
    asked, labels = problem.labels[problem.query], problem.labels[problem.base]
    if isinstance(learner, LLC):
        rows = np.arange(len(asked))
        told = Problem(sides[0], asked, rows, rows, rows)
        found = decoded(learner.encoder_, learner.codebook_of_classes(), told)
    else:
        found = {"rotated": _rotated(sides, asked, labels, cell)}
    by = by_numbers if cell.method == REAL else by_codes
    history = learner.history_
    return {
        **found,
        **by(learner, scores, asked, labels),
        "seconds_per_epoch": float(np.median([each["seconds"] for each in history])),
        "fit_seconds": round(seconds, 2),
        "device": "GPU" if torch.cuda.is_available() else "CPU",
        "history": {
            key: [round(each[key], 4) for each in history if key in each]
            for key in ("map", "bound")
        },
    }


def by_codes(_: Any, scores: list[Scores], asked: Any, labels: Any) -> Metrics:
    """Rank by Hamming distances, and let the nearest 100 vote."""
    query, base = (pack(side >= 0) for side in scores)
    found = mean_average_precision(query, base, same_label(asked, labels))
    votes = knn_accuracy(base, labels, query, asked, k=100)
    return {"map": found.value, "accuracy": votes.value}


def by_numbers(
    learner: DeepHash, scores: list[Scores], asked: Any, labels: Any
) -> Metrics:
    """Rank by cosines, and by whether the class that is predicted is the same."""
    right = same_label(asked, labels)
    assert learner.classifier_ is not None
    W, numbers = learner.classifier_.T, np.arange(len(learner.classes_))
    predicted = [(side @ W).argmax(axis=1) for side in scores]
    one_hot = [pack(each[:, None] == numbers) for each in predicted]
    by_cosine = mean_average_precision(scores[0], scores[1], right, metric="cosine")
    return {
        "map": by_cosine.value,
        "predicted": mean_average_precision(one_hot[0], one_hot[1], right).value,
        "accuracy": float(np.mean(learner.classes_[predicted[0]] == asked)),
    }


def _rotated(sides: list[Scores], asked: Any, labels: Any, cell: Cell) -> float:
    """Return the mAP by signs of rotated principal components of the features."""
    learner = ITQ(cell.bits, n_iter=0, random_state=cell.seed)
    query, base = map(learner.fit(sides[1]).encoder_.encode, sides)
    return mean_average_precision(query, base, same_label(asked, labels)).value


def codebook_of_classifier(cell: Cell) -> NDArray[Any]:
    """Return the codebook that LLC makes of what a classifying network has learned."""
    learner = LLC(
        cell.bits,
        codebook=OF_CLASSIFIER[cell.method],
        network=NetworkConfig(bias=False),
        training=TrainingConfig(max_epochs=1),
        random_state=cell.seed,
    )
    problem = load_images(cell.data, cell.seed)
    features = _classifying_features(cell.data, cell.size, cell.seed)
    return learner.fit(features, problem.labels[problem.train]).codebook_


@lru_cache(maxsize=1)
def _classifying_features(data: str, size: str, seed: int) -> Scores:
    """Return what a network makes of the training images when it can classify them."""
    problem = load_images(data, seed)
    classifier = problem.learn(make(Cell(data, size, LONGEST, REAL, "", seed)))
    features: Scores = classifier.extract(problem.X[problem.train])
    return features


def make(cell: Cell) -> Any:
    """Return an untrained learner with a network that depends on the seed only."""
    size, method = SIZES[cell.size], cell.method
    with reproducible(cell.seed):
        network = NetworkConfig(backbone=resnet(size.blocks, size.width))
    training = TrainingConfig(
        max_epochs=size.max_epochs,
        batch_size=size.batch_size,
        backbone_rate=1.0,
        learning_rate=RATE,
        weight_decay=DECAY,
        mixed_precision=torch.cuda.is_available(),
        eval_every=int(method != REAL),  # what chooses an epoch ranks by signs
    )
    shared: dict[str, Any] = {"network": network, "training": training}
    shared["random_state"] = cell.seed
    if method not in BOOKS:
        loss = RealValued() if method == REAL else method
        control = CONTROLS[cell.control](weight=WEIGHT) if cell.control else None
        return DeepHash(cell.bits, loss=loss, control=control, **shared)
    network.bias = method == "LLC with a bias"
    rate = 1e-3 if method == "LLC, published rate" else 1e-2
    phase_1 = CodebookConfig(max_epochs=size.codebook_epochs, learning_rate=rate)
    book = "random" if method == "random" else "learnt"
    return LLC(cell.bits, codebook=book, codebook_training=phase_1, **shared)
