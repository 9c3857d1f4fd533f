"""What scores are worth: calibration, probabilities of classes, choice of labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits._checks import check_k
from fewbits._labels import as_label_rows
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoding import FloatArray, class_sums, item_scores, whole
from fewbits.classify._linear import best_scores
from fewbits.codes import unpack
from fewbits.errors import ArgumentError, ArtefactError

_FORMAT = "fewbits-calibration-1"
_ENTRIES = 1 << 22  # log-likelihoods, probabilities or scores of labels at a time
_CLASSES = 8192  # whose codes are unpacked at a time
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

    __repr__ = short_repr

    def log_odds(self, scores: ArrayLike) -> FloatArray:
        """Return ``log(p(bit = 1) / p(bit = 0))`` for each score.

        Decoders take log-odds, float64 (n, n_bits), as they take scores.
        """
        log_odds: FloatArray = self.scale * np.asarray(scores, np.float64) + self.shifts
        return log_odds


def calibrate(
    codebook: Codebook,
    scores: ArrayLike,
    labels: ArrayLike,
) -> Calibration:
    """Learn what scores are worth from items that were not trained on.

    Bits are taken for independent given the class, with ``p(bit = 1) =
    sigmoid(scale * score)``. They are not quite, so the scale that makes the
    bits calibrated would make the classes overconfident: it is chosen for the classes,
    to minimise the negative log-likelihood of the true ones.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
        Of held-out items, ``encoder.project(X)``.
    labels : array-like of shape (n,)
        Their classes, by name.

    Returns
    -------
    Calibration

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.
    ArgumentError
        When there is no item, or a label is beyond the codebook.

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
    from scipy.optimize import minimize

    bits = unpack(codebook.codes, codebook.n_bits).astype(np.float64)
    size = max(float(np.abs(checked).mean()), 1e-150)

    def loss(scales: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log-likelihood of the true classes, and its slope."""
        loss, slope = 0.0, 0.0
        for block in spans(len(rows), _ENTRIES // len(bits)):
            scores, own = checked[block] / size, rows[block]
            logits = scales[0] * scores @ bits.T
            logits -= logits.max(axis=1, keepdims=True)
            weights = np.exp(logits)
            totals = weights.sum(axis=1)
            loss += float((np.log(totals) - logits[np.arange(len(own)), own]).sum())
            expected = (weights / totals[:, None]) @ bits
            slope += float(np.vdot(expected - bits[own], scores))
        return loss, np.array([slope])

    # It is convex in the scale.
    best = minimize(loss, [1.0], jac=True, method="L-BFGS-B", bounds=[_SCALES]).x
    return Calibration(float(best[0]) / size, np.zeros(codebook.n_bits))


def _none_logits(z: FloatArray, none: float, n_classes: int) -> FloatArray:
    """Return the logit of no class; that of a class is the sum over its 1 bits."""
    if not none:
        return np.full((len(z), 1), -np.inf)
    prior = np.log(none) - np.log((1 - none) / n_classes)
    logits: FloatArray = (np.logaddexp(0, z) - np.log(2)).sum(axis=1) + prior
    return logits[:, None]


def calibration_bytes(calibration: Calibration) -> bytes:
    """Return the content of a file that `load_calibration` reads."""
    tensors: Tensors = {
        "scale": np.array([calibration.scale], np.float64),
        "shifts": np.asarray(calibration.shifts, np.float64),
        "none": np.array([calibration.none], np.float64),
    }
    fingerprint = checksum("calibration", tensors)
    metadata = {"format": _FORMAT, "fingerprint": fingerprint}
    return tensor_bytes(tensors, metadata)


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration, and check it against its fingerprint."""
    metadata, tensors = read_tensors(path, "calibration", _FORMAT)
    if checksum("calibration", tensors) != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    scale, shifts, none = (tensors[name] for name in ("scale", "shifts", "none"))
    return Calibration(float(scale.item()), shifts, float(none.item()))


class TopClasses(NamedTuple):
    """The most probable classes of every item, two matrices (n, k)."""

    probabilities: FloatArray
    rows: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


def top_classes(
    codebook: Codebook,
    scores: ArrayLike,
    k: int,
    calibration: Calibration | None = None,
) -> TopClasses:
    """Return the `k` most probable classes, by independent bits.

    Parameters
    ----------
    codebook : Codebook
    scores : array-like of shape (n, n_bits)
    k : int
        At least 1; more than there are means all.
    calibration : Calibration, default=None
        Of `calibrate`; None takes scores for log-odds as they are.

    Returns
    -------
    TopClasses
        ``probabilities`` float64 and ``rows`` int64, each (n, k), most probable first,
        ties by row; classes that share a code are equally probable. Row -1 stands for
        no class, one of the choices if the calibration has a prior for it. All
        choices together have a probability of 1.

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.
    ArgumentError
        When the calibration is of codes of another length, or `k` is below 1.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [1, 0, 0]]), n_bits=3)
    >>> top_classes(book, [[1.0, 1.0, -1.5]], k=2).rows
    array([[2, 1]])
    """
    z, none = item_scores(scores, codebook), 0.0
    if calibration is not None:
        if len(calibration.shifts) != codebook.n_bits:
            raise ArgumentError(
                f"the calibration is of codes of {len(calibration.shifts)} bits, the "
                f"codebook's have {codebook.n_bits}"
            )
        z, none = calibration.log_odds(z), calibration.none
    k = min(check_k(k), len(codebook) + (none > 0))
    top = TopClasses(np.empty((len(z), k)), np.empty((len(z), k), np.int64))
    for items in spans(len(z), _ENTRIES // len(codebook)):
        logits = _logits(codebook, z[items], none)
        best = np.array([best_scores(row, k) for row in logits]).reshape(-1, k)
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        top.probabilities[items] = np.take_along_axis(logits, best, axis=1)
        top.rows[items] = np.where(best == len(codebook), -1, best)
    return top


def _logits(codebook: Codebook, z: FloatArray, none: float) -> FloatArray:
    """Return a logit for each class, and one for none."""
    # Sums of whole numbers are exact in any order: equal codes get equal logits.
    numbers, exponents = whole(z)
    units = np.ldexp(1.0, exponents)
    logits = np.empty((len(z), len(codebook) + 1))
    for classes in spans(len(codebook), _CLASSES):
        sums = class_sums(numbers, codebook.codes[classes])
        np.multiply(sums, units, out=logits[:, classes])
    logits[:, -1:] = _none_logits(z, none, len(codebook))
    return logits


def label_scores(codebook: Codebook, scores: ArrayLike) -> FloatArray:
    """Return how well the scores of each item fit the code of each label.

    It is the cosine (n, n_labels) between the scores and the code as -1 and 1; 0 for
    scores that are all 0. An item of several labels is trained towards the mean of
    their codes, to which all of them are near.
    """
    # Whole numbers add up exactly in any order: no item's scores depend on others.
    numbers, _ = whole(item_scores(scores, codebook))
    lengths = np.linalg.norm(numbers, axis=1) * codebook.n_bits**0.5
    cosines = np.empty((len(numbers), len(codebook)))
    for items in spans(len(numbers), _ENTRIES // len(codebook)):
        sums = class_sums(numbers[items], codebook.codes)
        products = 2 * sums - numbers[items].sum(axis=1)[:, None]
        cosines[items] = products / np.maximum(lengths[items], 1)[:, None]
    return cosines


def label_threshold(codebook: Codebook, scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the least of `label_scores` with which an item has a label.

    It is one for all labels, and that of the largest F1 over all pairs of an item and a
    label, `labels` being 0 and 1 in shape (n, n_labels); 2 where no item has a label.
    """
    values, Y = label_scores(codebook, scores), as_label_rows(labels)
    if Y.ndim == 1 and values.shape[1] == 1:
        Y = Y[:, None]
    if Y.shape != values.shape or not Y.size or not np.isin(Y, (0, 1)).all():
        raise ArgumentError(
            f"labels must be 0 and 1 in shape {values.shape}, got shape {Y.shape}"
        )
    if not Y.any():
        return 2.0
    order = np.argsort(-values, axis=None, kind="stable")
    values, right = values.ravel()[order], np.cumsum(Y.ravel()[order])
    f1 = 2 * right / (np.arange(1, len(values) + 1) + right[-1])
    f1[:-1][values[:-1] == values[1:]] = 0  # equal scores are of one mind
    return float(values[f1.argmax()])
