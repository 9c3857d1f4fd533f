"""The two steps of PiCoDes' block coordinate descent, and its objective.

Notation of the paper: N examples, K classes, C bits; ``h(x) = 1[a_c'x > 0]`` (eq. 1),
classifiers ``b_k + w_k'h(x)``, and the hinge loss ``l[t] = max(0, 1 - t)``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.learners._linalg._svm import Hyperplane, hinge_svm, hinge_svms
from fewbits.learners.supervised.picodes._search import best_between

Float64Array = NDArray[np.float64]

_CONSTANT = 3.0  # large enough that 1/2 (b / 3)^2 is nothing beside eq. (4)
_DEAD = 1e-12  # of the largest cost: below it a bit of an example does not matter


@dataclass(frozen=True)
class Problem:
    """The constants: features (N, n), classes (N,), and the two weights."""

    X: Float64Array
    y: NDArray[np.int64]
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
        """Weights (K,) of an error on an example of a class, and of one on another's.

        All are 1 in the paper; `balanced`, both sides of a class weigh N / 2.
        """
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
        """``b_k + w_k'h(x_i)``, (N, K)."""
        return self.H @ self.W.T + self.b


def start(problem: Problem, A: Float64Array, a0: Float64Array) -> State:
    """Return given projectors with classifiers that know nothing."""
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
    corrected: Float64Array = (
        as_others
        - of_others[y] * np.maximum(0, 1 + own)
        + of_own[y] * np.maximum(0, 1 - own)
    )
    return corrected


def learn_classifiers(problem: Problem, state: State) -> State:
    """Step 1: a linear SVM for each class, with the bits fixed.

    The bits are centred, which changes no more than the meaning of b. LIBLINEAR stops
    early, and holds back the constant a little; a classifier that does no better in
    eq. (4) than the one before is not taken.
    """
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
        W=np.where(better[:, None], W, state.W),
        b=np.where(better, b, state.b),
    )


def _class_objectives(problem: Problem, state: State) -> Float64Array:
    """Return the part of each class in eq. (4)."""
    M, own = state.margins, (np.arange(len(problem.y)), problem.y)
    of_own, of_others = problem.weights
    losses = of_others * np.maximum(0, 1 + M).sum(axis=0)
    as_other, as_own = np.maximum(0, 1 + M[own]), np.maximum(0, 1 - M[own])
    corrections = of_own[problem.y] * as_own - of_others[problem.y] * as_other
    losses += np.bincount(problem.y, corrections, minlength=problem.n_classes)
    parts: Float64Array = 0.5 * np.sum(state.W**2, axis=1) + problem.C * losses
    return parts


def learn_projectors(
    problem: Problem, state: State, done: Callable[[int], None] = lambda _: None
) -> State:
    """Step 2: one bit after the other, with the classifiers and other bits fixed.

    `done` is told how many are.
    """
    A, a0, H = state.A.copy(), state.a0.copy(), state.H.copy()
    M = state.margins
    for c, w in enumerate(state.W.T):
        M -= np.outer(H[:, c], w)  # scores without bit c: beta of the paper
        deltas = hinge_sums(problem, M + w) - hinge_sums(problem, M)
        found = projector(problem, deltas, H[:, c], (A[:, c], a0[c]))
        if found is not None:
            A[:, c], a0[c], H[:, c] = found
        M += np.outer(H[:, c], w)
        done(c + 1)
    return state._replace(A=A, a0=a0, H=H)


def projector(
    problem: Problem, deltas: Float64Array, bits: Float64Array, old: Hyperplane
) -> tuple[Float64Array, float, Float64Array] | None:
    """Minimise eq. (5), ``sum_i deltas_i 1[a'x_i > 0]``, by its hinge bound, eq. (6).

    A positive delta is the price of a one, so the example should get a zero: eq. (6) as
    printed has the sign the other way round. Returns None where the bound leads to
    nothing better than the `bits` of the `old` projector, or to a bit that all examples
    share.
    """
    costs = np.abs(deltas)
    largest = costs.max()
    if largest == 0:
        return None
    costs[costs < _DEAD * largest] = 0
    wanted = deltas < 0
    matters = costs > 0
    if wanted[matters].all() or not wanted[matters].any():
        return None
    a, a0 = hinge_svm(
        problem.X,
        wanted,
        problem.cost,
        weights=costs / costs.mean(),
        seed=problem.seed,
    )
    if problem.line_search:
        a, a0 = best_between(problem.X, old, (a, a0), deltas)
    new = (problem.X @ a + a0 > 0).astype(np.float64)
    if deltas @ new >= deltas @ bits or new.min() == new.max():
        return None
    return a, a0, new
