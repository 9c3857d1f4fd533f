"""Discriminative binary codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._hyperplanes import hyperplanes
from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import warn_repeated_bits
from fewbits.learners._core._iterative import Arrays, IterativeLearner
from fewbits.learners._core._labels import class_numbers
from fewbits.learners._core._parameters import (
    FROM_0,
    POSITIVE,
    USUAL,
    Config,
    Interval,
    words,
)
from fewbits.learners._core._rows import Rows, as_float32, line_spans
from fewbits.learners._linalg._orthogonal import principal_axes

Float64Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labels = NDArray[np.bool_]  # (n, n_bits): L of the paper, True for +1

_LARGEST_RATIO = 1e20  # beyond it machines fit any labels, and float32 overflows


@dataclass(kw_only=True, repr=False, eq=False)
class DBCWeights(Config):
    """Weights of the terms of eq. (1), in the units of the notes of `DBC`.

    Parameters
    ----------
    gamma : float, default=None
        Weight of the norms of the hyperplanes, above 0. Small ones let machines learn
        any labels by heart, so that codes of the same class drift apart. None takes the
        number of features over that of rows, which is the paper's 1 for rows of unit
        length.
    lambda1 : float, default=1.0
        Weight of the slack, above 0. Larger makes labels easier to predict, smaller
        makes the rows of a class agree: with 1 labels hardly differ within a class,
        with 2 some do, with 10 most.
    lambda2 : float, default=1.0
        Weight of the pairs between classes; 0 leaves them out.
    """

    gamma: float | None = None
    lambda1: float = 1.0
    lambda2: float = 1.0

    constraints: ClassVar = {
        "gamma": [*POSITIVE, None],
        "lambda1": POSITIVE,
        "lambda2": [Interval(float, 0)],
    }

    def check(self) -> None:
        gamma = 1.0 if self.gamma is None else self.gamma
        if not self.lambda1 / gamma <= _LARGEST_RATIO:
            raise ArgumentError(
                f"weights.lambda1 may be at most {_LARGEST_RATIO:g} times "
                f"weights.gamma, got {self.lambda1:g} and {gamma:g}"
            )


@dataclass(eq=False, repr=False)
class DBC(IterativeLearner):
    """Learn discriminative codes that hyperplanes can predict.

    Labels for every row and bit are chosen so that rows of one class agree and rows of
    different classes do not, unless a linear support vector machine has evidence
    against it. The machines trained on the final labels are the bits.

    Parameters
    ----------
    n_bits : int, default=64
    weights : DBCWeights or None, default=None
        Of the terms of the objective; None takes the defaults.
    balance_bits : bool, default=True
        Weight the ones and the zeros of each bit equally in the hinge loss, as the
        released code does. False gives each row the same weight, as eq. (1) does.
    class_weight : {'balanced', None}, default='balanced'
        Let all classes count alike in the pairs, however many rows they have. None
        counts rows, as in the paper, whose classes have the same size; a class with
        most of the rows then takes all bits for itself.
    codes : {'image', 'category'}, default='image'
        Whether rows of one class may have different labels. Predicted bits of one class
        may differ in both.
    n_iter : int, default=10
        Number of alternations between labels and hyperplanes, usually more than it
        takes until no label changes. 0 keeps the hyperplanes that predict the start.

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (n_iter_,)
        Eq. (1) in the units of the notes, a mean over the bits, after each iteration.
        It never rises.
    objective_terms_ : dict of str to ndarray of shape (n_iter_,)
        Its terms without their weights: ``'intra'`` and ``'inter'``, shares of pairs
        whose labels differ, ``'regulariser'`` and ``'slack'``. Beside them
        ``'intra_predicted'`` and ``'inter_predicted'``, of bits instead of labels.
    classes_ : ndarray of shape (n_classes,)

    Notes
    -----
    For each bit, the pairs within classes count in units of their largest number, the
    sum of ``N_c^2 / 4``, those between classes in units of ``N^2 / 4``, and the slack
    is a mean over the rows. ``lambda2=1`` is thus the sum of ``(N_c / N)^2`` in the
    paper's units, the ``N_c / N`` of the released code where classes have the same
    size. ``lambda2`` is added, so that the objective is at least 0. Features are
    centred and scaled to a mean variance of 1. For rows of unit length the paper's
    ``gamma = lambda1 = 1``, on a sum of slack, is n_features / N and 1. Bits start from
    the signs of principal components, beyond the rank of the data from random
    combinations of them. Nothing else keeps two bits from being the same: a warning is
    given where half of the bits, or more, repeat others.

    The rows are held in memory, in 16 bytes per feature. Neither the order of rows nor
    the names of classes change anything. A score of exactly 0 gives a 0.

    References
    ----------
    Rastegari, Farhadi and Forsyth, "Attribute Discovery via Predictable Discriminative
    Binary Codes", ECCV 2012, eq. (1) and algorithm 1.

    Fan, Chang, Hsieh, Wang and Lin, "LIBLINEAR: A Library for Large Linear
    Classification", JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat(["ant", "bee", "cat"], 30)
    >>> centres = np.repeat(np.eye(3, 16), 30, axis=0)
    >>> X = centres * 9 + np.random.default_rng(0).normal(size=(90, 16))
    >>> DBC(n_bits=3, random_state=0).fit(X, labels).encoder_
    LinearEncoder(16 -> 3 bits)
    """

    _: KW_ONLY
    weights: DBCWeights | None = None
    balance_bits: bool = True
    class_weight: str | None = "balanced"
    codes: str = "image"
    n_iter: int = 10

    constraints: ClassVar = USUAL | {
        "balance_bits": ["boolean"],
        "codes": [words("image", "category")],
        "n_iter": FROM_0,
    }
    needs_labels = True
    uses_device = True
    configs: ClassVar[Mapping[str, type[Config]]] = {"weights": DBCWeights}
    _dead_bits = " on the training rows; lower weights.gamma or raise weights.lambda1"

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, numbers = class_numbers(y, X, type(self).__name__)
        X, sizes = sort_by_class(X, numbers)
        axes = principal_axes(X)
        P = axes.directions * np.sqrt(X.size / axes.scatter.sum())
        Z = np.concatenate(list(Rows(X, axes.mean, P, keep=False)))

        categories = Categories(sizes, even=self.class_weight is not None)
        weights = self._config("weights", DBCWeights)
        gamma = X.shape[1] / len(X) if weights.gamma is None else weights.gamma
        objective = Objective(
            categories, gamma, weights.lambda1, weights.lambda2, self.balance_bits
        )
        rng, by_image = check_random_state(self.random_state), self.codes == "image"
        labels = initial_labels(Z, categories, self.n_bits, rng, by_image=by_image)
        planes = train(Z, labels, objective)
        start = labels, planes, scores_of(Z, planes), np.empty((0, len(TERMS)))
        states = partial(iterations, Z, objective, by_image)
        _, planes, scores, history = self._run(states, start, X, numbers)
        self.objective_terms_ = dict(zip(TERMS, history.T, strict=True))
        warn_repeated_bits(scores > 0, "take fewer bits, or raise weights.lambda1")
        W = P @ planes[:-1]
        return LinearEncoder(W, bias=planes[-1] - axes.mean @ W)


def iterations(
    Z: Float64Array,
    objective: Objective,
    by_image: bool,
    start: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield the states after the iterations of algorithm 1, with eq. (1)."""
    labels, planes, scores, history = start
    while True:
        before = labels
        labels = improve(labels, scores, objective, by_image)  # lines 4 and 5
        # Line 6, for the bits whose labels changed; the better planes are kept.
        changed = (labels != before).any(axis=0)
        if changed.any():
            trained = planes.copy()
            trained[:, changed] = train(
                Z, labels[:, changed], objective, start=planes[:, changed]
            )
            old = objective.terms(labels, scores, norms_of(planes))
            new = objective.terms(labels, scores_of(Z, trained), norms_of(trained))
            worse = objective.value(new) > objective.value(old)
            planes = np.where(worse, planes, trained)
        scores = scores_of(Z, planes)  # line 7 takes their signs
        terms = objective.terms(labels, scores, norms_of(planes))
        value = float(objective.value(terms).mean())
        history = np.vstack([history, [terms[name].mean() for name in TERMS]])
        yield (labels, planes, scores, history), value


def sort_by_class(
    X: Array, labels: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the rows sorted by class, and the sizes of the classes."""
    # Sums of floats depend on the order of their terms, and coordinate descent on that
    # of the classes. Neither the order of X nor the names of classes has a say here:
    # rows are sorted by their bytes, and classes by their means, which keeps their
    # order whatever the units of X, and then by their rows.
    rows = as_float32(X) + np.float32(0)  # no negative zeros
    key = rows.view(f"V{rows.shape[1] * rows.itemsize}")[:, 0]
    order = np.argsort(key, kind="stable")
    rows, labels = rows[order], labels[order]
    classes = [rows[labels == label] for label in np.unique(labels)]
    classes.sort(key=lambda x: (x.mean(axis=0, dtype=np.float64).tolist(), x.tobytes()))
    sizes = np.array([len(members) for members in classes], dtype=np.int64)
    return np.concatenate(classes), sizes


#: What `Objective.terms` returns.
_TERMS = "intra inter regulariser slack intra_predicted inter_predicted"
TERMS = tuple(_TERMS.split())


@dataclass(frozen=True)
class Categories:
    """Number of rows of each class, in the order of the rows."""

    # With `even`, the rows of small classes weigh more in the pairs, so that all
    # classes have the same mass; otherwise each row has a mass of 1.

    sizes: IntArray
    even: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def row_masses(self) -> NDArray[Any]:
        """The mass of a row of each class; over all rows they are 1 in the mean."""
        if not self.even:
            return np.ones_like(self.sizes)
        return self.n_rows / (len(self.sizes) * self.sizes)

    @property
    def starts(self) -> IntArray:
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def slices(self) -> list[slice]:
        pairs = zip(self.starts.tolist(), self.sizes.tolist(), strict=True)
        return [slice(start, start + size) for start, size in pairs]

    def sums(self, values: NDArray[Any], dtype: Any = np.float64) -> NDArray[Any]:
        totals: NDArray[Any] = np.add.reduceat(values, self.starts, axis=0, dtype=dtype)
        return totals

    def counts(self, labels: Labels) -> IntArray:
        return self.sums(labels, np.int64)


def hinge(scores: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the squared slack of each row if its label were 1, and if it were 0."""
    return np.maximum(0, 1 - scores) ** 2, np.maximum(0, 1 + scores) ** 2


@dataclass(frozen=True)
class Objective:
    """Eq. (1) for one bit, its sums brought to the scale of 1."""

    # ``intra - lambda2 (inter - 1) + gamma |w|^2 + lambda1 slack``, where intra counts
    # pairs in units of their largest possible number, the sum of ``N_c^2 / 4``, inter
    # in units of ``N^2 / 4``, and slack is a weighted mean over the rows. It is never
    # negative. Where classes are `even`, ``N_c`` are their masses.

    categories: Categories
    gamma: float
    lambda1: float
    lambda2: float
    balanced: bool

    @property
    def most_intra(self) -> float:
        masses = self.categories.row_masses * self.categories.sizes
        return float((masses.astype(float) ** 2).sum() / 4)

    @property
    def most_inter(self) -> float:
        return self.categories.n_rows**2 / 4

    def pairs(self, intra: NDArray[Any], inter: NDArray[Any]) -> Float64Array:
        shared = self.lambda2 * (1 - inter / self.most_inter)
        return np.asarray(intra / self.most_intra + shared)

    def row_weight(self, n_alike: NDArray[Any]) -> Float64Array:
        """Return the share of one row in the slack, given how many have its label."""
        n = 2 * np.maximum(n_alike, 1) if self.balanced else self.categories.n_rows
        return np.asarray(1 / np.broadcast_to(n, np.shape(n_alike)))

    def slack(
        self, loss1: Float64Array, loss0: Float64Array, N1: NDArray[Any]
    ) -> Float64Array:
        N0 = self.categories.n_rows - N1
        return np.asarray(self.row_weight(N1) * loss1 + self.row_weight(N0) * loss0)

    def terms(
        self, labels: Labels, scores: Float64Array, norms: Float64Array
    ) -> dict[str, Float64Array]:
        intra, inter = self._pair_terms(labels)
        predicted = self._pair_terms(scores > 0)
        if_one, if_zero = hinge(scores)
        loss1 = np.where(labels, if_one, 0).sum(axis=0)
        loss0 = np.where(labels, 0, if_zero).sum(axis=0)
        slack = self.slack(loss1, loss0, labels.sum(axis=0))
        return dict(zip(TERMS, (intra, inter, norms, slack, *predicted), strict=True))

    def value(self, terms: dict[str, Float64Array]) -> Float64Array:
        pairs = terms["intra"] + self.lambda2 * (1 - terms["inter"])
        return pairs + self.gamma * terms["regulariser"] + self.lambda1 * terms["slack"]

    def _pair_terms(self, labels: Labels) -> tuple[Float64Array, Float64Array]:
        # A class with n1 ones and n0 zeros has n0 n1 such pairs; of all N0 N1 such
        # pairs the others are between classes. The paper's sums see every pair twice,
        # and halve that. A pair counts as the product of the masses of its rows.
        mass, ones = self.categories.row_masses[:, None], self.categories.counts(labels)
        zeros = self.categories.sizes[:, None] - ones
        intra: NDArray[Any] = (mass * ones * (mass * zeros)).sum(axis=0)
        N1, N0 = (mass * ones).sum(axis=0), (mass * zeros).sum(axis=0)
        return intra / self.most_intra, (N1 * N0 - intra) / self.most_inter


def initial_labels(
    Z: Float64Array,
    categories: Categories,
    n_bits: int,
    rng: RandomState,
    *,
    by_image: bool,
) -> Labels:
    """Return the sides of planes through the mean, with both values in every column."""
    # They cut the principal components one after the other (lines 1 and 2 of algorithm
    # 1); when there are fewer than bits, random combinations of them.
    n_axes = min(n_bits, Z.shape[1])
    mixed = Z @ rng.standard_normal((Z.shape[1], n_bits - n_axes))
    scores = np.hstack([Z[:, :n_axes], mixed])
    if not by_image:
        scores = np.repeat(categories.sums(scores), categories.sizes, axis=0)
    labels = scores > 0
    # The first class gets the other label in bits that have only one.
    first = categories.slices[0]
    constant = labels.all(axis=0) | ~labels.any(axis=0)
    labels[first, constant] = ~labels[first, constant]
    return labels


#: As many as the released code does, fewer when nothing moves any more. That flips all
#: labels at once, which oscillates; here one class after the other gets its best ones.
_SWEEPS = 10


def improve(
    labels: Labels, scores: Float64Array, objective: Objective, by_image: bool
) -> Labels:
    """Lower eq. (1) over the labels, for fixed hyperplanes; it cannot rise."""
    # One class after the other gets the best labels that it can have while the others
    # keep theirs. Bits do not interact.
    improved = np.empty_like(labels)
    for bits in line_spans(labels.shape[1], len(labels), least=1):
        some = labels[:, bits], scores[:, bits]
        improved[:, bits] = _descended(*some, objective, by_image)
    return improved


def _descended(
    labels: Labels, scores: Float64Array, objective: Objective, by_image: bool
) -> Labels:
    """Return labels after coordinate descent over the (class, bit) cells."""
    # The n1 ones of a cell belong to the rows with the n1 largest scores, however much
    # ones and zeros weigh: the slack of a 1 falls with the score, that of a 0 rises. So
    # the m + 1 values of n1 lead to the best of all 2^m labellings of m rows. Codes by
    # category have the first and the last of them only.
    # Each labelling is known by five sums: ones, their mass, pairs that differ, slack
    # of ones and of zeros. `tables` holds them for the candidates of each class, `now`
    # for its labels, and `total` for all classes.
    categories, n = objective.categories, objective.categories.n_rows

    def counts(n1: NDArray[Any], m: int, mass: float) -> Float64Array:
        return np.stack([n1, mass * n1, mass**2 * n1 * (m - n1)]).astype(np.float64)

    def costs(sums: Float64Array) -> Float64Array:
        """Return what of eq. (1) depends on labels; infinite for a constant bit."""
        N1, mass, intra, loss1, loss0 = sums
        pairs = objective.pairs(intra, mass * (n - mass) - intra)
        slack = objective.slack(loss1, loss0, N1)
        constant = (N1 <= 0) | (n - N1 <= 0)
        return np.where(constant, np.inf, pairs + objective.lambda1 * slack)

    labels, (if_one, if_zero) = labels.copy(), hinge(scores)
    orders, tables, sums = [], [], []
    for rows, mass in zip(categories.slices, categories.row_masses, strict=True):
        one, zero, m = if_one[rows], if_zero[rows], rows.stop - rows.start
        order = np.argsort(-scores[rows], axis=0, kind="stable")
        table = np.zeros((5, m + 1, labels.shape[1]))  # for 0, 1, ... m ones
        table[:3] = counts(np.arange(m + 1), m, mass)[:, :, None]
        np.cumsum(np.take_along_axis(one, order, axis=0), axis=0, out=table[3, 1:])
        zeros = np.take_along_axis(zero, order[::-1], axis=0)
        table[4, :m] = np.cumsum(zeros, axis=0)[::-1]
        orders.append(order)
        tables.append(table if by_image else table[:, [0, -1]])
        loss1 = np.where(labels[rows], one, 0).sum(axis=0)
        loss0 = np.where(labels[rows], 0, zero).sum(axis=0)
        sums.append([*counts(labels[rows].sum(axis=0), m, mass), loss1, loss0])
    now = np.stack(sums, axis=1)
    total, moved = now.sum(axis=1), np.zeros(now.shape[1:], bool)
    for _ in range(_SWEEPS):
        moves = np.zeros_like(moved)
        for c, table in enumerate(tables):
            others = total - now[:, c]
            values = costs(others[:, None] + table)
            best, bits = values.argmin(axis=0), np.arange(values.shape[1])
            moves[c] = better = values[best, bits] < costs(others + now[:, c])
            now[:, c, better] = table[:, best[better], bits[better]]
            total = others + now[:, c]
        moved |= moves
        if not moves.any():
            break
    for c, rows in enumerate(categories.slices):
        leading = np.arange(rows.stop - rows.start)[:, None] < now[0, c]
        relabelled = np.empty_like(leading)
        np.put_along_axis(relabelled, orders[c], leading, axis=0)
        labels[rows] = np.where(moved[c], relabelled, labels[rows])
    return labels


#: The labels of a bit change the objective far more than this share.
_TOLERANCE = 1e-5


def train(
    Z: Float64Array,
    labels: Labels,
    objective: Objective,
    start: Float64Array | None = None,
) -> Float64Array:
    """Minimise ``gamma |w|^2 + lambda1 slack`` for each column of `labels`."""
    # An SVM halves the norm, so its C is ``lambda1 / (2 gamma)`` times the weight of a
    # row. Hyperplanes are columns, with their constants in the last row.
    N1 = labels.sum(axis=0)
    weights = objective.row_weight(np.array([len(labels) - N1, N1]))
    costs = weights * (objective.lambda1 / (2 * objective.gamma))
    return hyperplanes(Z, labels, costs, start=start, tol=_TOLERANCE)


def scores_of(Z: Float64Array, planes: Float64Array) -> Float64Array:
    scores: Float64Array = Z @ planes[:-1] + planes[-1]
    return scores


def norms_of(planes: Float64Array) -> Float64Array:
    """Return squared norms; constants count, as LIBLINEAR regularises them too."""
    norms: Float64Array = (planes[:-1] ** 2).sum(axis=0) + planes[-1] ** 2
    return norms
