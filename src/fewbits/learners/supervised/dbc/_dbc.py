"""Discriminative binary codes."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._dead_bits import (
    n_constant,
    tell_dead_bits,
    tell_equal_bits,
)
from fewbits.learners._core._labels import one_class_each
from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import (
    check_choice,
    check_class_weight,
    check_flag,
    check_n_bits,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._axes import principal_axes
from fewbits.learners.supervised.dbc._config import DBCWeights
from fewbits.learners.supervised.dbc._descent import improve
from fewbits.learners.supervised.dbc._labels import (
    by_majority,
    initial_labels,
    simultaneous,
)
from fewbits.learners.supervised.dbc._objective import (
    TERMS,
    Categories,
    Float64Array,
    Labels,
    Objective,
)
from fewbits.learners.supervised.dbc._rows import sort_by_class
from fewbits.learners.supervised.dbc._svm import Hyperplanes, train

_DEAD = " on the training rows; lower weights.gamma or raise weights.lambda1"


class _State(NamedTuple):
    """Labels L, hyperplanes trained on them, and the history of the objective."""

    labels: Labels
    W: Float64Array
    bias: Float64Array
    scores: Float64Array
    history: Float64Array  # (n_iter, n_terms), in the order of TERMS

    @property
    def planes(self) -> Hyperplanes:
        return Hyperplanes(self.W, self.bias)


class DBC(ResumableLearner):
    """Learn discriminative codes that hyperplanes can predict.

    Labels for every row and bit are chosen so that rows of one class agree and rows of
    different classes do not, unless a linear support vector machine has evidence
    against it. The machines trained on the final labels are the bits.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. It may exceed the rank of the data.
    weights : DBCWeights or None, default=None
        Of the terms of the objective; None takes the defaults.
    balance_bits : bool, default=True
        Weight the ones and the zeros of each bit equally in the hinge loss, as the
        released code does. False gives each row the same weight.
    class_weight : {'balanced', None}, default='balanced'
        Let all classes count alike in the pairs, however many rows they have. None
        counts rows, as in the paper, whose classes have the same size; a class with
        most of the rows then takes all bits for itself.
    codes : {'image', 'category'}, default='image'
        Whether rows of one class may have different labels. Predicted bits of one class
        may differ in both.
    b_step : {'sequential', 'simultaneous'}, default='sequential'
        Choose the labels of one class after the other so that the objective cannot
        rise, or flip all at once as the released code does. The latter oscillates, and
        is here for comparison.
    init : {'pca', 'random'}, default='pca'
        Start from the signs of the principal components, or of random combinations of
        them. Bits beyond the rank of the data are random in both.
    n_iter : int, default=10
        Number of alternations between labels and hyperplanes, usually more than it
        takes until no label changes. 0 keeps the hyperplanes that predict the start.
    tol : float, default=0
        Stop when an iteration lowers the objective by no more than this share of it;
        0 disables early stopping. Those that change no label cost nothing.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the random combinations; principal components need none.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Eq. (1) in the units of the notes, a mean over the bits, after each iteration.
        It never rises with ``b_step='sequential'``.
    objective_terms_ : dict of str to ndarray of shape (n_iter_,)
        Its terms without their weights: ``'intra'`` and ``'inter'``, shares of pairs
        whose labels differ, ``'regulariser'`` and ``'slack'``. Beside them
        ``'intra_predicted'`` and ``'inter_predicted'``, of bits instead of labels.
    within_class_entropy_ : float
        Entropy of the codes of the training rows, given their class, in bits: 0 when
        each class has one code, at most the logarithm of its size.
    n_dead_bits_ : int
        Bits that are constant on the training rows; a warning is given if any.
    n_different_bits_ : int
        Bits of which none is another one, or its opposite, on the training rows; a
        warning is given if they are half of the bits, or fewer.
    classes_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Number of iterations done.
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        When y is missing, is not a label per row, or holds a single class.

    Warns
    -----
    UserWarning
        When bits are constant, when many are the same, or after an interrupt, which
        keeps the iterations reached.

    Notes
    -----
    Eq. (1) adds up numbers of very different size. Here, for each bit, the pairs within
    classes count in units of their largest number, the sum of ``N_c^2 / 4``, those
    between classes in units of ``N^2 / 4``, and the slack is a mean over the rows.
    ``lambda2=1`` is thus the sum of ``(N_c / N)^2`` in the paper's units, which is the
    ``N_c / N`` of the released code where classes have the same size. The constant
    ``lambda2`` is added, so that the objective is at least 0. Features are centred and
    scaled to a mean variance of 1: their units do not matter. For rows of unit length
    the paper's ``gamma = lambda1 = 1``, on a sum of slack, is n_features / N and 1.

    Eq. (1) has a separate term for each bit. Nothing keeps two bits from being the same
    but where they started.

    The rows are held in memory, in 16 bytes per feature. Neither the order of rows nor
    the names of classes change anything. A score of exactly 0 gives a 0. y may be
    one-hot.

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
    >>> dbc = DBC(n_bits=3, random_state=0).fit(X, labels)
    >>> dbc.encoder_
    LinearEncoder(16 -> 3 bits)
    >>> bool(dbc.objective_[-1] <= dbc.objective_[0])
    True
    """

    needs_labels = True
    uses_device = True
    configs: ClassVar[Mapping[str, type[Config]]] = {"weights": DBCWeights}

    def __init__(
        self,
        n_bits: int = 64,
        *,
        weights: DBCWeights | None = None,
        balance_bits: bool = True,
        class_weight: str | None = "balanced",
        codes: str = "image",
        b_step: str = "sequential",
        init: str = "pca",
        n_iter: int = 10,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.weights = weights
        self.balance_bits = balance_bits
        self.class_weight = class_weight
        self.codes = codes
        self.b_step = b_step
        self.init = init
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        self._check_configs()
        check_flag("balance_bits", self.balance_bits)
        check_class_weight(self.class_weight)
        check_choice("codes", self.codes, ("image", "category"))
        check_choice("b_step", self.b_step, ("sequential", "simultaneous"))
        check_choice("init", self.init, ("pca", "random"))
        self._check_iterations(least=0)

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, labels = one_class_each(y, X, type(self).__name__)
        X, sizes = sort_by_class(X, labels)
        axes = principal_axes(X)
        scale = np.sqrt(X.size / axes.scatter.sum())
        P = axes.directions * scale
        Z = np.concatenate(list(Rows(X, axes.mean, P, keep=False)))
        even = self.class_weight is not None
        objective = self._objective(Categories(sizes, even), X.shape[1] / len(X))
        start = self._start(Z, objective)
        states = partial(self._states, Z, objective)
        state = _State(*self._resume(states, start, X, labels))
        self._describe(state, objective.categories)
        W = P @ state.planes.W
        return LinearEncoder(W, bias=state.planes.bias - axes.mean @ W)

    def _objective(self, categories: Categories, usual_gamma: float) -> Objective:
        w = self._config("weights", DBCWeights)
        gamma = usual_gamma if w.gamma is None else w.gamma
        return Objective(categories, gamma, w.lambda1, w.lambda2, self.balance_bits)

    def _start(self, Z: Float64Array, objective: Objective) -> _State:
        labels = initial_labels(
            Z,
            objective.categories,
            self.n_bits,
            check_random_state(self.random_state),
            init=self.init,
            by_image=self.codes == "image",
        )
        planes = train(Z, labels, objective)
        none = np.empty((0, len(TERMS)))
        return _State(labels, planes.W, planes.bias, planes.scores(Z), none)

    def _states(
        self, Z: Float64Array, objective: Objective, start: Arrays
    ) -> Iterator[tuple[_State, float]]:
        """Yield the states after the iterations of algorithm 1, with eq. (1)."""
        state = _State(*start)
        while True:
            labels = self._update(state, objective)  # line 4, L = 2B - 1 in line 5
            planes = self._retrain(Z, labels, state, objective)  # line 6
            scores = planes.scores(Z)  # line 7 takes their signs
            terms = objective.terms(labels, scores, planes.norms)
            value = float(objective.value(terms).mean())
            means = [terms[name].mean() for name in TERMS]
            history = np.vstack([state.history, means])
            state = _State(labels, planes.W, planes.bias, scores, history)
            yield state, value

    def _update(self, state: _State, objective: Objective) -> Labels:
        by_image = self.codes == "image"
        if self.b_step == "sequential":
            return improve(state.labels, state.scores, objective, by_image=by_image)
        categories = objective.categories
        labels = simultaneous(state.scores > 0, categories, objective.lambda2)
        if not by_image:
            labels = by_majority(labels, categories)
        constant = labels.all(axis=0) | ~labels.any(axis=0)
        return np.where(constant, state.labels, labels)  # nothing to train them on

    def _retrain(
        self, Z: Float64Array, labels: Labels, state: _State, objective: Objective
    ) -> Hyperplanes:
        """Train the bits whose labels changed; keep the better hyperplanes of each."""
        changed = (labels != state.labels).any(axis=0)
        if not changed.any():
            return state.planes
        known = state.planes.take(changed)
        trained = train(Z, labels[:, changed], objective, start=known)
        planes = state.planes.put(trained, changed)
        before = objective.terms(labels, state.scores, state.planes.norms)
        after = objective.terms(labels, planes.scores(Z), planes.norms)
        worse = objective.value(after) > objective.value(before)
        return planes.put(state.planes.take(worse), worse)

    def _describe(self, state: _State, categories: Categories) -> None:
        self.objective_terms_ = dict(zip(TERMS, state.history.T, strict=True))
        bits = state.scores > 0
        self.within_class_entropy_ = _conditional_entropy(bits, categories)
        self.n_dead_bits_ = tell_dead_bits(n_constant(bits), self.n_bits, _DEAD)
        advice = "take fewer bits, or raise weights.lambda1"
        self.n_different_bits_ = tell_equal_bits(bits, advice)


def _conditional_entropy(bits: Labels, categories: Categories) -> float:
    """Return the entropy of whole codes given the class, in bits."""
    codes, total = np.packbits(bits, axis=1), 0.0
    for rows in categories.slices:
        counts = np.unique(codes[rows], axis=0, return_counts=True)[1]
        total += float((counts * np.log2(counts.sum() / counts)).sum())
    return total / categories.n_rows
