"""Conversion between bit matrices and packed codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import whole_number
from fewbits._typing import Array, BitArray, CodeArray
from fewbits.errors import ArgumentError, CodeError

MAX_BITS = 65_536


def n_bytes(n_bits: int) -> int:
    """Return the width in bytes of codes of `n_bits` bits.

    Examples
    --------
    >>> n_bytes(64), n_bytes(65)
    (8, 9)
    """
    n_bits = whole_number(n_bits, "n_bits")
    if not 1 <= n_bits <= MAX_BITS:
        raise ArgumentError(f"n_bits must lie between 1 and {MAX_BITS}, got {n_bits}")
    return -(-n_bits // 8)


def pack(bits: ArrayLike) -> CodeArray:
    """Pack a matrix of bits into codes.

    Parameters
    ----------
    bits : array-like of shape (n, n_bits)
        Booleans, or numbers that are all 0 or 1.

    Returns
    -------
    ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

    Raises
    ------
    CodeError
        When `bits` is not a matrix of zeros and ones.

    Examples
    --------
    >>> pack([[1, 0, 0, 0, 0, 0, 0, 0, 1]])
    array([[128, 128]], dtype=uint8)
    """
    matrix = _array(bits, "bits")
    if matrix.ndim != 2:
        raise CodeError(f"bits must have 2 dimensions, got shape {matrix.shape}")
    n_bytes(matrix.shape[1])
    if matrix.dtype != np.bool_ and not ((matrix == 0) | (matrix == 1)).all():
        raise CodeError("bits must be 0 or 1; threshold scores before packing them")
    return np.packbits(matrix.astype(bool, copy=False), axis=1)


def unpack(codes: CodeArray, n_bits: int) -> BitArray:
    """Unpack codes into a 0/1 matrix with a column for each bit.

    Parameters
    ----------
    codes : ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
    n_bits : int

    Returns
    -------
    ndarray of shape (n, n_bits), dtype uint8

    Examples
    --------
    >>> import numpy as np
    >>> unpack(np.array([[160]], dtype=np.uint8), n_bits=4)
    array([[1, 0, 1, 0]], dtype=uint8)
    """
    codes = as_codes(codes, n_bits=whole_number(n_bits, "n_bits"))
    return np.unpackbits(codes, axis=1, count=n_bits)


def prefix(codes: CodeArray, n_bits: int) -> CodeArray:
    """Return the codes made of the first `n_bits` bits.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Codes of at least `n_bits` bits.
    n_bits : int

    Returns
    -------
    ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

    Examples
    --------
    >>> import numpy as np
    >>> prefix(np.array([[255, 255]], dtype=np.uint8), n_bits=4)
    array([[240]], dtype=uint8)
    """
    codes = as_codes(codes)
    width = n_bytes(n_bits)
    if width > codes.shape[1]:
        raise CodeError(
            f"a prefix of {n_bits} bits needs codes of at least {width} bytes, "
            f"got {codes.shape[1]}"
        )
    short = codes[:, :width].copy()
    rest = int(n_bits) % 8
    if rest:
        short[:, -1] &= (0xFF00 >> rest) & 0xFF
    return short


def as_codes(codes: Any, n_bits: int | None = None) -> CodeArray:
    """Return `codes` as a C-contiguous matrix of bytes, without a copy where it is one.

    Raises
    ------
    CodeError
        When `codes` is not a uint8 matrix, or not as wide as `n_bits` needs.
    """
    array = _array(codes, "codes")
    if array.dtype != np.uint8:
        way = "use fewbits.codes.pack for bits"
        if hasattr(codes, "codes"):  # a codebook or an index
            way = f"give the codes of the {type(codes).__name__}"
        if array.dtype == np.int8:  # of sentence-transformers, each byte less 128
            way = "of sentence-transformers take precision='ubinary'"
        raise CodeError(
            f"codes must be packed into uint8, got dtype {array.dtype}; {way}"
        )
    if array.ndim != 2:
        raise CodeError(
            f"codes must have 2 dimensions (n, n_bytes), got shape {array.shape}"
        )
    if array.shape[1] == 0 or array.shape[1] > n_bytes(MAX_BITS):
        raise CodeError(
            f"codes must be 1 to {n_bytes(MAX_BITS)} bytes wide, got {array.shape[1]}"
        )
    if n_bits is not None and array.shape[1] != n_bytes(n_bits):
        raise CodeError(
            f"{n_bits} bits need {n_bytes(n_bits)} bytes per code, "
            f"got codes of shape {array.shape}"
        )
    return np.ascontiguousarray(array)


def check_unused(codes: CodeArray, n_bits: int, what: str) -> None:
    """Refuse codes with a bit set beyond the last that counts; `what` names them."""
    unused = 0xFF >> (n_bits % 8) if n_bits % 8 else 0
    wrong = np.flatnonzero(codes[:, -1] & unused)
    if wrong.size:
        raise CodeError(
            f"{what} must be zero beyond their {n_bits} bits, row {wrong[0]} is not"
        )


def as_words(codes: CodeArray) -> Array:
    """Return the same bits in the largest integers that the codes are made of."""
    for size in (8, 4, 2):
        if codes.shape[1] % size == 0:
            return codes.view(f"u{size}")
    return codes


def _array(values: Any, name: str) -> Array:
    try:
        return np.asarray(values)
    except ValueError:
        raise CodeError(f"{name} must be a matrix, got rows that differ") from None
