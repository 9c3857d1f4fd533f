"""PiCoDes: bits on which linear classifiers work well, also for novel classes.

Notation of the paper: N examples, K classes, C bits; ``h(x) = 1[a_c'x > 0]`` (eq. 1),
classifiers ``b_k + w_k'h(x)``, and the hinge loss ``l[t] = max(0, 1 - t)``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import warn_repeated_bits
from fewbits.learners._core._iterative import Arrays, IterativeLearner
from fewbits.learners._core._labels import class_numbers
from fewbits.learners._core._parameters import POSITIVE, USUAL, Config, Interval, words
from fewbits.learners._core._rows import Rows
from fewbits.learners._itq import rotations
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._linalg._orthogonal import principal_axes, random_rotation
from fewbits.learners._linalg._svm import Hyperplane, hinge_svm, hinge_svms

Float64Array = NDArray[np.float64]

#: Principal components at least: fewer hold too little of the features, and more than
#: bits let classes be learnt by heart.
LEAST_COMPONENTS = 128
_ITQ_ITERATIONS = 20
_CONSTANT = 3.0  # large enough that 1/2 (b / 3)^2 is nothing beside eq. (4)
_DEAD = 1e-12  # of the largest cost: below it a bit of an example does not matter


@dataclass(eq=False, repr=False)
class PiCoDesLearner(IterativeLearner):
    """A learner of projectors for linear classifiers.

    Parameters
    ----------
    lam : float, default=1000
        Weight of the mean classification error in eq. (4), against the size of the
        classifiers. `fewbits.evaluation.classification.novel_class_score` shows how to
        choose it on classes that were held out.
    class_weight : {'balanced', None}, default=None
        'balanced' lets the examples of a class weigh as much as all others together,
        which the paper does not. With many classes and few bits, plain classifiers
        predict negative for every item, and there is nothing to learn from.
    C : float, default=100
        Weight of the errors of a projector (LIBLINEAR's C in eq. 6), for features
        scaled to a mean squared length of 1 and costs to a mean of 1.
    init : {'itq', 'pca', 'random', 'classes'}, default='itq'
        First projectors: those of ITQ; principal components, randomly rotated where
        there are fewer than bits; random directions; or linear SVMs between random
        halves of the classes.
    n_components : int, default=None
        Reduce the features to as many principal components first (the paper: 6,415 of
        52,080). None takes as many as bits, and at least 128. They are folded into the
        encoder, so encoding costs the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_idle_classes_ : int
        Classes whose classifier ignores the code; more than 0 gives a warning.
    """

    _: KW_ONLY
    lam: float = 1000.0
    class_weight: str | None = None
    C: float = 100.0
    init: str = "itq"
    n_components: int | None = None
    n_iter: int = 10

    constraints: ClassVar = USUAL | {
        "lam": POSITIVE,
        "init": [words("itq", "pca", "random", "classes")],
        "n_components": [Interval(int, 1), None],
        "line_search": ["boolean"],
    }
    needs_labels = True
    uses_device = True
    takes_sparse = True

    def _start(
        self, X: Array, y: Any, *, line_search: bool = True
    ) -> tuple[Problem, Float64Array, Float64Array, RandomState]:
        self.classes_, numbers = class_numbers(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        n = self.n_components or max(self.n_bits, LEAST_COMPONENTS)
        k = min(n, axes.rank)
        # Scaled so that `C` means the same in any units.
        P = axes.directions[:, :k] * np.sqrt(len(X) / axes.scatter[:k].sum())
        problem = Problem(
            np.concatenate(list(Rows(X, axes.mean, P))),
            numbers,
            P,
            axes.mean,
            len(self.classes_),
            self.lam,
            self.C,
            seed=int(rng.randint(2**31 - 1)),
            line_search=line_search,
            balanced=self.class_weight is not None,
        )
        return problem, *first_projectors(problem, self.n_bits, self.init, rng), rng

    def _encoder(self, problem: Problem, state: State) -> LinearEncoder:
        self.n_idle_classes_ = int(np.sum(~state.W.any(axis=1)))
        if self.n_idle_classes_:
            advice = "raise lam" if self.class_weight else "set class_weight='balanced'"
            warn_user(
                f"{self.n_idle_classes_} of {len(self.classes_)} classes have a "
                f"classifier that ignores the code, so no bit serves them: {advice}, "
                "or learn more bits"
            )
        warn_repeated_bits(state.H > 0, "take fewer bits")
        W = problem.P @ state.A
        return LinearEncoder(W, bias=state.a0 - problem.mean @ W)


@dataclass(eq=False, repr=False)
class PiCoDes(PiCoDesLearner):
    """Learn bits for linear classifiers: compact codes for recognising new classes.

    The classes of the training data only guide the choice of bits; `Collection.like`
    and linear models on the codes then generalise to classes unseen in training.

    Parameters
    ----------
    n_bits : int, default=64
    line_search : bool, default=True
        Take the exact best step from the old projector towards the new one; False takes
        the new one entirely or not at all.
    n_iter : int, default=10
        Number of alternations between classifiers and projectors.
    tol : float, default=1e-3

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (n_iter_,)
        Eq. (4) at the end of each iteration. It never rises.

    Notes
    -----
    Eq. (6) is used with the sign that minimises eq. (5): a positive cost difference
    asks for a zero, and not for a one, as printed in the paper. The bound on eq. (5) is
    loose, so a new projector or classifier is only taken if the objective itself is
    lower with it. The line search, the first projectors, `lam`, `C` and the number of
    iterations are not of the paper. A score of exactly 0 gives a 0. LIBLINEAR stops
    early, so rows in another order give somewhat other codes.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 10
    >>> X = rng.normal(size=(10, 16))[y] + rng.normal(size=(200, 16))
    >>> PiCoDes(n_bits=8, random_state=0).fit(X, y).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    _: KW_ONLY
    line_search: bool = True
    tol: float = 1e-3

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        line_search = bool(self.line_search)
        problem, A, a0, _ = self._start(X, y, line_search=line_search)
        states = partial(descent, problem, self.n_iter)
        start = first_state(problem, A, a0)
        return self._encoder(problem, State(*self._run(states, start, X, problem.y)))


_SHORT = 1.0  # minutes that are too few to warn of


def descent(
    problem: Problem, n_iter: int, start: Arrays
) -> Iterator[tuple[State, float]]:
    """Yield ever better states with eq. (4), which never rises."""
    state, began = State(*start), time.perf_counter()
    for iteration in count():
        state = learn_projectors(problem, learn_classifiers(problem, state))
        minutes = (n_iter - 1) * (time.perf_counter() - began) / 60
        if iteration == 0 and minutes >= _SHORT:
            warn_user(
                f"PiCoDes takes {minutes:.0f} minutes more for {n_iter} iterations; "
                "RelaxedPiCoDes takes a small part of that"
            )
        yield state, objective(problem, state)


@dataclass(frozen=True)
class Problem:
    """Features, ``x = P psi(f)`` of a mean squared length of 1, and constants."""

    X: Float64Array  # (N, n)
    y: NDArray[np.int64]  # (N,)
    P: Float64Array  # (n_features, n)
    mean: Float64Array
    n_classes: int
    lam: float
    cost: float
    seed: int
    line_search: bool = True
    balanced: bool = False

    @property
    def C(self) -> float:
        """The C of LIBLINEAR in eq. (4)."""
        return self.lam / len(self.X)

    @cached_property
    def weights(self) -> tuple[Float64Array, Float64Array]:
        """Weights (K,) of errors on examples of a class, and of those on others."""
        # All are 1 in the paper; `balanced`, both sides of a class weigh N / 2.
        ones = np.ones(self.n_classes)
        if not self.balanced:
            return ones, ones
        N, counts = len(self.y), np.bincount(self.y, minlength=self.n_classes)
        return N / (2 * counts), N / (2 * (N - counts))


class State(NamedTuple):
    """Projectors ``a_c``, the bits that they give, and classifiers on the bits."""

    A: Float64Array  # (n, C)
    a0: Float64Array  # (C,), the entry of a_c that meets the constant 1
    H: Float64Array  # (N, C), bits as 0.0 and 1.0
    W: Float64Array  # (K, C)
    b: Float64Array  # (K,)

    @property
    def margins(self) -> Float64Array:
        return self.H @ self.W.T + self.b


def first_state(problem: Problem, A: Float64Array, a0: Float64Array) -> State:
    K, C = problem.n_classes, A.shape[1]
    H = (problem.X @ A + a0 > 0).astype(np.float64)
    return State(A, a0, H, np.zeros((K, C)), np.full(K, -1.0))


def objective(problem: Problem, state: State) -> float:
    """Eq. (4)."""
    loss = hinge_sums(problem, state.margins).sum()
    return float(0.5 * np.sum(state.W**2) + problem.C * loss)


def hinge_sums(problem: Problem, M: Float64Array) -> Float64Array:
    """Return ``sum_k l[y_ik M_ik]`` of each row; y_ik is 1 for its own class only."""
    y, (of_own, of_others) = problem.y, problem.weights
    own = M[np.arange(len(M)), y]
    as_others = np.maximum(0, 1 + M) @ of_others
    return np.asarray(
        as_others
        - of_others[y] * np.maximum(0, 1 + own)
        + of_own[y] * np.maximum(0, 1 - own)
    )


def learn_classifiers(problem: Problem, state: State) -> State:
    """Step 1: a linear SVM for each class, with the bits fixed."""
    # The bits are centred, which changes no more than the meaning of b. LIBLINEAR stops
    # early, and holds back the constant a little; a classifier that does no better in
    # eq. (4) than the one before is not taken.
    labels = [problem.y == k for k in range(problem.n_classes)]
    mean = state.H.mean(axis=0)
    W, b = hinge_svms(
        state.H - mean,
        labels,
        problem.C,
        balanced=problem.balanced,
        constant=_CONSTANT,
        seed=problem.seed,
    )
    b -= W @ mean
    new = state._replace(W=W, b=b)
    better = _class_objectives(problem, new) < _class_objectives(problem, state)
    return state._replace(
        W=np.where(better[:, None], W, state.W), b=np.where(better, b, state.b)
    )


def _class_objectives(problem: Problem, state: State) -> Float64Array:
    M, own = state.margins, (np.arange(len(problem.y)), problem.y)
    of_own, of_others = problem.weights
    losses = of_others * np.maximum(0, 1 + M).sum(axis=0)
    as_other, as_own = np.maximum(0, 1 + M[own]), np.maximum(0, 1 - M[own])
    corrections = of_own[problem.y] * as_own - of_others[problem.y] * as_other
    losses += np.bincount(problem.y, corrections, minlength=problem.n_classes)
    return np.asarray(0.5 * np.sum(state.W**2, axis=1) + problem.C * losses)


def learn_projectors(problem: Problem, state: State) -> State:
    """Step 2: one bit after the other, with the classifiers and other bits fixed."""
    A, a0, H = state.A.copy(), state.a0.copy(), state.H.copy()
    M = state.margins
    for c, w in enumerate(state.W.T):
        M -= np.outer(H[:, c], w)  # scores without bit c: beta of the paper
        deltas = hinge_sums(problem, M + w) - hinge_sums(problem, M)
        better = projector(problem, deltas, H[:, c], (A[:, c], a0[c]))
        if better is not None:
            A[:, c], a0[c], H[:, c] = better
        M += np.outer(H[:, c], w)
    return state._replace(A=A, a0=a0, H=H)


def projector(
    problem: Problem, deltas: Float64Array, bits: Float64Array, old: Hyperplane
) -> tuple[Float64Array, float, Float64Array] | None:
    """Minimise eq. (5), ``sum_i deltas_i 1[a'x_i > 0]``, by its bound, eq. (6)."""
    # A positive delta is the price of a one, so the example should get a zero: eq. (6)
    # as printed has the sign the other way round. None where the bound leads to nothing
    # better than the `bits` of the `old` projector, or to a bit that all share.
    costs, ones = np.abs(deltas), deltas < 0
    costs[costs < _DEAD * costs.max()] = 0
    matters = costs > 0
    if ones[matters].all() or not ones[matters].any():
        return None
    weights, seed = costs / costs.mean(), problem.seed
    a, a0 = hinge_svm(problem.X, ones, problem.cost, weights=weights, seed=seed)
    if problem.line_search:
        a, a0 = best_between(problem.X, old, (a, a0), deltas)
    new = (problem.X @ a + a0 > 0).astype(np.float64)
    if deltas @ new >= deltas @ bits or new.min() == new.max():
        return None
    return a, a0, new


def best_between(
    X: Float64Array, old: Hyperplane, new: Hyperplane, deltas: Float64Array
) -> Hyperplane:
    """Return the hyperplane on the way from `old` to `new` that minimises eq. (5)."""
    # Along ``(1 - t) old + t new``, both of length 1, the score of an example is linear
    # in t and changes sign once at most. So eq. (5), ``sum_i deltas_i 1[a'x_i > 0]``,
    # changes only where examples cross over, and sums over those, in the order of their
    # t, find its least value on the whole way. Places where all examples share the bit
    # do not count.
    (w0, b0), (w1, b1) = _unit(*old), _unit(*new)
    s0, s1 = X @ w0 + b0, X @ w1 + b1
    crossing = np.flatnonzero((s0 > 0) != (s1 > 0))
    if not crossing.size:
        return old
    at = s0[crossing] / (s0[crossing] - s1[crossing])
    order = np.argsort(at, kind="stable")
    at, crossing = at[order], crossing[order]
    turn = np.where(s1[crossing] > 0, 1, -1)
    ones = np.count_nonzero(s0 > 0) + np.cumsum(turn)
    following = np.append(at[1:], 1.0)
    # Examples that cross together cannot be parted.
    allowed = (at < following) & (ones > 0) & (ones < len(X))
    costs = np.where(allowed, np.cumsum(turn * deltas[crossing]), np.inf)
    best = int(costs.argmin())
    if costs[best] >= 0:
        return old
    t = (at[best] + following[best]) / 2
    return (1 - t) * w0 + t * w1, float((1 - t) * b0 + t * b1)


def _unit(w: Float64Array, b: float) -> Hyperplane:
    length = float(np.linalg.norm(w)) or 1.0
    return w / length, b / length


def first_projectors(
    problem: Problem, n_bits: int, init: str, rng: RandomState
) -> tuple[Float64Array, Float64Array]:
    """Return projectors and their constants, as `init` of `PiCoDes` asks for."""
    n, no_bias = problem.X.shape[1], np.zeros(n_bits)
    if init == "classes":
        K = problem.n_classes
        halves = [(rng.permutation(K) < K / 2)[problem.y] for _ in range(n_bits)]
        A, a0 = hinge_svms(problem.X, halves, problem.cost, seed=problem.seed)
        return A.T, a0
    if init == "random":
        return rng.standard_normal((n, n_bits)), no_bias
    if init == "pca" and n_bits <= n:
        return np.eye(n, n_bits), no_bias
    k = min(n, n_bits)
    R = random_rotation(k, n_bits, rng)
    if init == "itq":
        X = problem.X[:, :k]
        rows = Rows(X, np.zeros(k), n_out=n_bits)
        steps = rotations(rows, float(np.sum(X**2)), (R,))
        for _ in range(_ITQ_ITERATIONS):
            (R,), _ = next(steps)
    return np.concatenate([R, np.zeros((n - k, n_bits))]), no_bias


#: A (n, C), a0 (C,), W (K, C) and b (K,), as in `State`.
Parameters = list[Float64Array]


@dataclass(kw_only=True, repr=False, eq=False)
class RelaxedTraining(Config):
    """Settings of the training of `RelaxedPiCoDes`.

    Parameters
    ----------
    temperature : float, default=1.0
        T of the sigmoid ``1 / (1 + exp(-2 a'x / T))`` in the first epoch, in units of
        the root mean square that scores have at the start.
    final_temperature : float, default=1.0
        T in the last epoch; it falls by the same factor after each. The paper states
        neither its T nor whether it falls.
    learning_rate : float, default=0.01
        Length of the steps of Adam.
    batch_size : int, default=100
        Rows that a step is computed from.
    """

    temperature: float = 1.0
    final_temperature: float = 1.0
    learning_rate: float = 0.01
    batch_size: int = 100

    constraints: ClassVar = {
        "temperature": POSITIVE,
        "final_temperature": POSITIVE,
        "learning_rate": POSITIVE,
        "batch_size": [Interval(int, 1)],
    }


@dataclass(eq=False, repr=False)
class RelaxedPiCoDes(PiCoDesLearner):
    """Learn the bits of PiCoDes by gradient descent, with sigmoids in their place.

    Classifiers and projectors are learnt together, from random batches of rows. The
    authors of PiCoDes found this much worse than block coordinate descent. On deep
    features of images it is as good for new classes: docs/papers/picodes.md.

    Parameters
    ----------
    n_bits : int, default=64
    training : RelaxedTraining or None, default=None
        The sigmoid's temperatures, and the steps; None takes the defaults.
    C : float, default=100
        Weight of the errors of the hyperplanes that ``init='classes'`` starts from.
    n_iter : int, default=10
        Number of epochs, each a walk over all rows.

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (n_iter_,)
        Eq. (4) of the bits, not of the sigmoids, at the end of each epoch, with
        classifiers trained on the bits as `PiCoDes` does. It may rise.

    Notes
    -----
    The first classifiers are those that `PiCoDes` trains on the first bits. A score of
    exactly 0 gives a 0.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011, end of section 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 10
    >>> X = rng.normal(size=(10, 16))[y] + rng.normal(size=(200, 16))
    >>> relaxed = RelaxedPiCoDes(n_bits=8, n_iter=5, random_state=0).fit(X, y)
    >>> relaxed.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> relaxed.objective_.shape
    (5,)
    """

    _: KW_ONLY
    training: RelaxedTraining | None = None

    configs: ClassVar[Mapping[str, type[Config]]] = {"training": RelaxedTraining}

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        training = self._config("training", RelaxedTraining)
        problem, A, a0, rng = self._start(X, y)
        # The unit of temperatures: scores of a mean square of 1.
        squares = np.mean((problem.X @ A + a0) ** 2, axis=0)
        scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
        state = first_state(problem, A * scale, a0 * scale)
        state = learn_classifiers(problem, state)
        parameters = state.A, state.a0, state.W, state.b
        zeros = [np.zeros_like(each) for each in parameters]
        start = (*state, *parameters, *zeros, *zeros, np.array([np.inf, 0]))
        ends = training.temperature, training.final_temperature
        states = partial(
            epochs,
            problem,
            rng,
            np.geomspace(*ends, self.n_iter).tolist(),
            training.batch_size,
            training.learning_rate,
        )
        best = State(*self._run(states, start, X, problem.y)[:5])
        return self._encoder(problem, best)


def epochs(
    problem: Problem,
    rng: RandomState,
    temperatures: Sequence[float],
    batch_size: int,
    learning_rate: float,
    start: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield the best bits so far, and eq. (4) of those at the end of each epoch."""
    # Behind the arrays of the best `State` stand the parameters, Adam's means and
    # squares of each, and two numbers: eq. (4) of the best bits, and the epochs that
    # were done.
    best, (least, n_done) = start[:5], start[-1]
    parameters = [each.copy() for each in start[5:9]]
    adam = Adam(parameters)
    adam.means, adam.squares = ([*map(np.copy, start[i : i + 4])] for i in (9, 13))
    adam.n_steps = int(n_done) * -(-len(problem.X) // batch_size)
    for epoch, temperature in enumerate(temperatures, 1):
        order = rng.permutation(len(problem.X))
        if epoch <= n_done:
            continue
        with np.errstate(over="ignore", invalid="ignore"):  # raised as an error below
            for first in range(0, len(order), batch_size):
                rows = order[first : first + batch_size]
                slopes = gradients(problem, parameters, rows, temperature)
                adam.step(slopes, learning_rate)
            # The bits that ``h`` gives, and classifiers on them.
            A, a0, W, b = (parameter.copy() for parameter in parameters)
            H = (problem.X @ A + a0 > 0).astype(np.float64)
            hardened = learn_classifiers(problem, State(A, a0, H, W, b))
            value = objective(problem, hardened)
        if not np.isfinite(value):
            raise ArgumentError(
                "the objective is not finite; take a smaller lam or "
                "training.learning_rate, or a larger training.temperature"
            )
        if value < least:
            best, least = hardened, value
        changing = [*parameters, *adam.means, *adam.squares]
        yield (*best, *map(np.copy, changing), np.array([least, epoch])), value


def gradients(
    problem: Problem,
    parameters: Parameters,
    rows: NDArray[np.int64],
    temperature: float,
) -> Parameters:
    """Return a subgradient of eq. (4), its mean loss taken over `rows`."""
    # Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``.
    A, a0, W, b = parameters
    X, y, own = problem.X[rows], problem.y[rows], np.arange(len(rows))
    soft = expit(2 / temperature * (X @ A + a0))
    M = soft @ W.T + b
    # The slope of l[y_ik M_ik]: -y_ik where the margin is missed.
    of_own, of_others = problem.weights
    slopes = np.where(M > -1, of_others, 0.0)
    slopes[own, y] = np.where(M[own, y] < 1, -of_own[y], 0.0)
    slopes *= problem.lam / len(rows)
    inner = slopes @ W * soft * (1 - soft) * (2 / temperature)
    return [X.T @ inner, inner.sum(axis=0), W + slopes.T @ soft, slopes.sum(axis=0)]
