"""Centres whose bits can be predicted from the features of unseen items."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import check_random_state

from fewbits._labels import check_binary
from fewbits.errors import ArgumentError
from fewbits.learners._linalg._adam import Adam
from fewbits.learners.deep.centres._semantic import semantic_centres
from fewbits.learners.deep.centres._unique import (
    Centres,
    check_sizes,
    unique,
)

Matrix = NDArray[np.float64]
_MOST_FEATURES = 4096  # an eigendecomposition of more takes minutes
_PENALTIES = 10.0 ** np.arange(-3, 2.25, 0.25)  # of the mean eigenvalue
_PROBES = 64  # random codes by which a penalty is chosen
_TINY = 1e-9
_LEAST = 1e-10  # share of the largest eigenvalue that is more than rounding
_STEPS, _BATCH, _RATE = 400, 1024, 0.02
_STEEPNESS = 2.0  # of tanh, for scores of variance 1
_SHARPNESS = 2.0  # of the softmax, for similarities of variance 1
_START, _NOISE = 0.2, 0.05  # weights at first: how far from turning, and their spread


class _Foreseen(NamedTuple):
    """Leave-one-out predictions of ridge regression for each item."""

    # They are linear in the codes C of classes: that of item i is ``a_i C``, with ``a_i
    # = (z_i B - h_i (y_i - p)) / (1 - h_i)``.

    #: Items in the directions of the features, (n, r): uncorrelated, of equal spread.
    Z: NDArray[np.float32]
    B: NDArray[np.float32]  # coefficients of the regression on the labels, (r, k)
    h: NDArray[np.float32]  # how much an item weighs in its own prediction, (n, 1)
    Y: sp.csr_array  # labels, 0 and 1, (n, k)
    p: NDArray[np.float32]  # their means, (k,)

    def scores(self, rows: Any, C: NDArray[Any]) -> NDArray[Any]:
        h = self.h[rows]
        own = self.Y[rows] @ C - self.p @ C
        scores: NDArray[Any] = (self.Z[rows] @ (self.B @ C) - h * own) / (1 - h)
        return scores

    def back(self, rows: Any, G: NDArray[Any]) -> NDArray[Any]:
        """Return the gradient by C, (n_classes, n_bits), from that by the scores."""
        h = self.h[rows]
        G = G / (1 - h)
        own = self.Y[rows].T @ (h * G) - np.outer(self.p, (h * G).sum(axis=0))
        gradient: NDArray[Any] = self.B.T @ (self.Z[rows].T @ G) - own
        return gradient


def predictable_centres(
    X: ArrayLike, labels: Any, n_bits: int, *, random_state: Any = 0
) -> Centres:
    """Return centres whose bits features predict, for items they were not learnt from.

    A codebook that is learnt by classifying training items, as in phase 1 of LLC, suits
    those items. Here the scores of an item are those that ridge regression predicts
    from all other items, and codes of classes are learnt, straight-through, by
    classifying with these scores. They start from `semantic_centres`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Features. Of more than 4,096 as many random combinations are taken.
    labels : array-like or sparse matrix of shape (n, n_classes)
        1 for each label of an item; each class has an item.
    n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8

    Raises
    ------
    ArgumentError
        When shapes do not fit, a feature is not finite, a class has no item, or there
        are more classes than codes.

    Notes
    -----
    With ``s = tanh(2 a_i C)``, ``a_i`` scaled so that scores of random codes have
    variance 1, the loss is the cross-entropy of ``2 s C' / sqrt(n_bits)`` with the
    class, or with all labels in equal parts.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> centres = predictable_centres(X, np.eye(10)[y], 8)
    >>> centres.shape, len(np.unique(centres, axis=0))
    ((10, 8), 10)
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise ArgumentError(
            f"features must be a matrix of finite numbers, got shape {X.shape}"
        )
    Y = sp.csr_array(check_binary(labels), dtype=np.float32)
    if Y.shape[0] != len(X):
        raise ArgumentError(
            f"{len(X)} items need a row of labels each, got {Y.shape[0]} rows"
        )
    empty = np.flatnonzero(Y.sum(axis=0) == 0)
    if empty.size:
        raise ArgumentError(f"class {empty[0]} has no item")
    check_sizes(Y.shape[1], n_bits)
    rng = check_random_state(random_state)
    foreseen = _foresee(X, Y, rng)
    # From semantic centres, where classes are alike that are taken for each other.
    scores = foreseen.scores(slice(None), np.eye(Y.shape[1], dtype=np.float32))
    means = (Y.T @ scores) / Y.sum(axis=0)[:, None]
    means += _TINY * rng.standard_normal(means.shape)  # so that all have a direction
    start = semantic_centres(means, n_bits, random_state=rng)
    return unique(_learn(foreseen, start, rng)).codes


def _foresee(X: Matrix, Y: sp.csr_array, rng: Any) -> _Foreseen:
    """Return leave-one-out predictions, with the penalty whose errors are smallest."""
    # Errors are those of bits of random codes, as a codebook's will be.
    if X.shape[1] > _MOST_FEATURES < len(X):
        X = GaussianRandomProjection(_MOST_FEATURES, random_state=rng).fit_transform(X)
    # Eigenvalues (r,) of the scatter, and orthonormal columns Z (n, r).
    X, n, p = X - X.mean(axis=0), len(X), Y.mean(axis=0)
    wide = n <= X.shape[1]
    values, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    real = values > _LEAST * max(values[-1], np.finfo(float).tiny)
    values, vectors = values[real], vectors[:, real]
    Z = vectors if wide else X @ vectors / np.sqrt(values)
    C = np.where(rng.random_sample((Y.shape[1], _PROBES)) < 0.5, -1.0, 1.0)
    probes = Y @ C - p @ C
    coefficients = Z.T @ probes
    best = np.inf, values, np.zeros((n, 1))
    # Without any direction, of constant features, a penalty changes nothing.
    for penalty in _PENALTIES * (values.mean() if values.size else 1.0):
        kept = values / (values + penalty)
        h = np.minimum(1 / n + Z**2 @ kept, 1 - 1e-6)[:, None]
        error = np.mean(((probes - Z @ (kept[:, None] * coefficients)) / (1 - h)) ** 2)
        if error < best[0]:
            best = error, kept, h
    _, kept, h = best
    B = kept[:, None] * (Y.T @ Z).T  # the mean of Z is 0, that of Y adds nothing
    return _Foreseen(_single(Z), _single(B), _single(h), Y, _single(p))


def _single(values: Matrix) -> NDArray[np.float32]:
    return values.astype(np.float32)


def _learn(foreseen: _Foreseen, codes: Centres, rng: Any) -> NDArray[np.float32]:
    """Return weights whose signs are the codes, learnt straight-through by Adam."""
    n_items, n_bits = foreseen.Y.shape[0], codes.shape[1]
    W = _single(_START * codes + _NOISE * rng.standard_normal(codes.shape))
    scores = foreseen.scores(slice(None), codes.astype(np.float32))
    scale = _STEEPNESS / np.float32(max(np.sqrt(np.mean(scores**2)), _TINY))
    sharpness = np.float32(_SHARPNESS / n_bits**0.5)
    adam, size, order = Adam([W]), min(_BATCH, n_items), np.empty(0, np.int64)
    for _ in range(_STEPS):
        if len(order) < size:  # every item once before any comes again
            order = rng.permutation(n_items)
        rows, order = order[:size], order[size:]
        C = np.where(W >= 0, np.float32(1), np.float32(-1))
        S = np.tanh(scale * foreseen.scores(rows, C))
        errors = sharpness * _errors(sharpness * (S @ C.T), foreseen.Y[rows])
        back = foreseen.back(rows, scale * (errors @ C) * (1 - S**2))
        gradient = errors.T @ S + back
        gradient[np.abs(W) > 1] = 0  # far from turning; passes no further
        adam.step([gradient], _RATE)
    return W


def _errors(logits: NDArray[np.float32], Y: sp.csr_array) -> NDArray[np.float32]:
    """Return the gradient of the mean cross-entropy by the logits, in place of them."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    counts = Y.sum(axis=1)[:, None]
    labelled = counts > 0
    logits *= labelled / logits.sum(axis=1, keepdims=True)
    logits -= Y.toarray() / np.maximum(counts, 1)
    logits /= len(logits)
    return logits
