"""Codes for classes: drawn, or taken from what a classifier or CCA knows about them.

All return real numbers of shape (n_classes, n_bits), whose signs are the codes; as they
are, they are a start for learning a codebook. `unique` makes equal codes different.
"""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from fewbits.errors import ArgumentError
from fewbits.learners._parameters import check_n_bits
from fewbits.learners.deep.centres._checks import check_sizes

Matrix = NDArray[np.float64]
_LEAST = 1e-9  # share of the mean variance that CCA adds at least


class UniqueCodes(NamedTuple):
    """Codes (n_classes, n_bits) of -1 and 1, and how many had to be changed."""

    codes: NDArray[np.int8]
    n_changed: int


def random_codebook(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Matrix:
    """Return random numbers whose signs are different codes.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Raises
    ------
    ArgumentError
        When there are more classes than codes.

    Examples
    --------
    >>> C = random_codebook(100, 10)
    >>> len(np.unique(C > 0, axis=0))
    100
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    C = rng.standard_normal((n_classes, n_bits))
    signs: Matrix = unique(C).codes * np.abs(C)
    return signs


def svd_codebook(weights: ArrayLike, n_bits: int) -> Matrix:
    """Return the leading left singular vectors of a linear classifier.

    Parameters
    ----------
    weights : array-like of shape (n_classes, d)
        Its rows; their mean is taken off first, which changes no decision.
    n_bits : int
        At most ``min(n_classes - 1, d)``.

    Returns
    -------
    ndarray of shape (n_classes, n_bits)

    Raises
    ------
    ArgumentError
        When the classifier has fewer directions, or is no matrix of finite numbers.

    Examples
    --------
    >>> svd_codebook([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 2).shape
    (3, 2)
    """
    W = _checked("weights", weights)
    W = W - W.mean(axis=0)
    _check_directions(n_bits, min(len(W) - 1, W.shape[1]), "classifier")
    U, _, _ = np.linalg.svd(W, full_matrices=False)
    return _signed(U[:, :n_bits])


def cca_codebook(
    means: ArrayLike,
    counts: ArrayLike,
    scatter: ArrayLike,
    n_bits: int,
    reg: float = 1.0,
) -> Matrix:
    """Return where CCA between features and one-hot labels puts the classes.

    Parameters
    ----------
    means : array-like of shape (n_classes, d)
        Of the features of each class.
    counts : array-like of shape (n_classes,)
    scatter : array-like of shape (d, d)
        Covariance of the features.
    n_bits : int
        At most ``min(n_classes - 1, d)``.
    reg : float, default=1.0
        Added to the diagonal of the covariance, in units of the mean variance; at least
        1e-9.

    Returns
    -------
    ndarray of shape (n_classes, n_bits)

    Raises
    ------
    ArgumentError
        When there are fewer directions, or shapes do not fit.
    """
    M, S = _checked("means", means), _checked("scatter", scatter)
    p = np.asarray(counts, np.float64)
    if p.shape != (len(M),) or not (p > 0).all() or S.shape != (M.shape[1],) * 2:
        raise ArgumentError(
            f"means of shape {M.shape} need a positive count for each class and a "
            f"scatter of shape {(M.shape[1],) * 2}, got {p.shape} and {S.shape}"
        )
    p = p / p.sum()
    _check_directions(n_bits, min(len(M) - 1, len(S)), "cross-covariance")
    centred = M - p @ M
    values, E = np.linalg.eigh(S)
    whiten = E / np.sqrt(np.maximum(values, 0) + max(reg, _LEAST) * values.mean())
    # One-hot labels have covariance diag(p) - p p'; centred means need no more of it.
    U, _, _ = np.linalg.svd(
        np.sqrt(p)[:, None] * (centred @ whiten), full_matrices=False
    )
    return _signed(U[:, :n_bits] / np.sqrt(p)[:, None])


def unique(C: ArrayLike) -> UniqueCodes:
    """Return the signs of C, equal ones made different where C is least certain.

    Of classes with equal codes the one with the largest numbers keeps it. The others
    flip bits, those with the smallest numbers first, until their code is free.

    Parameters
    ----------
    C : array-like of shape (n_classes, n_bits)
        Real numbers; 0 counts as positive.

    Returns
    -------
    UniqueCodes

    Raises
    ------
    ArgumentError
        When there are more classes than codes, or C is no matrix of finite numbers.

    Examples
    --------
    >>> unique([[1.0, 2.0], [1.0, 0.1], [-1.0, -1.0]])
    UniqueCodes(codes=array([[ 1,  1],
           [ 1, -1],
           [-1, -1]], dtype=int8), n_changed=1)
    """
    C = _checked("C", C)
    check_sizes(*C.shape)
    signs = np.where(C >= 0, 1, -1).astype(np.int8)
    order = np.argsort(-np.abs(C).min(axis=1), kind="stable")
    taken: set[bytes] = {row.tobytes() for row in signs}
    first: set[bytes] = set()
    n_changed = 0
    for i in order:
        code = signs[i].tobytes()
        if code in first:
            signs[i] = _nearest_free(signs[i], np.abs(C[i]), taken)
            code = signs[i].tobytes()
            taken.add(code)
            n_changed += 1
        first.add(code)
    return UniqueCodes(signs, n_changed)


def _nearest_free(
    code: NDArray[np.int8], cost: Matrix, taken: set[bytes]
) -> NDArray[np.int8]:
    """Return a free code, trying flips of small total cost first."""
    by_cost = np.argsort(cost, kind="stable")
    queue: list[tuple[float, tuple[int, ...]]] = [(float(cost[by_cost[0]]), (0,))]
    while queue:
        total, flips = heappop(queue)
        found = code.copy()
        found[by_cost[list(flips)]] *= -1
        if found.tobytes() not in taken:
            return found
        last = flips[-1]
        if last + 1 < len(code):  # each set of flips is reached in exactly one way
            more, old = float(cost[by_cost[last + 1]]), float(cost[by_cost[last]])
            heappush(queue, (total + more, (*flips, last + 1)))
            heappush(queue, (total + more - old, (*flips[:-1], last + 1)))
    raise AssertionError("more classes than codes")


def _signed(U: Matrix) -> Matrix:
    """Give singular vectors signs that do not depend on the solver."""
    largest = U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])]
    signed: Matrix = U * np.where(largest < 0, -1, 1)
    return signed


def _checked(name: str, values: ArrayLike) -> Matrix:
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ArgumentError(
            f"{name} must be a matrix of finite numbers, got shape {array.shape}"
        )
    return array


def _check_directions(n_bits: int, available: int, name: str) -> None:
    check_n_bits(n_bits)
    if n_bits > available:
        raise ArgumentError(
            f"the {name} has {available} directions, too few for {n_bits} bits: take "
            "fewer, or a learnt or random codebook"
        )
