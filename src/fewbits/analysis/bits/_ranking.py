"""Rankings of bits by predictability, balance and information."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_classes
from fewbits._repr import one_line
from fewbits._typing import Array, IdArray
from fewbits.analysis._checks import entropy
from fewbits.analysis.bits._extremes import score_blocks
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class BitRanking:
    """Each bit as an attribute; arrays of shape (n_bits,), see `rank_bits`.

    Attributes
    ----------
    order : ndarray of int64
        The bits, best first: by `reliable_information`, then by number.
    balance : ndarray of float64
        Share of the items in which the bit is 1.
    entropy : ndarray of float64
        Of that share, in bits.
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
    balance: FloatArray
    entropy: FloatArray
    stability: FloatArray
    information: FloatArray | None
    reliable_information: FloatArray
    noise: float

    def __repr__(self) -> str:
        return one_line(self)

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
        Scores before thresholding, from ``encoder.project``; may be a memory map, which
        is read twice, a block at a time.
    labels : array-like of shape (n,), default=None
        Classes of the items, all strings or all numbers.
    noise : float, default=0.25
        Standard deviation of the normal noise that is added to a score, in standard
        deviations of the scores of its bit.

    Returns
    -------
    BitRanking

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
    if not isinstance(scores, np.ndarray) or not scores.size:
        raise ArgumentError("need a matrix of scores of at least one item")
    known = np.zeros(len(scores)) if labels is None else labels
    names, classes = as_classes(known, len(scores))
    tally = _Tally(noise, _spread(scores), len(names))
    start = 0
    for block in score_blocks(scores):
        tally.add(block, classes[start : start + len(block)])
        start += len(block)
    return tally.ranking(labelled=labels is not None)


class _Tally:
    """Counts of bits as they are, and expected counts of bits under noise."""

    def __init__(self, noise: float, spread: FloatArray, n_classes: int) -> None:
        shape = n_classes, len(spread)
        self._share, self._noise = float(noise), noise * spread
        self._items = np.zeros(n_classes)
        self._ones, self._noisy = np.zeros(shape), np.zeros(shape)
        self._kept = np.zeros(len(spread))  # ones that stay ones under noise

    def add(self, scores: NDArray[np.float32], classes: IdArray) -> None:
        from scipy.sparse import csr_array
        from scipy.special import ndtr

        n, bits = len(scores), scores > 0
        distance = np.where(bits, np.inf, -np.inf)  # without spread there is no noise
        np.divide(scores, self._noise, out=distance, where=self._noise > 0)
        chances = ndtr(distance)  # of a 1
        entries = np.ones(n), (classes, np.arange(n))
        members = csr_array(entries, shape=(len(self._items), n))
        self._items += np.bincount(classes, minlength=len(self._items))
        self._ones += members @ bits.astype(np.float64)
        self._noisy += members @ chances
        self._kept += (chances * bits).sum(axis=0)

    def ranking(self, labelled: bool) -> BitRanking:
        n, ones = self._items.sum(), self._ones.sum(axis=0)
        gained = self._noisy.sum(axis=0) - self._kept  # zeros that become ones
        information = None
        if labelled:
            sizes = np.broadcast_to(self._items[:, None], self._ones.shape)
            information = _information(sizes, self._ones)
            reliable = _information(sizes, self._noisy)
        else:
            # The bit itself, without noise, is the class.
            sides = np.array([n - ones, ones])
            reliable = _information(sides, np.array([gained, self._kept]))
        return BitRanking(
            order=np.argsort(-reliable.round(12), kind="stable"),
            balance=ones / n,
            entropy=entropy(ones / n),
            stability=1 - (gained + ones - self._kept) / n,
            information=information,
            reliable_information=reliable,
            noise=self._share,
        )


def _information(sizes: FloatArray, ones: FloatArray) -> FloatArray:
    """Return I(class; bit) in bits, from (n_classes, n_bits) items and ones."""
    n = sizes.sum(axis=0)
    shares = np.divide(ones, sizes, out=np.zeros(ones.shape), where=sizes > 0)
    within = (sizes / n * entropy(shares.clip(0, 1))).sum(axis=0)
    # Rounding must not make it negative.
    difference = entropy((ones.sum(axis=0) / n).clip(0, 1)) - within
    return np.asarray(difference.clip(0))


def _spread(scores: Array) -> FloatArray:
    """Return the standard deviation of each bit's scores."""
    n, sums = len(scores), np.zeros(scores.shape[1])
    for block in score_blocks(scores):
        sums += block.sum(axis=0, dtype=np.float64)
    squares = np.zeros_like(sums)
    for block in score_blocks(scores):
        squares += np.square(block - sums / n).sum(axis=0)
    return np.sqrt(squares / n)
