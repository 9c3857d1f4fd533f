"""The alternation of circulant binary embedding, frequency by frequency.

The Fourier transform makes every circulant matrix diagonal: of ``||B - X R'||^2 +
penalty ||R R' - I||^2`` each frequency has a part of its own, ``m |r|^2 - 2 Re(conj(r)
c) + penalty (|r|^2 - 1)^2``, where r is its entry of the transform of R's first column,
m its share of ``||X||^2`` and c its correlation of X with B. Whatever the length of r,
it best points where c does; what remains is a cubic equation for the length. At the
frequencies that are real (0, and d / 2 for even d) c is real, and so is r.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._signs import signs

Float64Array = NDArray[np.float64]
Spectra = NDArray[np.complex128]
Blocks = Callable[[], Iterable[Float64Array]]

_MAX_STEPS = 100


def circulants(
    rows: Blocks, d: int, n_bits: int, penalty: float, free: bool, state: Arrays
) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better spectra of first columns, and their objective.

    They have shape (n_blocks, d // 2 + 1), as those in `state`, which they follow on.
    Outputs behind the last bit have targets of 0, or, where they are `free`, of what
    they are: the objective with these is nowhere below that without them, and equal
    where they are from, so that it, too, never rises.
    """
    (spectra,) = state
    pairs = np.where(np.arange(d // 2 + 1) * 2 % d == 0, 1, 2)  # f stands for -f, too
    n, energy = _energy(rows, d)
    while True:
        c, behind = _correlations(rows, spectra, n_bits, d, free)
        spectra = _best_spectra(energy, c, spectra, penalty)
        size = np.abs(spectra) ** 2
        parts = energy * size - 2 * (spectra.conj() * c).real
        parts += penalty * (size - 1) ** 2
        total = n * n_bits + behind + float(np.sum(pairs * parts))
        yield (spectra,), total / (n * n_bits)


def _energy(rows: Blocks, d: int) -> tuple[int, Float64Array]:
    """Return the number of rows, and ``||X||^2`` at each frequency."""
    n, energy = 0, np.zeros(d // 2 + 1)
    for block in rows():
        n += len(block)
        energy += np.sum(np.abs(rfft(block)) ** 2, axis=0)
    return n, energy / d


def _correlations(
    rows: Blocks, spectra: Spectra, n_bits: int, d: int, free: bool
) -> tuple[Spectra, float]:
    """Return X'B at each frequency for targets ``B``, and the squares behind the bits.

    Targets are ``sign(X R')`` up to the last bit, then 0 or the outputs themselves.
    """
    c: Spectra = np.zeros_like(spectra)
    behind = 0.0
    for block in rows():
        X = rfft(block)
        for k, spectrum in enumerate(spectra):
            scores = irfft(X * spectrum, d)
            B = signs(scores >= 0)
            last = slice(max(0, n_bits - k * d), None)
            B[:, last] = scores[:, last] if free else 0
            behind += float(np.sum(B[:, last] ** 2))
            c[k] += np.sum(X.conj() * rfft(B), axis=0) / d
    return c, behind


def _best_spectra(
    m: Float64Array, c: Spectra, before: Spectra, penalty: float
) -> Spectra:
    """Minimise each frequency's part; a direction that does not matter stays."""
    size = np.abs(c)
    away: Spectra = np.where(size > 0, c, before)
    away[away == 0] = 1
    away /= np.abs(away)
    return away * positive_root(m / (2 * penalty) - 1, size / (2 * penalty))


def positive_root(p: Float64Array, q: Float64Array) -> Float64Array:
    """Return the largest real root of ``x^3 + p x - q`` for q of at least 0.

    It is the only positive one, or 0. Newton's method comes down to it from above,
    without passing it, since the curve is convex there.
    """
    p, q = np.broadcast_arrays(p, q)
    x = np.sqrt(np.maximum(-p, 0)) + np.cbrt(q)
    for _ in range(_MAX_STEPS):
        slope = 3 * x * x + p
        step = np.where(slope > 0, (x * x * x + p * x - q), 0)
        step /= np.where(slope > 0, slope, 1)
        lower = np.maximum(x - step, 0)
        if (lower >= x).all():
            break
        x = np.minimum(lower, x)
    return x
