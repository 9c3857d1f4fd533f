"""Linear models on bits, learnt from examples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_count, check_k, check_seed
from fewbits._labels import as_classes, as_label_rows
from fewbits._repr import short_repr
from fewbits._typing import Array, CodeArray
from fewbits.codes import as_codes, unpack
from fewbits.errors import ArgumentError

_LARGEST_COST = 1e30


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel:
    """A weight for each bit, and a constant: positive scores speak for the class.

    Attributes
    ----------
    weights : ndarray of shape (n_bits,), dtype float32
        What a bit adds to the score where it is set.
    bias : float
        The score of a code of zeros.
    """

    weights: NDArray[np.float32]
    bias: float

    __repr__ = short_repr

    def scores(self, codes: CodeArray) -> NDArray[np.float32]:
        """Score every code, on all cores; the order of additions is fixed.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n,), dtype float32

        Raises
        ------
        ArgumentError
            When the codes are not as wide as the model.

        Examples
        --------
        >>> model = LinearModel(np.array([1, 0, -2, 0], np.float32), 0.5)
        >>> model.scores(np.array([[0b10100000], [0b10000000]], np.uint8))
        array([-0.5,  1.5], dtype=float32)
        """
        sums: NDArray[np.float32] = _bit_sums(self.weights[None], codes)[0]
        return sums + np.float32(self.bias)


def _bit_sums(weights: NDArray[np.float32], codes: CodeArray) -> NDArray[np.float32]:
    codes = as_codes(codes, n_bits=weights.shape[1])
    sums = np.empty((len(weights), len(codes)), np.float32)
    _kernels.bit_sums(weights, codes, sums, _kernels.num_threads())
    return sums


def learn_class(
    positives: CodeArray,
    negatives: CodeArray,
    n_bits: int,
    *,
    C: float = 100.0,
    balance: float = 1.0,
    random_state: int = 0,
) -> LinearModel:
    """Learn what tells a class from everything else, from a few examples of both.

    A linear SVM on the bits, as PiCoDes are made for, with squared hinge loss.

    Parameters
    ----------
    positives, negatives : ndarray of shape (n, n_bytes), dtype uint8
        At least one of each.
    n_bits : int
        Length of the codes.
    C : float, default=100
        Weight of the mean error against that of the model's size, for codes scaled to
        unit length: it depends neither on their length nor on the number of examples.
    balance : float, default=1
        How far the sides are balanced: with 1 both weigh the same in sum, however many
        examples they have, with 0 every example weighs the same. The constant is that
        of sides that weigh the same in any case, so that positive scores mean as much.
    random_state : int, default=0
        Seeds the solver.

    Returns
    -------
    LinearModel

    Raises
    ------
    ArgumentError
        When one side is empty, C is not above 0, or `balance` not from 0 to 1.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011.

    Examples
    --------
    >>> even = np.array([[0b00000000], [0b10000000]], np.uint8)
    >>> odd = np.array([[0b00000001], [0b10000001]], np.uint8)
    >>> learn_class(odd, even, 8).scores(np.array([[0b01000001], [64]], np.uint8)) > 0
    array([ True, False])
    """
    examples = [as_codes(codes, n_bits=n_bits) for codes in (positives, negatives)]
    for name, codes in zip(("positive", "negative"), examples, strict=True):
        if not len(codes):
            raise ArgumentError(f"a class is learnt from examples, got no {name} one")
    signs = 2 * unpack(np.concatenate(examples), n_bits).astype(np.float64) - 1
    sides = np.repeat([1, -1], [len(codes) for codes in examples])
    # LIBLINEAR does not end with weights of errors that are much larger, or as small.
    if not _is_number(C) or not 1 / _LARGEST_COST <= C <= _LARGEST_COST:
        raise ArgumentError(
            f"C must lie between {1 / _LARGEST_COST:g} and {_LARGEST_COST:g}, got {C}"
        )
    check_seed(random_state)
    if not _is_number(balance) or not 0 <= balance <= 1:
        raise ArgumentError(f"balance must lie between 0 and 1, got {balance}")
    from sklearn.svm import LinearSVC

    weights: Any = "balanced"
    if balance < 1:  # a side's examples weigh 1 where both have as many
        halves = {side: len(sides) / (2 * (sides == side).sum()) for side in (-1, 1)}
        weights = {side: float(half**balance) for side, half in halves.items()}
    svm = LinearSVC(
        C=C / signs.size,
        class_weight=weights,
        dual=len(signs) <= n_bits,  # it crawls where bits are few
        intercept_scaling=10.0,  # so that the constant is hardly held back
        max_iter=10_000,
        random_state=random_state,
    ).fit(signs, sides)
    slopes, constant = svm.coef_[0], float(svm.intercept_[0])
    if balance < 1:  # minimise the loss of balanced sides over the constant alone
        from scipy.optimize import brentq

        scores = signs @ slopes
        members, others = scores[sides > 0], scores[sides < 0]

        def slope(constant: float) -> float:
            missed = np.maximum(0, 1 - members - constant).mean()
            return float(np.maximum(0, 1 + others + constant).mean() - missed)

        constant = float(brentq(slope, -2 - scores.max(), 2 - scores.min()))
    # From bits as -1 and +1 to bits as 0 and 1.
    bits = (2 * slopes).astype(np.float32)
    return LinearModel(bits, float(constant - slopes.sum()))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def best_scores(
    scores: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return the rows of the `k` highest scores that are allowed, ties by row."""
    k = check_k(k)
    rows = np.arange(len(scores)) if allowed is None else np.flatnonzero(allowed)
    candidates = scores[rows]
    if k < len(rows):
        worst = np.partition(candidates, len(rows) - k)[len(rows) - k]
        rows = rows[candidates >= worst]
    order = np.argsort(-scores[rows], kind="stable")[:k]
    best: NDArray[np.int64] = rows[order]
    return best


@dataclass(frozen=True, eq=False, slots=True)
class LinearClasses:
    """A linear model for each class; the highest score wins.

    `weights` (n_classes, n_bits) are what a bit adds to the score of a class where it
    is set, `biases` the scores of a code of zeros.
    """

    weights: NDArray[np.float32]
    biases: NDArray[np.float32]
    names: Array

    __repr__ = short_repr

    def scores(self, codes: CodeArray) -> NDArray[np.float32]:
        """Score every code for every class, above 0 where it is rather of the class."""
        return _bit_sums(self.weights, codes).T + self.biases


def learn_classes(
    codes: CodeArray,
    n_bits: int,
    labels: ArrayLike,
    *,
    most: int = 20_000,
) -> LinearClasses:
    """Learn to distinguish classes by their items' bits, see `learn_class`.

    `labels` are the class of each item; or 1 for each of its labels and 0 for others,
    which are then numbered. Of more items than `most`, as many are drawn from each
    class.
    """
    codes = as_codes(codes, n_bits=n_bits)
    check_count(most, "most")
    classes = as_label_rows(labels)
    if len(classes) != len(codes):
        raise ArgumentError(f"{len(codes)} codes, but {len(classes)} labels")
    if classes.ndim == 2:
        names, members = np.arange(classes.shape[1]), classes > 0
    else:
        names, numbers = as_classes(classes, len(codes))
        members = numbers[:, None] == np.arange(len(names))
    counts = members.sum(axis=0)
    for wrong, what in (
        (counts == 0, "no item is"),
        (counts == len(codes), "all items are"),
    ):
        if wrong.any():
            name = names[np.argmax(wrong)]
            raise ArgumentError(f"{what} of class {name}: nothing tells it from others")
    if len(codes) > most:  # as many of each class, and of none; one at least
        rng = np.random.default_rng(0)
        groups = [*members.T, ~members.any(axis=1)]
        share = max(1, most // len(groups))
        samples = [rng.permutation(np.flatnonzero(group))[:share] for group in groups]
        rows = np.unique(np.concatenate(samples))
        codes, members = codes[rows], members[rows]
    models = [
        learn_class(codes[member], codes[~member], n_bits) for member in members.T
    ]
    weights = np.stack([model.weights for model in models])
    biases = np.array([model.bias for model in models], np.float32)
    return LinearClasses(weights, biases, names)
