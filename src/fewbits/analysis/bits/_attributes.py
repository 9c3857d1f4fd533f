"""Bits as attributes: what they say of items and of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._labels import as_classes
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.analysis._codes import check_codes, entropy
from fewbits.analysis.bits._alike import count_ones
from fewbits.errors import ArgumentError

_ENTRIES = 1 << 22  # scores looked at once
_BITS = 16  # whose scores are sorted at a time
FloatArray = NDArray[np.float64]


class Side(NamedTuple):
    """Extreme items of every bit on one side, the most extreme first: (n_bits, k).

    Where there are fewer than k, scores are NaN and rows -1.
    """

    scores: NDArray[np.float32]
    rows: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


class Extremes(NamedTuple):
    """The most extreme items of both sides of every bit."""

    zeros: Side
    ones: Side

    def __repr__(self) -> str:
        return short_repr(self)


def extreme_items(scores: Array, k: int = 8) -> Extremes:
    """Find the items with the lowest and the highest scores of every bit.

    As in the sheets of attributes of DBC (Rastegari, Farhadi and Forsyth, ECCV 2012,
    figure 8) and PiCoDes (Bergamo, Torresani and Fitzgibbon, NIPS 2011, figure 1).
    Equal scores are ordered by row.

    Parameters
    ----------
    scores : ndarray of shape (n, n_bits)
        Scores before thresholding, from ``encoder.project``.
    k : int, default=8
        Items per side. An item may be on both sides where there are fewer than 2 k.

    Raises
    ------
    ArgumentError
        When there is no score, or one is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> extremes = extreme_items(np.array([[0.5], [-2.0], [3.0], [-0.1]]), k=2)
    >>> extremes.zeros.rows, extremes.ones.rows
    (array([[1, 3]]), array([[2, 0]]))
    """
    k, scores = check_count(k, "k"), _as_scores(scores)
    n, n_bits = scores.shape
    m, shape = min(k, n), (n_bits, k)
    zeros, ones = (
        Side(np.full(shape, np.nan, np.float32), np.full(shape, -1, np.int64))
        for _ in range(2)
    )
    for tile in spans(n_bits, _BITS):
        columns = np.ascontiguousarray(scores[:, tile].T)
        for bit, column in enumerate(columns, tile.start):
            for side, values in ((zeros, column), (ones, -column)):
                rows = np.flatnonzero(values <= np.partition(values, m - 1)[m - 1])
                rows = rows[np.argsort(values[rows], kind="stable")[:m]]
                side.scores[bit, :m], side.rows[bit, :m] = column[rows], rows
    return Extremes(zeros, ones)


def _as_scores(scores: Array) -> NDArray[np.float32]:
    """Return a matrix of finite scores of at least one item, in float32."""
    scores = np.asarray(scores)
    if not len(scores):
        raise ArgumentError("need the scores of at least one item, got none")
    if scores.ndim != 2 or not scores.shape[1] or scores.dtype.kind not in "fiu":
        raise ArgumentError(
            "scores must be real numbers of shape (n, n_bits), "
            f"got dtype {scores.dtype} and shape {scores.shape}"
        )
    scores = scores.astype(np.float32, copy=False)
    if not all(np.isfinite(scores[span]).all() for span in _blocks(scores)):
        raise ArgumentError("scores must be finite, got NaN or infinity")
    return scores


def _blocks(scores: Array) -> Iterator[slice]:
    return spans(len(scores), _ENTRIES // scores.shape[1])


@dataclass(frozen=True, eq=False, slots=True)
class BitRanking:
    """Each bit as an attribute; arrays of shape (n_bits,), see `rank_bits`.

    Attributes
    ----------
    order : ndarray of int64
        The bits, best first: by `reliable_information`, then by number.
    stability : ndarray of float64
        Probability that noise leaves the bit as it is: 1 is perfectly predictable.
    information : ndarray of float64, or None
        Mutual information of bit and class, in bits; None without labels.
    reliable_information : ndarray of float64
        Information of the noisy bit about the class, or, without labels, about the
        bit without noise; in bits, so that a bit must be predictable, balanced and
        informative to get a high value.
    noise : float
        Standard deviation of the noise, in standard deviations of the scores of a bit.
    """

    order: IdArray
    stability: FloatArray
    information: FloatArray | None
    reliable_information: FloatArray
    noise: float

    __repr__ = short_repr

    @property
    def usual_stability(self) -> float:
        """Stability of any bit whose scores are normal around 0: .922 by default."""
        return float(1 - np.arctan(self.noise) / np.pi)


def rank_bits(
    scores: Array, labels: ArrayLike | None = None, *, noise: float = 0.25
) -> BitRanking:
    """Rank bits by how much they reliably say.

    Parameters
    ----------
    scores : ndarray of shape (n, n_bits)
        Scores before thresholding, from ``encoder.project``.
    labels : array-like of shape (n,), default=None
        Classes of the items, all strings or all numbers.
    noise : float, default=0.25
        Standard deviation of the normal noise that is added to a score, in standard
        deviations of the scores of its bit.

    Raises
    ------
    ArgumentError
        When there is no score, one is not finite, labels are not one per item, or
        `noise` is not above 0.

    Notes
    -----
    With a score ``s`` and noise of standard deviation ``t``, the bit keeps its value
    with probability ``Phi(|s| / t)``, and `stability` is the mean of that: a margin,
    made a probability. For normal scores around 0 it is ``1 - arctan(noise) / pi``,
    which says nothing about a bit: .922 for the default noise. Nothing is drawn at
    random.

    The informations are those of the sample. With K classes and n items they are too
    high by about ``(K - 1) / (2 n ln 2)`` (Miller, 1955), for all bits alike.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-9.0, 1.0, 1.0], [-8, 2, 2], [9, 1, -1], [8, 2, -2]])
    >>> ranking = rank_bits(scores, ["a", "a", "b", "b"])
    >>> ranking.order, ranking.information
    (array([0, 2, 1]), array([1., 0., 1.]))
    """
    if not noise > 0 or not np.isfinite(noise):
        raise ArgumentError(f"noise must be above 0 and finite, got {noise}")
    scores = _as_scores(scores)
    from scipy.sparse import csr_array
    from scipy.special import ndtr

    n, n_bits = scores.shape
    names, classes = np.zeros(1), np.zeros(n, np.int64)
    if labels is not None:
        names, classes = as_classes(labels, n)
    sums, squares = np.zeros((2, n_bits))
    for span in _blocks(scores):
        sums += scores[span].sum(axis=0, dtype=np.float64)
    for span in _blocks(scores):
        squares += np.square(scores[span] - sums / n).sum(axis=0)
    deviation = noise * np.sqrt(squares / n)
    # Ones of each class and bit, those expected under noise, and ones that stay ones.
    ones, noisy = np.zeros((2, len(names), n_bits))
    steady = np.zeros(n_bits)
    for span in _blocks(scores):
        block = scores[span]
        bits = block > 0
        distance = np.where(bits, np.inf, -np.inf)  # without spread there is no noise
        np.divide(block, deviation, out=distance, where=deviation > 0)
        chances = ndtr(distance)  # of a 1
        entries = np.ones(len(block)), (classes[span], np.arange(len(block)))
        members = csr_array(entries, shape=(len(names), len(block)))
        ones += members @ bits.astype(np.float64)
        noisy += members @ chances
        steady += (chances * bits).sum(axis=0)
    total = ones.sum(axis=0)
    gained = noisy.sum(axis=0) - steady  # zeros that become ones
    information = None
    if labels is None:
        # The bit itself, without noise, is the class.
        sides = np.array([n - total, total])
        reliable = _information(sides, np.array([gained, steady]))
    else:
        items = np.bincount(classes).astype(np.float64)
        sizes = np.broadcast_to(items[:, None], ones.shape)
        information = _information(sizes, ones)
        reliable = _information(sizes, noisy)
    return BitRanking(
        order=np.argsort(-reliable.round(12), kind="stable"),
        stability=1 - (gained + total - steady) / n,
        information=information,
        reliable_information=reliable,
        noise=float(noise),
    )


def _information(sizes: FloatArray, ones: FloatArray) -> FloatArray:
    """Return I(class; bit) in bits, from (n_classes, n_bits) items and ones."""
    n = sizes.sum(axis=0)
    shares = np.divide(ones, sizes, out=np.zeros(ones.shape), where=sizes > 0)
    within = (sizes / n * entropy(shares.clip(0, 1))).sum(axis=0)
    # Rounding must not make it negative.
    difference = entropy((ones.sum(axis=0) / n).clip(0, 1)) - within
    return np.asarray(difference.clip(0))


@dataclass(frozen=True, eq=False, slots=True)
class ClassProfile:
    """A class bit by bit; arrays of shape (n_bits,).

    Attributes
    ----------
    label : str or number
    n_inside, n_outside : int
        Items of the class, and all others.
    inside, outside : ndarray of float64
        Share of ones among them.
    z : ndarray of float64
        The difference of the shares in standard errors; 0 for a constant bit.
    order : ndarray of int64
        Bits by ``|z|``, the most telling first, ties by number.
    """

    label: Any
    n_inside: int
    n_outside: int
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    z: NDArray[np.float64]
    order: IdArray

    __repr__ = short_repr


def class_profile(
    codes: CodeArray, n_bits: int, labels: ArrayLike, label: Any
) -> ClassProfile:
    """Compare the bits of a class with those of everything else.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,)
        Classes of the items, all strings or all numbers.
    label : str or number
        The class.

    Returns
    -------
    ClassProfile

    Raises
    ------
    ArgumentError
        When labels are not one per code, no item is of the class, or every item is.

    Notes
    -----
    `z` is that of the test that two proportions are equal. With the share ``p`` of all
    items it is ``(inside - outside) / sqrt(p (1 - p) (1 / n_inside + 1 / n_outside))``.
    It takes items as independent, and is rough below some five ones and five zeros.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b11000000]] * 4 + [[0b01000000]] * 4, np.uint8)
    >>> profile = class_profile(codes, 2, ["cat"] * 4 + ["dog"] * 4, "cat")
    >>> profile.inside, profile.outside, profile.z.round(2), profile.order
    (array([1., 1.]), array([0., 1.]), array([2.83, 0.  ]), array([0, 1]))
    """
    codes = check_codes(codes, n_bits)
    names, classes = as_classes(labels, len(codes))
    if label not in names.tolist():
        raise ArgumentError(f"no item is of class {label!r}")
    members = classes == names.tolist().index(label)
    n_inside = int(members.sum())
    n_outside = len(codes) - n_inside
    if not n_outside:
        raise ArgumentError(
            f"every item is of class {label!r}: nothing to compare with"
        )
    ones = count_ones(codes, n_bits)
    ones_inside = count_ones(codes[members], n_bits)
    inside, outside = ones_inside / n_inside, (ones - ones_inside) / n_outside
    pooled = ones / len(codes)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n_inside + 1 / n_outside))
    z = np.divide(inside - outside, error, out=np.zeros(n_bits), where=error > 0)
    order = np.argsort(-np.abs(z), kind="stable")
    return ClassProfile(label, n_inside, n_outside, inside, outside, z, order)
