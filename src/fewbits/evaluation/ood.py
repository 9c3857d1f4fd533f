"""Out-of-distribution detection: scores of items, and metrics of scores.

All scores are high for known items and low for unknown items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits._unit_rows import unit_rows
from fewbits.codes import as_codes, hamming_topk
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import as_features, check_known
from fewbits.evaluation._neighbours import exact_neighbours

__all__ = [
    "Detection",
    "OodScores",
    "code_neighbour_score",
    "detection",
    "energy",
    "max_logit",
    "max_softmax",
    "neighbour_score",
    "ood_scores",
]
FloatArray = NDArray[np.float64]
_PAIRS = 1 << 22  # of a query and a neighbour, held at once


@dataclass(frozen=True, slots=True)
class OodScores:
    """OOD metrics without a threshold, or with one set by known items alone.

    Attributes
    ----------
    auroc : float
        Probability that a known item has a higher score than an unknown one, half of it
        where they are equal: .5 is chance.
    aupr_known, aupr_unknown : float
        Area under precision against recall with known, and with unknown items as the
        positives: the sum of precision times the rise of recall over all
        thresholds, nothing interpolated. Depends on how many there are of either.
    fpr : float
        False-accept rate at the threshold where known items just reach `tpr`.
    tpr : float
        Requested share of known items to accept.
    threshold : float
        Largest threshold that accepts this share: scores at or above it are accepted.
    reached : float
        Share of known items that it accepts; more than `tpr` where scores tie.
    """

    auroc: float
    aupr_known: float
    aupr_unknown: float
    fpr: float
    tpr: float
    threshold: float
    reached: float

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        return (
            f"AUROC {self.auroc:.4f}, AUPR {self.aupr_known:.4f} (known), "
            f"{self.aupr_unknown:.4f} (unknown), false positive rate {self.fpr:.4f} at "
            f"true positive rate {self.reached:.4f}; known items are the positives"
        )


def ood_scores(known: ArrayLike, unknown: ArrayLike, *, tpr: float = 0.95) -> OodScores:
    """Measure how well a score separates known from unknown items.

    Parameters
    ----------
    known, unknown : array-like of shape (n,)
        Scores, high for what looks known, such as from `max_logit`; finite.
    tpr : float, default=0.95
        Share of the known items that is to be accepted. With .95, `OodScores.fpr` is
        the field's FPR95.

    Returns
    -------
    OodScores

    Raises
    ------
    ArgumentError
        When a side is empty or not finite, or `tpr` is out of range.

    References
    ----------
    Hendrycks and Gimpel, "A Baseline for Detecting Misclassified and
    Out-of-Distribution Examples in Neural Networks", ICLR 2017; the false positive rate
    as in Liang, Li and Srikant, "Enhancing the Reliability of Out-of-distribution Image
    Detection in Neural Networks", ICLR 2018.

    Examples
    --------
    >>> found = ood_scores(known=[3, 4, 5, 6], unknown=[1, 2, 3, 2], tpr=0.75)
    >>> found.auroc, found.fpr, found.threshold
    (0.96875, 0.0, 4.0)
    """
    inside, outside = _as_scores(known, "known"), _as_scores(unknown, "unknown")
    if not 0 < tpr <= 1:
        raise ArgumentError(f"tpr must be above 0 and at most 1, got {tpr}")
    ordered = np.sort(inside)
    # The share may be a decimal fraction that binary numbers only come close to.
    needed = int(np.ceil(tpr * len(ordered) * (1 - 1e-12)))
    threshold = float(ordered[len(ordered) - needed])
    return OodScores(
        auroc=_auroc(inside, outside),
        aupr_known=_aupr(inside, outside),
        aupr_unknown=_aupr(-outside, -inside),
        fpr=float((outside >= threshold).mean()),
        tpr=float(tpr),
        threshold=threshold,
        reached=float((inside >= threshold).mean()),
    )


def _as_scores(scores: ArrayLike, name: str) -> FloatArray:
    """Return finite scores of some items."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} scores must be numbers") from None
    if values.ndim != 1 or not len(values):
        raise ArgumentError(
            f"need a list of {name} scores, at least one, got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ArgumentError(f"{name} scores must be finite, got NaN or infinity")
    return values


def _auroc(inside: FloatArray, outside: FloatArray) -> float:
    """Count the pairs in the right order, exactly."""
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left").sum()
    not_above = np.searchsorted(ordered, inside, side="right").sum()
    return float((below + not_above) / (2 * len(inside) * len(outside)))


def _aupr(found: FloatArray, others: FloatArray) -> float:
    """Add precision times rise of recall, from the highest threshold down."""
    levels, rises = np.unique(found, return_counts=True)
    hits = np.cumsum(rises[::-1])[::-1]  # found at each level or above
    wrong = len(others) - np.searchsorted(np.sort(others), levels, side="left")
    return float((rises * hits / (hits + wrong)).sum() / len(found))


@dataclass(frozen=True, slots=True)
class Detection:
    """A decision rule on a mixture of known and unknown items.

    Attributes
    ----------
    known_accepted, unknown_accepted : float
        Share of the known and of the unknown items that the rule accepts.
    unknown_share : float
        Share of the unknown items among all, between 0 and 1.
    """

    known_accepted: float
    unknown_accepted: float
    unknown_share: float

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the shares of both sides that are right; whatever the mixture."""
        return (self.known_accepted + 1 - self.unknown_accepted) / 2

    @property
    def accuracy(self) -> float:
        """Share of all items that are right."""
        known = (1 - self.unknown_share) * self.known_accepted
        return known + self.unknown_share * (1 - self.unknown_accepted)

    @property
    def f1_known(self) -> float:
        """F1 with known items as what is to be found."""
        return _f1(self.known_accepted, self.unknown_accepted, 1 - self.unknown_share)

    @property
    def f1_unknown(self) -> float:
        """F1 with unknown items as what is to be found."""
        rejected, wrongly = 1 - self.unknown_accepted, 1 - self.known_accepted
        return _f1(rejected, wrongly, self.unknown_share)


def detection(
    known_accepted: ArrayLike,
    unknown_accepted: ArrayLike,
    *,
    unknown_share: float | None = None,
) -> Detection:
    """Measure a decision rule.

    Parameters
    ----------
    known_accepted, unknown_accepted : array-like of bool of shape (n,)
        Whether the rule accepts each item of either side as known, such as from
        `fewbits.ood.AcceptanceRegion.accepts`.
    unknown_share : float, default=None
        Share of unknown items where the rule is used, between 0 and 1. None takes that
        of the arrays; accuracy and F1 depend on it.

    Returns
    -------
    Detection

    Raises
    ------
    ArgumentError
        When a side is empty or not boolean, or the share is out of range.

    Examples
    --------
    >>> found = detection([True, True, False], [False, False, False, True])
    >>> round(found.balanced_accuracy, 3), found.f1_unknown
    (0.708, 0.75)
    """
    inside = _as_decisions(known_accepted, "known")
    outside = _as_decisions(unknown_accepted, "unknown")
    if unknown_share is None:
        unknown_share = len(outside) / (len(inside) + len(outside))
    if not 0 < unknown_share < 1:
        raise ArgumentError(
            f"the share of unknown items must lie between 0 and 1, got {unknown_share}"
        )
    shares = float(inside.mean()), float(outside.mean()), float(unknown_share)
    return Detection(*shares)


def _as_decisions(accepted: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Return for some items whether they are accepted."""
    values = np.asarray(accepted)
    if values.ndim != 1 or not len(values) or values.dtype != np.bool_:
        raise ArgumentError(
            f"need a list of decisions on {name} items, True or False, at least one, "
            f"got {values.dtype} of shape {values.shape}"
        )
    return values


def _f1(hit_rate: float, false_rate: float, share: float) -> float:
    """Return F1 of what is a `share` of all, by the rates that are taken for it."""
    hits = share * hit_rate
    return 2 * hits / (hits + (1 - share) * false_rate + share)


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
    scaled = _logits(logits) / _check_temperature(temperature)
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
    temperature = _check_temperature(temperature)
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
    X = as_features(features, "features").astype(np.float64)
    base = as_features(known, "known features", X.shape[1]).astype(np.float64)
    distances = exact_neighbours(unit_rows(X), unit_rows(base), k).distances
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
    for span in spans(len(codes), _PAIRS // k):
        scores[span] = -hamming_topk(codes[span], known, k).distances[:, -1]
    return scores


def _check_temperature(temperature: float) -> float:
    """Return a temperature that is above 0 and finite."""
    if not temperature > 0 or not np.isfinite(temperature):
        raise ArgumentError(
            f"temperature must be above 0 and finite, got {temperature}"
        )
    return float(temperature)


def _logits(logits: ArrayLike) -> FloatArray:
    return as_features(logits, "logits").astype(np.float64)
