"""Iterative quantization, of all features or within groups of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits._warnings import warn_user
from fewbits.encoders import BlockDiagonalEncoder, LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._device import current_backend, product, threads_for
from fewbits.learners._core._iterative import Arrays, IterativeLearner, Labels
from fewbits.learners._core._parameters import FROM_0, USUAL, Interval, words
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._orthogonal import (
    PrincipalAxes,
    polar,
    principal_axes,
    random_rotation,
)

Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class RotationLearner(IterativeLearner):
    """A learner that rotates linear combinations of the features.

    Attributes
    ----------
    objective_ : ndarray of shape (n_iter_,)
        Mean squared distance between scores and bits (as -1 and 1), at the end of each
        iteration. It never rises.
    """

    constraints: ClassVar = USUAL | {"n_iter": FROM_0}
    uses_device = True
    takes_sparse = True

    def _rotated(
        self,
        X: Array,
        axes: PrincipalAxes,
        T: Float64Array | None,
        rng: RandomState,
        Y: Labels | None = None,
    ) -> LinearEncoder:
        """Return an encoder of the columns of `T` (rank, k), rotated."""
        if T is None:
            k = min(self.n_bits, axes.rank)
            E, energy = axes.directions[:, :k], axes.scatter[:k].sum()
        else:
            k, E = T.shape[1], axes.directions @ T
            energy = float(axes.scatter @ (T**2).sum(axis=1))
            if np.linalg.norm(E, axis=1).max() > np.finfo(np.float32).max:
                spread = np.sqrt(axes.scatter[0] / len(X))
                raise FeatureError(
                    f"X varies by {spread:.1g} only, too little for weights in "
                    "float32: multiply it by a constant"
                )
        dtype = working_dtype(len(X), k, self.n_bits)
        V = Rows(X, axes.mean, E, dtype, n_out=self.n_bits)
        R = random_rotation(k, self.n_bits, rng)
        (R,) = self._run(partial(rotations, V, energy), (R,), X, Y)
        W = product(E, R)
        return LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)


@dataclass(eq=False, repr=False)
class ITQ(RotationLearner):
    """Rotate the leading principal components towards the corners of a cube.

    Parameters
    ----------
    n_bits : int, default=64
    n_iter : int, default=50
        Number of alternations between codes and rotation. 0 keeps the random rotation
        of the components, a baseline of its own.

    Attributes
    ----------
    encoder_ : LinearEncoder

    Notes
    -----
    The paper stops at as many bits as features; Xia et al. extend it by Procrustes'
    problem with a rectangular rotation, which also serves data whose rank is less than
    `n_bits`. Where there is one direction only, all bits are equal or opposite, and a
    warning says so. A score of exactly 0 is encoded as 1.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Xia, He, Kohli and Sun, "Sparse Projections for High-Dimensional Binary Codes",
    CVPR 2015, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> ITQ(n_bits=8, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        if axes.rank == 1 and len(X) > 2 and self.n_bits > 1 and self._dead_bits:
            warn_user(
                "X varies in one direction only, as rows of two kinds do: all "
                f"{self.n_bits} bits are equal or opposite, so there are two codes"
            )
        return self._rotated(X, axes, None, rng)


class InnerITQ(ITQ):
    """ITQ as a step of another learner, which warns of its bits itself."""

    _dead_bits = None


def rotations(V: Rows, energy: float, state: Arrays) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations of the rows `V` towards corners of a cube."""
    # Lowers ``||B - V R||^2`` over signs B and matrices R (k, b) with ``R R' = I``,
    # each in turn and exactly, so it never rises. Yields R with the objective divided
    # by the number of entries of B, beginning after the R of `state`. `energy` is
    # ``||V||^2``.
    (R,) = state
    size = V.shape[0] * R.shape[1]
    while True:
        C = sign_products(V, R)  # V'B for B = sign(V R)
        R = polar(C)  # argmin ||B - V R||^2
        # ||B||^2 - 2 tr(R'V'B) + ||V R||^2, the last of which is ||V||^2.
        yield (R,), (size - 2 * float(np.vdot(R, C)) + energy) / size


def sign_products(V: Rows, R: FeatureArray) -> Float64Array:
    """Return ``V' sign(V R)`` with sign(0) = 1, summed over blocks in float64."""
    backend = current_backend()
    sums = backend.put(np.zeros(R.shape))
    R = backend.put(R.astype(V.dtype, copy=False))
    for block in V:
        there = backend.put(block)
        with threads_for(len(there), *R.shape):
            sums += there.T @ backend.signs(there @ R)
    C: Float64Array = backend.get(sums)
    return C


Groups = list[NDArray[np.intp]]


@dataclass(eq=False, repr=False)
class BlockITQ(IterativeLearner):
    """Rotate the principal components of groups of features, each by itself.

    ITQ with a block-diagonal rotation: ten blocks have a tenth of the weights, and
    encode a batch in about a tenth of the time. Made for codes about as long as the
    features are wide, or longer: shorter ones rank worse than those of ITQ.

    Parameters
    ----------
    n_bits : int, default=64
    n_blocks : int, default=10
        Groups of features, at most; no more than there are bits or features.
    groups : {'correlated', 'balanced'}, default='correlated'
        Features that correlate form a group, or features are dealt to the groups in
        order of variance. Balanced groups are for features that repeat one another,
        such as GIST's; on other features, short codes rank worse with them.
    n_iter : int, default=50
        Number of alternations between codes and rotations. 0 keeps random rotations.

    Attributes
    ----------
    encoder_ : BlockDiagonalEncoder
    objective_ : ndarray of shape (n_iter_,)
        Mean squared distance between scores and bits (as -1 and 1), at the end of each
        iteration. It never rises.

    Notes
    -----
    Where bits are fewer than components, those of largest variance are kept, of
    whichever group; where they are more, groups share the rest evenly, and their
    rotations are rectangular. A score of exactly 0 is encoded as 1.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011, for each block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 40))
    >>> itq = BlockITQ(n_bits=40, random_state=0).fit(X)
    >>> itq.encoder_, itq.encoder_.density
    (BlockDiagonalEncoder(40 -> 40 bits), 0.1)
    """

    _: KW_ONLY
    n_blocks: int = 10
    groups: str = "correlated"

    constraints: ClassVar = USUAL | {
        "n_blocks": [Interval(int, 1)],
        "groups": [words("correlated", "balanced")],
        "n_iter": FROM_0,
    }
    uses_device = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> BlockDiagonalEncoder:
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        covariance = (axes.directions * axes.scatter) @ axes.directions.T
        n_blocks = min(self.n_blocks, self.n_bits, len(covariance))
        correlated = self.groups == "correlated"
        grouped = correlated_groups if correlated else balanced_groups
        groups = grouped(covariance, n_blocks)
        blocks = leading_components(covariance, groups, self.n_bits)
        n_components = [block.axes.shape[1] for block in blocks]
        starts = np.cumsum([0, *n_components])
        # A bit for each component, and the rest evenly.
        rest = np.array_split(np.arange(self.n_bits - starts[-1]), len(blocks))
        n_bits = [k + len(more) for k, more in zip(n_components, rest, strict=True)]
        P = np.zeros((len(covariance), starts[-1]))
        for i, block in enumerate(blocks):
            P[block.features, starts[i] : starts[i + 1]] = block.axes
        dtype = working_dtype(len(X), starts[-1], self.n_bits // len(blocks) + 1)
        V = Rows(X, axes.mean, P, dtype, n_out=self.n_bits)
        start = tuple(
            random_rotation(block.axes.shape[1], n, rng)
            for block, n in zip(blocks, n_bits, strict=True)
        )
        energy = float(sum(block.scatter.sum() for block in blocks))
        rotations = self._run(partial(block_rotations, V, energy), start, X)
        maps = [block.axes @ R for block, R in zip(blocks, rotations, strict=True)]
        parts: list[tuple[Any, Any]] = [
            (block.features, W) for block, W in zip(blocks, maps, strict=True)
        ]
        return BlockDiagonalEncoder.from_blocks(
            parts,
            np.concatenate([-axes.mean[features] @ W for features, W in parts]),
            len(axes.mean),
            zero_bit=1,
        )


class Block(NamedTuple):
    """A group of features, and the directions in it that are rotated."""

    features: NDArray[np.intp]
    axes: Float64Array  # (features, components)
    scatter: Float64Array


def leading_components(covariance: Array, groups: Groups, n_bits: int) -> list[Block]:
    """Return groups with their principal components: the leading ones of all groups."""
    candidates = []
    for features in groups:
        scatter, axes = np.linalg.eigh(covariance[np.ix_(features, features)])
        candidates.append(Block(features, axes[:, ::-1], scatter[::-1]))
    every = np.sort(np.concatenate([block.scatter for block in candidates]))[::-1]
    rounding = every[0] * len(covariance) * np.finfo(np.float64).eps
    least = max(rounding, every[n_bits] if n_bits < len(every) else 0.0)
    counts = [int(np.sum(block.scatter > least)) for block in candidates]
    return [
        Block(block.features, block.axes[:, :k], block.scatter[:k])
        for block, k in zip(candidates, counts, strict=True)
        if k
    ]


def correlated_groups(covariance: Array, n_groups: int) -> Groups:
    """Return groups of features of about the same size, each in rising order."""
    # A group begins with the feature that correlates most with all that are left, by
    # squares, and takes in turn the one that correlates most with those it has.
    deviations = np.sqrt(np.diagonal(covariance))
    inverse = 1 / np.where(deviations > 0, deviations, np.inf)
    alike = np.square(covariance * inverse * inverse[:, None])
    np.fill_diagonal(alike, 0)
    left = np.ones(len(alike), bool)
    groups = []
    for places in np.array_split(np.arange(len(alike)), n_groups):
        affinity = alike @ left
        group: list[int] = []
        for _ in places:
            feature = int(np.argmax(np.where(left, affinity, -1.0)))
            affinity = alike[feature] + (affinity if group else 0.0)
            left[feature] = False
            group.append(feature)
        groups.append(np.sort(group))
    return groups


def balanced_groups(covariance: Array, n_groups: int) -> Groups:
    """Return groups of features, each in rising order, dealt in order of variance."""
    order = np.argsort(-np.diagonal(covariance), kind="stable")
    return [np.sort(order[i::n_groups]) for i in range(n_groups)]


def block_rotations(
    V: Rows, energy: float, rotations: Arrays
) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations, those of all blocks at a time."""
    # As `rotations` of ITQ: lowers ``||B - V R||^2`` over signs B and block-diagonal R
    # with orthonormal rows, each in turn and exactly.
    size = V.shape[0] * sum(R.shape[1] for R in rotations)
    ends = np.cumsum([len(R) for R in rotations])[:-1]
    while True:
        # ``V' sign(V R)`` of each block, with sign(0) = 1, in float64.
        single: list[FeatureArray] = [R.astype(V.dtype) for R in rotations]
        products = [np.zeros(R.shape) for R in rotations]
        for rows in V:
            parts = np.split(rows, ends, axis=1)
            for C, part, R in zip(products, parts, single, strict=True):
                C += part.T @ np.where(part @ R >= 0, V.dtype.type(1), V.dtype.type(-1))
        rotations = tuple(map(polar, products))
        fit = sum(map(np.vdot, rotations, products))
        yield rotations, (size - 2 * float(fit) + energy) / size
