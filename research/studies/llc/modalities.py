"""Section 5: images and texts by two encoders that share the codes of classes.

A text names a class between a quality and a place, such as "a tiny wrench on a table".
Qualities and places of test items occur in no training item, so that only the name is
shared. Nothing is chosen: the last epoch is kept.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones
from fewbits.evaluation import mean_average_precision, share_label
from research.common.class_codes import PredictedClass, llc, possible
from research.common.problems import N_CLASSES, Problem, load_problem
from research.core.record import Metrics, Settings

LENGTHS = (16, 32, 64)
#: Whose codebook both get, and how it is made.
SHARED = {
    "learnt from images": ("images", "learnt"),
    "learnt from texts": ("texts", "learnt"),
    "SVD of images": ("images", "svd"),
    "random": ("images", "random"),
    "predictable of images": ("images", "predictable"),
}
#: Controls: codebooks that nothing ties together, and what an SVM predicts.
APART, PREDICTED = "one for each, learnt", "predicted class"
#: Texts of a class to learn from, and to test by, and what they are made of.
N_TEXTS = (40, 20)
QUALITIES = (
    "big,small,old,new,red,blue,clean,dirty,heavy,light,strange,ordinary",
    "tiny,huge,worn,shiny,green,grey,pretty,ugly,broken,rare",
)
PLACES = (
    "in the garden,at the beach,in a museum,in a street,near a river,in a kitchen",
    "on a table,in the forest,at the station,in a shop,under a bridge,on a boat",
)


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods."""
    both = product(LENGTHS, (*SHARED, APART))
    return [(0, PREDICTED), *(c for c in both if possible(c[1], c[0], N_CLASSES[data]))]


@lru_cache(maxsize=1)
def load_sides(name: str, seed: int) -> dict[str, Problem]:
    """Return images and texts of the same classes."""
    images = load_problem(name, seed)
    return {"images": images, "texts": texts_of(images.classes, seed)}


def texts_of(classes: NDArray[Any], seed: int) -> Problem:
    """Return features of texts on classes."""
    rng, texts = np.random.default_rng(seed), []
    for test, n in enumerate(N_TEXTS):
        texts += [text for name in classes for text in written(name, n, test, rng)]
    labels = np.concatenate([np.repeat(classes, n) for n in N_TEXTS])
    train, query = np.split(np.arange(len(texts)), [len(classes) * N_TEXTS[0]])
    X = backbones.load("wordllama-256").extract(texts)
    return Problem(X, labels, train, query, train)


def written(name: Any, n: int, test: int, rng: np.random.Generator) -> list[str]:
    """Return different texts on a class; those to test by have words of their own."""
    words = str(name).replace("_", " ").lower()
    pairs = list(product(QUALITIES[test].split(","), PLACES[test].split(",")))
    chosen = rng.permutation(len(pairs))[:n]
    return [f"a {pairs[i][0]} {words} {pairs[i][1]}" for i in chosen]


def measure(settings: Settings) -> Metrics:
    """Learn both encoders, and rank each modality for the other."""
    sides = load_sides(settings["data"], settings["seed"])
    encoders = {
        name: sides[name].learn(learner).encoder_
        for name, learner in learners(sides, settings).items()
    }
    items = {name: side.X[side.query] for name, side in sides.items()}
    codes = {name: encoders[name].encode(X) for name, X in items.items()}
    found = directions(sides, codes, "hamming")
    if settings["method"] != PREDICTED:
        scores = {name: encoders[name].project(X) for name, X in items.items()}
        found["scores"] = directions(sides, scores, "cosine")
    return found


def learners(sides: Mapping[str, Problem], settings: Settings) -> dict[str, Any]:
    """Return an untrained learner for each modality."""
    n_bits, method, seed = (settings[key] for key in ("bits", "method", "seed"))
    if method == PREDICTED:
        return {name: PredictedClass() for name in sides}
    options: dict[str, Any] = {"validation": 0}
    if method == APART:
        return {
            name: llc(n_bits, random_state=seed + 1000 * i, **options)
            for i, name in enumerate(sides)
        }
    giver, kind = SHARED[method]
    first = llc(n_bits, codebook=kind, n_iter=1, random_state=seed)
    book = sides[giver].learn(first).codebook_
    return {name: llc(codebook=book, random_state=seed, **options) for name in sides}


def directions(
    sides: Mapping[str, Problem], items: Mapping[str, Any], metric: str
) -> dict[str, Any]:
    """Return the mAP of each modality as queries to each."""
    labels = {name: side.labels[side.query] for name, side in sides.items()}
    return {
        f"{asked} to {ranked}": float(
            mean_average_precision(
                items[asked],
                items[ranked],
                share_label(labels[asked], labels[ranked]),
                metric=metric,
            ).value
        )
        for asked, ranked in product(sides, sides)
    }
