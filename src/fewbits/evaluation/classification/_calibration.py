"""Calibration of predicted probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import check_lengths, check_not_empty


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationError:
    """Differences between confidence and accuracy.

    Attributes
    ----------
    value : float
        Expected calibration error, between 0 and 1; ``float(error)`` is the same.
    confidences, accuracies : ndarray of shape (n_bins,), dtype float64
        Means within each bin, NaN where it is empty.
    counts : ndarray of shape (n_bins,), dtype int64
    definition : str
        In words.
    """

    value: float
    confidences: NDArray[np.float64]
    accuracies: NDArray[np.float64]
    counts: NDArray[np.int64]
    definition: str

    def __repr__(self) -> str:
        return one_line(self)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.definition})"


def calibration_error(
    confidences: ArrayLike, right: ArrayLike, *, n_bins: int = 15
) -> CalibrationError:
    """Return the expected calibration error: how far confidence is from accuracy.

    Parameters
    ----------
    confidences : array-like of shape (n,)
        Probabilities of the classes that were answered.
    right : array-like of bool of shape (n,)
        Whether they were the true ones.
    n_bins : int, default=15
        Bins of equal width from 0 to 1, each with its upper bound; they weigh as much
        as they hold items.

    Returns
    -------
    CalibrationError

    Raises
    ------
    ArgumentError
        When there is no item, lengths differ, or a confidence is not a probability.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern Neural Networks",
    ICML 2017, equation 3.

    Examples
    --------
    >>> print(calibration_error([0.9, 0.9, 0.6, 0.6], [True, True, True, False]))
    0.1000 (expected calibration error, 15 bins of equal width)
    """
    p = np.asarray(confidences, np.float64)
    hits = np.asarray(right)
    _check(p, hits)
    n_bins = check_count(n_bins, "n_bins")
    bins = np.clip(np.ceil(p * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(bins, p, n_bins) / counts
        accuracies = np.bincount(bins, hits, n_bins) / counts
    gaps = np.abs(accuracies - means)[counts > 0]
    value = float(gaps @ counts[counts > 0] / len(p))
    definition = f"expected calibration error, {n_bins} bins of equal width"
    return CalibrationError(value, means, accuracies, counts, definition)


def _check(confidences: NDArray[np.float64], right: NDArray[np.bool_]) -> None:
    for name, array in (("confidences", confidences), ("right", right)):
        if array.ndim != 1:
            raise ArgumentError(f"{name} must be a list, got shape {array.shape}")
    if right.dtype != np.bool_:
        raise ArgumentError(f"right must be true or false, got dtype {right.dtype}")
    check_lengths(confidences=confidences, right=right)
    check_not_empty(confidences, "confidences")
    if not ((confidences >= 0) & (confidences <= 1 + 1e-9)).all():
        raise ArgumentError("confidences must be probabilities, between 0 and 1")
