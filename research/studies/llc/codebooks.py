"""Tables 1 and 2: codes for classes, and every way to decode the codes of items.

Nothing is chosen on test items: the epoch that is kept is the best on held-out items,
whose accuracy tells, too, which codebook suits which decoder.
"""

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from fewbits.classify import Codebook
from fewbits.codes import pack
from fewbits.encoders import Encoder
from fewbits.learners import ECOC, ITQ
from fewbits.learners.deep import (
    DeepHash,
    NetworkConfig,
    TrainingConfig,
    centres,
)
from fewbits.learners.deep._llc import cca_codebook, svd_codebook
from fewbits.learners.deep.losses import OrthoHash
from research.common import decoders
from research.common.class_codes import (
    CODEBOOKS,
    MAX_EPOCHS,
    linear_llc,
    llc,
    possible,
)
from research.common.problems import N_CLASSES, Problem, load_problem
from research.core.record import Metrics, Settings

#: Learned from a fifth of the items by a network of so many inputs, then given.
CHEAP, CHEAP_INPUTS = "LLC, cheap codebook", 64
#: Codes that classes share stay as they are. SVD of a classifier that is smoother than
#: that of "SVD": easier to predict, and shared by more classes.
AS_IS, SMOOTH = ("SVD, as it is", "CCA, as it is"), 1e-4
NESTED, LINEAR_HEAD = "LLC, nested", ", linear head"
#: Random codewords predicted by ridge regression.
ECOC_CONTROL = "ECOC"
#: Of the taxonomy, not of the paper: codes not made for classifying. A class has
#: OrthoHash's centre, or the signs of its mean score.
BESIDE = ("OrthoHash", "PCA, random rotation")
N_BITS, LENGTHS, NESTED_BITS = 20, (10, 14, 24), (10, 14, 20)
#: Long codes need more to pass the nearest code; tried for LLC.
MORE_BUDGETS = (*decoders.BUDGETS, 10_000, 30_000, 100_000)


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods, behind a hidden layer and with a linear head."""
    methods = (
        *("LLC", "random", "predictable", "LLC from predictable"),
        *("LLC with similarities", CHEAP),
    )
    found = [(N_BITS, m) for m in methods]
    found += [(n_bits, "LLC") for n_bits in LENGTHS]
    found += [(LENGTHS[0], "random"), (LENGTHS[-1], NESTED), (0, "float")]
    found += [(N_BITS, m) for m in (ECOC_CONTROL, *AS_IS)]
    linear = [(N_BITS, m) for m in ("LLC", "random", "predictable", *AS_IS)]
    linear += [(n_bits, "LLC") for n_bits in LENGTHS]
    linear += [(N_BITS, m) for m in ("LLC from SVD", "LLC from CCA", CHEAP)]
    linear.append((LENGTHS[-1], NESTED))
    able = [(n, m) for n, m in linear if possible(m, n, N_CLASSES[data])]
    found = [(n, m) for n, m in found if possible(m, n, N_CLASSES[data])]
    return found + [(n, m + LINEAR_HEAD) for n, m in able if 2**n >= N_CLASSES[data]]


def measure(settings: Settings) -> Metrics:
    """Learn codes, and decode the test items in every way."""
    data, n_bits, method = (settings[key] for key in ("data", "bits", "method"))
    problem = load_problem(data, settings["seed"])
    if method == "float":
        costs = decoders.FEATURE_COSTS
        return {"accuracy": decoders.linear_accuracy(problem, problem.X, costs)}
    if method == ECOC_CONTROL:
        ecoc = ECOC(n_bits, random_state=settings["seed"])
        problem.learn(ecoc)
        book = Codebook(pack(ecoc.codewords_ > 0), n_bits, problem.classes)
        return decoders.decoded(ecoc.encoder_, book, problem)
    make = linear_llc if method.endswith(LINEAR_HEAD) else llc
    learner = make(n_bits, random_state=settings["seed"], **options(problem, settings))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*have the code of another class")
        problem.learn(learner)
    found: dict[str, Any] = {"fit_seconds": round(time.perf_counter() - start, 2)}
    found["repaired"] = learner.n_repaired_
    found["turned"] = learner.n_turned_ / learner.codebook_.size
    both = learner.encoder_, learner.codebook_of_classes()
    if method.startswith(NESTED):
        for length in (*NESTED_BITS, n_bits):
            found[f"at {length}"] = decoders.decoded(*both, problem, length)
        return found
    rows = problem.train[learner.held_out_]
    codes = learner.encode(problem.X[rows])
    found["held_out"] = decoders.accuracies(both[1], codes, problem.labels[rows])
    budgets = MORE_BUDGETS if method.startswith("LLC") else decoders.BUDGETS
    return {**found, **decoders.decoded(*both, problem, budgets=budgets)}


def options(problem: Problem, settings: Settings) -> dict[str, Any]:
    """Return the options of a method."""
    n_bits, method = settings["bits"], settings["method"].removesuffix(LINEAR_HEAD)
    if method == NESTED:
        return {"nested_bits": list(NESTED_BITS)}
    if method in CODEBOOKS:
        return CODEBOOKS[method]
    if method == CHEAP:
        return {"codebook": cheap_codebook(problem, n_bits, settings["seed"])}
    return {"codebook": codebook_as_it_is(problem, n_bits, method)}


def cheap_codebook(problem: Problem, bits: int, seed: int) -> NDArray[Any]:
    """Return a codebook learned from principal components of a fifth of the items."""
    rng, labels = np.random.default_rng(seed), problem.labels[problem.train]
    each = [np.flatnonzero(labels == c) for c in problem.classes]
    kept = [rng.permutation(rows)[: max(2, len(rows) // 5)] for rows in each]
    part = problem.train[np.concatenate(kept)]
    n_inputs = min(CHEAP_INPUTS, problem.X.shape[1], len(part))
    X = PCA(n_inputs, random_state=seed).fit_transform(problem.X[part])
    small = linear_llc(bits, random_state=seed, max_epochs=1)
    codebook: NDArray[Any] = small.fit(X, problem.labels[part]).codebook_
    return codebook


def codebook_as_it_is(problem: Problem, bits: int, method: str) -> NDArray[np.int64]:
    """Return the signs of what SVD or CCA know of the classes, equal ones with them."""
    y = problem.labels[problem.train]
    F = StandardScaler().fit_transform(problem.X[problem.train].astype(np.float64))
    if method.startswith("SVD"):
        weights = LogisticRegression(C=SMOOTH, max_iter=1000).fit(F, y).coef_
        C = svd_codebook(weights, bits)
    else:
        means = np.array([F[y == c].mean(axis=0) for c in problem.classes])
        counts = np.unique(y, return_counts=True)[1]
        scatter = np.cov(F, rowvar=False)
        C = cca_codebook(means, counts, scatter, bits, reg=1.0, labels=None)
    return np.where(C >= 0, 1, -1)


def beside(
    problem: Problem, method: str, bits: int, seed: int
) -> tuple[Encoder, Codebook]:
    """Learn codes in another way, and return a code for each class, too."""
    X, y = problem.X[problem.train], problem.labels[problem.train]
    if method == "OrthoHash":
        n_classes = len(problem.classes)
        means = centres.separated_centres(n_classes, bits, random_state=seed)
        learner = DeepHash(
            bits,
            loss=OrthoHash(means),
            network=NetworkConfig(hidden=()),
            training=TrainingConfig(max_epochs=MAX_EPOCHS),
            random_state=seed,
        )
        encoder = learner.fit(X, y).encoder_
    else:
        encoder = ITQ(bits, n_iter=0, random_state=seed).fit(X).encoder_
        scores = encoder.project(X)
        means = np.array([scores[y == c].mean(axis=0) for c in problem.classes])
    return encoder, Codebook(pack(means >= 0), bits, problem.classes)
