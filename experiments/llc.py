"""Tables 1, 2 and the ablations of LLC, with every decoder, on frozen features.

    python -m experiments.llc --data caltech101

Codes are learnt for classes, then for items; test items are decoded exactly, within a
radius, to the nearest code, by soft decisions, and by guesses in a growing number.
Nothing is chosen on them: the epoch that is kept is the best on items held out, which
also tell which codebook suits which decoder.
"""

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments._cells import Cell, Cells
from experiments._known_trees import known_classes
from experiments._llc_problems import ClassProblem, load_classes
from experiments._options import Bits, Data, Only, Seeds, wanted
from fewbits.classify import (
    Codebook,
    decode_bounded,
    decode_exact,
    decode_nearest,
    decode_orbgrand,
    decode_soft,
)
from fewbits.codes import pack
from fewbits.encoders import Encoder
from fewbits.evaluation import (
    decoding_accuracy,
    knn_accuracy,
    matching_bits,
    svm_accuracy,
)
from fewbits.learners import ITQ
from fewbits.learners.deep import LLC, DeepHash, codebooks
from fewbits.learners.deep.centres import (
    hierarchy_vectors,
    semantic_centres,
    separated_centres,
)
from fewbits.learners.deep.losses import OrthoHash
from research.common.settings import configured

#: Codebooks of table 1, and ways to get one for less.
CODEBOOKS: dict[str, dict[str, Any]] = {
    "LLC": {"codebook": "learnt"},
    "random": {"codebook": "random"},
    "SVD": {"codebook": "svd"},
    "CCA": {"codebook": "cca"},
    "LLC from SVD": {"codebook": "learnt", "init": "svd", "codebook_epochs": 15},
    "LLC from CCA": {"codebook": "learnt", "init": "cca", "codebook_epochs": 15},
    "LLC, published rate": {
        "codebook": "learnt",
        "codebook_rate": 1e-3,
    },
    "predictable": {"codebook": "predictable"},
    "LLC with a bias": {"codebook": "learnt", "bias": True},
}
#: The projection of the paper has none; what has one is named so.
PAPER: dict[str, Any] = {"bias": False}
#: Learnt on a fifth of the items by a network of so many inputs, then given.
CHEAP, CHEAP_INPUTS = "LLC, cheap codebook", 64
#: Codes that classes share stay as they are. SVD of a classifier that is smoother than
#: ours: the smoother, the easier are its codes to predict, and the more are shared.
AS_IS, SMOOTH = ("SVD, as it is", "CCA, as it is"), 1e-4
#: Codes of classes that are near each other in a known tree; no item is looked at.
TREE = "known tree"
#: Not of the paper: codes that were not made for classifying, and a code of each class
#: to decode to: the centre of OrthoHash, or the signs of the mean of its scores.
BESIDE = ("OrthoHash", "PCA, random rotation")
#: Table 1 at twice what numbers the classes, table 2 at all.
MORE_BITS = (-4, 0, 6, 10)
BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
#: Long codes pass the nearest code with these only; tried for the method that is drawn.
MORE_BUDGETS = (10_000, 30_000, 100_000)
RADII = (0, 1, 2, 3, 4)
N_VOTES, BIT_COSTS = 10, (0.001, 0.01, 0.1, 1.0)
#: Figures of the nearest code are in expectation over classes that are equally near: of
#: Caltech-101's, the largest are the first by name.
MHD = "nearest, expected"
#: How guesses are ordered: by the ranks of the reliabilities, or by their sums.
ORDERS = ("ranks", "costs")
N_ITER, CODEBOOK_EPOCHS = 100, 50


def main(data: Data, seeds: Seeds = 5, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc")
    for name in data:
        for seed in range(seeds):
            problem = load_classes(name, seed)
            for cell in lineup(name, seed, problem.n_classes):
                if wanted(cell, only, bits):
                    needed = "votes" if cell["method"] == "LLC" else None
                    cells.measure(cell, partial(figures, problem, **cell), needed)


def lineup(name: str, seed: int, n_classes: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    usual = 2 * (n_classes - 1).bit_length()
    yield {"data": name, "bits": 0, "method": "float", "seed": seed}
    lengths = {usual // 2, usual // 2 + 1, *(usual + more for more in MORE_BITS)}
    for length in sorted(each for each in lengths if 2**each >= n_classes):
        whole = length - usual in (-4, 0, 6)
        methods = [*CODEBOOKS, *AS_IS, CHEAP, TREE, *BESIDE] if whole else ["LLC"]
        methods = [each for each in methods if possible(each, length, n_classes)]
        for method in methods:
            yield {"data": name, "bits": length, "method": method, "seed": seed}
    longest = usual + max(MORE_BITS)
    yield {"data": name, "bits": longest, "method": "LLC, nested", "seed": seed}


def possible(method: str, bits: int, n_classes: int) -> bool:
    """Return whether there are as many directions between classes as bits."""
    directions = {"SVD", "CCA"} & set(method.replace(",", "").split())
    return bits < n_classes or not directions


def figures(
    problem: ClassProblem, data: str, bits: int, method: str, seed: int
) -> Cell:
    """Learn codes, and decode the test items in every way."""
    if method == "float":
        return float_figures(problem)
    if method in BESIDE:
        encoder, book = beside(problem, method, bits, seed)
        return decoded(encoder, book, problem, bits)
    learner = configured(LLC, bits, **options_of(data, problem, bits, method, seed))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*have the code of another class")
        learner.fit(problem.X[problem.train], problem.y[problem.train])
    found: Cell = {"fit_seconds": round(time.perf_counter() - start, 2)}
    found["repaired"] = learner.n_repaired_
    found["turned"] = learner.n_turned_ / learner.codebook_.size
    if method != "LLC, nested":
        aside = problem.train[learner.held_out_]
        found["held_out"] = hard_decoded(learner, problem, aside)
        book = learner.codebook_of_classes()
        if method != "LLC":
            return found | decoded(learner.encoder_, book, problem, bits)
        budgets = (*BUDGETS, *MORE_BUDGETS)
        found |= decoded(learner.encoder_, book, problem, bits, budgets)
        return found | classified(learner, problem)
    lengths = [*learner.codebook_training.nested_bits, bits]
    whole = learner.encoder_, learner.codebook_of_classes(), problem
    return found | {f"at {m}": decoded(*whole, m) for m in lengths}


def options_of(
    data: str, problem: ClassProblem, bits: int, method: str, seed: int
) -> dict[str, Any]:
    """Return the settings of a method."""
    options: dict[str, Any] = {"max_epochs": N_ITER, "random_state": seed, **PAPER}
    options["codebook_epochs"] = CODEBOOK_EPOCHS
    if method == CHEAP:
        return options | {"codebook": cheap_codebook(problem, bits, seed)}
    if method == TREE:
        return options | {"codebook": codebook_of_tree(data, problem, bits, seed)}
    if method in AS_IS:
        return options | {"codebook": codebook_as_it_is(problem, bits, method)}
    if method == "LLC, nested":
        usual = 2 * (problem.n_classes - 1).bit_length()
        return options | {"nested_bits": [usual + more for more in MORE_BITS[:-1]]}
    return options | CODEBOOKS[method]


def cheap_codebook(problem: ClassProblem, bits: int, seed: int) -> NDArray[Any]:
    """Return a codebook learnt from principal components of a fifth of the items."""
    rng = np.random.default_rng(seed)
    each = [np.flatnonzero(problem.y[problem.train] == c) for c in problem.classes]
    kept = [rng.permutation(rows)[: max(2, len(rows) // 5)] for rows in each]
    part = problem.train[np.concatenate(kept)]
    n_inputs = min(CHEAP_INPUTS, problem.X.shape[1], len(part))
    X = PCA(n_inputs, random_state=seed).fit_transform(problem.X[part])
    options = {"codebook_epochs": CODEBOOK_EPOCHS, "max_epochs": 1, **PAPER}
    small = configured(LLC, bits, random_state=seed, **options)
    codebook: NDArray[Any] = small.fit(X, problem.y[part]).codebook_
    return codebook


def codebook_of_tree(
    data: str, problem: ClassProblem, bits: int, seed: int
) -> NDArray[np.int8]:
    """Return codes by where each class is in a known tree."""
    vectors = hierarchy_vectors(known_classes(data, problem.classes).paths)
    return semantic_centres(vectors, bits, random_state=seed)


def codebook_as_it_is(
    problem: ClassProblem, bits: int, method: str
) -> NDArray[np.int64]:
    """Return the signs of what SVD or CCA know of the classes, equal ones with them."""
    y = problem.y[problem.train]
    F = StandardScaler().fit_transform(problem.X[problem.train].astype(np.float64))
    if method.startswith("SVD"):
        weights = LogisticRegression(C=SMOOTH, max_iter=1000).fit(F, y).coef_
        C = codebooks.svd_codebook(weights, bits)
    else:
        means = np.array([F[y == c].mean(axis=0) for c in problem.classes])
        counts = np.unique(y, return_counts=True)[1]
        C = codebooks.cca_codebook(means, counts, np.cov(F, rowvar=False), bits)
    return np.where(C >= 0, 1, -1)


def beside(
    problem: ClassProblem, method: str, bits: int, seed: int
) -> tuple[Encoder, Codebook]:
    """Learn codes in another way, and return a code for each class, too."""
    X, y = problem.X[problem.train], problem.y[problem.train]
    if method == "OrthoHash":
        centres = separated_centres(problem.n_classes, bits, random_state=seed)
        loss = OrthoHash(centres)
        options = {"loss": loss, "max_epochs": N_ITER, "random_state": seed}
        hashing = configured(DeepHash, bits, **options)
        encoder = hashing.fit(X, y).encoder_
    else:
        encoder = ITQ(bits, n_iter=0, random_state=seed).fit(X).encoder_
        scores = encoder.project(X)
        centres = np.array([scores[y == c].mean(axis=0) for c in problem.classes])
    return encoder, Codebook(pack(centres >= 0), bits, problem.classes)


def decoded(
    encoder: Encoder,
    book: Codebook,
    problem: ClassProblem,
    n_bits: int,
    budgets: tuple[int, ...] = BUDGETS,
) -> Cell:
    """Return the accuracy of every decoder with the first bits of the codes."""
    book = book.prefix(n_bits)
    scores = encoder.project(problem.X[problem.test])[:, :n_bits]
    scores = np.ascontiguousarray(scores)
    codes, truth = pack(scores >= 0), problem.y[problem.test]

    def right(found: Any, **options: Any) -> float:
        return float(decoding_accuracy(book, found, truth, **options).value)

    exact, nearest = decode_exact(book, codes), decode_nearest(book, codes)
    within = [decode_bounded(book, codes, r, method="look-ups") for r in RADII]
    figures = {
        "unique": book.n_unique,
        "min_distance": book.min_distance,
        "exact": right(exact),
        "exact, paper": right(exact, codes=codes, credit="paper"),
        "nearest": right(nearest),
        MHD: right(nearest, codes=codes, credit="expected"),
        "soft": right(decode_soft(book, scores, zero_bit=1)),
        "within": [right(found) for found in within],
        # As a hash table has it; among few classes comparing with all is less work.
        "within, look-ups": [float(found.lookups.mean()) for found in within],
        "matching_bits": float(matching_bits(book, codes, truth).value),
    }
    for order in ORDERS:
        guesses = [
            decode_orbgrand(book, scores, budget, order=order, zero_bit=1)
            for budget in budgets
        ]
        figures[f"guessed by {order}"] = [right(found) for found in guesses]
        figures[f"guesses by {order}"] = [float(g.lookups.mean()) for g in guesses]
    return figures


def hard_decoded(learner: LLC, problem: ClassProblem, rows: NDArray[np.int64]) -> Cell:
    """Return the accuracy of exact decoding and of the nearest code on some items."""
    book, codes = learner.codebook_of_classes(), learner.encode(problem.X[rows])
    found = {"exact": decode_exact(book, codes), "nearest": decode_nearest(book, codes)}
    return {
        key: float(decoding_accuracy(book, answers, problem.y[rows]).value)
        for key, answers in found.items()
    }


def classified(learner: LLC, problem: ClassProblem) -> Cell:
    """Return what classifiers that know no codebook make of scores and of codes."""
    codes, (train, test) = learner.encode(problem.X), (problem.train, problem.test)
    sides = codes[train], problem.y[train], codes[test], problem.y[test]
    n_bits = learner.encoder_.n_bits
    scores = learner.encoder_.project(problem.X)
    return {
        "votes": knn_accuracy(*sides, k=N_VOTES).value,
        "linear on bits": svm_accuracy(*sides, n_bits=n_bits, C=BIT_COSTS).value,
        "linear on scores": linear_accuracy(problem, scores, (1.0, 10.0, 100.0)),
    }


def float_figures(problem: ClassProblem) -> Cell:
    """Return the accuracy of a linear classifier on the features."""
    return {"accuracy": linear_accuracy(problem, problem.X, (0.3, 1.0, 3.0, 10.0))}


def linear_accuracy(
    problem: ClassProblem, Z: NDArray[np.float32], costs: tuple[float, ...]
) -> float:
    """Return the accuracy of a linear SVM, its cost chosen on the training items."""
    train, test = problem.train, problem.test
    scale = float(np.mean(np.sum(Z[train] ** 2, axis=1)))
    sides = Z[train], problem.y[train], Z[test], problem.y[test]
    return svm_accuracy(*sides, C=[cost / scale for cost in costs]).value


if __name__ == "__main__":
    typer.run(main)
