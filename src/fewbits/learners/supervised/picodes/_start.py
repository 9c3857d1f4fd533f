"""Initialisation of PiCoDes: scaled principal components and projectors."""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import Array, FeatureArray
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._axes import principal_axes
from fewbits.learners._linalg._procrustes import random_rotation
from fewbits.learners._linalg._rotation import rotations
from fewbits.learners._linalg._svm import hinge_svms
from fewbits.learners.supervised.picodes._steps import Problem

Float64Array = NDArray[np.float64]

STARTS = ("itq", "pca", "random", "classes")
_ITQ_ITERATIONS = 20
#: Fewer hold too little of the features, and more than bits let classes be learnt by
#: heart.
LEAST_COMPONENTS = 128


@dataclass(frozen=True)
class Components:
    """``x = P psi(f)``: rows of a mean squared length of 1, and how they were made."""

    rows: Float64Array
    P: Float64Array  # (n_features, n)
    mean: Float64Array

    def encoder(self, A: Float64Array, a0: Float64Array) -> LinearEncoder:
        """Return the map from features to ``1[a_c'x > 0]``."""
        W = self.P @ A
        return LinearEncoder(W, bias=a0 - self.mean @ W)


def components(X: Array, n_components: int) -> Components:
    """Return the principal components, the scale of the features taken out."""
    axes = principal_axes(X)
    k = min(n_components, axes.rank)
    # Scaled so that `C` means the same in any units.
    P = axes.directions[:, :k] * np.sqrt(len(X) / axes.scatter[:k].sum())
    return Components(np.concatenate(list(Rows(X, axes.mean, P))), P, axes.mean)


def first_projectors(
    problem: Problem, n_bits: int, init: str, rng: RandomState
) -> tuple[Float64Array, Float64Array]:
    """Return projectors and their constants, as `init` of `PiCoDes` asks for."""
    n, no_bias = problem.X.shape[1], np.zeros(n_bits)
    if init == "classes":
        return _class_halves(problem, n_bits, rng)
    if init == "random":
        return rng.standard_normal((n, n_bits)), no_bias
    if init == "pca" and n_bits <= n:
        return np.eye(n, n_bits), no_bias
    k = min(n, n_bits)
    R = random_rotation(k, n_bits, rng)
    if init == "itq":
        R = _itq(problem.X[:, :k], R)
    return np.concatenate([R, np.zeros((n - k, n_bits))]), no_bias


def _itq(X: Float64Array, R: FeatureArray) -> FeatureArray:
    rows = Rows(X, np.zeros(X.shape[1]), n_out=R.shape[1])
    steps = rotations(rows, float(np.sum(X**2)), (R,))
    for _ in range(_ITQ_ITERATIONS):
        (R,), _ = next(steps)
    return R


def _class_halves(
    problem: Problem, n_bits: int, rng: RandomState
) -> tuple[Float64Array, Float64Array]:
    """Return a hyperplane for each of `n_bits` random divisions of the classes."""
    K = problem.n_classes
    halves = [(rng.permutation(K) < K / 2)[problem.y] for _ in range(n_bits)]
    A, a0 = hinge_svms(problem.X, halves, problem.cost, seed=problem.seed)
    return A.T, a0
