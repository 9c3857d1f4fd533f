"""Probabilities of classes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_k
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.classify._calibration import Calibration, FloatArray, none_logits
from fewbits.classify._class_sums import class_sums
from fewbits.classify._codebook import Codebook
from fewbits.classify._items import item_scores
from fewbits.classify._linear import best_scores
from fewbits.classify.decoders._reliability import whole
from fewbits.errors import ArgumentError

_ENTRIES = 1 << 22  # probabilities at a time
_CLASSES = 8192  # whose codes are unpacked at a time


class TopClasses(NamedTuple):
    """The most probable classes of every item, two matrices (n, k)."""

    probabilities: NDArray[np.float64]
    rows: IdArray

    def __repr__(self) -> str:
        return one_line(self)


def class_probabilities(
    codebook: Codebook, scores: ArrayLike, calibration: Calibration | None = None
) -> FloatArray:
    """Return the probability of every class, by independent bits.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
        ``encoder.project(X)``.
    calibration : Calibration, default=None
        Of `calibrate`; None takes scores for log-odds as they are.

    Returns
    -------
    ndarray of shape (n, n_classes), dtype float64
        In the order of the codebook. Rows add up to 1, or, where the calibration
        reckons with items of no class, to 1 minus the probability of that. Classes
        that share a code are equally probable.

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.
    ArgumentError
        When the calibration is of codes of another length.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1]]), n_bits=3)
    >>> class_probabilities(book, [[1.0, 1.0, -1.5]]).round(3)
    array([[0.378, 0.622]])
    """
    z, none = _log_odds(codebook, scores, calibration)
    found = np.empty((len(z), len(codebook)))
    for items in spans(len(z), _ENTRIES // len(codebook)):
        found[items] = _softmax(_logits(codebook, z[items], none))[:, :-1]
    return found


def top_classes(
    codebook: Codebook,
    scores: ArrayLike,
    k: int,
    calibration: Calibration | None = None,
) -> TopClasses:
    """Return the `k` most probable classes.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
    k : int
        At least 1; more than there are means all.
    calibration : Calibration, default=None
        As in `class_probabilities`.

    Returns
    -------
    TopClasses
        ``probabilities`` float64 and ``rows`` int64, each (n, k), most probable first,
        ties by row. Row -1 stands for no class, one of the choices if the
        calibration has a prior for it.

    Raises
    ------
    FeatureError, ArgumentError
        As `class_probabilities`, or when `k` is below 1.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [1, 0, 0]]), n_bits=3)
    >>> top_classes(book, [[1.0, 1.0, -1.5]], k=2).rows
    array([[2, 1]])
    """
    z, none = _log_odds(codebook, scores, calibration)
    k = min(check_k(k), len(codebook) + (none > 0))
    found = TopClasses(np.empty((len(z), k)), np.empty((len(z), k), np.int64))
    for items in spans(len(z), _ENTRIES // len(codebook)):
        logits = _logits(codebook, z[items], none)
        best = np.array([best_scores(row, k) for row in logits]).reshape(-1, k)
        chosen = np.take_along_axis(_softmax(logits), best, axis=1)
        found.probabilities[items] = chosen
        found.rows[items] = np.where(best == len(codebook), -1, best)
    return found


def _log_odds(
    codebook: Codebook, scores: ArrayLike, calibration: Calibration | None
) -> tuple[FloatArray, float]:
    checked = item_scores(scores, codebook)
    if calibration is None:
        return checked, 0.0
    if len(calibration.shifts) != codebook.n_bits:
        raise ArgumentError(
            f"the calibration is of codes of {len(calibration.shifts)} bits, the "
            f"codebook's have {codebook.n_bits}"
        )
    return calibration.log_odds(checked), calibration.none


def _logits(codebook: Codebook, z: FloatArray, none: float) -> FloatArray:
    """Return a logit for each class, and one for none.

    Those of classes are sums of whole numbers, which are exact in any order: equal
    codes get equal logits in any batch.
    """
    numbers, exponents = whole(z)
    units = np.ldexp(1.0, exponents)
    logits = np.empty((len(z), len(codebook) + 1))
    for classes in spans(len(codebook), _CLASSES):
        sums = class_sums(numbers, codebook.codes[classes])
        np.multiply(sums, units, out=logits[:, classes])
    logits[:, -1:] = none_logits(z, none, len(codebook))
    return logits


def _softmax(logits: FloatArray) -> FloatArray:
    """Turn logits into probabilities, in their place."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits
