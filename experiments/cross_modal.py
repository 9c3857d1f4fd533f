"""Images by texts and texts by images: two encoders that share the codes of classes.

    python -m experiments.cross_modal --data caltech101

An LLC codebook is learnt from one modality, or made, and given to the learner of the
other, so that both put an item near the same code. Images are those of
`load_problem`. Texts are made: the name of a class between a quality and a place, such
as "a tiny wrench on a table". Qualities and places of test items occur in no training
item, so that only the name is shared; test items of one modality rank those of the
other. As controls, the modalities get codebooks of their own, which nothing ties
together, or each item the class that a linear SVM predicts. The last epoch is kept: how
well texts rank texts, by which the best would be chosen, is perfect long before their
codes are those of the classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._hash_problems import load_problem
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import CODEBOOK_EPOCHS, N_ITER, possible
from fewbits import backbones
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners.deep import LLC
from research.common.settings import configured

LENGTHS = (16, 32, 64)
#: Whose codebook both get, and how it is made.
SHARED = {
    "learnt from images": ("images", "learnt"),
    "learnt from texts": ("texts", "learnt"),
    "SVD of images": ("images", "svd"),
    "random": ("images", "random"),
    "predictable of images": ("images", "predictable"),
}
APART = "one for each, learnt"
PREDICTED = "predicted class"
#: Texts of a class to learn from, and to test by.
N_LEARN, N_TEST = 40, 20
QUALITIES = (
    "big,small,old,new,red,blue,clean,dirty,heavy,light,strange,ordinary",
    "tiny,huge,worn,shiny,green,grey,pretty,ugly,broken,rare",
)
PLACES = (
    "in the garden,at the beach,in a museum,in a street,near a river,in a kitchen",
    "on a table,in the forest,at the station,in a shop,under a bridge,on a boat",
)


@dataclass(frozen=True, eq=False)
class Side:
    """Items of one modality, to learn from and to test by."""

    learn: NDArray[np.float32]
    learn_labels: NDArray[Any]
    test: NDArray[np.float32]
    test_labels: NDArray[Any]


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("cross_modal")
    for name in data:
        for seed in range(seeds):
            n_classes = len(np.unique(load_sides(name, seed)["images"].learn_labels))
            for cell in lineup(name, seed, n_classes):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(figures, **cell))


def lineup(name: str, seed: int, n_classes: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    yield {"data": name, "bits": 0, "method": PREDICTED, "seed": seed}
    for length in LENGTHS:
        for method in (*SHARED, APART):
            if possible(method, length, n_classes):
                yield {"data": name, "bits": length, "method": method, "seed": seed}


@lru_cache(maxsize=1)
def load_sides(name: str, seed: int) -> dict[str, Side]:
    """Return images and texts of the same classes."""
    problem = load_problem(name, seed)
    images = Side(
        problem.X[problem.train],
        problem.labels[problem.train],
        problem.X[problem.query],
        problem.labels[problem.query],
    )
    return {"images": images, "texts": texts_of(np.unique(images.learn_labels), seed)}


def texts_of(classes: NDArray[Any], seed: int) -> Side:
    """Return features of texts on classes."""
    backbone, rng = backbones.load("wordllama-256"), np.random.default_rng(seed)
    parts: list[Any] = []
    for test, n in enumerate((N_LEARN, N_TEST)):
        texts = [text for name in classes for text in written(name, n, test, rng)]
        parts += [backbone.extract(texts), np.repeat(classes, n)]
    return Side(*parts)


def written(name: Any, n: int, test: int, rng: np.random.Generator) -> list[str]:
    """Return different texts on a class; those to test by have words of their own."""
    words = str(name).replace("_", " ").lower()
    pairs = list(product(QUALITIES[test].split(","), PLACES[test].split(",")))
    chosen = rng.permutation(len(pairs))[:n]
    return [f"a {pairs[i][0]} {words} {pairs[i][1]}" for i in chosen]


def figures(data: str, bits: int, method: str, seed: int) -> Cell:
    """Learn both encoders, and rank each modality for the other."""
    sides = load_sides(data, seed)
    encoders = {
        name: learner.fit(sides[name].learn, sides[name].learn_labels).encoder_
        for name, learner in learners(sides, bits, method, seed).items()
    }
    codes = {name: encoders[name].encode(side.test) for name, side in sides.items()}
    found = directions(sides, codes, "hamming")
    if method != PREDICTED:
        scores = {name: encoders[name].project(s.test) for name, s in sides.items()}
        found["scores"] = directions(sides, scores, "cosine")
    return found


def learners(
    sides: dict[str, Side], bits: int, method: str, seed: int
) -> dict[str, Any]:
    """Return an untrained learner for each modality."""
    if method == PREDICTED:
        return {name: PredictedClass() for name in sides}
    options: dict[str, Any] = {"max_epochs": N_ITER, "codebook_epochs": CODEBOOK_EPOCHS}
    options |= {"validation": 0, "bias": False}
    if method == APART:
        return {
            name: configured(LLC, bits, random_state=seed + 1000 * i, **options)
            for i, name in enumerate(sides)
        }
    giver, kind = SHARED[method]
    first = configured(
        LLC,
        bits,
        codebook=kind,
        codebook_epochs=CODEBOOK_EPOCHS,
        max_epochs=1,
        bias=False,
        random_state=seed,
    ).fit(sides[giver].learn, sides[giver].learn_labels)
    shared = {"codebook": first.codebook_, "random_state": seed}
    return {name: configured(LLC, **shared, **options) for name in sides}


def directions(sides: dict[str, Side], items: dict[str, Any], metric: str) -> Cell:
    """Return the mAP of each modality as queries to each."""
    found: Cell = {}
    for asked in sides:
        for ranked in sides:
            truth = sides[asked].test_labels, sides[ranked].test_labels
            score = mean_average_precision(
                items[asked], items[ranked], same_label(*truth), metric=metric
            )
            found[f"{asked} to {ranked}"] = float(score.value)
    return found


if __name__ == "__main__":
    typer.run(main)
