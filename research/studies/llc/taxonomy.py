"""Section 3.2: the tree that codes of classes make, beside a known one.

Classes are clustered by the Hamming distances of their codes, or by the cosines of
real-valued vectors: rows of a linear classifier, and means of features.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from fewbits.analysis import (
    Taxonomy,
    taxonomy,
    taxonomy_agreement,
    tree_agreement,
    vector_taxonomy,
)
from fewbits.decoding import Codebook
from research.common.class_codes import llc, possible
from research.common.problems import N_CLASSES, Problem, load_problem
from research.core.record import Metrics, Settings
from research.studies.llc.codebooks import BESIDE, beside
from research.studies.llc.trees import known_classes

CODEBOOKS: dict[str, dict[str, Any]] = {
    "learnt": {},
    "learnt from SVD": {"init": "svd"},
    "SVD": {"codebook": "svd"},
    "CCA": {"codebook": "cca"},
    "random": {"codebook": "random"},
    "predictable": {"codebook": "predictable"},
}
#: Without length: two kinds of real-valued vectors, and what chance does to the better.
REAL = ("class means", "classifier rows", "class means, blocks shuffled")
LENGTHS = (14, 20, 32)
N_PERMUTATIONS, COST = 199, 0.01
#: Whose codes and products are kept.
KEPT_SEED, KEPT_BITS = 0, 20


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods."""
    books = [
        (n_bits, method)
        for n_bits in LENGTHS
        for method in (*CODEBOOKS, *BESIDE)
        if possible(method, n_bits, N_CLASSES[data])
    ]
    return [*((0, method) for method in REAL), *books]


def measure(settings: Settings) -> Metrics:
    """Compare the tree of a method with the known one, and with real-valued ones."""
    data, n_bits, method = (settings[key] for key in ("data", "bits", "method"))
    seed = settings["seed"]
    problem = load_problem(data, seed)
    known = known_classes(data, problem.classes)
    if n_bits:
        book = codebook(problem, n_bits, method, seed)
        tree = taxonomy(book.codes, n_bits, book.names)
    else:
        vectors = real_vectors(problem)[method.split(",")[0]]
        tree = vector_taxonomy(vectors, problem.classes)
    paths = known.paths
    if "shuffled" in method:
        order = np.random.default_rng(seed).permutation(len(paths))
        paths = [paths[i] for i in order]
    found = agreement(tree, paths) | alike(tree, problem)
    if seed == KEPT_SEED and n_bits == KEPT_BITS:
        found["codes"] = [row.tobytes().hex() for row in book.codes]
        found["paths"] = list(zip(known.kinds, problem.classes.tolist(), strict=True))
    elif seed == KEPT_SEED and method == "classifier rows":
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found["cosines"] = (100 * unit @ unit.T).round().astype(int).tolist()
    return found


def agreement(tree: Taxonomy, paths: list[tuple[str, ...]]) -> dict[str, Any]:
    """Return how a tree agrees with a known one."""
    found = tree_agreement(tree, paths, n_permutations=N_PERMUTATIONS)
    # With several levels, the one that makes most of the classes.
    level = max(found.purity, key=lambda level: level.n_groups)
    return {
        "groups": level.n_groups,
        "cophenetic": found.cophenetic.value,
        "cophenetic_p": found.cophenetic.p_value,
        "distances": found.distances.value,
        "purity": level.purity.value,
        "purity_chance": level.purity.chance,
        "purity_p": level.purity.p_value,
        "own_cophenetic": tree.cophenetic_correlation,
    }


def codebook(problem: Problem, bits: int, method: str, seed: int) -> Codebook:
    """Return the codes of the classes."""
    if method in BESIDE:
        return beside(problem, method, bits, seed)[1]
    learner = llc(bits, n_iter=1, random_state=seed, **CODEBOOKS[method])
    book: Codebook = problem.learn(learner).codebook_of_classes()
    return book


def alike(tree: Taxonomy, problem: Problem) -> Metrics:
    """Return how the distances of classes agree with those of real-valued vectors."""
    found = {}
    for name, vectors in real_vectors(problem).items():
        other = vector_taxonomy(vectors, problem.classes)
        both = taxonomy_agreement(tree, other, n_permutations=19)
        found[f"with {name}"] = both.distances.value
    return found


@lru_cache(maxsize=1)
def real_vectors(problem: Problem) -> dict[str, NDArray[np.float64]]:
    """Return means of the classes' features, and rows of a linear classifier."""
    X, y = problem.X[problem.train], problem.labels[problem.train]
    model = LogisticRegression(C=COST, max_iter=300)
    model.fit(StandardScaler().fit_transform(X), y)
    means = np.stack([X[y == c].mean(axis=0) for c in problem.classes])
    return {"class means": means - means.mean(axis=0), "classifier rows": model.coef_}
