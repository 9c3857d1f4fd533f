"""The bits of codes that a linear model of a class needs."""

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_k
from fewbits.classify import LinearModel, learn_class
from fewbits.codes import pack, unpack
from research.common.svm import linear_svm

CodeArray = NDArray[np.uint8]


def select_bits(
    positives: CodeArray,
    negatives: CodeArray,
    n_bits: int,
    *,
    k: int | None = None,
    C: float = 100.0,
    random_state: int = 0,
) -> NDArray[np.int64]:
    """Return the bits that are the strongest evidence for or against a class.

    A linear SVM whose weights are held back by their absolute values leaves most of
    them at 0. The class is then learnt from the others: `learn_selected`.

    Parameters
    ----------
    positives, negatives : ndarray of shape (n, n_bytes), dtype uint8
        At least one of each.
    n_bits : int
        Length of the codes.
    k : int, default=None
        Bits to return, those with the largest weights, ties by the smaller number;
        fewer where fewer have a weight. None means all that have one.
    C : float, default=100
        Weight of the mean error, both sides weighing the same, against the sum of the
        absolute weights. Larger values keep more bits, and take longer: of 128 bits of
        40 blocks of ICD-10, 1 keeps 2 for a class, 10 keeps 39, 100 keeps 55. One so
        small that none is left keeps the bit in which the two sides differ most.
    random_state : int, default=0
        Seeds the solver.

    Returns
    -------
    ndarray of shape (n_selected,), dtype int64
        At least one bit, rising.

    References
    ----------
    Rastegari, Farhadi and Forsyth, "Attribute Discovery via Predictable Discriminative
    Binary Codes", ECCV 2012: DBC-L1. How many bits it keeps is not told.

    Examples
    --------
    >>> members = np.array([[0b10010000], [0b10100001], [0b11000011]], np.uint8)
    >>> others = np.array([[0b01010001], [0b01100010], [0b00000011]], np.uint8)
    >>> select_bits(members, others, 8)
    array([0])
    """
    if k is not None:
        check_k(k)
    codes = np.concatenate([positives, negatives])
    signs = 2 * unpack(codes, n_bits).astype(np.float64) - 1
    sides = np.repeat([1, -1], [len(positives), len(negatives)])
    # Neither the length of codes nor the number of examples changes what C means.
    weights, _ = linear_svm(signs, sides, C / len(signs), random_state, penalty="l1")
    if not weights.any():  # the bit that is the first to get a weight as C grows
        differences = signs[sides > 0].mean(axis=0) - signs[sides < 0].mean(axis=0)
        return np.array([np.abs(differences).argmax()], dtype=np.int64)
    kept = np.flatnonzero(weights)
    if k is None:
        return kept
    order = np.argsort(-np.abs(weights[kept]), kind="stable")
    return np.sort(kept[order[:k]])


def learn_selected(
    positives: CodeArray,
    negatives: CodeArray,
    n_bits: int,
    bits: NDArray[np.int64],
    *,
    C: float = 100.0,
    random_state: int = 0,
) -> LinearModel:
    """Learn a class from some bits; all others get a weight of 0."""
    short = [pack(unpack(side, n_bits)[:, bits]) for side in (positives, negatives)]
    model = learn_class(*short, len(bits), C=C, random_state=random_state)
    weights = np.zeros(n_bits, np.float32)
    weights[bits] = model.weights
    return LinearModel(weights, model.bias)
