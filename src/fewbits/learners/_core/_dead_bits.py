"""Warnings about constant and repeated bits."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array, CodeArray
from fewbits._warnings import warn_user
from fewbits.encoders import Encoder, SparseEncoder
from fewbits.learners._core._rows import line_spans

_NO_WEIGHTS = ", as none of their weights was kept; raise density"
_SOME = 1000
ON_ROWS = " on the training rows"


def tell_dead_bits(n_dead: int, n_bits: int, why: str) -> int:
    """Warn if bits are constant, and return how many there are."""
    if n_dead:
        verb = "is" if n_dead == 1 else "are"
        warn_user(f"{n_dead} of {n_bits} bits {verb} constant{why}")
    return n_dead


def warn_constant_bits(encoder: Encoder, X: Array, why: str = ON_ROWS) -> int:
    """Warn if bits are the same for all rows, and return how many there are.

    Those of a sparse map may have no weight, which is a reason of its own.
    """
    n_dead, n_empty = n_constant_bits(encoder, X), 0
    if isinstance(encoder, SparseEncoder):
        n_empty = int(np.sum(np.diff(encoder.indptr) == 0))
    if n_empty:
        some = f"{why}; {n_empty} of them without a weight: raise density"
        why = _NO_WEIGHTS if n_empty == n_dead else some
    return tell_dead_bits(n_dead, encoder.n_bits, why)


def n_constant_bits(encoder: Encoder, X: Array) -> int:
    """Return the number of bits that are the same for all rows.

    More rows are looked at only until they settle it, few at a time: a fit that just
    has enough memory must not fail here.
    """
    first = encoder.encode(X[:1])
    changed = _changed(encoder, X[:: max(1, len(X) // _SOME)], first)
    for span in line_spans(len(X), len(X), least=_SOME):
        if np.bitwise_count(changed).sum() == encoder.n_bits:
            break
        changed |= _changed(encoder, X[span], first)
    return encoder.n_bits - int(np.bitwise_count(changed).sum())


def _changed(encoder: Encoder, X: Array, first: CodeArray) -> CodeArray:
    """Return packed bits that are 1 where some row differs from the first."""
    changed: CodeArray = np.bitwise_or.reduce(encoder.encode(X) ^ first)
    return changed


def n_constant(bits: NDArray[np.bool_]) -> int:
    """Return the number of columns of bits (n, n_bits) with one value."""
    return int(np.sum(bits.all(axis=0) | ~bits.any(axis=0)))


def tell_equal_bits(bits: NDArray[np.bool_], advice: str) -> int:
    """Warn if half of the bits repeat others, and return the number of different bits.

    Constant bits have a warning of their own.
    """
    n, n_bits = n_different(bits), bits.shape[1]
    if n <= n_bits / 2 and not n_constant(bits):
        warn_user(
            f"only {n} of {n_bits} bits are different on the training rows; {advice}"
        )
    return n


def n_different(bits: NDArray[np.bool_]) -> int:
    """Return the number of different columns; opposite ones are the same."""
    alike = np.where(bits[:1], bits, ~bits)
    return len(np.unique(np.packbits(alike, axis=0), axis=1).T)
