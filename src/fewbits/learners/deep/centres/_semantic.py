"""Centres that are near each other where their classes are alike."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dger
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_random_state

from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres._separated import separated_centres
from fewbits.learners.deep.centres._unique import Centres, check_sizes

Matrix = NDArray[np.float64]
_SWEEPS = 50
_CHOICE = 4  # codes for each class, if there are as many: more fit better, but are near
_LEAST = 1e-9  # gain that is worth a step, not an error of rounding


def semantic_centres(
    vectors: ArrayLike, n_bits: int, *, random_state: Any = 0
) -> Centres:
    """Return separated centres, given to classes so that like ones get near ones.

    Of four codes of `separated_centres` for each class, which class gets which is
    improved, one class or an exchange of two at a time, as long as the distances of
    codes come to fit those of classes better.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, d)
        What stands for the classes: means of their features, attributes, rows of a
        linear classifier, or `hierarchy_vectors`. They are compared by the cosine.
    n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8

    Raises
    ------
    ArgumentError
        When a vector is zero or not finite, or there are more classes than codes.

    Notes
    -----
    It has the aim of semantic hash centres (arXiv 2507.08404), class similarity from
    data and a minimum distance, by a simpler way.

    Examples
    --------
    >>> centres = semantic_centres([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], 6)
    >>> distances = 3 - centres.astype(int) @ centres.T // 2
    >>> bool(distances[0, 1] < distances[0, 2:].min())
    True
    """
    V = np.asarray(vectors, np.float64)
    norms = np.linalg.norm(V, axis=1) if V.ndim == 2 else np.zeros(1)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise ArgumentError(
            "classes need a vector each, finite and not zero, as rows of a matrix"
        )
    T: Matrix = squareform(pdist(V / norms[:, None]))
    check_sizes(len(T), n_bits)
    rng = check_random_state(random_state)
    n_codes = min(_CHOICE * len(T), 2 ** min(n_bits, 30))
    codes = separated_centres(n_codes, n_bits, random_state=rng)
    signs = codes.astype(np.float64)
    D = (n_bits - signs @ signs.T) / 2
    if len(T) > 1:  # give T the mean and the variance of D
        values, others = squareform(T, checks=False), squareform(D)
        scale = others.std() / (values.std() or 1.0)
        T = np.asarray(squareform(others.mean() + scale * (values - values.mean())))
    # Codes p that make ``sum_ij (T_ij - D_p(i)p(j))^2`` small, step by step.
    chosen = _Assignment(T, D, rng.permutation(len(D))[: len(T)])
    for _ in range(_SWEEPS):
        before = chosen.p.copy()
        for i in rng.permutation(len(T)):
            gains = chosen.gains(i)
            code = int(gains.argmax())
            if gains[code] > _LEAST:
                chosen.take(i, code)
        if (chosen.p == before).all():
            break
    return codes[chosen.p]


class _Assignment:
    """Codes p of classes, and what it takes to tell which step is best."""

    # With ``M = T D[p]`` all gains of a class cost as much as there are codes. A step
    # changes one row of D[p], or two, so M by a product of two vectors.

    def __init__(self, T: Matrix, D: Matrix, p: NDArray[np.int64]) -> None:
        self.T, self.D, self.p = T, D, p.copy()
        self.M = np.asfortranarray(T @ D[p])  # or `dger` would copy it
        self.squares = np.einsum("ij,ij->j", D[p], D[p])

    def gains(self, i: int) -> Matrix:
        """Return by how much half the sum falls if i takes a code, or exchanges it."""
        T, D, M, p = self.T, self.D, self.M, self.p
        errors = self.squares - D[p[i]] ** 2 - 2 * M[i]
        gains: Matrix = errors[p[i]] - errors
        fit = M[np.arange(len(p)), p]
        crossed = M[i, p] + M[:, p[i]]
        # The pair (i, j) itself keeps its distance: leave it out of both sides.
        gains[p] = 2 * (crossed - fit - fit[i] + 2 * T[i] * D[p[i], p])
        gains[p[i]] = 0.0
        return gains

    def take(self, i: int, code: int) -> None:
        """Give class i a code, and its own to the class that has had it."""
        change = self.D[code] - self.D[self.p[i]]
        weights = self.T[i].copy()
        other = np.flatnonzero(self.p == code)
        if other.size:
            weights -= self.T[other[0]]
        else:
            self.squares += self.D[code] ** 2 - self.D[self.p[i]] ** 2
        self.p[other] = self.p[i]
        self.p[i] = code
        self.M = dger(1.0, weights, change, a=self.M, overwrite_a=True)


def hierarchy_vectors(paths: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return a vector for each class, the more alike the more of their paths is common.

    With `semantic_centres` they make codes of a hierarchy, a codebook for LLC or
    centres for a loss.

    Parameters
    ----------
    paths : sequence of sequence
        For each class, in the order of the sorted labels, the groups that it is in and
        itself, from the root on: ``("A", "A1", "A10")``. Of any depth, at least 1; a
        group is identified by its whole path, so that groups of the same name below
        different ones are different.

    Returns
    -------
    ndarray of shape (n_classes, n_groups), dtype float64
        1 for each group on the path, so that the cosine of two classes is the number of
        groups that both are in, by the geometric mean of the lengths of their paths.

    Raises
    ------
    ArgumentError
        When a path is empty, or a string in place of a sequence.

    Examples
    --------
    >>> paths = [("A", "A1", "A10"), ("A", "A1", "A11"), ("A", "A2"), ("B",)]
    >>> vectors = hierarchy_vectors(paths)
    >>> (vectors @ vectors.T).astype(int)  # groups in common
    array([[3, 2, 1, 0],
           [2, 3, 1, 0],
           [1, 1, 2, 0],
           [0, 0, 0, 1]])
    >>> from fewbits.learners.deep.centres import semantic_centres
    >>> codebook = semantic_centres(vectors, 8)
    """
    columns: dict[tuple[Hashable, ...], int] = {}  # of groups, by the way to them
    rows = []
    for path in paths:
        if isinstance(path, str) or not len(path):
            raise ArgumentError(
                "each class needs a path of at least one group, such as "
                f"('A', 'A1', 'A10'), got {path!r}"
            )
        ways = [tuple(path[:depth]) for depth in range(1, len(path) + 1)]
        rows.append([columns.setdefault(way, len(columns)) for way in ways])
    vectors = np.zeros((len(rows), len(columns)))
    for vector, groups in zip(vectors, rows, strict=True):
        vector[groups] = 1
    return vectors
