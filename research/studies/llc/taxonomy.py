"""Section 3.2: the tree that class codes make, beside a known one.

Classes are clustered by the Hamming distances of their codes, or by the cosines of
real-valued vectors: rows of a linear classifier, and means of features. Codes are
learnt with a linear head; on one set behind a hidden layer, too.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from fewbits.analysis.taxonomy import Taxonomy, taxonomy, tree_agreement
from fewbits.classify import Codebook
from research.common.class_codes import HIDDEN_LAYER, linear_llc, llc, possible
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
    "semantic": {"codebook": "semantic"},
    "learnt from predictable": {"init": "predictable", "codebook_rate": 1e-3},
    "learnt from semantic": {"init": "semantic", "codebook_rate": 1e-3},
    "learnt with similarities": {"similarity_weight": 0.1},
}
#: Measured at one length only.
ONE_LENGTH = (
    "semantic",
    "learnt from predictable",
    "learnt from semantic",
    "learnt with similarities",
)
#: Without length: two kinds of real-valued vectors, and what chance does to the better.
REAL = ("class means", "classifier rows", "class means, blocks shuffled")
LENGTHS, MAIN_BITS, N_PERMUTATIONS, COST = (14, 20, 32), 20, 199, 0.01
#: Of those whose codes depend on the network.
HIDDEN_DATA = "icd10"
HIDDEN_METHODS = tuple(
    name + HIDDEN_LAYER
    for name in ("learnt", "learnt from SVD", "learnt from predictable")
)


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods."""
    books = [
        (n_bits, method)
        for n_bits in LENGTHS
        for method in (*CODEBOOKS, *BESIDE)
        if possible(method, n_bits, N_CLASSES[data])
        and (n_bits == MAIN_BITS or method not in ONE_LENGTH)
    ]
    hidden = [(MAIN_BITS, m) for m in HIDDEN_METHODS if data == HIDDEN_DATA]
    return [*((0, method) for method in REAL), *books, *hidden]


def measure(settings: Settings) -> Metrics:
    """Compare the tree of a method with the known one, and with real-valued ones."""
    data, method, seed = (settings[key] for key in ("data", "method", "seed"))
    problem = load_problem(data, seed)
    vectors, paths = real_vectors(problem), known_classes(data, problem.classes)
    classes = list(problem.classes)
    if settings["bits"]:
        book = codebook(problem, settings["bits"], method, seed)
        tree = taxonomy(book.codes, book.n_bits, list(book.names))
    else:
        mine = vectors[method.split(",")[0]]
        distances = pdist(mine, "cosine")
        merges = linkage(distances, "average")
        tree = Taxonomy(tuple(map(str, classes)), merges, distances, "average")
    if "shuffled" in method:
        order = np.random.default_rng(seed).permutation(len(paths))
        paths = [paths[i] for i in order]
    known = tree_agreement(tree, paths, n_permutations=N_PERMUTATIONS)
    # With several levels, the one that makes most of the classes.
    level = max(known.purity, key=lambda level: level.n_groups)
    found = {
        "groups": level.n_groups,
        "cophenetic": known.cophenetic.value,
        "cophenetic_p": known.cophenetic.p_value,
        "distances": known.distances.value,
        "purity": level.purity.value,
        "purity_chance": level.purity.chance,
        "purity_p": level.purity.p_value,
        "own_cophenetic": tree.cophenetic_correlation,
    }
    for name, each in vectors.items():
        both = spearmanr(tree.distances, pdist(each, "cosine"))
        found[f"with {name}"] = float(both.statistic)
    return found


def codebook(problem: Problem, bits: int, method: str, seed: int) -> Codebook:
    """Return the class codes."""
    if method in BESIDE:
        return beside(problem, method, bits, seed)[1]
    kind = llc if method in HIDDEN_METHODS else linear_llc
    settings = CODEBOOKS[method.removesuffix(HIDDEN_LAYER)]
    learner = kind(bits, max_epochs=1, random_state=seed, **settings)
    book: Codebook = problem.learn(learner).codebook_of_classes()
    return book


@lru_cache(maxsize=1)
def real_vectors(problem: Problem) -> dict[str, NDArray[np.float64]]:
    """Return means of the classes' features, and rows of a linear classifier."""
    X, y = problem.X[problem.train], problem.labels[problem.train]
    model = LogisticRegression(C=COST, max_iter=300)
    model.fit(StandardScaler().fit_transform(X), y)
    means = np.stack([X[y == c].mean(axis=0) for c in problem.classes])
    return {"class means": means - means.mean(axis=0), "classifier rows": model.coef_}
