"""Centres that differ in half of their bits, or have half of them set."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fewbits.codes import pack, smallest_distance
from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres._separated import separated_centres
from fewbits.learners.deep.centres._unique import (
    Centres,
    all_live,
    check_sizes,
    opposed,
)

_TRIES = 100
#: Draws of balanced codes until there are enough.
_BALANCED_DRAWS = 100
#: Draws of further rows, of which those are taken that are farthest apart; of 8 bits
#: some row would nearly always be drawn twice.
_DRAWS, _FEWEST_BITS = 20, 16


def hadamard_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return rows of a Hadamard matrix, and of its negative, as CSQ does.

    Of up to ``2 * n_bits`` classes any two differ in half of their bits, or in all. Of
    16 bits or more, up to ``4 * n_bits`` classes have all of these rows, and the best
    of 20 draws of others with half of their bits set. Beyond, and where no matrix of
    this order is known, `separated_centres` takes their place.

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
        When there are more classes than codes; the message says how many bits do.

    References
    ----------
    Yuan et al., "Central Similarity Quantization for Efficient Image and Video
    Retrieval", CVPR 2020.

    Examples
    --------
    >>> centres = hadamard_centres(10, 16)
    >>> np.unique(centres @ centres.T)
    array([ 0, 16], dtype=int8)
    """
    check_sizes(n_classes, n_bits)
    H = hadamard_matrix(n_bits)
    most = 4 * n_bits if n_bits >= _FEWEST_BITS else 2 * n_bits
    if H is None or n_classes > most:
        return separated_centres(n_classes, n_bits, random_state=random_state)
    rng = check_random_state(random_state)
    centres: Centres
    if n_classes > 2 * n_bits:
        # All rows of the matrix and of its negative, and balanced ones. Columns get
        # signs, which change no distance, as rows do of fewer classes.
        both = np.concatenate([H, -H])
        farthest, apart = both, -1
        for _ in range(_DRAWS):
            more = balanced_centres(n_classes - len(both), n_bits, random_state=rng)
            drawn = np.concatenate([both, more])
            distance = smallest_distance(pack(drawn > 0))
            if distance > apart:
                farthest, apart = drawn, distance
        flips = rng.choice([-1, 1], n_bits).astype(np.int8)
        centres = (farthest * flips)[rng.permutation(n_classes)]
        return centres
    rows = np.concatenate([rng.permutation(n_bits), rng.permutation(n_bits)])
    chosen = H[rows[:n_classes]]
    for _ in range(_TRIES):
        first = rng.choice([-1, 1], n_bits).astype(np.int8)
        signs = np.concatenate([first[rows[:n_bits]], -first[rows[n_bits:]]])
        centres = chosen * signs[:n_classes, None]
        if all_live(centres):
            return centres
    return opposed(centres)


def hadamard_matrix(order: int) -> Centres | None:
    """Return a Hadamard matrix by Sylvester's and Paley's constructions, or None."""
    # They reach 1, 2, and all multiples of 4 up to 88 but 52.
    if order == 1:
        return np.ones((1, 1), np.int8)
    if order % 4 == 0 and _is_prime(order - 1):
        S = _conference(order - 1)
        return S + np.eye(order, dtype=np.int8)
    if order % 8 == 4 and _is_prime(order // 2 - 1):
        S, eye = _conference(order // 2 - 1), np.eye(order // 2, dtype=np.int8)
        return np.block([[S + eye, S - eye], [S - eye, -S - eye]])
    half = hadamard_matrix(order // 2) if order % 2 == 0 else None
    if half is None:
        return None
    return np.kron(np.array([[1, 1], [1, -1]], np.int8), half)


def _conference(q: int) -> Centres:
    """Return Paley's S of order ``q + 1`` for an odd prime q: ``S S' = q I``."""
    # It is symmetric for ``q = 1 (mod 4)``, and ``S' = -S`` for ``q = 3 (mod 4)``.
    residues = np.full(q, -1, np.int8)
    residues[np.unique(np.arange(1, q) ** 2 % q)] = 1
    residues[0] = 0
    Q = residues[(np.arange(q)[:, None] - np.arange(q)) % q]
    S = np.zeros((q + 1, q + 1), np.int8)
    S[0, 1:], S[1:, 0], S[1:, 1:] = 1, 1 if q % 4 == 1 else -1, Q
    return S


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % i for i in range(2, int(n**0.5) + 1))


def balanced_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return different random centres, half of whose bits are set.

    What CSQ takes where there is no Hadamard matrix.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1, each row with ``n_bits // 2`` of the latter; no column is constant if
        draws, or for an even length an opposite pair, can help it.

    Raises
    ------
    ArgumentError
        When there are not that many balanced codes.

    Examples
    --------
    >>> balanced_centres(3, 8).sum(axis=1)
    array([0, 0, 0])
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    codes = np.empty((0, n_bits), np.int8)
    for _ in range(_BALANCED_DRAWS):
        ranks = rng.random_sample((n_classes, n_bits)).argsort(axis=1)
        drawn = np.where(ranks < n_bits // 2, 1, -1).astype(np.int8)
        codes = np.unique(np.concatenate([codes, drawn]), axis=0)
        chosen: Centres = codes[rng.permutation(len(codes))[:n_classes]]
        if len(chosen) == n_classes and (n_classes == 1 or all_live(chosen)):
            return chosen
    if len(chosen) < n_classes:
        raise ArgumentError(
            f"{_BALANCED_DRAWS} draws gave {len(codes)} balanced codes of {n_bits} "
            f"bits, too few for {n_classes} classes: take more bits"
        )
    return chosen if n_bits % 2 else opposed(chosen)
