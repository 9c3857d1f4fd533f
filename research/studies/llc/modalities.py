"""Section 5: images and texts by two encoders that share the class codes.

A text names a class between a quality and a place, such as "a tiny wrench on a table".
Qualities and places of test items occur in no training item, so that only the name is
shared. Nothing is chosen: the last epoch is kept.
"""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.evaluation import mean_average_precision, same_label
from research.common.class_codes import linear_llc, possible
from research.common.features import text_features
from research.common.problems import N_CLASSES, Problem, load_problem
from research.common.supervised import PredictedClass
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
    """Return features of texts on classes; those to test by have words of their own."""
    rng, texts = np.random.default_rng(seed), []
    for qualities, places, n in zip(QUALITIES, PLACES, N_TEXTS, strict=True):
        pairs = list(product(qualities.split(","), places.split(",")))
        for each in classes:
            words = str(each).replace("_", " ").lower()
            chosen = [pairs[i] for i in rng.permutation(len(pairs))[:n]]
            texts += [f"a {quality} {words} {place}" for quality, place in chosen]
    labels = np.concatenate([np.repeat(classes, n) for n in N_TEXTS])
    train, query = np.split(np.arange(len(texts)), [len(classes) * N_TEXTS[0]])
    X = text_features(texts)
    return Problem(X, labels, train, query, train)


def measure(settings: Settings) -> Metrics:
    """Learn both encoders, and rank each modality for the other."""
    sides = load_sides(settings["data"], settings["seed"])
    made = learners(sides, settings)
    encoders = {name: sides[name].learn(each).encoder_ for name, each in made.items()}
    items = {name: side.X[side.query] for name, side in sides.items()}
    codes = {name: encoders[name].encode(X) for name, X in items.items()}
    found = directions(sides, codes, "hamming")
    if settings["method"] != PREDICTED:
        scores = {name: encoders[name].project(X) for name, X in items.items()}
        found["scores"] = directions(sides, scores, "cosine")
    return found


def learners(sides: dict[str, Problem], settings: Settings) -> dict[str, Any]:
    """Return an untrained learner for each modality."""
    n_bits, method, seed = (settings[key] for key in ("bits", "method", "seed"))
    if method == PREDICTED:
        return {name: PredictedClass() for name in sides}
    if method == APART:
        apart = {name: seed + 1000 * i for i, name in enumerate(sides)}
        return {
            n: linear_llc(n_bits, random_state=s, validation=0)
            for n, s in apart.items()
        }
    giver, kind = SHARED[method]
    first = linear_llc(n_bits, codebook=kind, max_epochs=1, random_state=seed)
    book = sides[giver].learn(first).codebook_
    return {
        n: linear_llc(codebook=book, random_state=seed, validation=0) for n in sides
    }


def directions(
    sides: dict[str, Problem], items: dict[str, Any], metric: str
) -> dict[str, Any]:
    """Return the mAP of each modality as queries to each."""
    labels, found = {n: side.labels[side.query] for n, side in sides.items()}, {}
    for asked, ranked in product(sides, sides):
        right = same_label(labels[asked], labels[ranked])
        both = items[asked], items[ranked]
        value = mean_average_precision(*both, right, metric=metric).value
        found[f"{asked} to {ranked}"] = float(value)
    return found
