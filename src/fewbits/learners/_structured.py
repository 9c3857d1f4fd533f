"""Projections whose structure makes them fast: Hadamard, circulant, bilinear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits._unit_rows import unit_rows
from fewbits.encoders import (
    MAX_ROUNDS,
    BilinearEncoder,
    CirculantEncoder,
    Encoder,
    HadamardEncoder,
    padded_size,
)
from fewbits.learners._core._base import Learner
from fewbits.learners._core._device import signs
from fewbits.learners._core._iterative import Arrays, IterativeLearner
from fewbits.learners._core._parameters import USUAL, Interval
from fewbits.learners._core._rows import Rows, column_means
from fewbits.learners._linalg._orthogonal import polar

Float64Array = NDArray[np.float64]
AnyEncoder = TypeVar("AnyEncoder", bound=Encoder)
_NEWTON_STEPS = 100


@dataclass(eq=False, repr=False)
class Hadamard(Learner):
    """Cut the centred data with hyperplanes of a fast pseudo-random rotation.

    Random signs and a Walsh-Hadamard transform, `n_rounds` times over, are close to a
    random rotation, and take ``d log2(d)`` additions a round instead of the ``d *
    n_bits`` multiply-adds of `LSH`. Only the mean is learnt.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. Up to the number of features, padded to a
        power of 2, all bits come from one rotation; longer codes take several.
    n_rounds : int, default=3
        Signs and transforms, 1 to 16. With one or two, rows with few large features
        are far from randomly rotated.
    random_state : int, RandomState instance or None, default=None
        Seeds the signs.

    Attributes
    ----------
    encoder_ : HadamardEncoder

    Notes
    -----
    The hyperplanes of one rotation are orthogonal (when no features were padded), so
    that codes estimate angles with less variance than independent hyperplanes do. With
    the same seed a longer code begins with the shorter one. A score of exactly 0 is
    encoded as 1.

    References
    ----------
    Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt, "Practical and Optimal LSH for
    Angular Distance", NIPS 2015, section 5 (three rounds in place of a rotation).

    Ailon and Chazelle, "Approximate Nearest Neighbors and the Fast
    Johnson-Lindenstrauss Transform", STOC 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> Hadamard(n_bits=32, random_state=0).fit(X).encoder_
    HadamardEncoder(16 -> 32 bits)
    """

    n_bits: int = 64
    _: KW_ONLY
    n_rounds: int = 3
    random_state: Any = None

    constraints: ClassVar = USUAL | {"n_rounds": [Interval(int, 1, MAX_ROUNDS)]}
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> HadamardEncoder:
        rng = check_random_state(self.random_state)
        d = X.shape[1]
        size = padded_size(d)
        n_blocks = -(-self.n_bits // size)
        signs = rng.randint(0, 256, (n_blocks, self.n_rounds, size // 8), np.uint8)
        rotation = HadamardEncoder(signs, np.zeros(self.n_bits), d, zero_bit=1)
        return centred(rotation, column_means(X))


def centred(encoder: AnyEncoder, mean: NDArray[np.float64]) -> AnyEncoder:
    """Return an encoder without a bias as one that takes `mean` off its features."""
    # Its own scores of the mean do as well as exact ones: they err by no more than the
    # scores of a row near the mean.
    bias = -encoder.project(mean[None])[0]
    parts: dict[str, Any] = {**encoder.tensors(), "bias": bias}
    return type(encoder)(**parts | {"zero_bit": encoder.zero_bit})


@dataclass(eq=False, repr=False)
class CBE(IterativeLearner):
    """Project on the rows of a circulant matrix, random or learnt.

    A fixed random sign for each feature, then a matrix each of whose rows is the one
    above moved on by one place: d numbers instead of ``d * n_bits``, and a product in
    ``d log(d)`` operations whatever the length of the code, up to d bits.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. Beyond the number of features, each that
        many bits come from a matrix of their own.
    learn : bool, default=True
        Alternate between codes and matrix (CBE-opt); False keeps the random matrix
        (CBE-rand).
    penalty : float, default=1.0
        Weight of the second term of the objective, from 1e-30 to 1e30.
    n_iter : int, default=10
        Number of alternations.

    Attributes
    ----------
    encoder_ : CirculantEncoder
    objective_ : ndarray of shape (n_iter_,)
        ``||B - X R'||^2 + penalty * ||R R' - I||^2``, summed over the matrices and
        divided by ``n * n_bits``, at the end of each iteration. It never rises. Empty
        for a random matrix.

    Notes
    -----
    Rows are centred and scaled to unit length. Outputs behind the last bit should be 0,
    as in the paper: where bits are far fewer than features, compare with
    ``learn=False``. Both steps are exact, each frequency for
    itself, so that any number of features does. A score of exactly 0 is encoded as 1. A
    longer code of random matrices begins with the shorter one of the same seed.

    References
    ----------
    Yu, Kumar, Gong and Chang, "Circulant Binary Embedding", ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> CBE(n_bits=12, random_state=0).fit(X).encoder_
    CirculantEncoder(16 -> 12 bits)
    """

    _: KW_ONLY
    learn: bool = True
    penalty: float = 1.0
    n_iter: int = 10

    constraints: ClassVar = USUAL | {
        "learn": ["boolean"],
        "penalty": [Interval(float, 1e-30, 1e30)],
    }
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> CirculantEncoder:
        rng = check_random_state(self.random_state)
        d = X.shape[1]
        signs = np.packbits(rng.random_sample(d) < 0.5)
        columns = rng.standard_normal((-(-self.n_bits // d), d))
        mean = column_means(X)
        if self.learn:
            flips = 1.0 - 2.0 * np.unpackbits(signs, count=d)
            rows = Rows(X, mean, n_out=2 * d)
            states = partial(
                circulants,
                lambda: (unit_rows(block) * flips for block in rows),
                d,
                self.n_bits,
                self.penalty,
            )
            (spectra,) = self._run(states, (rfft(columns),), X)
            columns = irfft(spectra, d)
        else:
            self.n_iter_ = 0
        encoder = CirculantEncoder(columns, signs, np.zeros(self.n_bits), zero_bit=1)
        return centred(encoder, mean)


# The Fourier transform makes every circulant matrix diagonal: of ``||B - X R'||^2 +
# penalty ||R R' - I||^2`` each frequency has a part of its own, ``m |r|^2 - 2
# Re(conj(r) c) + penalty (|r|^2 - 1)^2``, where r is its entry of the transform of R's
# first column, m its share of ``||X||^2`` and c its correlation of X with B. Whatever
# the length of r, it best points where c does; what remains is a cubic equation for the
# length. At the frequencies that are real (0, and d / 2 for even d) c is real, and so
# is r.


def circulants(
    rows: Callable[[], Iterable[Float64Array]],
    d: int,
    n_bits: int,
    penalty: float,
    state: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better spectra of first columns, and their objective."""
    # They have shape (n_blocks, d // 2 + 1), as those in `state`, which they follow on.
    (spectra,) = state
    pairs = np.where(np.arange(d // 2 + 1) * 2 % d == 0, 1, 2)  # f stands for -f, too
    n, energy = 0, np.zeros(d // 2 + 1)  # ``||X||^2`` at each frequency
    for block in rows():
        n += len(block)
        energy += np.sum(np.abs(rfft(block)) ** 2, axis=0)
    energy /= d
    while True:
        # X'B for targets of ``sign(X R')`` up to the last bit, behind it of 0.
        c = np.zeros_like(spectra)
        for block in rows():
            X = rfft(block)
            for k, spectrum in enumerate(spectra):
                B = signs(irfft(X * spectrum, d))
                B[:, max(0, n_bits - k * d) :] = 0
                c[k] += np.sum(X.conj() * rfft(B), axis=0) / d
        # The best of each frequency; a direction that does not matter stays.
        away = np.where(np.abs(c) > 0, c, spectra)
        away[away == 0] = 1
        away /= np.abs(away)
        p, q = energy / (2 * penalty) - 1, np.abs(c) / (2 * penalty)
        spectra = away * positive_root(p, q)
        size = np.abs(spectra) ** 2
        parts = energy * size - 2 * (spectra.conj() * c).real
        parts += penalty * (size - 1) ** 2
        total = n * n_bits + float(np.sum(pairs * parts))
        yield (spectra,), total / (n * n_bits)


def positive_root(p: Float64Array, q: Float64Array) -> Float64Array:
    """Return the largest real root of ``x^3 + p x - q`` for q of at least 0."""
    # It is the only positive one, or 0. Newton's method comes down to it from above,
    # without passing it, since the curve is convex there.
    p, q = np.broadcast_arrays(p, q)
    x = np.sqrt(np.maximum(-p, 0)) + np.cbrt(q)
    for _ in range(_NEWTON_STEPS):
        slope = 3 * x * x + p
        step = np.where(slope > 0, (x * x * x + p * x - q), 0)
        step /= np.where(slope > 0, slope, 1)
        lower = np.maximum(x - step, 0)
        if (lower >= x).all():
            break
        x = np.minimum(lower, x)
    return x


@dataclass(eq=False, repr=False)
class BilinearProjections(IterativeLearner):
    """Write the features as a matrix and multiply it from both sides.

    Two small matrices, random or rotations that are learnt, stand for one large
    projection: about ``2 * d * sqrt(d)`` multiply-adds instead of ``d * n_bits``.

    Parameters
    ----------
    n_bits : int, default=64
    learn : bool, default=True
        Alternate between codes and rotations (BP-opt); False keeps random Gaussian
        matrices (BP-rand).
    n_iter : int, default=5
        Number of alternations.

    Attributes
    ----------
    encoder_ : BilinearEncoder
    objective_ : ndarray of shape (n_iter_,)
        Minus the mean dot product of a code, scaled to unit length, and the scores of
        its row of unit length, after each iteration, with the signs that its last side
        was solved for. It never rises. Empty for random matrices.

    Notes
    -----
    The features fill a matrix row by row, with zeros up to the next number whose
    factors are within twice each other. Bits are treated alike, and those that are too
    many dropped. Rows are centred, and scaled to unit length for learning. A score of
    exactly 0 gives a 1.

    References
    ----------
    Gong, Kumar, Rowley and Lazebnik, "Learning Binary Codes for High-Dimensional Data
    Using Bilinear Projections", CVPR 2013.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> BilinearProjections(n_bits=12, random_state=0).fit(X).encoder_
    BilinearEncoder(16 -> 12 bits)
    """

    _: KW_ONLY
    learn: bool = True
    n_iter: int = 5

    constraints: ClassVar = USUAL | {"learn": ["boolean"]}
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> BilinearEncoder:
        rng = check_random_state(self.random_state)
        d1, d2 = near_square(X.shape[1])
        b1, b2 = near_square(self.n_bits)
        b2 = -(-self.n_bits // b1)
        left, right = rng.standard_normal((d1, b1)), rng.standard_normal((d2, b2))
        mean = column_means(X)
        if self.learn:
            start = closest_rotation(left), closest_rotation(right)
            rows = Rows(X, mean, n_out=max(d1 * b2, b1 * d2, b1 * b2))
            left, right = self._run(partial(side_rotations, rows), start, X)
        else:
            self.n_iter_ = 0
        zeros = np.zeros(self.n_bits)
        encoder = BilinearEncoder(left, right, zeros, X.shape[1], zero_bit=1)
        return centred(encoder, mean)


def near_square(n: int) -> tuple[int, int]:
    """Return a, b with ``a <= b <= 2 a`` and the smallest product of at least `n`."""
    if n == 1:
        return 1, 1
    while True:
        for a in range(math.isqrt(n), 0, -1):
            if n > 2 * a * a:
                break
            if n % a == 0:
                return a, n // a
        n += 1


def closest_rotation(C: FeatureArray) -> FeatureArray:
    """Return the closest matrix to `C` with orthonormal columns, or rows if wide."""
    return polar(C) if C.shape[0] <= C.shape[1] else polar(C.T).T


def side_rotations(rows: Rows, sides: Arrays) -> Iterator[tuple[Arrays, float]]:
    left, right = sides
    n_bits = left.shape[1] * right.shape[1]
    while True:
        right = closest_rotation(_correlation(rows, left, right, of_left=False))
        C = _correlation(rows, left, right, of_left=True)
        left = closest_rotation(C)
        value = float(np.vdot(left, C)) / (rows.shape[0] * math.sqrt(n_bits))
        yield (left, right), -value


def _correlation(
    rows: Rows, left: FeatureArray, right: FeatureArray, *, of_left: bool
) -> Float64Array:
    """Return the matrix whose dot product with a side is the sum to be raised."""
    C, (d1, d2) = (
        np.zeros(left.shape if of_left else right.shape),
        (len(left), len(right)),
    )
    for block in rows:
        n, d = block.shape
        Z = np.pad(unit_rows(block), ((0, 0), (0, d1 * d2 - d))).reshape(n, d1, d2)
        half = (Z.reshape(n * d1, d2) @ right).reshape(n, d1, right.shape[1])
        B = signs(left.T @ half)  # (n, b1, b2)
        if of_left:
            C += np.tensordot(half, B, axes=([0, 2], [0, 2]))
        else:
            C += np.tensordot(left.T @ Z, B, axes=([0, 1], [0, 1]))
        del Z, half, B  # before the next are made
    return C
