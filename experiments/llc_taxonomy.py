"""The taxonomy that codes of classes make, section 3.2 of LLC, against a known tree.

    python -m experiments.llc_taxonomy --data icd10

Codes of the blocks of ICD-10 are clustered by their Hamming distances, and the tree is
compared with that of the chapters: how distances agree, and whether the blocks of a
chapter are one subtree. Beside it stand other codebooks, and trees of real-valued
vectors: rows of a linear classifier, and means of features.
"""

from functools import partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._llc_problems import ClassProblem, load_classes
from experiments._options import Bits, Data, Only, Seeds, wanted
from fewbits import datasets
from fewbits.analysis import (
    Taxonomy,
    taxonomy,
    taxonomy_agreement,
    tree_agreement,
    vector_taxonomy,
)
from fewbits.learners.deep import LLC

CODEBOOKS = ("learnt", "random", "svd", "cca")
LENGTHS = (14, 20, 32)
N_ITER, CODEBOOK_EPOCHS, N_PERMUTATIONS = 1, 50, 199


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc_taxonomy")
    for name in data:
        for seed in range(seeds):
            problem = load_classes(name, seed)
            paths = chapters(problem.classes)
            for length in (0, *LENGTHS):
                for method in CODEBOOKS if length else ("means", "chapters shuffled"):
                    cell = {"data": name, "bits": length, "method": method}
                    cell["seed"] = seed
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(figures, problem, paths, **cell))


def chapters(blocks: NDArray[Any]) -> list[tuple[str, str]]:
    """Return the path of each block: its chapter, and itself."""
    labels = datasets.load_icd10().labels
    above = dict(zip(labels["block"], labels["chapter"], strict=True))
    return [(str(above[block]), str(block)) for block in blocks]


def figures(
    problem: ClassProblem,
    paths: list[tuple[str, str]],
    data: str,
    bits: int,
    method: str,
    seed: int,
) -> Cell:
    """Compare the tree of a method with the known one, and with that of the means."""
    means = class_means(problem)
    real = tree = vector_taxonomy(means, problem.classes)
    if method == "chapters shuffled":
        order = np.random.default_rng(seed).permutation(len(paths))
        paths = [paths[i] for i in order]
    elif bits:
        tree = code_tree(problem, bits, method, seed)
    found = tree_agreement(tree, paths, n_permutations=N_PERMUTATIONS)
    return {
        "cophenetic": found.cophenetic.value,
        "cophenetic_p": found.cophenetic.p_value,
        "distances": found.distances.value,
        "purity": found.purity[0].purity.value,
        "purity_chance": found.purity[0].purity.chance,
        "purity_p": found.purity[0].purity.p_value,
        "own_cophenetic": tree.cophenetic_correlation,
        "with_means": taxonomy_agreement(tree, real, n_permutations=19).distances.value,
    }


def code_tree(problem: ClassProblem, bits: int, codebook: str, seed: int) -> Taxonomy:
    """Return the tree of a codebook."""
    learner = LLC(
        bits,
        codebook=codebook,
        codebook_epochs=CODEBOOK_EPOCHS,
        n_iter=N_ITER,
        random_state=seed,
    ).fit(problem.X[problem.train], problem.y[problem.train])
    book = learner.codebook_of_classes()
    return taxonomy(book.codes, bits, book.names)


def class_means(problem: ClassProblem) -> NDArray[np.float64]:
    """Return the mean of the features of each class, less that of all."""
    X, y = problem.X[problem.train], problem.y[problem.train]
    means = np.stack([X[y == c].mean(axis=0) for c in problem.classes])
    centred: NDArray[np.float64] = means - means.mean(axis=0)
    return centred


if __name__ == "__main__":
    typer.run(main)
