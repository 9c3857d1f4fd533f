"""How well scores tell known from unknown items: high for known, low for unknown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._repr import one_line
from fewbits.errors import ArgumentError

__all__ = ["OodScores", "ood_scores"]
FloatArray = NDArray[np.float64]


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

    __repr__ = one_line


def ood_scores(known: ArrayLike, unknown: ArrayLike, *, tpr: float = 0.95) -> OodScores:
    """Measure how well a score separates known from unknown items.

    Parameters
    ----------
    known, unknown : array-like of shape (n,)
        Scores, high for what looks known, such as a classifier's largest logit; finite.
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
    >>> scores = ood_scores(known=[3, 4, 5, 6], unknown=[1, 2, 3, 2], tpr=0.75)
    >>> scores.auroc, scores.fpr, scores.threshold
    (0.96875, 0.0, 4.0)
    """
    inside, outside = _as_scores(known, "known"), _as_scores(unknown, "unknown")
    if not 0 < tpr <= 1:
        raise ArgumentError(f"tpr must be above 0 and at most 1, got {tpr}")
    ordered = np.sort(inside)
    # The share may be a decimal fraction that binary numbers only come close to.
    needed = int(np.ceil(tpr * len(ordered) * (1 - 1e-12)))
    threshold = float(ordered[len(ordered) - needed])
    others = np.sort(outside)
    below, not_above = (
        np.searchsorted(others, inside, side).sum() for side in ("left", "right")
    )
    return OodScores(
        # The share of the pairs that are in the right order, counted exactly.
        auroc=float((below + not_above) / (2 * len(inside) * len(outside))),
        aupr_known=_aupr(inside, outside),
        aupr_unknown=_aupr(-outside, -inside),
        fpr=float((outside >= threshold).mean()),
        tpr=float(tpr),
        threshold=threshold,
        reached=float((inside >= threshold).mean()),
    )


def _as_scores(scores: ArrayLike, name: str) -> FloatArray:
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


def _aupr(positive: FloatArray, negative: FloatArray) -> float:
    """Add precision times rise of recall, from the highest threshold down."""
    levels, rises = np.unique(positive, return_counts=True)
    hits = np.cumsum(rises[::-1])[::-1]  # positives at each level or above
    wrong = len(negative) - np.searchsorted(np.sort(negative), levels, side="left")
    return float((rises * hits / (hits + wrong)).sum() / len(positive))
