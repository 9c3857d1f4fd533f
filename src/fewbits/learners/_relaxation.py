"""Eq. (4) of PiCoDes with sigmoids for bits, and its descent by mini-batches."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import expit

from fewbits.errors import ArgumentError
from fewbits.learners._picodes_steps import (
    Problem,
    State,
    hinge_sums,
    learn_classifiers,
    objective,
)

Float64Array = NDArray[np.float64]
#: A (n, C), a0 (C,), W (K, C) and b (K,), as in `State`.
Parameters = list[Float64Array]

_DECAYS = 0.9, 0.999  # of Adam's means, as its authors recommend
_TINY = 1e-8


def relaxed_objective(
    problem: Problem, parameters: Parameters, temperature: float
) -> float:
    """Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``."""
    A, a0, W, b = parameters
    soft = expit(2 / temperature * (problem.X @ A + a0))
    loss = hinge_sums(soft @ W.T + b, problem.y).sum()
    return float(0.5 * np.sum(W**2) + problem.C * loss)


def gradients(
    problem: Problem,
    parameters: Parameters,
    rows: NDArray[np.int64],
    temperature: float,
) -> Parameters:
    """Return a subgradient of `relaxed_objective`, its mean loss taken over `rows`."""
    A, a0, W, b = parameters
    X, y, own = problem.X[rows], problem.y[rows], np.arange(len(rows))
    soft = expit(2 / temperature * (X @ A + a0))
    M = soft @ W.T + b
    # The slope of l[y_ik M_ik]: -y_ik where the margin is missed.
    slopes = np.where(M > -1, 1.0, 0.0)
    slopes[own, y] = np.where(M[own, y] < 1, -1.0, 0.0)
    slopes *= problem.lam / len(rows)
    inner = slopes @ W * soft * (1 - soft) * (2 / temperature)
    return [X.T @ inner, inner.sum(axis=0), W + slopes.T @ soft, slopes.sum(axis=0)]


class Adam:
    """Steps along gradients, each entry in units of what it usually is.

    Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._means = [np.zeros_like(p) for p in parameters]
        self._squares = [np.zeros_like(p) for p in parameters]
        self._steps = 0

    def step(self, found: Parameters, rate: float) -> None:
        """Change the parameters in place."""
        self._steps += 1
        first, second = (1 - decay**self._steps for decay in _DECAYS)
        slots = zip(self.parameters, self._means, self._squares, found, strict=True)
        for parameter, mean, square, g in slots:
            mean += (1 - _DECAYS[0]) * (g - mean)
            square += (1 - _DECAYS[1]) * (g**2 - square)
            parameter -= rate * (mean / first) / (np.sqrt(square / second) + _TINY)


def epochs(
    problem: Problem,
    state: State,
    rng: RandomState,
    temperatures: Sequence[float],
    *,
    batch_size: int,
    learning_rate: float,
) -> Iterator[tuple[State, float]]:
    """Yield the best bits so far, and eq. (4) of those at the end of each epoch."""
    parameters = [state.A.copy(), state.a0.copy(), state.W.copy(), state.b.copy()]
    adam, least = Adam(parameters), np.inf
    for temperature in temperatures:
        order = rng.permutation(len(problem.X))
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            adam.step(gradients(problem, parameters, rows, temperature), learning_rate)
        hardened = learn_classifiers(problem, harden(problem, parameters))
        value = objective(problem, hardened)
        if not np.isfinite(value):
            raise ArgumentError(
                "the objective is not finite; take a smaller lam or learning_rate, or "
                "a larger temperature"
            )
        if value < least:
            state, least = hardened, value
        yield state, value


def harden(problem: Problem, parameters: Parameters) -> State:
    """Return a copy of the parameters with the bits that ``h`` gives."""
    A, a0, W, b = (parameter.copy() for parameter in parameters)
    return State(A, a0, (problem.X @ A + a0 > 0).astype(np.float64), W, b)


def unit_scores(
    problem: Problem, A: Float64Array, a0: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Scale projectors to scores of a mean square of 1: the unit of temperatures."""
    squares = np.mean((problem.X @ A + a0) ** 2, axis=0)
    scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
    return A * scale, a0 * scale
