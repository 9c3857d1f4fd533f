"""Out-of-distribution detection metrics over all thresholds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._repr import one_line
from fewbits.errors import ArgumentError

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
    inside, outside = as_scores(known, "known"), as_scores(unknown, "unknown")
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


def as_scores(scores: ArrayLike, name: str) -> FloatArray:
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
