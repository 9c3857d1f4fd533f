"""Calibration of scores: their scale and shifts, learnt on held-out items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._items import item_scores
from fewbits.codes import unpack
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]

_ENTRIES = 1 << 22  # log-likelihoods at a time
_SCALES = 1e-4, 1e4  # of scores whose mean size is 1


@dataclass(frozen=True, eq=False, slots=True)
class Calibration:
    """Log-odds of bits by their scores: ``scale * score + shifts`` for each bit.

    Attributes
    ----------
    scale : float
        Above 0; 1 / temperature.
    shifts : ndarray of shape (n_bits,), dtype float64
    none : float
        Prior probability that an item belongs to no class, 0 or more and below 1. The
        code of such an item is a uniformly random one.
    """

    scale: float
    shifts: FloatArray
    none: float = 0.0

    def __repr__(self) -> str:
        return one_line(self)

    def log_odds(self, scores: ArrayLike) -> FloatArray:
        """Return ``log(p(bit = 1) / p(bit = 0))`` for each score.

        Decoders take log-odds as they take scores.

        Parameters
        ----------
        scores : array-like of shape (n, n_bits)

        Returns
        -------
        ndarray of shape (n, n_bits), dtype float64
        """
        log_odds: FloatArray = self.scale * np.asarray(scores, np.float64) + self.shifts
        return log_odds


def calibrate(
    codebook: Codebook,
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    shifts: bool = False,
    none: float = 0.0,
) -> Calibration:
    """Learn what scores are worth from items that were not trained on.

    Bits are taken for independent given the class, with ``p(bit = 1) =
    sigmoid(scale * score + shift)``. They are not quite, so the scale that makes the
    bits calibrated would make the classes overconfident: it is chosen for the classes,
    to minimise the negative log-likelihood of the true ones.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
        Of held-out items, ``encoder.project(X)``.
    labels : array-like of shape (n,)
        Their classes, by name.
    shifts : bool, default=False
        Learn a shift for each bit as well, held back by a normal prior of variance 1;
        for some ten items per bit or more.
    none : float, default=0
        Prior probability of belonging to no class; nothing about it can be learnt from
        items that belong to one.

    Returns
    -------
    Calibration

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.
    ArgumentError
        When there is no item, a label is beyond the codebook, or `none` is out of
        range.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern Neural Networks",
    ICML 2017: temperature scaling.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1]]), 3, ["cat", "dog"])
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> scores = (2 * y[:, None] - 1 + rng.normal(size=(1000, 3))) / 10
    >>> calibration = calibrate(book, scores, book.names[y])
    >>> round(calibration.scale)  # log-odds are 2 * 10 times these scores
    20
    """
    checked, rows = item_scores(scores, codebook), codebook.rows(labels)
    if len(checked) != len(rows):
        raise ArgumentError(f"{len(checked)} rows of scores, but {len(rows)} labels")
    if not len(rows):
        raise ArgumentError("calibration needs at least one held-out item, got none")
    none = _check_none(none)
    size = max(float(np.abs(checked).mean()), 1e-150)
    found = _minimise(_Loss(codebook, checked / size, rows, none), shifts)
    return Calibration(float(found[0]) / size, found[1:], none)


def _check_none(none: float) -> float:
    if not 0 <= none < 1:
        raise ArgumentError(f"none must be at least 0 and below 1, got {none}")
    return float(none)


def _minimise(loss: "_Loss", shifts: bool) -> FloatArray:
    """Return the scale and the shifts; the loss is convex in both."""
    from scipy.optimize import minimize

    n_bits = loss.scores.shape[1]
    limits: Any = [_SCALES] + [(None, None) if shifts else (0, 0)] * n_bits
    start = np.append(1.0, np.zeros(n_bits))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits)
    found: FloatArray = best.x
    return found


class _Loss:
    """Negative log-likelihood of the true classes, and its gradient."""

    def __init__(
        self, codebook: Codebook, scores: FloatArray, rows: IdArray, none: float
    ) -> None:
        self.codebook, self.scores, self.rows, self.none = codebook, scores, rows, none
        self.B = unpack(codebook.codes, codebook.n_bits).astype(np.float64)

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        scale, shifts = parameters[0], parameters[1:]
        loss, gradient = float(shifts @ shifts) / 2, np.append(0.0, shifts)
        for block in spans(len(self.rows), _ENTRIES // len(self.B)):
            scores = self.scores[block]
            value, slopes = self._of_log_odds(scale * scores + shifts, self.rows[block])
            loss += value
            gradient[0] += np.vdot(slopes, scores)
            gradient[1:] += slopes.sum(axis=0)
        return loss, gradient

    def _of_log_odds(self, z: FloatArray, rows: IdArray) -> tuple[float, FloatArray]:
        """Return the loss of some items, and its slopes by their log-odds."""
        logits = np.append(z @ self.B.T, none_logits(z, self.none, len(self.B)), axis=1)
        logits -= logits.max(axis=1, keepdims=True)
        weights = np.exp(logits)
        totals = weights.sum(axis=1)
        items = np.arange(len(z))
        value = float((np.log(totals) - logits[items, rows]).sum())
        weights /= totals[:, None]
        slopes = weights[:, :-1] @ self.B - self.B[rows]
        slopes += weights[:, -1:] * (1 + np.tanh(z / 2)) / 2  # the logistic function
        return value, slopes


def none_logits(z: FloatArray, none: float, n_classes: int) -> FloatArray:
    """Return the logit of no class, where that of a class is the sum over its 1 bits.

    Both leave out ``sum log p(bit = 0)``. A class has prior ``(1 - none) / n_classes``.
    """
    if not none:
        return np.full((len(z), 1), -np.inf)
    prior = np.log(none) - np.log((1 - none) / n_classes)
    logits: FloatArray = (np.logaddexp(0, z) - np.log(2)).sum(axis=1) + prior
    return logits[:, None]
