"""Recognition and retrieval of categories by linear SVMs on selected bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, check_seed
from fewbits._labels import as_labels
from fewbits._typing import Array, CodeArray
from fewbits._warnings import warn_user
from fewbits.classify import LinearModel, learn_class
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError
from research.common.select_bits import learn_selected, select_bits

#: Weights of the errors: of the SVM, and of the one that selects its bits, if any.
Costs = tuple[float, float | None]


@dataclass(frozen=True, eq=False, slots=True)
class CategoryScores:
    """Recognition and retrieval scores of each category.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    accuracy : ndarray of shape (n_classes,), dtype float64
        Share of the test items of a category that its model scores highest.
    precision : ndarray of shape (n_classes,), dtype float64
        Share of the category among the test items that its model scores highest; of
        items with equal scores, the expected share in a random order.
    n_selected : ndarray of shape (n_classes,), dtype int64
        Bits that have a weight in the model of a category.
    definition : str
        In words.
    """

    classes: Array
    accuracy: NDArray[np.float64]
    precision: NDArray[np.float64]
    n_selected: NDArray[np.int64]
    definition: str

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy.mean():.4f}, precision "
            f"{self.precision.mean():.4f} ({self.definition})"
        )


def category_scores(
    train_codes: CodeArray,
    train_labels: ArrayLike,
    test_codes: CodeArray,
    test_labels: ArrayLike,
    *,
    n_bits: int,
    C: float | Sequence[float] = 100.0,
    selection: float | Sequence[float] | None = None,
    k: int | None = None,
    at: int = 25,
    n_folds: int = 3,
    random_state: int = 0,
) -> CategoryScores:
    """Score one-vs-rest models of the categories, learnt on all or selected bits.

    With `selection` this is how the authors of DBC use codes as "DBC-L1".

    Parameters
    ----------
    train_codes, test_codes : ndarray of shape (n, n_bytes), dtype uint8
    train_labels, test_labels : array-like of shape (n,)
        Integers or strings, the same categories on both sides.
    n_bits : int
        Length of the codes.
    C : float or sequence of float, default=100
        Weight of the errors, see `fewbits.classify.learn_class`.
    selection : float or sequence of float, default=None
        Weight of the errors by which `research.common.select_bits` chooses the bits of
        a category, see there; 100 keeps about half of them and hardly changes the
        scores. None means that each category is learnt from all bits.
    k : int, default=None
        Select no more bits for a category.
    at : int, default=25
        Test items that precision counts, or all if there are fewer.
    n_folds : int, default=3
        Where several weights are given, those with the best mean accuracy in a
        cross-validation on the training part are taken, for all categories alike; the
        smallest if tied. Fewer folds when the smallest category has fewer items.
    random_state : int, default=0
        Seeds the folds and the solver.

    Returns
    -------
    CategoryScores
        The definition names the weights that were taken.

    Warns
    -----
    UserWarning
        When `selection` keeps too few bits to distinguish the categories.

    Raises
    ------
    ArgumentError
        When the categories of both sides differ or are fewer than two, `k` comes
        without `selection`, or weights are to be chosen with a category of one item.

    References
    ----------
    Rastegari, Farhadi and Forsyth, "Attribute Discovery via Predictable Discriminative
    Binary Codes", ECCV 2012, section 4.

    Examples
    --------
    >>> codes = np.array([[1], [3], [129], [128], [0], [2]], np.uint8)
    >>> y = ["odd", "odd", "odd", "even", "even", "even"]
    >>> found = category_scores(codes, y, codes, y, n_bits=8, selection=100, at=3)
    >>> found.accuracy, found.precision, found.n_selected
    (array([1., 1.]), array([1., 1.]), array([1, 1]))
    """
    codes, tests = (as_codes(c, n_bits=n_bits) for c in (train_codes, test_codes))
    labels = as_labels(train_labels, "train labels", n=len(codes))
    truth = as_labels(test_labels, "test labels", n=len(tests))
    classes, y = np.unique(labels, return_inverse=True)
    _check_categories(classes, np.unique(truth))
    if k is not None and selection is None:
        raise ArgumentError(f"k={k} bits of each category are selected by `selection`")
    check_seed(random_state)
    at, n_folds = check_count(at, "at"), check_count(n_folds, "n_folds", 2)
    learner = _CategoryLearner(n_bits, k, random_state)
    selections = [None] if selection is None else _weights(selection)
    costs, *others = product(_weights(C), selections)
    if others:
        costs = _choose([costs, *others], learner, codes, y, classes, n_folds)
    models = learner.learn(codes, y, costs)
    kept = np.array([np.count_nonzero(model.weights) for model in models])
    if costs[1] is not None and k is None:
        _warn_of_few(kept, costs[1], n_bits)
    scores = _scores(models, tests)
    right = truth[:, None] == classes
    found = [expected_precision(s, right[:, i], at) for i, s in enumerate(scores.T)]
    return CategoryScores(
        classes,
        _accuracy(scores, np.searchsorted(classes, truth)),
        np.array(found),
        kept,
        _definition(n_bits, costs, k, at),
    )


@dataclass(frozen=True)
class _CategoryLearner:
    n_bits: int
    k: int | None
    random_state: int

    def learn(
        self, codes: CodeArray, y: NDArray[np.int64], costs: Costs
    ) -> list[LinearModel]:
        """Return a model for each of the categories 0, 1, ..."""
        return [
            self._model(codes[y == category], codes[y != category], *costs)
            for category in range(int(y.max()) + 1)
        ]

    def _model(
        self, inside: CodeArray, outside: CodeArray, C: float, selection: float | None
    ) -> LinearModel:
        sides, n_bits, seed = (inside, outside), self.n_bits, self.random_state
        if selection is None:
            return learn_class(*sides, n_bits, C=C, random_state=seed)
        bits = select_bits(*sides, n_bits, k=self.k, C=selection, random_state=seed)
        return learn_selected(*sides, n_bits, bits, C=C, random_state=seed)


def _choose(
    grid: list[Costs],
    learner: _CategoryLearner,
    codes: CodeArray,
    y: NDArray[np.int64],
    classes: Array,
    n_folds: int,
) -> Costs:
    from sklearn.model_selection import StratifiedKFold

    counts = np.bincount(y)
    if counts.min() < 2:
        raise ArgumentError(
            "choosing weights needs at least 2 training items of each category, "
            f"{classes[counts.argmin()]} has 1"
        )
    folds = StratifiedKFold(
        min(n_folds, int(counts.min())),
        shuffle=True,
        random_state=learner.random_state,
    )
    parts = list(folds.split(codes, y))

    def quality(costs: Costs) -> float:
        accuracies = [
            _accuracy(
                _scores(learner.learn(codes[a], y[a], costs), codes[b]), y[b]
            ).mean()
            for a, b in parts
        ]
        return float(np.mean(accuracies))

    return max(grid, key=quality)


def expected_precision(
    scores: NDArray[np.float32], right: NDArray[np.bool_], at: int
) -> float:
    """Return the share of `right` among the `at` highest scores, ties in any order."""
    at = min(at, len(scores))
    least = np.partition(scores, len(scores) - at)[len(scores) - at]
    above, level = scores > least, scores == least
    places = at - np.count_nonzero(above)
    hits = np.count_nonzero(right & above) + places * right[level].mean()
    return float(hits / at)


def _scores(models: list[LinearModel], codes: CodeArray) -> NDArray[np.float32]:
    return np.stack([model.scores(codes) for model in models], axis=1)


def _warn_of_few(kept: NDArray[np.int64], selection: float, n_bits: int) -> None:
    if kept.mean() < np.log2(len(kept)):
        warn_user(
            f"selection={selection:g} keeps {kept.mean():.1f} of {n_bits} bits for a "
            f"category, too few to distinguish {len(kept)}; larger weights keep "
            "more, 100 is a start"
        )


def _accuracy(scores: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each category that is scored highest by its own model."""
    right = scores.argmax(axis=1) == y
    shares: NDArray[np.float64] = np.bincount(y, weights=right) / np.bincount(y)
    return shares


def _weights(values: float | Sequence[float]) -> list[float]:
    weights = np.unique(np.asarray(values, dtype=np.float64))
    if not weights.size or not (weights > 0).all() or not np.isfinite(weights).all():
        raise ArgumentError(f"weights must be above 0 and finite, got {values}")
    return [float(weight) for weight in weights]


def _check_categories(trained: Array, tested: Array) -> None:
    if len(trained) < 2:
        raise ArgumentError(
            f"classification needs at least 2 categories, got {len(trained)}"
        )
    one_sided = set(trained.tolist()) ^ set(tested.tolist())
    if one_sided:
        example = min(one_sided, key=str)
        side = "train" if example in trained.tolist() else "test"
        raise ArgumentError(
            f"{len(one_sided)} categories are on one side only: {example!r} is in the "
            f"{side} labels"
        )


def _definition(n_bits: int, costs: Costs, k: int | None, at: int) -> str:
    C, selection = costs
    text = f"a linear SVM for each category on {n_bits} bits, C={C:g}"
    if selection is not None:
        most = "" if k is None else f", at most {k}"
        text += f", bits selected with C={selection:g}{most}"
    return f"{text}; precision at {at}"
