"""Out-of-distribution scores, as baselines for rejection by codes.

All of them are high for known items and low for unknown items.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._typing import CodeArray
from fewbits.codes import as_codes, hamming_topk
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import as_features
from fewbits.evaluation._neighbours import exact_neighbours
from fewbits.evaluation._screen import check_known

FloatArray = NDArray[np.float64]

_PAIRS = 1 << 22  # of a query and a neighbour, held at once


def max_softmax(logits: ArrayLike, *, temperature: float = 1.0) -> FloatArray:
    """Return the probability of the most probable class.

    Parameters
    ----------
    logits : array-like of shape (n, n_classes)
        A classifier's scores before softmax, finite, of two classes at least.
    temperature : float, default=1.0
        Logits are divided by it.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Raises
    ------
    FeatureError
        When logits are not a finite matrix.
    ArgumentError
        When there is one class only, or the temperature is not above 0.

    References
    ----------
    Hendrycks and Gimpel, "A Baseline for Detecting Misclassified and
    Out-of-Distribution Examples in Neural Networks", ICLR 2017.

    Examples
    --------
    >>> max_softmax([[2.0, 2.0], [0.0, 9.0]]).round(3)
    array([0.5, 1. ])
    """
    scaled = _logits(logits) / check_temperature(temperature)
    if scaled.shape[1] < 2:
        raise ArgumentError("of one class the softmax is always 1: need at least 2")
    scaled -= scaled.max(axis=1, keepdims=True)
    shares: FloatArray = 1 / np.exp(scaled).sum(axis=1)
    return shares


def max_logit(logits: ArrayLike) -> FloatArray:
    """Return the largest logit.

    Parameters
    ----------
    logits : array-like of shape (n, n_classes)
        A classifier's scores before softmax, finite.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Raises
    ------
    FeatureError
        When logits are not a finite matrix.

    References
    ----------
    Hendrycks et al., "Scaling Out-of-Distribution Detection for Real-World Settings",
    ICML 2022.

    Examples
    --------
    >>> max_logit([[2, 1], [0, 9]])
    array([2., 9.])
    """
    return np.asarray(_logits(logits).max(axis=1))


def energy(logits: ArrayLike, *, temperature: float = 1.0) -> FloatArray:
    """Return the negative free energy, ``T log sum exp(logits / T)``.

    Parameters
    ----------
    logits : array-like of shape (n, n_classes)
        A classifier's scores before softmax, finite.
    temperature : float, default=1.0
        T. As it goes to 0, this goes to the largest logit.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Raises
    ------
    FeatureError
        When logits are not a finite matrix.
    ArgumentError
        When the temperature is not above 0.

    References
    ----------
    Liu, Wang, Owens and Li, "Energy-based Out-of-distribution Detection", NeurIPS 2020.

    Examples
    --------
    >>> energy([[0.0, 0.0], [0.0, 9.0]]).round(4)
    array([0.6931, 9.0001])
    """
    values = _logits(logits)
    largest = values.max(axis=1, keepdims=True)
    temperature = check_temperature(temperature)
    sums = np.exp((values - largest) / temperature).sum(axis=1)
    return np.asarray(largest[:, 0] + temperature * np.log(sums))


def neighbour_score(features: ArrayLike, known: ArrayLike, k: int = 50) -> FloatArray:
    """Return minus the distance to the k-th nearest known item, rows of unit length.

    Parameters
    ----------
    features : array-like of shape (n, n_features)
        Finite; rows of zeros stay as they are.
    known : array-like of shape (n_known, n_features)
        Features of known items, best those that were trained on.
    k : int, default=50
        From 1 to `n_known`.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Raises
    ------
    FeatureError
        When features are not finite matrices of the same width.
    ArgumentError
        When `k` is out of range.

    References
    ----------
    Sun, Ming, Zhu and Li, "Out-of-Distribution Detection with Deep Nearest Neighbors",
    ICML 2022.

    Examples
    --------
    >>> neighbour_score([[2.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [1.0, 0.0]], k=2)
    array([-0.        , -1.41421356])
    """
    items = as_features(features, "features")
    base = as_features(known, "known features", items.shape[1])
    distances = exact_neighbours(_unit(items), _unit(base), k).distances
    return -distances[:, -1]


def code_neighbour_score(codes: CodeArray, known: CodeArray, k: int = 1) -> FloatArray:
    """Return minus the Hamming distance to the k-th nearest known code.

    With class codes and ``k=1`` this is what `fewbits.ood.acceptance_region` thresholds
    at its radius; with codes of items it is their nearest-neighbour score.

    Parameters
    ----------
    codes, known : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes.
    k : int, default=1
        From 1 to the number of known codes.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Raises
    ------
    CodeError
        When codes are not packed or differ in width.
    ArgumentError
        When `k` is out of range.

    Examples
    --------
    >>> known = np.array([[0b0000], [0b0011]], np.uint8)
    >>> code_neighbour_score(np.array([[0b0111]], np.uint8), known)
    array([-1.])
    """
    codes, known = as_codes(codes), as_codes(known)
    k = check_count(k, "k")
    check_known(k, len(known), "known codes")
    scores = np.empty(len(codes))
    step = max(1, _PAIRS // k)
    for start in range(0, len(codes), step):
        span = slice(start, start + step)
        scores[span] = -hamming_topk(codes[span], known, k).distances[:, -1]
    return scores


def check_temperature(temperature: float) -> float:
    """Return a temperature that is above 0 and finite."""
    if not temperature > 0 or not np.isfinite(temperature):
        raise ArgumentError(
            f"temperature must be above 0 and finite, got {temperature}"
        )
    return float(temperature)


def _logits(logits: ArrayLike) -> FloatArray:
    return as_features(logits, "logits").astype(np.float64)


def _unit(X: NDArray[np.floating]) -> FloatArray:
    X = X.astype(np.float64)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    rows: FloatArray = X / np.where(norms > 0, norms, 1.0)
    return rows
