"""Centres whose smallest distance is as large as a search can make it."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits.codes import n_bytes, unpack
from fewbits.learners.deep.centres._unique import Centres, bits_needed, check_sizes

Words = NDArray[np.uint64]  # packed codes, filled up with zeros
#: Candidates for each word of the basis before a smaller distance is tried.
_CANDIDATES = 4096
_STEP = 64  # words compared with the candidates at a time


def separated_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return centres that all differ in at least so many bits, and say how many.

    A greedy linear code, shifted by a random word: words are added to a basis as long
    as they and all sums with it keep the distance, for the largest distance with which
    enough are found; few classes and many bits have repetitions of a simplex code where
    it finds none (100 classes at 16 bits: 5 or 6, where CSQ's random centres have 2).

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1; no column is constant if there are two classes or more.

    Raises
    ------
    ArgumentError
        When there are more classes than codes.

    References
    ----------
    Wang et al., "Deep Hashing with Minimal-Distance-Separated Hash Centers", CVPR 2023,
    has the aim; the construction here is Varshamov's.

    Examples
    --------
    >>> centres = separated_centres(100, 16).astype(int)
    >>> distances = (16 - centres @ centres.T) // 2
    >>> int(distances[np.triu_indices(100, 1)].min())
    6
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    words = _linear_code(bits_needed(n_classes), n_bits, rng)
    bits = unpack(words.view(np.uint8)[:, : n_bytes(n_bits)], n_bits)
    # Bits that are the same in all words become others: nothing comes nearer.
    live, source = bits.any(axis=0), np.arange(n_bits)
    if live.any():
        source[~live] = rng.choice(np.flatnonzero(live), int(np.sum(~live)))
    bits = bits[:, source] ^ rng.randint(0, 2, n_bits)
    chosen = rng.permutation(len(bits))[:n_classes]
    centres: Centres = (2 * bits[chosen] - 1).astype(np.int8)
    return centres


def _linear_code(dimension: int, n_bits: int, rng: RandomState) -> Words:
    """Return the ``2**dimension`` words of a code with a large minimum distance."""
    # Words whose bits are all parities of their numbers, again and again.
    units = 1 << np.arange(dimension)
    parities = [*units, *np.setdiff1d(np.arange(1, 2**dimension), units)]
    numbers = np.arange(2**dimension)[:, None]
    simplex = _packed(np.bitwise_count(numbers & np.resize(parities, n_bits)) & 1)
    least = int(np.bitwise_count(simplex[1:]).sum(axis=1).min(initial=n_bits))
    most = n_bits  # down to what Griesmer's bound leaves open
    while sum(-(-most // 2**i) for i in range(dimension)) > n_bits:
        most -= 1
    # Candidates are all words if these are few.
    everything = None
    if 2**n_bits <= 16 * _CANDIDATES:
        numbers = np.arange(2**n_bits)
        everything = _packed(numbers[:, None] >> np.arange(n_bits)[::-1] & 1)
    for distance in range(max(1, most), max(least, 2) - 1, -1):
        words = _packed(np.zeros((1, n_bits)))
        for _ in range(dimension):
            candidates = everything
            if candidates is None:
                candidates = _packed(rng.randint(0, 2, (_CANDIDATES, n_bits)))
            word = _far_from(words, candidates, distance)
            if word is None:
                break
            words = np.concatenate([words, words ^ word])
        else:
            return words
    return simplex


def _packed(bits: NDArray[Any]) -> Words:
    packed = np.packbits(bits.astype(np.uint8), axis=1)
    return np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)]).view(np.uint64)


def _far_from(words: Words, candidates: Words, distance: int) -> Words | None:
    """Return a candidate at least `distance` from all words, the nearest such."""
    nearest = np.bitwise_count(candidates).sum(axis=1, dtype=int)  # zero is a word
    keep = nearest >= distance
    for some in np.split(words, range(_STEP, len(words), _STEP)):
        candidates, nearest = candidates[keep], nearest[keep]
        distances: NDArray[Any] = np.bitwise_count(candidates[:, None, 0] ^ some[:, 0])
        for i in range(1, some.shape[1]):
            differing = np.bitwise_count(candidates[:, None, i] ^ some[:, i])
            distances = distances + differing.astype(int)
        np.minimum(nearest, distances.min(axis=1), out=nearest)
        keep = nearest >= distance
    if not keep.any():
        return None
    word: Words = candidates[keep][nearest[keep].argmin()]
    return word
