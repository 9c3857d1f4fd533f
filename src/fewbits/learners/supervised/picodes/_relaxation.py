"""Eq. (4) of PiCoDes with sigmoids for bits, and its descent by mini-batches."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import expit

from fewbits.errors import ArgumentError
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._linalg._adam import Adam
from fewbits.learners.supervised.picodes._steps import (
    Problem,
    State,
    hinge_sums,
    learn_classifiers,
    objective,
)

Float64Array = NDArray[np.float64]
#: A (n, C), a0 (C,), W (K, C) and b (K,), as in `State`.
Parameters = list[Float64Array]


def relaxed_objective(
    problem: Problem, parameters: Parameters, temperature: float
) -> float:
    """Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``."""
    A, a0, W, b = parameters
    soft = expit(2 / temperature * (problem.X @ A + a0))
    loss = hinge_sums(problem, soft @ W.T + b).sum()
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
    of_own, of_others = problem.weights
    slopes = np.where(M > -1, of_others, 0.0)
    slopes[own, y] = np.where(M[own, y] < 1, -of_own[y], 0.0)
    slopes *= problem.lam / len(rows)
    inner = slopes @ W * soft * (1 - soft) * (2 / temperature)
    return [X.T @ inner, inner.sum(axis=0), W + slopes.T @ soft, slopes.sum(axis=0)]


def first_epoch(state: State) -> Arrays:
    """Return what `epochs` begins with: see there."""
    parameters = state.A, state.a0, state.W, state.b
    zeros = [np.zeros_like(each) for each in parameters]
    return (*state, *parameters, *zeros, *zeros, np.array([np.inf, 0]))


def epochs(
    problem: Problem,
    rng: RandomState,
    temperatures: Sequence[float],
    start: Arrays,
    *,
    batch_size: int,
    learning_rate: float,
) -> Iterator[tuple[Arrays, float]]:
    """Yield the best bits so far, and eq. (4) of those at the end of each epoch.

    Behind the arrays of the best `State` stand the parameters, Adam's means and squares
    of each, and two numbers: eq. (4) of the best bits, and the epochs that were done.
    """
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
            hardened = learn_classifiers(problem, harden(problem, parameters))
            value = objective(problem, hardened)
        if not np.isfinite(value):
            raise ArgumentError(
                "the objective is not finite; take a smaller lam or "
                "training.learning_rate, or a larger training.temperature"
            )
        if value < least:
            best, least = hardened, value
        changing = [*parameters, *adam.means, *adam.squares]
        kept = [each.copy() for each in changing]
        yield (*best, *kept, np.array([least, epoch])), value


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
