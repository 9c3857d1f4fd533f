"""The code that is nearest to all items of a class, and distances from it."""

import numpy as np

from fewbits._spans import spans
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.analysis._members import Members
from fewbits.codes import hamming_distances, unpack

_BLOCK_BITS = 1 << 24  # bits unpacked at once, one byte each
_BLOCK_PAIRS = 1 << 22  # distances held at once


def majority_codes(codes: CodeArray, n_bits: int, members: Members) -> CodeArray:
    """Return the per-bit majority of each class; 1 where both values are as frequent.

    No code has a smaller sum of distances to the items of the class; of those that have
    the same sum this is the one that follows from LBHash's bin(0) = +1.
    """
    ones = np.zeros((len(members.classes), n_bits), np.int64)
    for span in spans(len(members.rows), _BLOCK_BITS // n_bits):
        numbers = members.numbers[span]
        bits = unpack(codes[members.rows[span]], n_bits)
        firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
        ones[numbers[firsts]] += np.add.reduceat(bits, firsts, axis=0, dtype=np.int64)
    sizes = np.bincount(members.numbers)
    return np.packbits(2 * ones >= sizes[:, None], axis=1)


def centre_distances(
    codes: CodeArray, centres: CodeArray, members: Members
) -> DistanceArray:
    """Return the distance of each member to the centre of its class."""
    distances = np.empty(len(members.rows), np.int32)
    for span in spans(len(distances), _BLOCK_BITS // codes.shape[1]):
        differing = codes[members.rows[span]] ^ centres[members.numbers[span]]
        distances[span] = np.bitwise_count(differing).sum(axis=1, dtype=np.int32)
    return distances


def between_centres(
    centres: CodeArray, n_bits: int
) -> tuple[IdArray, IdArray, DistanceArray]:
    """Return a histogram of the distances, and for each centre the nearest other.

    Returns
    -------
    tuple of ndarray
        Pairs at distance 0, 1, ..., n_bits; then the number and the distance of the
        nearest other centre, the first of several, of shape (n_classes,) each.
    """
    counts = np.zeros(n_bits + 1, np.int64)
    nearest = np.empty(len(centres), np.int64)
    gaps = np.empty(len(centres), np.int32)
    for span in spans(len(centres), _BLOCK_PAIRS // len(centres)):
        distances = hamming_distances(centres[span], centres)
        counts += np.bincount(distances.ravel(), minlength=n_bits + 1)
        distances[np.arange(len(distances)), np.arange(len(centres))[span]] = n_bits + 1
        nearest[span] = distances.argmin(axis=1)
        gaps[span] = distances.min(axis=1)
    counts[0] -= len(centres)  # each with itself
    return counts // 2, nearest, gaps
