"""The taxonomy that codes of classes make, section 3.2 of LLC, against a known tree.

    python -m experiments.llc_taxonomy --data icd10

Codes of classes are clustered by their Hamming distances, and the tree is compared with
a known one: the blocks of ICD-10 with its chapters, the classes of Caltech-101 and of
CIFAR-10 and kinds of nouns with WordNet. How do distances agree, and are the members of
a group one subtree? Beside it stand other codebooks, the centres of OrthoHash and the
majorities of codes by PCA and a random rotation, and trees of real-valued vectors: rows
of a linear classifier, and means of features.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments._cells import Cell, Cells
from experiments._known_trees import KnownClasses, known_classes
from experiments._llc_problems import ClassProblem, load_classes
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import BESIDE, beside, possible
from fewbits.analysis.taxonomy import (
    Taxonomy,
    taxonomy,
    taxonomy_agreement,
    tree_agreement,
    vector_taxonomy,
)
from fewbits.classify import Codebook
from fewbits.learners.deep import LLC
from research.common.settings import configured

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
N_ITER, CODEBOOK_EPOCHS, N_PERMUTATIONS, COST = 1, 50, 199, 0.01
#: Whose codes and products are kept for the pictures.
PICTURED_SEED, PICTURED_BITS = 0, 20


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc_taxonomy")
    for name in data:
        for seed in range(seeds):
            problem = load_classes(name, seed)
            known = known_classes(name, problem.classes)
            for length in (0, *LENGTHS):
                for method in codebooks_of(length, problem.n_classes):
                    cell = {"data": name, "bits": length, "method": method}
                    cell["seed"] = seed
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(figures, problem, known, **cell))


def codebooks_of(bits: int, n_classes: int) -> list[str]:
    """Return what is clustered: few classes have few directions between them."""
    if not bits:
        return [*REAL]
    books = [book for book in CODEBOOKS if possible(book, bits, n_classes)]
    return [*books, *BESIDE]


def figures(
    problem: ClassProblem,
    known: KnownClasses,
    data: str,
    bits: int,
    method: str,
    seed: int,
) -> Cell:
    """Compare the tree of a method with the known one, and with real-valued ones."""
    if bits:
        book = codebook(problem, bits, method, seed)
        tree = taxonomy(book.codes, bits, book.names)
    else:
        vectors = real_vectors(problem)[method.split(",")[0]]
        tree = vector_taxonomy(vectors, problem.classes)
    paths = known.paths
    if "shuffled" in method:
        order = np.random.default_rng(seed).permutation(len(paths))
        paths = [paths[i] for i in order]
    found = tree_agreement(tree, paths, n_permutations=N_PERMUTATIONS)
    # With several levels, the one that makes most of the classes.
    level = max(found.purity, key=lambda level: level.n_groups)
    measured: Cell = {
        "groups": level.n_groups,
        "cophenetic": found.cophenetic.value,
        "cophenetic_p": found.cophenetic.p_value,
        "distances": found.distances.value,
        "purity": level.purity.value,
        "purity_chance": level.purity.chance,
        "purity_p": level.purity.p_value,
        "own_cophenetic": tree.cophenetic_correlation,
        **alike(tree, problem),
    }
    if seed == PICTURED_SEED and bits == PICTURED_BITS:
        measured["codes"] = [row.tobytes().hex() for row in book.codes]
        measured["paths"] = list(
            zip(known.kinds, problem.classes.tolist(), strict=True)
        )
    elif seed == PICTURED_SEED and method == "classifier rows":
        measured["cosines"] = cosines(vectors)
    return measured


def codebook(problem: ClassProblem, bits: int, method: str, seed: int) -> Codebook:
    """Return the codes of the classes."""
    if method in BESIDE:
        return beside(problem, method, bits, seed)[1]
    learner = configured(
        LLC,
        bits,
        codebook_epochs=CODEBOOK_EPOCHS,
        max_epochs=N_ITER,
        bias=False,
        random_state=seed,
        **CODEBOOKS[method],
    ).fit(problem.X[problem.train], problem.y[problem.train])
    return learner.codebook_of_classes()


def alike(tree: Taxonomy, problem: ClassProblem) -> Cell:
    """Return how the distances of classes agree with those of real-valued vectors."""
    found = {}
    for name, vectors in real_vectors(problem).items():
        other = vector_taxonomy(vectors, problem.classes)
        agreement = taxonomy_agreement(tree, other, n_permutations=19)
        found[f"with {name}"] = agreement.distances.value
    return found


@lru_cache(maxsize=1)
def real_vectors(problem: ClassProblem) -> dict[str, NDArray[np.float64]]:
    """Return means of the classes' features, and rows of a linear classifier."""
    X, y = problem.X[problem.train], problem.y[problem.train]
    model = LogisticRegression(C=COST, max_iter=300)
    model.fit(StandardScaler().fit_transform(X), y)
    return {"class means": class_means(problem), "classifier rows": model.coef_}


def cosines(vectors: NDArray[np.float64]) -> list[list[int]]:
    """Return the cosines of all pairs of rows, in hundredths."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: list[list[int]] = (100 * unit @ unit.T).round().astype(int).tolist()
    return found


def class_means(problem: ClassProblem) -> NDArray[np.float64]:
    """Return the mean of the features of each class, less that of all."""
    X, y = problem.X[problem.train], problem.y[problem.train]
    means = np.stack([X[y == c].mean(axis=0) for c in problem.classes])
    centred: NDArray[np.float64] = means - means.mean(axis=0)
    return centred


if __name__ == "__main__":
    typer.run(main)
