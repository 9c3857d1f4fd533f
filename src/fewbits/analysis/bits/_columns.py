"""Counts of ones per bit, and equal or opposite bits, in one pass over the codes."""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import unpack

_BLOCK_BITS = 1 << 24  # bits unpacked at once, one byte each
_ROWS = 1 << 15  # but no more rows than this; a multiple of 8, so that bytes are full

Groups = tuple[tuple[int, ...], ...]


class Columns(NamedTuple):
    """Number of ones per bit, and the bits that are equal or opposite in all codes.

    `equal` are groups of two or more bits. `opposite` are pairs, each the first bits of
    two such groups, or of a group and a single bit. Constant bits are in neither.
    """

    ones: IdArray
    equal: Groups
    opposite: Groups


def read_columns(codes: CodeArray, n_bits: int) -> Columns:
    """Count and compare the bits of all `codes`."""
    # Relative to the first code, opposite bits are equal and constant ones zero.
    changed = np.zeros(n_bits, np.int64)
    digests = [blake2b(digest_size=16) for _ in range(n_bits)]
    for span in spans(len(codes), _rows_at_once(n_bits)):
        bits = unpack(codes[span] ^ codes[0], n_bits)
        columns = np.ascontiguousarray(np.packbits(bits, axis=0).T)
        changed += np.bitwise_count(columns).sum(axis=1, dtype=np.int64)
        for digest, column in zip(digests, columns, strict=True):
            digest.update(column.data)
    first = unpack(codes[:1], n_bits)[0]
    ones = np.where(first, len(codes) - changed, changed)
    varying = np.flatnonzero(changed)
    names = [digests[bit].digest() for bit in varying]
    return Columns(ones, *_groups(varying.tolist(), names, first.tolist()))


def count_ones(codes: CodeArray, n_bits: int) -> IdArray:
    """Return the number of codes in which each bit is set.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.

    Returns
    -------
    ndarray of shape (n_bits,), dtype int64

    Examples
    --------
    >>> count_ones(np.array([[0b10000000], [0b11000000]], np.uint8), n_bits=3)
    array([2, 1, 0])
    """
    ones = np.zeros(n_bits, np.int64)
    for span in spans(len(codes), _rows_at_once(n_bits)):
        ones += unpack(codes[span], n_bits).sum(axis=0, dtype=np.int64)
    return ones


def _groups(
    bits: list[int], names: list[bytes], first: list[int]
) -> tuple[Groups, Groups]:
    """Group bits by name, then split each group by the value in the first code."""
    alike: dict[bytes, tuple[list[int], list[int]]] = {}
    for bit, name in zip(bits, names, strict=True):
        alike.setdefault(name, ([], []))[first[bit]].append(bit)
    sides = [side for pair in alike.values() for side in pair]
    equal = sorted(tuple(side) for side in sides if len(side) > 1)
    opposite = sorted(
        (min(a[0], b[0]), max(a[0], b[0])) for a, b in alike.values() if a and b
    )
    return tuple(equal), tuple(opposite)


def _rows_at_once(n_bits: int) -> int:
    return max(8, min(_ROWS, _BLOCK_BITS // n_bits // 8 * 8))
