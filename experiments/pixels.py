"""Table 2 of LBHash end to end: CIFAR-10 from pixels, with a residual network.

    python -m experiments.pixels --data cifar10-pixels
    python -m experiments.pixels --data cifar10-pixels --size small

The losses of the paper, each alone and with the posterior control ("D"), train a
network that starts from nothing; the paper's starts from ImageNet. So does LLC with
each of its codebooks, whose codes are decoded in every way. Beside them stand plain
targets at the centres of the control and a surrogate as it was drawn, for one loss, and
a network that classifies through real numbers: these rank by their cosine, and by the
predicted class. SVD and CCA make their codebook of what such a network has learnt;
another one, which starts from nothing as all do, then learns that codebook. The
principal components of each network's features are rotated at random, too. Nothing is
chosen but the epoch that is kept, on a tenth of the training images; of real numbers,
whose signs are beside the point, it is the last. The full size wants a GPU, and is
trained there in mixed precision; the small one, two minutes a network, is for a CPU.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._hash_problems import HashProblem
from experiments._llc_problems import ClassProblem
from experiments._options import Bits, Data, Only, Seeds, one_line, wanted
from experiments._resnet import resnet
from experiments.llc import CODEBOOKS, PAPER, decoded, possible
from experiments.llc_retrieval import REAL, RealValued
from experiments.posterior_control import CONTROLS
from fewbits import datasets
from fewbits.backbones import pixels
from fewbits.codes import pack
from fewbits.evaluation import (
    knn_accuracy,
    mean_average_precision,
    same_label,
    standard_split,
)
from fewbits.learners import ITQ
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep._torch import reproducible
from fewbits.learners.deep.losses import LOSSES
from research.common.settings import configured

Scores = NDArray[np.float32]

LENGTHS = (16, 32, 64)
#: Codes of ten classes may be short, and some codebooks have to be.
LLC_LENGTHS, N_CLASSES = (4, 6, 8, *LENGTHS), 10
#: Codebooks of a network that has learnt to classify.
OF_CLASSIFIER = ("SVD", "CCA")
#: Features of an untrained network foretell no codes, and are no start for any.
FORETOLD = ("predictable", "LLC from SVD", "LLC from CCA")
BOOKS = [book for book in CODEBOOKS if book not in FORETOLD]
METHODS = (*LOSSES, *BOOKS, REAL)
#: Losses that have all controls.
CONTROLLED = ("csq",)
WEIGHT, RATE, DECAY, SIDE = 0.1, 1e-3, 0.05, 32
#: Which of the field's splits each name stands for.
SPLITS = {"cifar10-pixels": "cifar10", "cifar10-2-pixels": "cifar10-2"}


@dataclass(frozen=True)
class Size:
    """How large the network is, and how long it is trained."""

    blocks: tuple[int, ...]
    width: int
    n_iter: int
    batch_size: int
    codebook_epochs: int


SIZES = {
    "full": Size((2, 2, 2, 2), 64, 200, 128, 50),
    "small": Size((1, 1, 1), 8, 30, 64, 10),
}


def main(
    data: Data,
    size: Annotated[str, typer.Option(help="full or small.")] = "full",
    seeds: Seeds = 3,
    bits: Bits = None,
    only: Only = None,
) -> None:
    """Measure every cell that is not measured yet."""
    if size not in SIZES:
        raise typer.BadParameter(f"size must be one of {', '.join(SIZES)}")
    cells = Cells("pixels")
    with one_line():
        for name in data:
            for seed in range(seeds):
                for cell in lineup(name, size, seed):
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(figures, **cell), "accuracy")


def lineup(name: str, size: str, seed: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    for method in METHODS:
        for n_bits in lengths_of(method):
            for control in controls_of(method):
                cell = {"data": name, "size": size, "bits": n_bits}
                yield {**cell, "method": method, "control": control, "seed": seed}


def lengths_of(method: str) -> tuple[int, ...]:
    """Return how long the codes of a method are."""
    if method not in CODEBOOKS:
        return LENGTHS
    return tuple(n for n in LLC_LENGTHS if possible(method, n, N_CLASSES))


def controls_of(method: str) -> tuple[str, ...]:
    """Return what a method is measured with."""
    if method in CONTROLLED:
        return tuple(CONTROLS)
    return ("", "D") if method in LOSSES else ("",)


@lru_cache(maxsize=1)
def load_images(name: str, seed: int) -> HashProblem:
    """Return the images as the network sees them, split as the field does."""
    data = datasets.load_cifar10()
    labels = data.labels["class"]
    test = np.isin(np.arange(len(data)), data.splits["test"])
    asked = test if SPLITS[name] == "cifar10-2" else None
    split = standard_split(SPLITS[name], labels, query=asked, random_state=seed)
    X = pixels(data.items, SIDE)
    return HashProblem(X, labels, split.train, split.query, split.database, None)


def figures(
    data: str, size: str, bits: int, method: str, control: str, seed: int
) -> Cell:
    """Train the network, then rank the base for the queries and vote by it."""
    problem, chosen = load_images(data, seed), SIZES[size]
    learner = make(chosen, bits, method, control, seed)
    if method in OF_CLASSIFIER:
        codebook = codebook_of_classifier(data, size, bits, method, seed)
        learner.set_params(codebook=codebook)
    start = time.perf_counter()
    learner.fit(problem.X[problem.train], problem.labels[problem.train])
    seconds = time.perf_counter() - start
    sides = tuple(
        learner.extract(problem.X[rows]) for rows in (problem.query, problem.base)
    )
    query, base = (learner.encoder_.project(side) for side in sides)
    labels, asked = problem.labels[problem.base], problem.labels[problem.query]
    if isinstance(learner, LLC):
        found = every_decoder(learner, sides[0], asked)
    else:
        found = {"rotated": rotated(sides, asked, labels, bits, seed)}
    quality = by_numbers if method == REAL else by_codes
    return {
        **found,
        **quality(learner, query, base, asked, labels),
        "seconds_per_epoch": float(
            np.median([record["seconds"] for record in learner.history_])
        ),
        "fit_seconds": round(seconds, 2),
        "device": "GPU" if torch.cuda.is_available() else "CPU",
        "history": {
            key: [round(record[key], 4) for record in learner.history_ if key in record]
            for key in ("map", "bound")
        },
    }


def codebook_of_classifier(
    data: str, size: str, bits: int, method: str, seed: int
) -> NDArray[Any]:
    """Return the codebook that LLC makes of what a classifying network has learnt."""
    problem = load_images(data, seed)
    learner = configured(
        LLC, bits, max_epochs=1, random_state=seed, **PAPER, **CODEBOOKS[method]
    )
    features = classifying_features(data, size, seed)
    learner.fit(features, problem.labels[problem.train])
    codebook: NDArray[Any] = learner.codebook_
    return codebook


@lru_cache(maxsize=1)
def classifying_features(data: str, size: str, seed: int) -> Scores:
    """Return what a network makes of the training images when it can classify them."""
    problem = load_images(data, seed)
    images = problem.X[problem.train]
    classifier = make(SIZES[size], max(LENGTHS), REAL, "", seed)
    classifier.fit(images, problem.labels[problem.train])
    features: Scores = classifier.extract(images)
    return features


def by_codes(_: Any, query: Scores, base: Scores, asked: Any, labels: Any) -> Cell:
    """Rank by Hamming distances, and let the nearest 100 vote."""
    codes = pack(query >= 0), pack(base >= 0)
    right = same_label(asked, labels)
    return {
        "map": mean_average_precision(*codes, right).value,
        "accuracy": knn_accuracy(codes[1], labels, codes[0], asked, k=100).value,
    }


def by_numbers(
    learner: DeepHash, query: Scores, base: Scores, asked: Any, labels: Any
) -> Cell:
    """Rank by cosines, and by whether the class that is predicted is the same."""
    right = same_label(asked, labels)
    assert learner.classifier_ is not None
    W, numbers = learner.classifier_.T, np.arange(len(learner.classes_))
    predicted = [(side @ W).argmax(axis=1) for side in (query, base)]
    one_hot = [pack(each[:, None] == numbers) for each in predicted]
    return {
        "map": mean_average_precision(query, base, right, metric="cosine").value,
        "predicted": mean_average_precision(*one_hot, right).value,
        "accuracy": float(np.mean(learner.classes_[predicted[0]] == asked)),
    }


def rotated(
    sides: tuple[Scores, Scores], asked: Any, labels: Any, bits: int, seed: int
) -> float:
    """Return the mAP by signs of rotated principal components of the features."""
    encoder = ITQ(bits, n_iter=0, random_state=seed).fit(sides[1]).encoder_
    codes = (encoder.encode(side) for side in sides)
    return mean_average_precision(*codes, same_label(asked, labels)).value


def every_decoder(learner: LLC, features: Scores, truth: NDArray[Any]) -> Cell:
    """Return how often each decoder finds the class."""
    rows = np.arange(len(truth))
    problem = ClassProblem(features, truth, rows, rows)
    book = learner.codebook_of_classes()
    return decoded(learner.encoder_, book, problem, learner.encoder_.n_bits)


def make(size: Size, bits: int, method: str, control: str, seed: int) -> Any:
    """Return an untrained learner with a network that depends on the seed only."""
    with reproducible(seed):
        network = resnet(size.blocks, size.width)
    options: dict[str, Any] = {
        "backbone": network,
        "backbone_rate": 1.0,
        "max_epochs": size.n_iter,
        "batch_size": size.batch_size,
        "learning_rate": RATE,
        "weight_decay": DECAY,
        "mixed_precision": torch.cuda.is_available(),
        "random_state": seed,
    }
    if method in CODEBOOKS:
        options["codebook_epochs"] = size.codebook_epochs
        return configured(LLC, bits, **(options | PAPER | codebook_of(method, size)))
    loss = RealValued() if method == REAL else method
    if method == REAL:  # what would choose an epoch ranks by signs
        options["eval_every"] = 0
    beside = CONTROLS[control](weight=WEIGHT) if control else None
    return configured(DeepHash, bits, loss=loss, control=beside, **options)


def codebook_of(method: str, size: Size) -> dict[str, Any]:
    """Return the options of a codebook; a warm start needs fewer epochs."""
    options = dict(CODEBOOKS[method])
    if "codebook_epochs" in options:
        options["codebook_epochs"] = max(1, size.codebook_epochs // 3)
    return options


if __name__ == "__main__":
    typer.run(main)
